"""What is said about a run of several questions: whether explanations beat every way to predict without them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ...scene import Bar, Verdict, from_emphasis
from ...transcript import RecordReader, Transcript
from ..base.lab import RunSummary
from .baselines import CONSTANT, ORDER
from .records import Examined
from .report import MEANING
from .verdict import BASELINE, short

TITLES = {**BASELINE, CONSTANT: "the best fixed guess"}
"""The names of the baselines."""


def _outcomes(run: Transcript) -> Counter[str]:
    return Counter(str(one.result["outcome_repaired"]) for one in run.cases.values() if one.result)


def summary(run: Transcript) -> str:
    """Summarise a run of several questions: whether explanations beat every baseline, the outcomes of the cases, and
    which predictors failed the qualification test.
    """
    if not (outcomes := _outcomes(run)):
        return "Not judged yet."
    counts = ", ".join(f"{times} {one}" for one, times in outcomes.most_common())
    over = run.score("gain_over_best", "repaired")
    of = f"Of {outcomes.total()} questions: {counts}.{_failed(run)}"
    if over is None or over.value is None or "by" not in over.detail or "not judged" in outcomes:
        return of
    best = TITLES.get(str(over.detail["baseline"]), "")
    if over.detail.get("helped"):
        return (
            f"The explanations helped: predictions came true more often than by {best}, which does best without. {of}"
        )
    if over.value <= 0:
        return f"{best[0].upper()}{best[1:]} predicts as well: the explanations told us nothing. {of}"
    return f"Not shown to be better than {best}. {of}"


def _failed(run: Transcript) -> str:
    """Return a sentence that lists the predictors that failed the qualification test, or an empty string."""
    exams = RecordReader().all_of(Examined, run.case("")).values()
    who = [f"{short(one.simulator)} ({one.right} of {one.of})" for one in exams if not one.passed]
    return f" Failed the qualification test, so its predictions don't count: {', '.join(who)}." if who else ""


def verdict_of(run: Transcript) -> Verdict:
    """Return the run's summary and, if its predictions count, the bars that decide."""
    over = run.score("gain_over_best", "repaired")
    if over is None or over.value is None or not _outcomes(run).keys() - {"not judged"}:
        return Verdict(headline=from_emphasis(summary(run)), meaning=MEANING)
    return Verdict(
        headline=from_emphasis(summary(run)),
        mark="kept" if over.detail.get("helped") else "in doubt",
        bars=tuple(_bars(over.detail.get("by", {}))),
        meaning=MEANING,
    )


def _bars(by: Mapping[str, Mapping[str, Any]]) -> Iterator[Bar]:
    """Yield bars over all new questions of the run: the predictions that came true, then each baseline over the
    questions that it shares with the explanations.
    """
    if not by:
        return
    most = max(by.values(), key=lambda one: int(one["n"]))
    yield Bar(label="with their reasons", hits=most["own"], n=most["n"], own=True)
    for name in ORDER:
        if one := by.get(name):
            label = TITLES[name].removeprefix("the ").replace("another question's", "other")
            # In a run of one question nothing is averaged.
            gain = one.get("gain", one["own"] - one["hits"])
            yield Bar(label=label, hits=one["hits"], n=one["n"], wins=gain <= 0)


IN_RUNS = RunSummary(case_noun="question", last_step="Measuring how varied the questions are …", verdict=verdict_of)
