"""The common part of qualification tests: labs with one case, in which a model is asked questions with known
answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import click
from pydantic import Field

from ...events import Frozen
from ...score import Score
from ...transcript import CaseLog, RecordReader, Transcript
from .cases import Case, Reading, Trial, View
from .lab import Command
from .spec import Spec

Record = TypeVar("Record", bound=Frozen)
Exam = TypeVar("Exam", bound="ExamView")


class ExamSpec(Spec):
    """Which model takes a qualification test, in which `role`. `case` is the id of its only case."""

    case: ClassVar[str]
    role: ClassVar[str]

    seed: int = Field(default=0, title="", description="nothing is drawn")
    title: str = "Exam"
    model: str

    @property
    def roles(self) -> dict[str, tuple[str, ...]]:
        return {self.role: (self.model,)}

    @property
    def questions(self) -> tuple[Any, ...]:
        """The questions; each has an `id`. Raises NotImplementedError here; every test defines its own."""
        raise NotImplementedError


def cases(spec: ExamSpec) -> Iterator[Case]:
    """Yield the only case of a test; its questions are the trials."""
    yield Case(spec.case, spec.questions, spec.title)


def hash_of(asked: Sequence[Frozen]) -> str:
    """Return 12 hexadecimal digits that identify these questions."""
    return hashlib.sha256("\n".join(one.model_dump_json() for one in asked).encode()).hexdigest()[:12]


@dataclass
class ExamView(View):
    """A qualification test in progress or finished. `marks` are its readable records by question; `unread` counts the
    others.

    Every test defines its own `score`, `about` and `reading`; here they raise NotImplementedError.
    """

    spec: Any
    marks: dict[str, Any]

    @property
    def title(self) -> str:
        """The title of the case."""
        return str(self.spec.title) if self.spec else ""

    @property
    def total(self) -> int:
        """How many marks a complete test has."""
        return max(len(self.spec.questions) if self.spec else 0, len(self.marks))

    @property
    def score(self) -> Score:
        """The score of the marks; undefined until every question has one."""
        raise NotImplementedError

    def about(self, mark: Any) -> str:
        """Return what was tested."""
        raise NotImplementedError

    def reading(self, mark: Any) -> Reading:
        """Return the outcome of one question."""
        raise NotImplementedError

    @cached_property
    def trials(self) -> dict[str, Trial]:
        """The trials, one per question."""
        return {
            item: Trial(
                about=self.about(mark),
                paper=self.by("paper").reading(mark),
                repaired=self.by("repaired").reading(mark),
                calls=(mark.call,),
            )
            for item, mark in self.marks.items()
        }

    @property
    def outcome(self) -> str:
        """It is "passed", "not passed", "waiting", or "failed" if calls failed or the run was stopped."""
        score = self.score
        if score.value is not None:
            return "passed" if score.detail["passed"] else "not passed"
        lost = {drop.item for drop in self.log.drops} - self.marks.keys()
        ended = len(self.marks) + len(lost) >= score.of or "" in lost or self.log.status is not None
        return "failed" if ended else "waiting"

    def without_result(self) -> list[str]:
        """Return the sentences on a test that is not finished or has no result."""
        if self.outcome == "waiting":
            return ["Not judged yet."]
        return [f"There is no result: {self.score.reason}."]


def view_as(kind: type[Exam], spec: type[ExamSpec], mark: type[Frozen], log: CaseLog) -> Exam:
    """Build the view of a test from its log, with the marks in the order of the questions. Never raises: whatever is
    missing or damaged in the journal is missing in the view.
    """
    reader = RecordReader()
    sat = log.spec_as(spec)
    found = reader.all_of(mark, log)
    known = [one.id for one in sat.questions] if sat else []
    marks = {item: found[item] for item in dict.fromkeys([*known, *found]) if item in found}
    return kind(log, sat, marks, unread=reader.unread + (sat is None))


def result(state: Transcript, metric: str, kind: type[Record], who: str, **more: Any) -> Record | None:
    """Return the result of a test run, by its `metric`, as the record that later runs save; None if it has no result or
    the journal is damaged. `who` is the record's field for the model; `more` are further fields.
    """
    score = state.score(metric, "repaired")
    if score is None or state.started is None:
        return None
    found = {who: state.started.spec.get("model"), "of": score.of, "run": state.started.run, **more}
    return RecordReader().read(kind, found | {name: score.detail.get(name) for name in ("right", "passed")})


DECLARED: dict[str, Any] = {
    "cases": cases,
    "outcomes": {"right": "kept", "wrong": "broken", "passed": "kept", "not passed": "broken"},
    "hidden": True,
    "command": Command(parameters=(click.Argument(["model"]),)),
}
"""The part of the declaration that all tests share."""
