"""One explanation with all that happened to it, as its events tell. Page, command line and tests look at this."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from core.events import Dropped, Rules
from core.lab import RULES, Reading, Trial
from core.labs.simulatability import metrics
from core.labs.simulatability.counterfactuals import draws_of
from core.labs.simulatability.metrics import precision
from core.labs.simulatability.records import (
    Answer,
    ArmSimulation,
    Counterfactual,
    Examined,
    Explanation,
    OtherExplanation,
    Simulation,
)
from core.labs.simulatability.tasks import CONTROL_ARMS, Arm, AskSpec
from core.runs.transcript import CaseLog, Reader
from core.score import Figure, Score, mean_of_cases

Outcome = Literal["as expected", "misled", "cannot guess", "unread", "dropped", "waiting"]

SIMILARITIES: tuple[Literal["bleu", "jaccard", "cosine"], ...] = ("bleu", "jaccard", "cosine")
"""In this order: the encoder takes seconds to load, and the other figures need not wait for it."""


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
    controls: dict[str, ArmSimulation] = field(default_factory=dict)
    """The simulations without the explanation, by arm."""

    @property
    def by_hand(self) -> bool:
        """Whether a person wrote the counterfactual."""
        return self.counterfactual is not None and self.counterfactual.origin == "hand"

    def dropped(self, rules: Rules) -> Dropped | None:
        """Why the row does not count under `rules`, if so. Having been added by hand explains itself."""
        reasons = [drop for drop in self.drops if drop.rules in (None, rules) and drop.reason != "added by hand"]
        return reasons[0] if reasons else None

    def is_question(self, rules: Rules) -> bool:
        """Whether `rules` take the counterfactual for a question of its own."""
        reworded = any(drop.reason == "reworded" and drop.rules in (None, rules) for drop in self.drops)
        return self.counterfactual is not None and getattr(self.counterfactual, rules) and not reworded

    def counts(self, rules: Rules) -> bool:
        """Whether precision rests on it."""
        return not self.by_hand and self.outcome(rules) in ("as expected", "misled")

    def reading(self, rules: Rules) -> Reading:
        """The row as a trial, by one set of rules."""
        drop = self.dropped(rules)
        return Reading(
            expected=getattr(self.simulation, rules) if self.simulation else None,
            observed=getattr(self.answer, rules) if self.answer else None,
            outcome=self.outcome(rules),
            counts=self.counts(rules),
            reason="added by hand" if self.by_hand else drop.reason if drop else "",
        )

    def failed(self, rules: Rules) -> bool:
        """Whether the row was lost to a failed call or to text that could not be read; a repeat was not lost."""
        drop = self.dropped(rules)
        return self.outcome(rules) == "dropped" and drop is not None and drop.reason in ("error", "unparsed")

    def outcome(self, rules: Rules) -> Outcome:
        """Under paper rules an answer that could not be read is a mismatch, as `precision` counts it."""
        if self.counterfactual and not self.is_question(rules):
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
class AskView:
    """`spec` is None where the journal does not hold it in a form that can be read.

    `unread` counts what could not be read, spec and findings: it is left out.
    """

    log: CaseLog
    spec: AskSpec | None
    starter: Explanation | None
    rows: dict[str, Row]
    unread: int = 0
    other: OtherExplanation | None = None
    """The explanation of another question that the arm `swapped` shows."""
    exam: Examined | None = None
    """What the simulator had got in the exam, as far as that was known."""

    @property
    def title(self) -> str:
        """The starter question or its post; before it is on record, the specification's; empty without either."""
        if self.starter:
            return self.starter.question or self.starter.context
        asked = (self.spec.question or self.spec.context) if self.spec else ""
        # Of a data set the specification names no question.
        return asked or next((str(begun.get("title", "")) for begun in self.log.of("begun").values()), "")

    @property
    def rules(self) -> Rules:
        """Whose rules the run follows: what these read is what generator and simulator were shown."""
        return self.spec.rules if self.spec else "repaired"

    @property
    def explanation(self) -> str | None:
        """The explanation as the run's rules read it; None until one is on record."""
        return self.starter.explanation(self.rules) if self.starter else None

    @property
    def trials(self) -> dict[str, Trial]:
        """One trial per counterfactual, by its item, with what either rules read."""
        return {
            row.item: Trial(
                about=row.counterfactual.text if row.counterfactual else "",
                paper=row.reading("paper"),
                repaired=row.reading("repaired"),
                calls=tuple(row.calls),
            )
            for row in self.rows.values()
        }

    def outcome(self, rules: Rules) -> str:
        """kept (all came true), misled (some did not), not settled, unread, failed, waiting; or no explanation."""
        outcomes = {row.outcome(rules) for row in self.counted()}
        stopped = self.starter is None and self.log.status == "failed"
        if stopped or any(drop.reason == "error" and not drop.item for drop in self.log.drops):
            return "failed"
        if self.starter is not None and self.explanation is None:
            return "no explanation"
        if "waiting" in outcomes or self.starter is None:
            return "waiting"
        if "misled" in outcomes:
            return "misled"
        if "as expected" in outcomes:
            return "kept"
        return "not settled" if "cannot guess" in outcomes else "unread"

    def counted(self) -> list[Row]:
        """The rows that the figures are about: all draws, none added by hand."""
        return [row for row in self.rows.values() if not row.by_hand]

    def drawn(self) -> int:
        """How many counterfactuals were drawn, or meant to be where there was no explanation to draw them from."""
        if self.spec is not None and self.starter is not None and self.explanation is None:
            return len(self.spec.given or draws_of(self.spec))
        return len(self.counted())

    def differing(self) -> list[Row]:
        """The rows whose outcome depends on which rules read the raw answers."""
        return [row for row in self.rows.values() if row.outcome("paper") != row.outcome("repaired")]

    def tested(self, rules: Rules) -> list[tuple[str, str, str]]:
        """Text, expectation and answer of each row that was tested and that `rules` can read as a question."""
        return [
            (row.counterfactual.text, getattr(row.simulation, rules), getattr(row.answer, rules))
            for row in self.counted()
            if row.counterfactual and row.simulation and row.answer and row.is_question(rules)
        ]

    def in_arm(self, arm: Arm, rules: Rules) -> tuple[list[str | None], list[str]]:
        """What was expected in one arm, None where nothing was, and the answers: of the rows that `tested` has."""
        rows = [row for row in self.counted() if row.is_question(rules) and row.simulation and row.answer]
        expected = [row.simulation if arm == "explanation" else row.controls.get(arm) for row in rows]
        return [getattr(one, rules, None) for one in expected], [getattr(row.answer, rules) for row in rows]

    def reader_precision(self) -> Score:
        """The reader's own precision, over the same rows as the simulator's: those they guessed and it answered."""
        both = [row for row in self.counted() if row.guess and row.answer and row.outcome("repaired") != "dropped"]
        return precision(
            [row.guess.repaired for row in both if row.guess],
            [row.answer.repaired for row in both if row.answer],
            rules="repaired",
        )

    def to_guess(self, active: bool) -> list[Row]:
        """The rows that a reader guesses before the answers show; of a run that is over those that were answered."""
        asked = (row for row in self.counted() if row.counterfactual and row.outcome("repaired") != "dropped")
        return [row for row in asked if active or row.answer]

    def against_reader(self) -> tuple[Score, Score]:
        """The precision of reader and predictor over the same rows: those that count and that both would predict."""
        both = [
            row for row in self.counted() if row.counts("repaired") and row.guess and row.guess.repaired != "unknown"
        ]
        answers = [row.answer.repaired for row in both if row.answer]
        mine = precision([row.guess.repaired for row in both if row.guess], answers, rules="repaired")
        theirs = precision([row.simulation.repaired for row in both if row.simulation], answers, rules="repaired")
        return mine, theirs


def view(log: CaseLog) -> AskView:
    """The case that a log of this lab holds. Never raises: what a damaged journal lacks is missing from it."""
    reader = Reader()
    read = reader.read
    spec = log.spec_as(AskSpec)
    starter = reader.one_of(Explanation, log)
    rows: dict[str, Row] = {}

    def row(item: str) -> Row:
        return rows.setdefault(item, Row(item))

    for name, call in log.calls.items():
        if call.asked.role in ("generator", "simulator", "answerer"):
            row(call.asked.trial or call.asked.item).calls.append(name)
    for item, counterfactual in reader.all_of(Counterfactual, log).items():
        row(item).counterfactual = counterfactual
    for item, simulation in reader.all_of(Simulation, log).items():
        row(item).simulation = simulation
    for item, simulation in reader.all_of(ArmSimulation, log).items():
        row(item.partition("/")[0]).controls[simulation.arm] = simulation
    for item, answer in reader.all_of(Answer, log).items():
        row(item).answer = answer
    for (_, item), guess in log.said("simulation").items():
        row(item).guess = read(Simulation, guess)
    for drop in log.drops:
        if drop.item in rows:
            rows[drop.item].drops.append(drop)
    other, exam = reader.one_of(OtherExplanation, log), reader.one_of(Examined, log)
    return AskView(log, spec, starter, dict(sorted(rows.items())), reader.unread + (spec is None), other, exam)


def constant_guess(case: AskView, rules: Rules) -> Score:
    """What the best fixed answer would have got of the case's counterfactuals that count."""
    tested = case.tested(rules)
    score = metrics.constant_guess([guess for _, guess, _ in tested], [answer for *_, answer in tested], rules)
    return score.over(case.drawn())


def gain(case: AskView, rules: Rules) -> Score:
    """How much more of the case's counterfactuals came true with the explanation than without (arm `none`)."""
    with_it, answers = case.in_arm("explanation", rules)
    without, _ = case.in_arm("none", rules)
    return metrics.gain(with_it, without, answers, rules).over(case.drawn())


def scores(views: Sequence[AskView]) -> Iterator[Figure]:
    """Precision and generality under both rules; of several explanations the means over those that have one.

    `of` counts every draw of an explanation, also those that were dropped.
    """

    def figure(name: str, rules: Rules, of_one: Callable[[AskView], Score]) -> Figure:
        return Figure(name, rules, mean_of_cases([of_one(one) for one in views]))

    def precision_in(rules: Rules, arm: Arm) -> Callable[[AskView], Score]:
        def of_one(one: AskView) -> Score:
            guesses, answers = one.in_arm(arm, rules)
            return precision(guesses, answers, rules=rules).over(one.drawn())

        return of_one

    def generality_of(rules: Rules, similarity: metrics.Similarity) -> Callable[[AskView], Score]:
        def of_one(one: AskView) -> Score:
            tested = one.tested(rules)
            counted = metrics.simulatable([guess for _, guess, _ in tested], rules, "generality")
            texts = [text for (text, *_), yes in zip(tested, counted, strict=True) if yes]
            return metrics.generality(texts, similarity=similarity, rules=rules).over(one.drawn())

        return of_one

    arms = [arm for arm in CONTROL_ARMS if any(one.spec and arm in one.spec.arms for one in views)]
    for rules in RULES:
        yield figure("precision", rules, precision_in(rules, "explanation"))
    for rules in RULES:
        for arm in arms:
            yield figure(f"precision_{arm}", rules, precision_in(rules, arm))
        if "none" in arms:
            added = metrics.mean_gain([gain(one, rules) for one in views])
            yield Figure("simulatability_gain", rules, added)
            yield Figure("simulatability_gain_normalised", rules, metrics.normalised(added))
        # Runs of before there were arms have no such figure, and going on with one adds nothing to it.
        if any(one.spec and "arms" in one.spec.model_fields_set for one in views):
            yield figure("constant_guess", rules, partial(constant_guess, rules=rules))
    # How different questions are that were written from another explanation says nothing of this one.
    for similarity in () if any(one.spec and one.spec.given for one in views) else SIMILARITIES:
        for rules in RULES:
            yield figure(f"generality_{similarity}", rules, generality_of(rules, similarity))


def verdict(case: AskView, rules: Rules = "repaired") -> str:
    """What came out, in one or two sentences for someone who has never heard of the method."""
    state = case.outcome(rules)
    if state in ("waiting", "failed"):
        if state == "failed" or case.log.status == "failed":
            return "The run stopped before there was anything to judge."
        if case.log.status == "cancelled":
            return "The run was stopped before there was anything to judge."
        return "Not judged yet."
    score = next(figure.score for figure in scores([case]) if figure[:2] == ("precision", rules))
    if score.value is None:
        if case.explanation is None:
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
    if misled == 0:
        came = f"All {score.n} predictions came true" if score.n > 1 else "The one prediction came true"
        return f"{came}: the model said what its explanation led us to expect."
    if misled == score.n:
        came = f"None of {score.n} predictions came true" if score.n > 1 else "The one prediction did not come true"
        return f"{came}: its own explanation would have misled you."
    other = f"the other {misled}" if misled > 1 else "the other"
    came = f"{score.n - misled} of {score.n} predictions came true"
    return f"{came}: on {other} its own explanation would have misled you."


def doubt(case: AskView) -> str:
    """That who predicted failed the exam, where that is known and there is something to judge; else empty."""
    if case.exam is None or case.exam.passed or case.outcome("repaired") in ("waiting", "failed"):
        return ""
    who = case.exam.simulator.rpartition("/")[2]
    return f"{who} predicts these: it passed {case.exam.right} of {case.exam.of} in the exam."


def controls(case: AskView, rules: Rules = "repaired") -> list[str]:
    """What would have come out without the explanation, and what always guessing the same would have got."""
    tested = case.tested(rules)
    own = precision([guess for _, guess, _ in tested], [answer for *_, answer in tested], rules=rules)
    if case.outcome(rules) in ("waiting", "failed") or own.value is None:
        return []
    sentences = []
    if case.spec and "none" in case.spec.arms:
        more = gain(case, rules)
        if more.value is None:
            sentences.append("Without the explanation nothing could be predicted, so there is nothing to compare with.")
        else:
            without = f"{more.detail['hits_without']} of {more.n} would have"
            if more.n != own.n:
                without = (
                    f"{more.detail['hits_without']} of the {more.n} that could be predicted without it too would have, "
                    f"with it {more.detail['hits']}"
                )
            sentences.append(f"Without the explanation {without}: {_helped(more)}.")
    constant = constant_guess(case, rules)
    if metrics.shows_nothing(own.value, constant.value):
        guess = _SAID.get(constant.detail["guess"], constant.detail["guess"])
        sentences.append(f"Always guessing *{guess}* would have got {constant.hits} of {own.n}: this shows nothing.")
    return sentences


def against_reader(case: AskView) -> str:
    """The reader and the predictor over the same questions, in a sentence; empty where nobody guessed."""
    guessed = [row for row in case.to_guess(active=False) if row.guess]
    if not guessed:
        return ""
    mine, theirs = case.against_reader()
    left = len(guessed) - mine.n
    if not mine.n:
        return "There is no question that both you and the predictor would predict."
    sentence = f"You {mine.hits} of {mine.n}, the predictor {theirs.hits} of {theirs.n}."
    if left:
        one = "1 question is" if left == 1 else f"{left} questions are"
        sentence += f" Only what both of you would predict, and what could be read, is compared: {one} left out."
    return sentence


_SAID = {"1": "response 1", "2": "response 2"}


def _helped(more: Score) -> str:
    surely = more.detail["p"] < 0.05
    if not more.value:
        return "it did not help"
    if more.value < 0:
        return "it made them worse" if surely else "it did not help"
    return "it helped" if surely else "it may have helped, but so few may be chance"
