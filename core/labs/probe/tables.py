"""The tables that a study of the Probe lab can request by name: those of Schwettmann et al. 2023."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ...rulesets import RULES
from ...score import Figure, Score, undefined
from ...statistics.intervals import bootstrap_of_mean
from ..base.declared import AlternativeReading, Metric, Table, cell, declared
from . import records, units
from .functions.base import as_number
from .tasks import BY_MODEL
from .units import UNIT
from .view import ProbeView

if TYPE_CHECKING:
    from pandas import DataFrame

CHOICES = ("evaluator", "answers")
"""Settings that belong to the method, and not to what is measured."""

METRICS = declared(__file__, "for_tables", Metric)

_OF = {"numeric": ("nmse_success",), "strings": ("exact_match", "unit_test")}


def more(view: ProbeView) -> Iterator[Figure]:
    """Yield how long a model's dialogue was and whether it made up outputs, then how the box itself does on known words
    and facts; the same by both rulesets.
    """
    if view.spec is not None and view.spec.interpreter in BY_MODEL and view.interpretation is not None:
        called = sum(bool(exchange.inputs) for exchange in view.exchanges.values())
        yield Figure("interactions", view.rules, Score(float(called), 1, 1))
        made_up = bool(view.invented())
        yield Figure("invented_outputs", view.rules, Score(float(made_up), 1, 1, hits=int(made_up)))
    if view.further:
        yield from units.agreement(view)
    if view.comparisons:
        yield from units.judged(view)
    box = view.fidelity
    if box is None:
        return
    if box.category == "relations":
        asked = box.total(inside=True)
        known = asked - box.count("no value", inside=True)
        right = box.count("right", inside=True)
        share = Score(right / known, known, asked, hits=right) if known else undefined(asked, "it gave no value")
        yield Figure("relation_accuracy", view.rules, share)
        return
    for name, side in (("entity_score_same", True), ("entity_score_random", False)):
        values = [as_number(output) for output, inside in zip(box.outputs, box.inside, strict=True) if inside is side]
        given = [value for value in values if value is not None]
        mean = sum(given) / len(given) if given else None
        yield Figure(name, view.rules, Score(mean, len(given), len(values)))


def traits(view: ProbeView) -> dict[str, str]:
    """Return the function's subcategory from its truth: noise or corruption if it has any, else whether it has several
    parts.
    """
    truth = view.truth
    if truth is None:
        return {"subcategory": "not known"}
    if truth.category not in ("numeric", "strings"):
        return {"subcategory": truth.kind}
    done = "noise" if truth.noise else "corrupted" if truth.corrupted else ""
    return {"subcategory": done or ("composed" if ";" in truth.kind else "one part")}


def otherwise(view: ProbeView) -> Iterator[AlternativeReading]:
    """Yield the figure that decides in its category, by each ruleset. For numbers, whether the error is small enough,
    because a mean of unbounded errors says nothing.
    """
    if view.spec is None:
        return
    metric = records.HEADLINE[view.spec.category]
    metric = "nmse_success" if metric == "nmse" else metric
    # The paper rules read prose only.
    for rules in RULES if view.spec.answers == "prose" else ("repaired",):
        score = view.by(rules).score(metric)
        yield AlternativeReading(metric, {"rules": rules}, score.value if score else None)


def _by_indicator(frame: DataFrame) -> DataFrame:
    """Return the rows of each category with the figures that the paper reports for it."""
    fits = [
        metric in _OF.get(category, ("unit_test",))
        for category, metric in zip(frame["category"], frame["metric"], strict=True)
    ]
    return frame[fits]


def _of_ceilings(frame: DataFrame) -> DataFrame:
    """Return the unit tests on true descriptions, also those of further evaluators."""
    chosen = frame[frame["metric"].isin(["unit_test_ceiling", "further_ceiling"]) & (frame["category"] != "numeric")]
    return chosen.assign(metric="unit_test_ceiling")


def _with_several_evaluators(frame: DataFrame) -> DataFrame:
    """Return the cases that have further evaluators, and all of them in one column."""
    if "evaluators" not in frame:
        return frame[:0]
    chosen = frame[frame["evaluators"].fillna("") != ""]
    return chosen.assign(evaluators=chosen["evaluator"] + ", " + chosen["evaluators"])


def _with_judge(frame: DataFrame) -> DataFrame:
    return (
        frame[(frame["judge"].fillna("") != "") & (frame["category"] != "numeric")] if "judge" in frame else frame[:0]
    )


def _itself(category: str) -> Callable[[DataFrame], DataFrame]:
    """Return the selection of a category's cases. A function that no language model carries out is measured against the
    word lists and facts that it was made from, which its row says.
    """

    def select(frame: DataFrame) -> DataFrame:
        chosen = frame[frame["category"] == category]
        named = (one if one == "model" else f"{one}, measured against itself" for one in chosen["backbone"])
        return chosen.assign(backbone=list(named))

    return select


def people_and_evaluators(frame: DataFrame) -> Iterator[dict[str, Any]]:
    """Yield how often people and the run's evaluator picked the right example, from the true description and from the
    interpreter's, and how far both agree: Spearman's correlation of their shares per function, for interpretations.

    Each function counts the same. Both are compared on the tests that people took. Simulated people have rows of their
    own.
    """
    frame = frame.assign(machine_right=(frame["read"] == frame["came"]).astype(float))
    for (evaluator, kind), part in frame.groupby(["machine", "simulated"], sort=False):
        people = f"people ({kind})" if kind else "people"
        machine = f"{evaluator}, on the tests of {people}" if kind else str(evaluator)
        by: dict[str, dict[str, list[float]]] = {people: {}, machine: {}}
        for name, metric in PEOPLE_PARTS.items():
            tests = part[part["part"] == name]
            for row, column in ((people, "value"), (machine, "machine_right")):
                by[row][name] = tests.groupby(["run", "case"], sort=False)[column].mean().tolist()
                mean = bootstrap_of_mean(by[row][name])
                note = f"{tests['who'].nunique()} people, {len(tests)} answers; n is functions"
                yield cell(row, metric_title(metric), tests, mean, mean.n, note)
        yield _rank_correlation(f"{people} with {evaluator}", by[people][JUDGED_PART], by[machine][JUDGED_PART])


def _rank_correlation(row: str, first: list[float], second: list[float]) -> dict[str, Any]:
    from scipy.stats import spearmanr

    about = {"row": row, "column": "Spearman, per function", "of": len(first)}
    if len(first) < _LEAST or any(max(side) - min(side) < _SAME for side in (first, second)):
        return {**about, "value": None, "n": 0, "note": "too few functions, or all have the same share"}
    found = spearmanr(first, second)
    return {**about, "value": float(found.statistic), "n": len(first), "note": f"p = {found.pvalue:.2g}"}


JUDGED_PART = "interpretation"
PEOPLE_PARTS = {"ground truth": "unit_test_ceiling", JUDGED_PART: "unit_test"}
"""The figure of each description that people read (`annotation.PARTS`)."""

_LEAST, _SAME = 3, 1e-9
"""The fewest functions of a correlation, and the difference below which two shares are the same."""


def metric_title(name: str) -> str:
    """Return the title of a figure over several cases."""
    return next(one.title_of_several for one in records.METRICS if one.name == name)


TABLES = declared(
    __file__,
    "table",
    Table,
    {
        "find_t2": {"cases": _by_indicator},
        "find_a1": {"cases": _itself("entities")},
        "find_a2": {"cases": _itself("relations")},
        "find_a3": {"cases": _of_ceilings},
        "find_appendix_f1": {"cases": _with_several_evaluators},
        "find_appendix_f4": {"cases": _with_judge},
        "find_a5": {"cases": lambda frame: frame[frame["interpreter"].isin(BY_MODEL)]},
        "find_a4": {"cases": lambda frame: frame[frame["metric"] == UNIT], "figures": people_and_evaluators},
        "find_f5": {"cases": _by_indicator},
    },
)
