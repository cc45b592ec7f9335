"""Runs of the lab from start to finish, for its tests."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.datasets.items import Item
from core.events import Event, Model
from core.labs.check.lab import LAB
from core.labs.check.report import CheckReport
from core.labs.check.tasks import CheckSpec
from core.models.catalog import Catalog
from core.runs.engine import RunIO, RunRequest, execute
from core.transcript import Transcript, transcript
from tests.support.stub_server import StubServer

HONEST, DECOY = "control/honest-lexicon", "control/decoy-lexicon"
REVIEW = Item(
    id="review", task="sentiment", paragraph="A superb film, dull at the end, and wonderful.", label="positive"
)


@dataclass
class Played:
    """A run with its cases in the form in which they are shown; `news` are the events that this play published."""

    run: Transcript
    views: dict[str, CheckReport]
    events: list[Event]
    news: list[Event]

    @property
    def only(self) -> CheckReport:
        (view,) = self.views.values()
        return view

    def count(self, kind: str, record: str = "") -> int:
        """Events of a kind; of `recorded` those of one type."""
        return sum(event.kind == kind and record in ("", getattr(event, "record", "")) for event in self.events)


def viewed(events: Sequence[Event]) -> tuple[Transcript, dict[str, CheckReport]]:
    run = transcript(events)
    return run, {case: LAB.view(run.case(case)) for case in run.cases}


def play(
    spec: CheckSpec,
    catalog: Catalog | None = None,
    history: Sequence[Event] = (),
    resolve: Callable[[str], Model] | None = None,
    mend: bool = False,
) -> Played:
    """Play a run, from its beginning or from where `history` ends; with `mend` failed calls are repeated."""
    news: list[Event] = []
    find = resolve or (catalog.get if catalog else controls().get)
    asyncio.run(execute(RunRequest(LAB, spec, "r", history=history, mend=mend), RunIO(find, news.append)))
    news = [event for event in news if event.kind != "token"]
    events = [*history, *news]
    return Played(*viewed(events), events, news)


def controls() -> Catalog:
    """The lab's own robots, and the model that ships."""
    return Catalog(
        home=Path("/dev/null/unused"),
        journals=Path("/dev/null/unused"),
        read=lambda path: [],
        controls=LAB.robots.controls(),
    )


def stub_catalog(server: StubServer, **changes: object) -> Catalog:
    return Catalog(
        home=Path("/dev/null/unused"),
        journals=Path("/dev/null/unused"),
        read=lambda path: [],
        endpoints=[server.config(**changes)],
    )


def stub_spec(**changes: object) -> CheckSpec:
    return CheckSpec(**{"items": (REVIEW,), "model": "stub/stub-model", "explanations": ("attribution",), **changes})
