"""The figures of one run's stored answers under several predictors (`core.runs.driver.new_predictions`)."""

from collections.abc import Sequence
from typing import NamedTuple

from .run_list import SEEN
from .schema import quoted_names
from .store import Store


class PredictorFigure(NamedTuple):
    """A run's figure by its predictor: `value` over `n` cases of `of`, with its interval. `passed`: whether the
    predictor passed its qualification test, None if it took none.
    """

    run: str
    predictor: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    of: int
    passed: bool | None


class PredictorRange(NamedTuple):
    """The smallest and largest of several predictors' figures, of those that did not fail their test. This is no
    confidence interval: it shows how much depends on who predicts.
    """

    low: float
    high: float
    predictors: int


def figures_by_predictor(
    store: Store, run: str, metric: str, tests: Sequence[str], viewer: str | None = None
) -> list[PredictorFigure]:
    """Return the figure `metric`, by the updated parser, of each completed run with the same stored answers as `run`,
    if `viewer` may see it: the earliest run first, and only `run` itself if nobody else predicted. `tests` are the
    tables with the results of predictors' qualification tests.
    """
    exams = " union all ".join(
        f"select run, simulator, passed from {quoted_names([table])}"  # noqa: S608  our own names
        for table in tests
    )
    rows = store.rows(
        f"""
        with recursive up as (
            select run, predicted_from as earlier, 0 as steps from runs where run = $run
            union all
            select runs.run, predicted_from, steps + 1 from up join runs on runs.run = up.earlier where steps < 20
        ), down as (
            select arg_max(run, steps) as run, 0 as steps from up
            union all
            select runs.run, down.steps + 1 from down join runs on runs.predicted_from = down.run where down.steps < 20
        ), exams as ({exams or "select '' as run, '' as simulator, true as passed where false"})
        select runs.run, coalesce(string_agg(distinct roles.model, ', ' order by roles.model), ''),
               any_value(value), any_value(low), any_value(high),
               coalesce(any_value(n), 0), coalesce(any_value("of"), 0), bool_and(passed)
        from (select distinct run from down) family join runs using (run)
             left join (select run, model from roles where role = 'simulator') roles using (run)
             left join (
                 select * from scores where "case" = '' and item = '' and rules = 'repaired' and metric = $metric
             ) scores using (run)
             left join exams on exams.run = runs.run
        where status = 'completed' and runs.run in (select run from runs where {SEEN})
        group by runs.run, runs."at" order by runs."at", runs.run
        """,  # noqa: S608  our own names
        {"run": run, "metric": metric, "viewer": viewer},
    )
    return [PredictorFigure(*row) for row in rows]


def predictor_range(found: Sequence[PredictorFigure]) -> PredictorRange | None:
    """Return the range over predictors; None with fewer than two that have the figure and did not fail their test."""
    values = [one.value for one in found if one.value is not None and one.passed is not False]
    return PredictorRange(min(values), max(values), len(values)) if len(values) > 1 else None
