"""Runs of the lab from start to finish, for its tests."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.events import CallError, Event, Frozen, Model, ModelAnswer, OnText, Request
from core.labs.plant.lab import LAB
from core.labs.plant.qualification import TEST, readers
from core.labs.plant.report import PlantReport
from core.labs.plant.tasks import PlantSpec, ReaderExamined
from core.models.catalog import Catalog
from core.runs.engine import RunIO, RunRequest, execute
from core.score import Score
from core.transcript import Transcript, transcript
from tests.support.stub_server import StubServer


@dataclass
class Played:
    """A run with its cases in the form in which they are shown."""

    run: Transcript
    views: dict[str, PlantReport]
    events: list[Event]

    @property
    def only(self) -> PlantReport:
        (view,) = self.views.values()
        return view

    def score(self, metric: str, item: str = "") -> Score:
        """A figure of the run by the updated rules."""
        scored = self.run.score(metric, "repaired", item)
        assert scored is not None, metric
        return Score(scored.value, scored.n, scored.of, scored.low, scored.high, detail=scored.detail)


Said = str | ModelAnswer | None


@dataclass
class Scripted:
    """Answers by the cue's own words (`said`), and by the number of the sample if there are several; fails if that is
    None.

    A real run asks it; nothing of the lab is replaced.
    """

    said: Mapping[str, Said | Sequence[Said]]
    id: str = "control/scripted"
    title: str = "Scripted"
    asked: list[Request] = field(default_factory=list)

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        self.asked.append(request)
        said = self.said[request.slots["shown"]]
        one = said[request.repeat - 1] if isinstance(said, Sequence) and not isinstance(said, str) else said
        if one is None:
            raise CallError("no answer", "try again")
        return one if isinstance(one, ModelAnswer) else ModelAnswer(text=str(one))


def play(
    spec: PlantSpec,
    resolve: Callable[[str], Model] | None = None,
    history: Sequence[Event] = (),
    judge: ReaderExamined | None = None,
) -> Played:
    """Play a run, from its beginning or from where `history` ends, with the lab's own robots by default. The judges
    have passed their test; `judge` is the result of a different model as judge.
    """
    news: list[Event] = []
    robots = Catalog(
        home=Path("/dev/null/unused"),
        journals=Path("/dev/null/unused"),
        read=lambda path: [],
        controls={**LAB.robots.controls(), **LAB.robots.dials(), **readers()},
    )

    async def sat() -> Mapping[str, Frozen]:
        if judge is not None:
            return {"exam": judge}
        return {"exam": TEST.of_robot(spec.reader)} if spec.reader in readers() else {}

    ports = RunIO(resolve or robots.get, news.append, prerequisites=sat)
    asyncio.run(execute(RunRequest(LAB, spec, "r", history=history), ports))
    events = [*history, *(event for event in news if event.kind != "token")]
    run = transcript(events)
    return Played(run, {case: LAB.view(run.case(case)) for case in run.cases}, events)


def stub_catalog(server: StubServer) -> Catalog:
    return Catalog(
        home=Path("/dev/null/unused"),
        journals=Path("/dev/null/unused"),
        read=lambda path: [],
        endpoints=[server.config()],
    )
