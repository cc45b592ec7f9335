"""What is said about a run of several questions: whether explanations beat every way to predict without them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ... import paper_figures
from ...events import Rules
from ...rulesets import RULES
from ...scene import Bar, Verdict, from_emphasis
from ...score import Figure, Score, undefined
from ...statistics.agreement import correlation_per_input
from ...transcript import RecordReader, Transcript
from ..base.declared import AlternativeReading, Metric, Table, cell, declared, of_cases
from ..base.lab import RunSummary
from . import annotation, metrics
from .baselines import CONSTANT, ORDER
from .records import GUESSES, OPPOSITE, Examined, Simulation
from .report import MEANING, REASONS, UNCOUNTED
from .tasks import CONTROL_ARMS
from .verdict import BASELINE, short
from .view import AskView

if TYPE_CHECKING:
    from pandas import DataFrame


GAIN = "gain_over_best"
"""The figure that decides whether the explanations of a run helped."""

TITLES = {**BASELINE, CONSTANT: "the best fixed guess"}
"""The names of the baselines."""


def summary(run: Transcript) -> str:
    """Summarise a run of several questions: whether explanations beat every baseline, the outcomes of the cases, and
    which predictors failed the qualification test.
    """
    if not (outcomes := run.outcomes):
        return "Not judged yet."
    counts = ", ".join(f"{times} {one}" for one, times in outcomes.most_common())
    over = run.score(GAIN, "repaired")
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
    verdict, over = Verdict(headline=from_emphasis(summary(run)), meaning=MEANING), run.score(GAIN, "repaired")
    if over is None or over.value is None or not run.outcomes.keys() - {"not judged"}:
        return verdict
    mark = "kept" if over.detail.get("helped") else "in doubt"
    return verdict.model_copy(update={"mark": mark, "bars": tuple(_bars(over.detail.get("by", {})))})


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


IN_RUNS = RunSummary(
    case_noun="question",
    reasons={**REASONS, "unparsed": UNCOUNTED["unread"], "not simulatable": UNCOUNTED["cannot guess"]},
    last_step="Measuring how varied the questions are …",
    verdict=verdict_of,
)


# The tables that a study of the Ask lab can request by name: those of Chen et al. 2023, and the gain by arm.


LAB = "simulatability"
CHOICES = ("votes", "simulator", "reasoning", "answers")
"""Settings that are part of the method, not the subject, of a measurement."""

SIMILARITIES = ("generality_bleu", "generality_cosine", "generality_jaccard")

METRICS = declared(__file__, "for_tables", Metric)


def more(view: AskView) -> Iterator[Figure]:
    """Yield accuracy, the simulatable share, and the gain over each arm of the run."""
    yield Figure("accuracy", view.rules, _accuracy(view))
    tested = view.tested()
    guessed = sum(metrics.simulatable([guess for _, guess, _ in tested], view.rules, "precision"))
    share = guessed / len(tested) if tested else None
    yield Figure("simulatable", view.rules, Score(share, len(tested), max(view.draws, len(tested)), hits=guessed))
    with_it, answers = view.in_arm("explanation")
    for arm in view.spec.control_arms if view.spec else ():
        one = metrics.gain(with_it, view.in_arm(arm)[0], answers, view.rules)
        yield Figure(f"gain_{arm}", view.rules, one.over(view.draws))


def _accuracy(view: AskView) -> Score:
    """Return whether the model's own answer is correct; if it had to defend the opposite, the answer it gave before."""
    starter = view.starter
    if starter is None or starter.gold is None:
        return undefined(1, "the right answer is not known" if starter else "there is no answer")
    answer = starter.answer[view.rules]
    own = OPPOSITE.get(answer, answer) if starter.method == "forced" else answer
    if own not in GUESSES:
        return undefined(1, "the answer could not be read")
    return Score(float(own == starter.gold), 1, 1)


def otherwise(view: AskView) -> Iterator[AlternativeReading]:
    """Yield the precision by each parser and with fewer votes (the first 1, 3, 5, … and all)."""
    rows = [row for row in view.counted_rows() if row.simulation and row.answer]
    votes = view.spec.votes if view.spec else 1
    # The original parser reads only prose.
    by = RULES if view.spec is None or view.spec.answers == "prose" else ("repaired",)
    for rules in by:
        asked = [row for row in rows if row.by(rules).is_question]
        answers = [row.answer[rules] for row in asked if row.answer]
        for number in sorted({*range(1, votes, 2), votes}):
            guesses = [_majority(view, row.item, row.simulation, rules, number) for row in asked if row.simulation]
            value = metrics.precision(guesses, answers, rules).value
            yield AlternativeReading("precision", {"rules": rules, "votes": str(number)}, value)


def _majority(view: AskView, item: str, simulation: Simulation, rules: Rules, number: int) -> str:
    votes = simulation.votes if rules == "repaired" else simulation.votes_paper
    if number >= len(votes):
        return simulation[rules]
    return metrics.majority(votes[:number], seed=f"{view.log.spec.get('seed')}|{view.log.case}|{item}")


# Selection of cases


def _by_writers(frame: DataFrame) -> DataFrame:
    """Add the column `writers`. Questions varied without seeing the explanation are listed separately, because the
    paper's generators saw it.
    """
    blind = frame["blind"].map({"True": ", blind to the explanation"}).fillna("")
    return frame[frame["method"] != "forced"].assign(writers=frame["generators"] + blind)


def _answered_right(frame: DataFrame) -> DataFrame:
    """Select the cases whose own answer is correct."""
    return of_cases(frame, frame[(frame["metric"] == "accuracy") & (frame["value"] == 1)])


def _own_answers(frame: DataFrame) -> DataFrame:
    """Select all cases except those with a forced answer."""
    return frame[frame["method"] != "forced"]


def _gains(frame: DataFrame) -> DataFrame:
    """Select the gains over the arms and over other answers."""
    return frame[frame["metric"].isin([*(f"gain_{arm}" for arm in CONTROL_ARMS), "gain_words", "gain_other_model"])]


def correlations(frame: DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the correlation of precision with each generality over the explanations of one question (model and method),
    averaged over questions: one cell per data set, generality and kind of correlation.
    """
    for dataset, part in frame.groupby("dataset", sort=False):
        wide = part.pivot_table("value", ["item", "model", "method"], "metric", dropna=False)
        of = int(part["item"].nunique())
        for name in SIMILARITIES:
            if name not in wide or "precision" not in wide:
                continue
            pairs = wide[["precision", name]].astype(object).where(wide[["precision", name]].notna(), None)
            for kind in ("pearson", "spearman"):
                one = correlation_per_input(
                    list(wide.index.get_level_values("item")), list(pairs["precision"]), list(pairs[name]), kind
                )
                printed = paper_figures.published(LAB, f"precision_{name}", dataset=str(dataset))
                source = f"{printed[0].source}, which does not say which correlation" if printed else None
                column = f"{name.removeprefix('generality_')}, {kind}"
                yield {
                    **cell(str(dataset), column, part, one, of, one.how.partition(";")[0]),
                    **{"published": printed[0].value if printed else None, "source": source},
                    **{"reading": paper_figures.address(LAB, source) if source else None},
                }


TABLES = declared(
    __file__,
    "table",
    Table,
    {
        "chen_t1": {"cases": _by_writers},
        "chen_t2": {"cases": _answered_right},
        "chen_t3": {"cases": annotation.guessed, "figures": annotation.with_simulatability},
        "chen_t4": {"cases": _own_answers},
        "chen_t5": {"cases": _own_answers, "figures": correlations},
        "chen_t6": {"cases": _own_answers},
        "chen_plausibility": {"cases": annotation.judged, "figures": annotation.correlations},
        "gain_by_arm": {"cases": _gains},
        "other_models": {"cases": lambda frame: frame[frame["metric"] == "gain_other_model"]},
    },
)
