"""What exams have in common: labs of one case in which a model is asked what it is known how to answer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, TypeVar

import click
from pydantic import Field

from ...events import Frozen, Rules
from ...score import Score
from ...transcript import CaseLog, RecordReader, Transcript
from .cases import Case, Reading, Trial
from .lab import Command
from .spec import Spec

Record = TypeVar("Record", bound=Frozen)
View = TypeVar("View", bound="ExamView")


class ExamSpec(Spec):
    """Who sits an exam, in which `role`. Its one case is called `case`."""

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
        """What is asked; each has an `id`. Each exam has its own; here it raises NotImplementedError."""
        raise NotImplementedError


def cases(spec: ExamSpec) -> Iterator[Case]:
    """The exam is one case, its questions are trials."""
    yield Case(spec.case, spec.questions, spec.title)


def hash_of(asked: Sequence[Frozen]) -> str:
    """12 hexadecimal digits over the questions: another exam has another hash."""
    return hashlib.sha256("\n".join(one.model_dump_json() for one in asked).encode()).hexdigest()[:12]


@dataclass
class ExamView:
    """An exam as far as it has come. `marks` are its records by question; `unread` entries are left out.

    Each exam has its own `score`, `about` and `reading`; here they raise NotImplementedError.
    """

    log: CaseLog
    spec: Any
    marks: dict[str, Any]
    unread: int = 0

    @property
    def title(self) -> str:
        """The case's name."""
        return str(self.spec.title) if self.spec else ""

    @property
    def explanation(self) -> str | None:
        """None: there are many."""
        return None

    @property
    def of(self) -> int:
        """How many marks there should be."""
        return max(len(self.spec.questions) if self.spec else 0, len(self.marks))

    def score(self, rules: Rules) -> Score:
        """What the marks are worth; undefined until there is one of each question."""
        raise NotImplementedError

    def about(self, mark: Any) -> str:
        """What was put to the test."""
        raise NotImplementedError

    def reading(self, mark: Any, rules: Rules) -> Reading:
        """Outcome."""
        raise NotImplementedError

    @cached_property
    def trials(self) -> dict[str, Trial]:
        """One question each."""
        return {
            item: Trial.of(self.about(mark), partial(self.reading, mark), mark.call)
            for item, mark in self.marks.items()
        }

    def outcome(self, rules: Rules) -> str:
        """passed, not passed, waiting, or failed: calls did, or it was stopped."""
        score = self.score(rules)
        if score.value is not None:
            return "passed" if score.detail["passed"] else "not passed"
        lost = {drop.item for drop in self.log.drops} - self.marks.keys()
        ended = len(self.marks) + len(lost) >= score.of or "" in lost or self.log.status is not None
        return "failed" if ended else "waiting"

    def without_result(self) -> list[str]:
        """The sentences on an exam that is not over, or has no result."""
        if self.outcome("repaired") == "waiting":
            return ["Not judged yet."]
        return [f"There is no result: {self.score('repaired').reason}."]


def view_as(kind: type[View], spec: type[ExamSpec], mark: type[Frozen], log: CaseLog) -> View:
    """The exam that a log holds, its marks in its own order and not in that of the answers. Never raises: what a
    damaged journal lacks is missing from it.
    """
    reader = RecordReader()
    sat = log.spec_as(spec)
    found = reader.all_of(mark, log)
    known = [one.id for one in sat.questions] if sat else []
    marks = {item: found[item] for item in dict.fromkeys([*known, *found]) if item in found}
    return kind(log, sat, marks, reader.unread + (sat is None))


def result(state: Transcript, metric: str, kind: type[Record], who: str, **more: Any) -> Record | None:
    """What a run of an exam came to by its `metric`, as the record that later runs keep of it; None where it has no
    result, or something of it is missing in a damaged journal. `who`: the field for the model; `more`: further ones.
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
"""What all exams declare alike."""
