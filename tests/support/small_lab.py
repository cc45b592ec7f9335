"""A small but complete lab in one file: everything that a fourth lab needs. One entry registers `LAB`."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from core.datasets.registry import OnData
from core.events import CallError, Frozen, Message, ModelAnswer, OnText, Prompt, Request
from core.labs.base.declared import Means, Metric
from core.labs.base.lab import DemoRun, Lab, Robots
from core.labs.base.report import Case, Reading, Report, Trial
from core.labs.base.spec import Spec
from core.rulesets import RULES
from core.runs.context import CaseContext
from core.score import Figure, Score, mean_of_cases
from core.statistics.intervals import wilson
from core.transcript import CaseLog, RecordReader


class EchoSpec(Spec):
    """Does a model that says it repeats its input really do so?"""

    words: tuple[str, ...] = Field(default=("yes", "no"), title="Words", description="a word to say; may be repeated")
    times: int = Field(default=2, ge=1, le=7, title="Times", description="how often each is said")
    voice: Literal["plain", "loud"] = Field(default="plain", title="Voice", description="how it is said")
    model: str = Field(default="control/echo", title="Model", description="who is spoken to")

    @property
    def models(self) -> set[str]:
        return {self.model}


class Promise(Frozen):
    """What the model says it does."""

    call: str
    text: str


class Echo(Frozen):
    """The model's reply."""

    call: str
    said: str
    heard: str


@dataclass
class EchoView(Report):
    promise: Promise | None
    echoes: dict[str, Echo]

    outcomes: ClassVar[Mapping[str, Means]] = {"kept": "kept", "broken": "broken"}

    @classmethod
    def of(cls, log: CaseLog) -> Self:
        reader = RecordReader()
        echoes = reader.all_of(Echo, log)
        return cls(log, reader.one_of(Promise, log), dict(sorted(echoes.items())), unread=reader.unread)

    @property
    def title(self) -> str:
        return self.log.case.partition("-")[2]

    @property
    def explanation(self) -> str | None:
        return self.promise.text if self.promise else None

    @property
    def trials(self) -> dict[str, Trial]:
        return {
            item: Trial(about=echo.said, paper=_reading(echo), repaired=_reading(echo), calls=(echo.call,))
            for item, echo in self.echoes.items()
        }

    @property
    def outcome(self) -> str:
        if any(drop.reason == "error" for drop in self.log.drops):
            return "failed"
        if not self.echoes:
            return "waiting"
        return "kept" if all(echo.said == echo.heard for echo in self.echoes.values()) else "broken"

    def sentences(self) -> list[str]:
        kept = sum(echo.said == echo.heard for echo in self.echoes.values())
        return [f"It repeated {kept} of {len(self.echoes)}."]


def _reading(echo: Echo) -> Reading:
    kept = echo.said == echo.heard
    return Reading(expected=echo.said, observed=echo.heard, outcome="kept" if kept else "broken", counts=True)


def prompt(text: str) -> Prompt:
    return Prompt(id="echo", hash="h", messages=(Message(role="user", content=text),), slots={"text": text})


@dataclass
class Echoing:
    """A robot with known behaviour: it repeats everything but the words it `mishears`, and fails on those it `refuses`.
    It stores its calls.
    """

    id: str = "control/echo"
    title: str = "A robot that repeats what it hears"
    mishears: frozenset[str] = frozenset()
    refuses: frozenset[str] = frozenset()
    wait: float = 0.0
    asked: list[str] = field(default_factory=list)

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        text = request.messages[-1].content
        self.asked.append(text)
        on_text(text[:1])
        await asyncio.sleep(self.wait)
        if text in self.refuses:
            raise CallError(f"no answer to {text}", "try another")
        if text == "What do you do?":
            return ModelAnswer(text="I repeat what I hear.")
        return ModelAnswer(text="pardon?" if text in self.mishears else text)


class EchoRobots(Robots):
    default_model = "control/deaf"

    def controls(self) -> dict[str, Echoing]:
        return {
            "control/echo": Echoing(),
            "control/deaf": Echoing("control/deaf", mishears=frozenset({"no"})),
        }

    def demo_run(self) -> DemoRun | None:
        return DemoRun("Show me an echo", "No key.", EchoSpec(model="control/deaf"))


class EchoLab(Lab):
    name = "echo"
    title = "Echo"
    question = "Does it repeat what it hears?"
    spec: type[Spec] = EchoSpec
    records = (Promise, Echo)
    metrics = (Metric("repeated", "Repeated", "The share of words that came back.", "share", leads=True),)
    report = EchoView
    robots = EchoRobots()

    def cases(self, spec: Any) -> Iterator[Case]:
        for number, word in enumerate(spec.words, start=1):
            yield Case(f"all/{number}-{word}", word, f"the word {word}")

    async def measure(self, spec: Any, case: Case, run: CaseContext) -> None:
        shared = run.at("all")
        promised = await shared.ask("explainer", prompt("What do you do?"), spec.model, item="promise")
        shared.record(Promise(call=promised.call, text=promised.text), "promise")

        async def say(item: str, number: int) -> None:
            word = case.about.upper() if spec.voice == "loud" else case.about
            answered = await run.ask("answerer", prompt(word), spec.model, item=item, trial=item, repeat=number)
            run.record(Echo(call=answered.call, said=word, heard=answered.text), item, trial=item)

        await run.map_items({f"echo-{number}": number for number in range(1, spec.times + 1)}, say)

    def scores(self, views: Sequence[EchoView]) -> Iterator[Figure]:
        def of_one(view: EchoView) -> Score:
            hits = sum(echo.said == echo.heard for echo in view.echoes.values())
            if not view.echoes:
                return Score(None, 0, 0, detail={"reason": "nothing was said"})
            n = len(view.echoes)
            return Score(hits / n, n, n, *wilson(hits / n, n), hits=hits)

        for rules in RULES:
            yield Figure("repeated", rules, mean_of_cases([of_one(view) for view in views]))

    def prompts(self, spec: Spec) -> dict[str, str]:
        return {"echo": "h"}

    def count_calls(self, spec: Any, cases: int) -> dict[str, int] | None:
        return {"speaker": 1 + cases * spec.times}


LAB = EchoLab()


class EchoData(OnData):
    """The same for the paragraphs of a data set, whose fields come with a picker."""

    task: Literal["sentiment"] = "sentiment"
    times: int = Field(default=2, ge=1, le=7, title="Times", description="how often each is said")
    voice: Literal["plain", "loud"] = Field(default="plain", title="Voice", description="how it is said")
    model: str = Field(default="control/echo", title="Model", description="who is spoken to")

    @property
    def models(self) -> set[str]:
        return {self.model}


class EchoDataLab(EchoLab):
    name = "echo-data"
    title = "Echo data"
    spec = EchoData
    robots = EchoRobots().with_changes(demo_run=lambda: None)

    def cases(self, spec: Any) -> Iterator[Case]:
        return (Case(item.id, item.paragraph, item.paragraph) for item in spec.chosen_items()[0])


ON_DATA = EchoDataLab()
