"""Qualification tests: before a model's answers count in other runs, it answers questions with known answers. Each test
is a run with one case, so that every mark leads to the raw answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import click
from pydantic import Field

from ...events import Frozen, Model, Rules
from ...models.ids import is_control
from ...parsers.fields import REASON as CUT
from ...rulesets import RULES
from ...scene import Mark
from ...score import Figure, Score
from ...transcript import CaseLog, RecordReader, Transcript
from .declared import Means
from .lab import Command, Lab, Prerequisite, PriorResults
from .report import Case, Reading, Report, Trial
from .spec import Spec


class QualificationSpec(Spec):
    """Which model takes a qualification test, in which `role`."""

    role: ClassVar[str]

    seed: int = Field(default=0, title="", description="nothing is drawn")
    title: str = "Exam"
    """It is part of the names of runs and therefore stays; screens show the title of the test."""
    model: str

    @property
    def roles(self) -> dict[str, tuple[str, ...]]:
        return {self.role: (self.model,)}

    @property
    def questions(self) -> tuple[Any, ...]:
        """The questions; each has an `id`. Raises NotImplementedError here; every test defines its own."""
        raise NotImplementedError


def hash_of(asked: Sequence[Frozen]) -> str:
    """Return 12 hexadecimal digits that identify these questions."""
    return hashlib.sha256("\n".join(one.model_dump_json() for one in asked).encode()).hexdigest()[:12]


@dataclass
class QualificationView(Report):
    """A test in progress or finished. `marks` are its readable records by question; `unread` counts the others."""

    test: QualificationTest
    spec: Any
    marks: dict[str, Any]

    mark_words: ClassVar[Mapping[Mark, str]] = {"kept": "right", "broken": "wrong"}
    outcomes: ClassVar[Mapping[str, Means]] = {
        "right": "kept",
        "wrong": "broken",
        "passed": "kept",
        "not passed": "broken",
    }

    @property
    def title(self) -> str:
        """The title of the case."""
        return self.test.title

    def heading(self) -> str:
        """Return the title of the test. Journals have an older one."""
        return self.title

    @property
    def total(self) -> int:
        """How many marks a complete test has."""
        return max(len(self.spec.questions) if self.spec else 0, len(self.marks))

    @cached_property
    def cut(self) -> set[str]:
        """The questions whose answer was cut off by a token limit: the updated parser reads none there."""
        return {drop.item for drop in self.log.drops if drop.reason == CUT}

    @property
    def score(self) -> Score:
        """The score of the marks; undefined until every question has one."""
        return self.test.judge(self)

    @cached_property
    def trials(self) -> dict[str, Trial]:
        """The trials, one per question."""
        return {
            item: Trial.from_reading(self.test.question_of(mark), partial(self._reading, item, mark), mark.call)
            for item, mark in self.marks.items()
        }

    def _reading(self, item: str, mark: Any, rules: Rules) -> Reading:
        right, observed = self.test.answers(mark, rules)
        if rules == "repaired" and item in self.cut:
            return Reading(expected=right, observed=observed, outcome="unread", counts=False, reason=CUT)
        outcome = "right" if observed == right else "unread" if observed in (None, "neither") else "wrong"
        return Reading(expected=right, observed=observed, outcome=outcome, counts=True)

    @property
    def outcome(self) -> str:
        """It is "passed", "not passed", "waiting", or "failed" if calls failed or the run was stopped."""
        score = self.score
        if score.value is not None:
            return "passed" if score.detail["passed"] else "not passed"
        lost = {drop.item for drop in self.log.drops} - self.marks.keys()
        ended = len(self.marks) + len(lost) >= score.of or "" in lost or self.log.status is not None
        return "failed" if ended else "waiting"

    def sentences(self) -> list[str]:
        """Say whether the model passed, what passing takes, and what a fixed answer would score."""
        score = self.score
        if score.value is not None:
            return self.test.describe(score)
        return ["Not judged yet."] if self.outcome == "waiting" else [f"There is no result: {score.reason}."]


class QualificationTest(Lab):
    """A qualification test: a hidden lab with one case. A subclass defines the methods that raise NotImplementedError
    here. Its only record is that of an answered question, a mark.
    """

    spec: type[QualificationSpec]
    result: type[Frozen]
    """The record that later runs save; its field for the model has the name of the role."""
    rulesets: tuple[Rules, ...] = RULES
    """The parsers that have a figure."""
    listed: str
    """Introduces the models that passed."""
    none: str
    """What follows if none passed."""

    hidden = True
    report = QualificationView
    command = Command(parameters=(click.Argument(["model"]),))

    @property
    def path(self) -> str:
        """Its command and address: its name in journals, because the title is a phrase."""
        return self.name

    async def ask(self, spec: Any, run: Any, item: str, question: Any) -> None:
        """Ask the question `item`, and record its mark. An answer that was cut off is excluded."""
        raise NotImplementedError

    def calls_per_question(self, spec: Any) -> int:
        """Return how many calls one question takes."""
        return 1

    def judge(self, view: QualificationView) -> Score:
        """Return the score of the marks by the view's parser, undefined until every question has one. `detail` has
        `right` and `passed`.
        """
        raise NotImplementedError

    def question_of(self, mark: Any) -> str:
        """Return what was asked."""
        raise NotImplementedError

    def answers(self, mark: Any, rules: Rules) -> tuple[str, str | None]:
        """Return the right answer and the model's: None or "neither" if it could not be read."""
        raise NotImplementedError

    def describe(self, score: Score) -> list[str]:
        """Return the sentences on a result."""
        raise NotImplementedError

    def testable_robots(self) -> Mapping[str, Model]:
        """Return the robots that can take it, by id: by default its own."""
        return self.robots.by_id

    def score_robot(self, robot: str) -> Score:
        """Return the score of one of the robots, computed from its rules without asking it."""
        raise NotImplementedError

    def note(self, spec: Any) -> str | None:
        """Return what to say about a model that passed, None if no run uses a test of that specification."""
        return ""

    def cases(self, spec: Any) -> list[Case]:
        """Return the only case: all questions."""
        return [Case(self.name, spec.questions, spec.title)]

    def count_calls(self, spec: Any, cases: int) -> dict[str, int]:
        """Return the calls of the role that is tested."""
        return {self.spec.role: len(spec.questions) * self.calls_per_question(spec)}

    async def measure(self, spec: Any, case: Case, run: Any) -> None:
        """Have the model answer every question."""
        await run.map_items({one.id: one for one in case.about}, partial(self.ask, spec, run))

    def view(self, log: CaseLog) -> QualificationView:
        """Build the view of a test from its log, with the marks in the order of the questions. Never raises: whatever
        is missing or damaged in the journal is missing in the view.
        """
        reader = RecordReader()
        spec = log.spec_as(self.spec)
        found = reader.all_of(self.records[0], log)
        known = [one.id for one in spec.questions] if spec else []
        marks = {item: found[item] for item in dict.fromkeys([*known, *found]) if item in found}
        return QualificationView(log, self, spec, marks, unread=reader.unread + (spec is None))

    def scores(self, views: Sequence[QualificationView]) -> Iterator[Figure]:
        """Yield the share of right answers, by each parser."""
        for view in views:
            for rules in self.rulesets:
                yield Figure(self.headline, rules, view.by(rules).score)

    def result_of(self, state: Transcript) -> Frozen | None:
        """Return the result of a run of the test; None if it has none or the journal is damaged."""
        score, paper = (state.score(self.headline, rules) for rules in ("repaired", "paper"))
        if score is None or state.started is None:
            return None
        found = {self.spec.role: state.started.spec.get("model"), "of": score.of, "run": state.started.run}
        if paper is not None:
            # The original parser cannot read JSON answers, so it has no result if they were requested.
            found["right_paper"] = paper.detail.get("right", 0)
        right = {name: score.detail.get(name) for name in ("right", "passed")}
        return RecordReader().read(self.result, found | right)

    def of_robot(self, robot: str) -> Frozen:
        """Return the result of one of the robots, computed without asking it."""
        score = self.score_robot(robot)
        right = {"right": score.hits, "right_paper": score.hits, "passed": score.detail["passed"]}
        return self.result.model_validate({self.spec.role: robot, "of": score.of, **right})

    def for_model(self, model: str) -> Any:
        """Return the specification of the test for a model; None for a robot that cannot take it."""
        return None if is_control(model) and model not in self.testable_robots() else self.spec(model=model)

    def required(self, spec: Any, wanted: bool) -> Prerequisite | Frozen | None:
        """Return the test of that specification as a prerequisite of a run, for a robot its known result. None if the
        model has no test: answers replayed from another run, people, and robots that cannot take it.
        """
        if spec.model.startswith(("replay/", "reader/")):
            return None
        if is_control(spec.model):
            return self.of_robot(spec.model) if spec.model in self.testable_robots() else None
        return Prerequisite(self, spec, self.result_of, wanted)

    def passed(self, at_hand: Callable[[str], bool], results: PriorResults) -> Iterator[tuple[Any, Any]]:
        """Yield the specification and the result of each available model that passed. Robots are left out, because they
        know only their small world.
        """
        for spec, one in results(self, self.result_of):
            if isinstance(one, self.result) and one.passed and at_hand(spec.model) and not is_control(spec.model):  # type: ignore[attr-defined]
                yield spec, one

    def say_who_passed(self, at_hand: Callable[[str], bool], results: PriorResults) -> str:
        """Say which of the available models passed, with their results, or what follows if none did."""
        found = [(spec.model, one, self.note(spec)) for spec, one in self.passed(at_hand, results)]
        named = [f"`{model}` ({one.right} of {one.of}{note})" for model, one, note in found if note is not None]
        return f"{self.listed}: {', '.join(named)}." if named else self.none
