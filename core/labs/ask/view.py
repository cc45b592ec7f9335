"""One explanation and everything that happened to it, built from its events. Pages, the command line and tests all read
this view.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Literal, Self

from ...events import Dropped, Rules
from ...models.ids import is_control
from ...parsers import fields
from ...rulesets import RULES
from ...runs.engine import PRIOR
from ...score import Figure, Score, mean_of_cases, undefined
from ...statistics.intervals import interval_of_items
from ...text.embed import AUTO
from ...transcript import CaseLog, RecordReader, name_of
from ..base.declared import Metric, declared, words_of
from ..base.report import Reading, Trial, View
from . import baselines, controls, metrics, records
from .baselines import Against, Misses
from .metrics import precision
from .tasks import CONTROL_ARMS, Arm, AskSpec, draws_of

METRICS = {metric.name: metric for metric in declared(__file__, "metric", Metric)}

Outcome = Literal["as expected", "misled", "misled all", "cannot guess", "unread", "dropped", "waiting", "answered"]
"""*misled all*: several predictors expected the same, and it did not come true. *answered*: visitors predict, and this
one has not.
"""

METHODS: Mapping[str, str] = words_of(__file__, "methods")
"""Names of the methods."""

WORDS = {
    **{f"{method}, its reasoning": f"{words} (its thinking)" for method, words in METHODS.items()},
    "misled all": "misled all predictors",
    "answered": "not predicted",
    "unknown": "cannot guess",
    "neither": "unreadable",
    "slips": "may be the predictor's slips",
}
"""Names of values and outcomes."""

YES_OR_NO = {"yes": "Yes", "no": "No", records.UNKNOWN: "Cannot tell"}
OF_TWO = {"1": "Response 1", "2": "Response 2", records.UNKNOWN: "Cannot tell"}
"""Names of the values that can be expected of a new question."""

SAYS_NOT = "It does not say"
"""The option for a player if the explanation does not cover the question."""

MISLED: tuple[Outcome, ...] = ("misled", "misled all")
COUNTED: tuple[Outcome, ...] = ("as expected", *MISLED)
"""The outcomes that precision counts."""


EXCLUDING = (fields.REASON, "thinking not shown")
"""Reasons for which a whole case is excluded."""


def value_words(value: str) -> str:
    """Return the name of a value."""
    return {"1": "response 1", "2": "response 2", **WORDS}.get(value, value)


def is_reader(simulator: str) -> bool:
    """Whether the predictor is not a model but a person who predicted without seeing the answers."""
    return simulator.startswith("reader/")


SIMILARITIES: tuple[Literal["bleu", "jaccard", "cosine"], ...] = ("bleu", "jaccard", "cosine")
"""In this order because the encoder takes seconds to load and the other figures need not wait for it."""


@dataclass
class CounterfactualRow:
    """One draw, as one parser read it: the counterfactual, the expected answer, the actual answer, and why it does not
    count.
    """

    item: str
    rules: Rules = field(default="repaired", kw_only=True)
    counterfactual: records.Counterfactual | None = None
    simulation: records.Simulation | None = None
    guess: records.Simulation | None = None
    answer: records.Answer | None = None
    drops: list[Dropped] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    controls: dict[str, records.ArmSimulation] = field(default_factory=dict)
    """The simulations without the explanation, by arm."""
    further: list[records.FurtherSimulation] = field(default_factory=list)
    """The expectations of further predictors, if these may judge."""
    excluded: Dropped | None = None
    """Why the updated parser excludes the whole case, if it does."""
    writer_is_other: bool = False
    """Whether a model other than the explained one wrote the counterfactual."""
    unjudged: str = ""
    """Why no prediction of the case is a verdict; empty if they are."""
    by_person: bool = False
    """Whether visitors predict; then `simulation` is the visitor's own guess, if there is one."""

    def by(self, rules: Rules) -> CounterfactualRow:
        """Return the same draw as that parser read it."""
        return self if rules == self.rules else replace(self, rules=rules)

    @property
    def read(self) -> records.Simulation | None:
        """The reader's guess, if it was made with the explanation visible."""
        return self.guess if self.guess and not self.guess.without else None

    @property
    def by_hand(self) -> bool:
        """Whether a person wrote the counterfactual."""
        return self.counterfactual is not None and self.counterfactual.origin == "hand"

    @property
    def text(self) -> str:
        """The new question; an empty string if there is none."""
        return self.counterfactual.text if self.counterfactual else ""

    @property
    def expected(self) -> str:
        """The prediction, as this parser read it; an empty string if there is none."""
        return self.simulation[self.rules] if self.simulation else ""

    @property
    def said(self) -> str:
        """The model's answer, as this parser read it; an empty string if there is none."""
        return self.answer[self.rules] if self.answer else ""

    @property
    def predictions(self) -> list[records.Simulation]:
        """What was expected from the explanation, by each predictor; the first one's decides."""
        return [one for one in (self.simulation, *self.further) if one is not None]

    @property
    def _drops(self) -> list[Dropped]:
        """Why the case or the row does not count for this parser."""
        return [drop for drop in (self.excluded, *self.drops) if drop and drop.rules in (None, self.rules)]

    @property
    def dropped(self) -> Dropped | None:
        """Why the row does not count for this parser, or None. "Added by hand" is not reported here."""
        return next((drop for drop in self._drops if drop.reason != "added by hand"), None)

    @property
    def is_question(self) -> bool:
        """Whether this parser accepts the counterfactual as a separate question."""
        is_lost = any(drop.reason in ("reworded", *EXCLUDING) for drop in self._drops)
        return self.counterfactual is not None and self.counterfactual[self.rules] and not is_lost

    @property
    def counts(self) -> bool:
        """Whether precision counts the row."""
        return not self.by_hand and self.outcome in COUNTED

    @property
    def doubt(self) -> str:
        """Why the prediction may be based on something other than the explanation, using only what was recorded
        before the answer was seen; an empty string if it is not in doubt. A row without a guess makes no prediction.
        """
        one = self.simulation
        if one is None or self.expected not in records.GUESSES:
            return ""
        if one.made_up:
            return f"the predictor relied on “{', '.join(one.made_up)}”, which the explanation never mentions"
        guess = self.counterfactual.foretold if self.counterfactual and self.writer_is_other else ""
        if guess not in ("", self.expected):
            return f"the question's writer predicted {guess}"
        differ = any(other[self.rules] != self.expected for other in self.further)
        return "the predictors differ" if differ and not self.unjudged else ""

    def reading_by(self, rules: Rules) -> Reading:
        """Return the row as that parser's reading of a trial."""
        return self.by(rules).reading

    @property
    def reading(self) -> Reading:
        """The row as the reading of a trial."""
        drop, outcome, counts = self.dropped, self.outcome, self.counts
        return Reading(
            expected=self.expected or None,
            observed=self.said or None,
            outcome=outcome,
            counts=counts,
            doubt=(self.unjudged or self.doubt) if counts and self.rules == "repaired" else "",
            reason="added by hand" if self.by_hand else drop.reason if drop else "",
        )

    @property
    def failed(self) -> bool:
        """Whether the row was lost to a failed call or unreadable text. Repeats do not count as lost."""
        drop = self.dropped
        lost = ("error", "unparsed", fields.REASON)
        return self.outcome == "dropped" and drop is not None and drop.reason in lost

    @property
    def outcome(self) -> Outcome:
        """The outcome of the row. For the original parser an unreadable answer is a mismatch, as in
        `precision`.
        """
        if self.counterfactual and not self.is_question:
            return "dropped"
        if (drop := self.dropped) is not None and drop.reason == fields.REASON:
            return "dropped"
        if self.simulation and self.answer:
            if self.expected == "unknown":
                return "cannot guess"
            if self.expected == "neither" or (self.said == "neither" and self.rules == "repaired"):
                return "unread"
            if self.expected == self.said:
                return "as expected"
            return "misled all" if self.further and not self.unjudged and not self.doubt else "misled"
        if self.answer and self.by_person:
            return "unread" if self.said == "neither" else "answered"
        return "dropped" if self.dropped else "waiting"


@dataclass
class AskView(View):
    """A case. `spec` is None if the journal contains no readable specification.

    `unread` counts the unreadable records, including the specification; they are left out.
    """

    spec: AskSpec | None
    starter: records.Explanation | None
    rows: dict[str, CounterfactualRow]
    other: records.OtherExplanation | None = None
    """The explanation of another question, which the arm `swapped` shows."""
    exam: records.Examined | None = None
    """The simulator's qualification test result, if known."""
    exams: dict[str, records.Examined] = field(default_factory=dict)
    """The test results of all predictors, including the first, by id."""

    @classmethod
    def of(cls, log: CaseLog) -> Self:
        """Build the view of a case from its log. Never raises: whatever is missing or damaged in the journal is missing
        in the view.
        """
        reader = RecordReader()
        rows: dict[str, CounterfactualRow] = {}

        def row(item: str) -> CounterfactualRow:
            return rows.setdefault(item, CounterfactualRow(item))

        for name, call in log.calls.items():
            if call.asked.role in ("generator", "simulator", "answerer"):
                row(call.asked.trial or call.asked.item).calls.append(name)
        for kind in (records.Counterfactual, records.Simulation, records.Answer):
            for item, record in reader.all_of(kind, log).items():
                setattr(row(item), name_of(kind), record)
        for item, control in reader.all_of(records.ArmSimulation, log).items():
            row(item.partition("/")[0]).controls[control.arm] = control
        for (_, item), guess in log.annotations("simulation").items():
            row(item).guess = reader.read(records.Simulation, guess)
        for drop in log.drops:
            if drop.item in rows:
                rows[drop.item].drops.append(drop)
        further = [
            (row(item.partition("/")[0]), one) for item, one in reader.all_of(records.FurtherSimulation, log).items()
        ]
        spec, exams = log.spec_as(AskSpec), reader.all_of(records.Examined, log)
        case = cls(
            log,
            spec,
            starter=reader.one_of(records.Explanation, log),
            rows=dict(sorted(rows.items())),
            other=reader.one_of(records.OtherExplanation, log),
            exam=exams.get(PRIOR),
            exams={one.simulator: one for one in exams.values()},
            unread=reader.unread + (spec is None),
        )
        for place, simulation in further:
            if not case.predictor_disqualified(simulation.simulator, case.exams.get(simulation.simulator)):
                place.further.append(simulation)
        for one in rows.values():
            one.unjudged, one.excluded = case.no_verdict_reason, case.excluded
            if case.is_by_person:
                one.by_person, one.simulation = True, one.read
            writer = one.counterfactual.generator if one.counterfactual else None
            one.writer_is_other = writer is not None and spec is not None and writer != spec.model
        return case

    @cached_property
    def _other(self) -> Self:
        other = super()._other
        return replace(other, rows={item: row.by(other.rules) for item, row in self.rows.items()})

    @property
    def title(self) -> str:
        """The starter question or post. Before it is recorded it is taken from the specification, or from the start of
        the case; an empty string if nobody names it.
        """
        if self.starter:
            return self.starter.question or self.starter.context
        asked = (self.spec.question or self.spec.context) if self.spec else ""
        # For a data set the specification names no question.
        return asked or super().title

    @property
    def is_given(self) -> bool:
        """Whether the explanation was given, so that it is not the model's own."""
        return self.spec is not None and self.spec.is_given

    @property
    def run_rules(self) -> Rules:
        """The parser of the run, whose results generator and simulator see."""
        return self.spec.rules if self.spec else "repaired"

    @property
    def explanation(self) -> str | None:
        """The explanation as the run's parser reads it; None until it is recorded."""
        return self.starter.explanation[self.run_rules] if self.starter else None

    @property
    def trials(self) -> dict[str, Trial]:
        """One trial per counterfactual, by item, with the readings of both parsers."""
        return {item: Trial.from_reading(row.text, row.reading_by, *row.calls) for item, row in self.rows.items()}

    @property
    def is_by_person(self) -> bool:
        """Whether no model predicts, only visitors do."""
        return self.spec is not None and self.spec.is_by_person

    @property
    def is_examinable(self) -> bool:
        """Whether there is a qualification test for predictors: only for yes-or-no questions."""
        return self.spec is None or self.spec.task == "strategyqa"

    @property
    def excluded(self) -> Dropped | None:
        """Why the whole case is excluded: its first answer was cut off (only for the updated parser), or its thinking
        is not shown. None if it is not excluded.
        """
        return next((drop for drop in self.log.drops if not drop.item and drop.reason in EXCLUDING), None)

    @property
    def no_verdict_reason(self) -> str:
        """Why the predictions are no verdict: the predictor failed the qualification test or has not taken it."""
        return self.predictor_disqualified(self.spec.simulator if self.spec else "", self.exam)

    def predictor_disqualified(self, who: str, exam: records.Examined | None) -> str:
        """Return why a predictor's predictions do not count, given its qualification test result; an empty string if
        they do.
        """
        if not self.is_examinable or (exam is not None and exam.passed):
            return ""
        if exam is not None:
            return "the predictor failed the qualification test"
        # Robots read claims by their rules, and tests ensure that each passes. A human reader is not tested.
        return "" if is_reader(who) or is_control(who) else "the predictor has not taken the qualification test"

    def unfit_further(self) -> list[str]:
        """Return the further predictors whose predictions do not count."""
        named = self.spec.further_simulators if self.spec else ()
        return [who for who in named if self.predictor_disqualified(who, self.exams.get(who))]

    def arms(self) -> dict[str, list[str | None]]:
        """Return the expectations in each control arm that has any, for the rows of `answered`."""
        found = {arm: self.in_arm(arm)[0] for arm in CONTROL_ARMS}
        return {arm: guesses for arm, guesses in found.items() if any(guess is not None for guess in guesses)}

    @cached_property
    def comparisons(self) -> list[Against]:
        """The explanation compared with each baseline."""
        return self.compared_with_baselines()

    def compared_with_baselines(self, doubtful: bool = True, constant: str = "") -> list[Against]:
        """Compare the explanation with each baseline. If `doubtful` is False, predictions in doubt count as not having
        come true. `constant` is the fixed answer, if the run's other cases have a majority.
        """
        expected, answers = self.in_arm("explanation")
        missed = [] if doubtful else [bool(row.doubt) for row in self.answered()]
        return baselines.compared(expected, self.arms(), answers, self.rules, missed, constant)

    @cached_property
    def outcome(self) -> str:
        """The outcome. *answered* if visitors predict. Without predictions: failed, waiting, cut, thinking not
        shown, no explanation, not settled or unread. With predictions: *not judged*; *helped* (every baseline is
        beaten); *misled* (more predictions failed than the predictor's own error explains); *in doubt*; *told nothing*
        (a baseline does as well); *slips* (some predictions failed); *not shown* or *too few*. For the original parser,
        which has no baselines: *kept* if all came true, else *misled*.
        """
        outcomes = {row.outcome for row in self.counted_rows()}
        if self.lost_to is not None or (self.starter is None and self.log.status == "failed"):
            return "failed"
        if (excluded := self.excluded) is not None and excluded.rules in (None, self.rules):
            return excluded.reason
        if self.starter is not None and self.explanation is None:
            return "no explanation"
        if "waiting" in outcomes or self.starter is None:
            return "waiting"
        if self.is_by_person and outcomes & {"answered", "cannot guess", *COUNTED}:
            return "answered"
        if not self.judged:
            return "not settled" if "cannot guess" in outcomes else "unread"
        if self.rules == "paper":
            return "kept" if not self.misled() else "misled"
        return self.outcome_word

    @cached_property
    def judged(self) -> list[CounterfactualRow]:
        """The rows that precision counts: those with a prediction that came true or did not."""
        return [row for row in self.rows.values() if row.counts]

    def misled(self) -> list[CounterfactualRow]:
        """Return the rows whose prediction counts and did not come true."""
        return [row for row in self.judged if row.outcome in MISLED]

    def is_shared(self, row: CounterfactualRow) -> bool:
        """Whether a prediction did not come true that an arm without the explanation made too."""
        if self.spec is None or controls.goes_by_wording(self.spec.simulator) or row.outcome not in MISLED:
            return False
        return any(one[self.rules] == row.expected for one in row.controls.values())

    def misses(self, doubtful: bool = False) -> Misses:
        """Compare the predictions that did not come true with what the predictor's own error explains. Predictions in
        doubt are left out unless `doubtful`, and so are those that an arm got wrong in the same way.
        """
        own = [row for row in self.judged if (doubtful or not row.doubt) and not self.is_shared(row)]
        missed = sum(row.outcome in MISLED for row in own)
        return Misses(missed, len(own), controls.limit(self.spec.simulator if self.spec else "", self.exam))

    @cached_property
    def outcome_word(self) -> str:
        """What the predictions show about the explanation, in a word as in `outcome`. Requires that some
        predictions count.
        """
        if self.no_verdict_reason:
            return "not judged"
        found = self.comparisons
        if baselines.helped(self.compared_with_baselines(doubtful=False)):
            return "helped"
        if self.misses().are_too_many:
            return "misled"
        misled = self.misled()
        firm = any(not row.doubt for row in misled)
        if baselines.helped(found) or (misled and not firm) or self.misses(doubtful=True).are_too_many:
            return "in doubt"
        if not misled and not self.arms() and baselines.strongest(found).gain > 0:
            return "too few"
        if baselines.strongest(found).gain <= 0 and found[0].n >= baselines.FEWEST:
            return "told nothing"
        if misled:
            return "slips"
        return "too few" if baselines.decisive(found).discordant < baselines.FEWEST else "not shown"

    def counted_rows(self) -> list[CounterfactualRow]:
        """Return the rows that enter the figures: all except those added by hand."""
        return [row for row in self.rows.values() if not row.by_hand]

    @property
    def draws(self) -> int:
        """The number of counterfactuals drawn or, if there was no explanation to draw them from, planned."""
        is_lost = self.explanation is None and (self.starter is not None or self.excluded is not None)
        if self.spec is not None and is_lost:
            return len(self.spec.given or draws_of(self.spec))
        return len(self.counted_rows())

    def tested(self) -> list[tuple[str, str, str]]:
        """Return text, expectation and answer of each row of `answered`."""
        return [(row.text, row.expected, row.said) for row in self.answered()]

    def answered_questions(self) -> baselines.AnsweredQuestions:
        """Return what baselines that read other answers need to know of the case."""
        return baselines.AnsweredQuestions(self.title, tuple(self.tested()), self.draws)

    def answered(self) -> list[CounterfactualRow]:
        """Return the rows that were tested and that this parser reads as a question."""
        return [row for row in self.counted_rows() if row.is_question and row.simulation and row.answer]

    def in_arm(self, arm: Arm) -> tuple[list[str | None], list[str]]:
        """Return the expectations in one arm (None if missing) and the answers, for the rows of `answered`."""
        rows = self.answered()
        expected = [row.simulation if arm == "explanation" else row.controls.get(arm) for row in rows]
        return [one[self.rules] if one else None for one in expected], [row.said for row in rows]

    @property
    def mine(self) -> Score:
        """The reader's own precision, over the rows that they guessed with the explanation visible and that were
        answered.
        """
        asked = [row for row in self.counted_rows() if row.answer and row.outcome != "dropped"]
        return _came_true((row.read, row.answer) for row in asked)

    def to_guess(self, active: bool) -> list[CounterfactualRow]:
        """Return the rows for a reader to guess before the answers are shown; in a run that is over, only those that
        were answered.
        """
        asked = (row for row in self.counted_rows() if row.counterfactual and row.outcome != "dropped")
        return [row for row in asked if active or row.answer]

    def against_reader(self) -> tuple[Score, Score]:
        """Return the precision of reader and predictor over the same rows: those that count and that both would
        predict.
        """
        both = [row for row in self.judged if row.read and row.read.repaired != "unknown"]
        mine = _came_true((row.read, row.answer) for row in both)
        return mine, _came_true((row.simulation, row.answer) for row in both)


def _came_true(pairs: Iterable[tuple[records.Simulation | None, records.Answer | None]]) -> Score:
    """Return how many of the guesses came true, by the updated parser; pairs that lack one of the two are left out."""
    known = [(guess.repaired, answer.repaired) for guess, answer in pairs if guess and answer]
    return precision([guess for guess, _ in known], [answer for _, answer in known], rules="repaired")


def constant_guess(case: AskView) -> Score:
    """Return the score of one fixed answer on the counterfactuals that count."""
    tested = case.tested()
    score = metrics.constant_guess([guess for _, guess, _ in tested], [answer for *_, answer in tested], case.rules)
    return score.over(case.draws)


def same_guess(views: Sequence[AskView]) -> Score:
    """Return the score of always guessing the same: for one case `constant_guess`; for several, the better of the two
    fixed answers over all their questions. It is the mean over the cases that have a figure, weighted equally, with
    the interval of means over items; never below one half, which a coin toss gets.
    """
    if len(views) == 1:
        return constant_guess(views[0])
    tested = ([(guess, answer) for _, guess, answer in one.tested() if guess in records.GUESSES] for one in views)
    read = ([answer for _, answer in one if answer in records.GUESSES or views[0].rules == "paper"] for one in tested)
    cases = [answers for answers in read if answers]
    if not cases:
        return undefined(len(views), "it is defined in none of the cases")
    shares = {guess: [one.count(guess) / len(one) for one in cases] for guess in sorted(records.GUESSES)}
    guess = max(shares, key=lambda guess: sum(shares[guess]))
    mean = interval_of_items(shares[guess])
    value, high = (max(0.5, end or 0.0) for end in (mean.value, mean.high))
    detail = {"guess": guess, "mean_of": "cases", "trials": sum(map(len, cases)), "interval": mean.how}
    return Score(value, len(cases), len(views), mean.low, high, detail=detail)


def constants(views: Sequence[AskView]) -> list[str]:
    """Return for each case the most frequent answer to the predicted questions of the other cases; an empty string if
    there is none.
    """
    counts = [
        Counter(answer for _, guess, answer in one.tested() if guess in records.GUESSES and answer in records.GUESSES)
        for one in views
    ]
    total = sum(counts, Counter[str]())
    others = [(total - one).most_common(2) for one in counts]
    return [most[0][0] if most and (len(most) == 1 or most[0][1] > most[1][1]) else "" for most in others]


def made_predictable(case: AskView) -> Score:
    """Return how many predictions only the explanation made possible, and how many of these came true."""
    expected, answers = case.in_arm("explanation")
    return baselines.made_predictable(expected, case.arms(), answers, case.rules)


def gain(case: AskView) -> Score:
    """Return how much more often predictions came true with the explanation than without it (arm `none`)."""
    with_it, answers = case.in_arm("explanation")
    without, _ = case.in_arm("none")
    return metrics.gain(with_it, without, answers, case.rules).over(case.draws)


def precision_in(arm: Arm, case: AskView) -> Score:
    """Return how often predictions in an arm came true."""
    guesses, answers = case.in_arm(arm)
    return precision(guesses, answers, rules=case.rules).over(case.draws)


def generality_of(similarity: metrics.Similarity, case: AskView) -> Score:
    """Return how different the questions are that the explanation covers."""
    tested = case.tested()
    counted = metrics.simulatable([guess for _, guess, _ in tested], case.rules, "generality")
    texts = [text for (text, *_), yes in zip(tested, counted, strict=True) if yes]
    encoder = case.spec.encoder if case.spec else AUTO
    return metrics.generality(texts, similarity, case.rules, encoder).over(case.draws)


def by_words(views: Sequence[AskView], rules: Rules) -> Iterator[Figure]:
    """Yield how often the answers to the most similar other questions came true, and the gain over them."""
    asked = [one.answered_questions() for one in views]
    guesses = baselines.nearest_answers(asked)
    pairs = [baselines.scores(one, some, rules) for one, some in zip(asked, guesses, strict=True)]
    yield Figure("precision_words", rules, mean_of_cases([one for one, _ in pairs]))
    yield Figure("gain_words", rules, metrics.mean_gain([one for _, one in pairs]))


@fields.none_by_paper
def scores(views: Sequence[AskView]) -> Iterator[Figure]:
    """Yield precision and generality by both parsers; for several explanations the means over those that have one.

    `of` counts every draw of an explanation, including dropped ones.
    """

    def figure(name: str, rules: Rules, of_one: Callable[[AskView], Score]) -> Figure:
        metric, found = METRICS[name], [of_one(one) for one in by[rules]]
        return Figure(name, rules, mean_of_cases(found, metric.kind, metric.ends))

    by = {rules: [one.by(rules) for one in views] for rules in RULES}
    arms = [arm for arm in CONTROL_ARMS if any(one.spec and arm in one.spec.arms for one in views)]
    for rules in RULES:
        yield figure("precision", rules, partial(precision_in, "explanation"))
    for rules, some in by.items():
        for arm in arms:
            yield figure(f"precision_{arm}", rules, partial(precision_in, arm))
        if "none" in arms:
            added = metrics.mean_gain([gain(one) for one in some])
            yield Figure("simulatability_gain", rules, added)
            yield Figure("simulatability_gain_normalised", rules, metrics.normalised(added))
        if arms:
            over = [
                baselines.over_best(one.compared_with_baselines(constant=most), one.draws)
                for one, most in zip(some, constants(some), strict=True)
            ]
            yield Figure("gain_over_best", rules, baselines.over_cases(over))
            yield figure("made_predictable", rules, made_predictable)
        yield Figure("constant_guess", rules, same_guess(some))
    if len(views) > 1:
        for rules, some in by.items():
            yield from by_words(some, rules)
    # The diversity of questions written from another explanation says nothing about this one.
    for similarity in () if any(one.spec and one.spec.given for one in views) else SIMILARITIES:
        for rules in RULES:
            yield figure(f"generality_{similarity}", rules, partial(generality_of, similarity))
