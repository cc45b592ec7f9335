"""One explanation with all that happened to it, as its events tell. Page, command line and tests look at this."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from core.events import Dropped, Rules
from core.labs.simulatability.metrics import Score, precision
from core.labs.simulatability.records import Answer, Counterfactual, Explanation, Simulation
from core.labs.simulatability.tasks import AskSpec
from core.runs.transcript import Reader, Transcript

READER = "reader"
"""The simulator's name where the reader guesses."""

Outcome = Literal["as expected", "misled", "cannot guess", "unread", "dropped", "waiting"]


@dataclass
class Row:
    """One draw: the counterfactual, what was expected of the model, what it said, and why it does not count."""

    item: str
    counterfactual: Counterfactual | None = None
    simulation: Simulation | None = None
    guess: Simulation | None = None
    answer: Answer | None = None
    drops: list[Dropped] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)

    @property
    def by_hand(self) -> bool:
        return self.counterfactual is not None and self.counterfactual.origin == "hand"

    def dropped(self, rules: Rules) -> Dropped | None:
        """Why the row does not count under `rules`, if so. Having been added by hand explains itself."""
        reasons = [drop for drop in self.drops if drop.rules in (None, rules) and drop.reason != "added by hand"]
        return reasons[0] if reasons else None

    def failed(self, rules: Rules) -> bool:
        """Whether the row was lost to a failed call or to text that could not be read; a repeat was not lost."""
        drop = self.dropped(rules)
        return self.outcome(rules) == "dropped" and drop is not None and drop.reason in ("error", "unparsed")

    def outcome(self, rules: Rules) -> Outcome:
        """Under paper rules an answer that could not be read is a mismatch, as `precision` counts it."""
        if self.counterfactual and not getattr(self.counterfactual, rules):
            return "dropped"
        if self.simulation and self.answer:
            expected, said = getattr(self.simulation, rules), getattr(self.answer, rules)
            if expected == "unknown":
                return "cannot guess"
            if expected == "neither" or (said == "neither" and rules == "repaired"):
                return "unread"
            return "as expected" if expected == said else "misled"
        return "dropped" if self.dropped(rules) else "waiting"


@dataclass
class Case:
    """`spec` is None before the run has begun, and where its journal does not hold it in a form that can be read.

    `unread` counts what could not be read, spec and findings: it is left out.
    """

    told: Transcript
    spec: AskSpec | None
    starter: Explanation | None
    rows: dict[str, Row]
    unread: int = 0

    def counted(self) -> list[Row]:
        """The rows that the figures are about: all draws, none added by hand."""
        return [row for row in self.rows.values() if not row.by_hand]

    def differing(self) -> list[Row]:
        """The rows whose outcome depends on which rules read the raw answers."""
        return [row for row in self.rows.values() if row.outcome("paper") != row.outcome("repaired")]

    def reader_precision(self) -> Score:
        """The reader's own precision, over the same rows as the simulator's: those they guessed and it answered."""
        both = [row for row in self.counted() if row.guess and row.answer and row.outcome("repaired") != "dropped"]
        return precision(
            [row.guess.repaired for row in both if row.guess],
            [row.answer.repaired for row in both if row.answer],
            rules="repaired",
        )


def case(told: Transcript) -> Case:
    """The case that a transcript of this lab holds. Never raises: what a damaged journal lacks is missing from it."""
    reader = Reader()
    read = reader.read
    spec = read(AskSpec, told.started.spec) if told.started else None
    starter = next((read(Explanation, data) for data in told.of("explanation").values()), None)
    rows: dict[str, Row] = {}

    def row(item: str) -> Row:
        return rows.setdefault(item, Row(item))

    for name, call in told.calls.items():
        if call.asked.role in ("generator", "simulator", "answerer"):
            row(call.asked.item).calls.append(name)
    for record in told.records.values():
        match record.record:
            case "counterfactual":
                row(record.item).counterfactual = read(Counterfactual, record.data)
            case "simulation":
                simulation = read(Simulation, record.data)
                if simulation and simulation.simulator == READER:
                    row(record.item).guess = simulation
                else:
                    row(record.item).simulation = simulation
            case "answer":
                row(record.item).answer = read(Answer, record.data)
            case _:
                pass
    for drop in told.drops:
        if drop.item in rows:
            rows[drop.item].drops.append(drop)
    return Case(told, spec, starter, dict(sorted(rows.items())), reader.unread)


def verdict(case: Case, rules: Rules = "repaired") -> str:
    """What came out, in one or two sentences for someone who has never heard of the method."""
    told = case.told
    score = told.score("precision", rules)
    if score is None:
        return {
            "failed": "The run stopped before there was anything to judge.",
            "cancelled": "The run was stopped before there was anything to judge.",
        }.get(told.status or "", "Not judged yet.")
    if score.value is None:
        if case.starter is None or case.starter.explanation_repaired is None:
            return "The model gave no explanation that could be read, so there is nothing to test."
        unsettled = sum(row.outcome(rules) == "cannot guess" for row in case.counted())
        if unsettled == 0:
            return (
                f"Nothing can be judged: none of the {score.of} new questions could be written, asked and read. "
                "This says nothing about the explanation."
            )
        settles = (
            f"settles none of the {unsettled} new questions that were asked"
            if unsettled > 1
            else "does not settle the one new question that was asked"
        )
        lost = sum(row.outcome(rules) == "unread" or row.failed(rules) for row in case.counted())
        if lost:
            return (
                f"The explanation {settles}; {lost} more could not be written, asked or read. "
                "That is too little to judge it by."
            )
        return (
            f"Nobody could tell from this explanation what the model would say next: it {settles}. "
            "It is neither right nor wrong; it explains nothing."
        )
    misled = sum(row.outcome(rules) == "misled" for row in case.counted())
    unread = score.n - misled - sum(row.outcome(rules) == "as expected" for row in case.counted())
    settled = f"all {score.n} questions" if score.n > 1 else "the one question"
    if misled == 0 and unread == 0:
        return f"On {settled} that its explanation settles, the model said what it led us to expect."
    if misled == score.n:
        return f"On {settled} that its explanation settles, it would have misled you."
    return f"On {misled} of {score.n} questions its own explanation would have misled you."
