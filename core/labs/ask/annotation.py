"""What people annotate in runs of Ask: what the model will answer to a new question, and whether its explanation is
plausible; and how their judgements compare with the automatic figures.
Chen et al. 2023, sections 4.4 and 5.2.2, figures 3 and 5.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import wraps
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

from ...events import Rules
from ...runs.annotation_sets import SIMULATED
from ...score import Score
from ...statistics.agreement import correlation_per_input
from ...statistics.intervals import Interval
from ..base import declared
from .metrics import kappa
from .qualification import judge, needed, questions
from .records import GUESSES, UNKNOWN, Counterfactual, Explanation
from .tasks import Task
from .view import AskView

if TYPE_CHECKING:
    from pandas import DataFrame


# Human judgements of the same explanations, compared with the automatic figures: Chen et al. 2023, Table 3, section
# 5.2.2.


PLAUSIBLE = "plausibility"
"""What people judge about a case as a whole."""

_TITLES = {metric.name: metric.title for metric in declared.declared(__file__, "for_tables", declared.Metric)}

KINDS: tuple[Literal["pearson", "spearman"], ...] = ("pearson", "spearman")
_PEOPLE = "people"
_READABLE = (*GUESSES, "unknown")


Cells = Iterator[dict[str, Any]]


def apart(figures: Callable[[DataFrame], Cells]) -> Callable[[DataFrame], Cells]:
    """Make `figures` count simulated people apart from people, in rows whose names say so."""

    @wraps(figures)
    def counted(frame: DataFrame) -> Cells:
        kinds = frame["simulated"].fillna("") if "simulated" in frame else None
        for kind in ("", SIMULATED):
            part = frame[kinds == kind] if kinds is not None else frame[:0] if kind else frame
            if len(part):
                for one in figures(part):
                    yield {**one, "row": f"{one['row']} ({kind})"} if kind else one

    return counted


def guessed(frame: DataFrame) -> DataFrame:
    """Select people's readable guesses on questions with a readable guess of the simulator; add the column `simulates`
    with the simulator's id.
    """
    if "read" not in frame:
        return frame[:0]
    chosen = frame[(frame["metric"] == declared.GUESS) & frame["word"].isin(_READABLE) & frame["read"].isin(_READABLE)]
    return chosen.assign(simulates=chosen["simulator"].where(chosen["simulator"] != "", chosen["model"]))


@apart
def with_simulatability(frame: DataFrame) -> Iterator[dict[str, Any]]:
    """Yield `agreement`, then for each explained model how often people's guesses from its explanations came true, and
    how often the simulator's did, on the same new questions.
    """
    yield from agreement(frame)
    settled = frame[frame["came"].isin(GUESSES)]
    for model, part in settled.groupby("model", sort=False):
        row, of = f"explained: {model}", len(part.drop_duplicates(["run", "case", "trial", "who"]))
        both = part[part["word"].isin(GUESSES) & part["read"].isin(GUESSES)]
        for column, name in (("word", "human"), ("read", "machine")):
            each = [(own[column] == own["came"]).mean() for _, own in both.groupby("who")]
            value = float(sum(each) / len(each)) if each else None
            people = part["who"].nunique()
            over = "one person" if people == 1 else f"mean over {people} people"
            note = f"{over}; where both predict{_exams(part)}"
            yield declared.cell(row, _TITLES[f"{name}_simulatability"], part, Score(value, len(both), of), of, note)


def _exams(frame: DataFrame) -> str:
    """Return the end of a cell's note: how many people took and passed the qualification test."""
    right = {one.id: one.right for one in questions()}
    sat = {who: json.loads(said) for who, said in zip(frame["who"], frame["exam"], strict=True) if said != "{}"}
    results = [judge([(one[id], right[id]) for id in right if id in one], len(right)) for one in sat.values()]
    whole = [one for one in results if one.value is not None]
    passed = sum(bool(one.detail["passed"]) for one in whole)
    each = ", ".join(f"{one.detail['right']} of {one.of}" for one in whole[:_MOST_NAMED])
    return (
        f"; {passed} of {len(whole)} passed the qualification test ({each})"
        if whole
        else "; nobody took the qualification test"
    )


_MOST_NAMED = 10
"""Maximum number of test results that a note lists."""


def agreement(frame: DataFrame) -> Iterator[dict[str, Any]]:
    """Yield Cohen's kappa over the new questions that both guessed: each simulator with people (mean over people), and
    people with one another (mean over pairs). *Unknown* counts as a guess, as it did for the paper's annotators.
    """
    places = ["run", "case", "trial"]
    of = len(frame.drop_duplicates(places))
    for simulator, part in frame.groupby("simulates", sort=False):
        found = [kappa(list(own["word"]), list(own["read"])) for _, own in part.groupby("who")]
        over = "one person" if len(found) == 1 else f"mean over {len(found)} people"
        yield _mean(found, str(simulator), part, over, len(part.drop_duplicates(places)), of)
    wide = frame.drop_duplicates([*places, "who"]).pivot(index=places, columns="who", values="word").astype(object)
    shared = int((wide.notna().sum(axis=1) > 1).sum())
    wide = wide.where(wide.notna(), None)
    pairs = [kappa(list(wide[one]), list(wide[other])) for one, other in combinations(wide.columns, 2)]
    over = f"mean over {len(pairs)} pairs of people" if len(pairs) > 1 else "two people" if pairs else "it takes two"
    yield _mean(pairs, _PEOPLE, frame, over, shared, of)


def _mean(found: Sequence[Score], row: str, part: DataFrame, over: str, n: int, of: int) -> dict[str, Any]:
    """Return a cell with the mean of kappas, over `n` of `of` new questions."""
    values = [one.value for one in found if one.value is not None]
    undefined = f"; {len(found) - len(values)} undefined" if len(values) < len(found) else ""
    mean = Score(sum(values) / len(values) if values else None, n, of)
    return declared.cell(row, _TITLES["kappa"], part, mean, of, f"{over}{undefined}; items are new questions")


def judged(frame: DataFrame) -> DataFrame:
    """Return people's verdicts on how plausible an explanation is, with the precision of its case in the column
    `precision`.
    """
    if "who" not in frame:
        return frame[:0]
    places = ["run", "case"]
    precision = frame[frame["metric"] == "precision"][[*places, "value"]].rename(columns={"value": "precision"})
    verdicts = frame[(frame["metric"] == f"{declared.VERDICT}{PLAUSIBLE}") & (frame["trial"] == "")]
    return verdicts.merge(precision, on=places)


@apart
def correlations(frame: DataFrame) -> Iterator[dict[str, Any]]:
    """Yield correlations over the explanations of one question, averaged over questions, by Pearson and by Spearman:
    precision with how plausible people find the explanation (the mean over people, from 0 to 1), and people's verdicts
    with each other, pair by pair. Ratings in annotation sets, given before any outcome was visible, are apart from
    verdicts given in Browse beside it.
    """
    blind = frame["blind"].fillna(False).astype(bool) if "blind" in frame else None
    parts = {BLIND: frame[blind], "all systems": frame[~blind]} if blind is not None else {"all systems": frame}
    for row, part in parts.items():
        if len(part):
            for one in _correlated(part):
                yield {**one, "row": row}


BLIND = "all systems, rated before any outcome was visible"


def _correlated(frame: DataFrame) -> Cells:
    places = ["item", "run", "case"]
    wide = frame.pivot_table("value", places, "who")
    precision = frame.drop_duplicates(places).set_index(places)["precision"].reindex(wide.index)
    items, pairs = list(wide.index.get_level_values("item")), list(combinations(wide.columns, 2))
    for kind in KINDS:
        found = correlation_per_input(items, list(precision), list(wide.mean(axis=1)), kind)
        yield _cell(kind, "precision_plausibility", found, items, frame)
        # Each pair's correlation on a question is one entry. The entries share people and questions, so there is no
        # interval.
        inputs = [f"{one}, {other}: {item}" for one, other in pairs for item in items]
        first = [value for one, _ in pairs for value in wide[one]]
        second = [value for _, other in pairs for value in wide[other]]
        both = correlation_per_input(inputs, first, second, kind)
        yield _cell(kind, "plausibility_agreement", both._replace(low=None, high=None), inputs, frame)


def _cell(kind: str, metric: str, found: Interval, inputs: Sequence[Hashable], frame: DataFrame) -> dict[str, Any]:
    column, note = f"{kind} · {_TITLES[metric]}", found.how.partition(";")[0]
    return declared.cell("all systems", column, frame, found, len({*inputs}), note)


_COUNTED = ("", "not simulatable")
"""Why a trial that does not count may have been predicted all the same: "cannot be predicted" is a prediction too."""


Shown = tuple[tuple[str, str], ...]


def _shown(question: str, explanation: str, answer: str, follow_up: str) -> Shown:
    pairs = (
        *(("Starter question", question), ("The robot's explanation", explanation)),
        *(("The robot's answer", answer), ("Follow-up question", follow_up)),
    )
    return tuple((label, text) for label, text in pairs if text)


class PredictTask(declared.AnnotationTask):
    """What will the model answer to a new question, going by its explanation?"""

    name = "predict"
    metric = declared.GUESS
    of: Task = "strategyqa"
    """The task of the runs that it is about."""

    def questions(self, view: AskView) -> Iterator[declared.AnnotationQuestion]:
        starter = view.starter
        if starter is None or view.explanation is None or view.spec is None or view.spec.task != self.of:
            return
        for item, row in view.rows.items():
            if row.counterfactual is None or row.by_hand or row.reading.reason not in _COUNTED or row.answer is None:
                continue
            answer = starter.answer[view.run_rules]
            shown = self.shown(starter, view.explanation, answer if answer in GUESSES else "", row.counterfactual)
            yield declared.AnnotationQuestion(key=f"{view.log.case} {item}", shown=shown, trial=item)

    def shown(self, starter: Explanation, explanation: str, answer: str, asked: Counterfactual) -> Shown:
        """Return what a page shows, as pairs of a label and a text."""
        return _shown(starter.question, explanation, answer, asked.text)

    def compared(self, view: AskView, trial: str, rules: Rules) -> declared.ReferenceAnswers | None:
        row = view.by(rules).rows.get(trial)
        if row is None or row.reading.reason not in _COUNTED:
            return None
        who = row.simulation.simulator if row.simulation else ""
        return declared.ReferenceAnswers(row.reading.expected, row.reading.observed, who)

    def careful(self, view: AskView, trial: str) -> str:
        """A careful person reads the explanation as the run's predictor did."""
        row = view.rows.get(trial)
        read = row.simulation.repaired if row and row.simulation else ""
        return read if read in GUESSES else UNKNOWN

    def test(self) -> Sequence[declared.QualificationQuestion]:
        # As in the paper there is none for preferences.
        return [
            declared.QualificationQuestion(
                one.id, _shown(one.question, one.said, one.answer, one.counterfactual), one.right
            )
            for one in (questions() if self.of == "strategyqa" else ())
        ]

    def needed(self) -> int:
        return needed(len(self.test()))


class PreferenceTask(PredictTask):
    """Which response will the model prefer, going by its explanation? Figure 4."""

    name = "predict-preference"
    of: Task = "shp"

    def shown(self, starter: Explanation, explanation: str, answer: str, asked: Counterfactual) -> Shown:
        pairs = (
            *(("Starter post", starter.context), ("Response 1 to it", starter.response_1)),
            *(("Response 2 to it", starter.response_2), ("The robot's explanation", explanation)),
            ("The robot's choice", f"Response {answer}" if answer else ""),
            *(("Follow-up post", asked.context), ("Response 1", asked.response_1), ("Response 2", asked.response_2)),
        )
        return tuple((label, text) for label, text in pairs if text)


class PlausibilityTask(declared.AnnotationTask):
    """Does each explanation of one question justify the correct answer?"""

    name = "plausibility"
    metric = f"{declared.VERDICT}{PLAUSIBLE}"

    def questions(self, view: AskView) -> Iterator[declared.AnnotationQuestion]:
        starter = view.starter
        if starter is None or not starter.gold or not view.explanation or not starter.question:
            return
        key = " ".join(starter.question.split()).casefold()
        shown = (("Question", starter.question), ("Correct answer", starter.gold))
        yield declared.AnnotationQuestion(key=key, shown=shown, text=view.explanation)

    def careful(self, view: AskView, trial: str) -> str:
        """A careful person accepts an explanation if it argues for the correct answer."""
        starter = view.starter
        return "yes" if starter and starter.answer[view.run_rules] == starter.gold else "no"


TASKS = PredictTask(), PreferenceTask(), PlausibilityTask()
