"""Every figure declares its range of values, and no interval in any table leaves that range."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from core import entry, home, journal
from core.charts import forest
from core.entry import LABS
from core.labs.base.declared import Metric
from core.labs.base.lab import Lab
from core.rulesets import RULES
from core.score import Score, mean_of_cases
from core.statistics.groups import group_statistics
from core.store.filters import Filter
from core.store.listing import Selection
from core.store.store import Store
from core.studies.table_cells import cells
from core.transcript import transcript

METRICS = [(lab, metric) for lab in LABS for metric in (*lab.metrics, *lab.studies.for_tables)]
SLIGHTLY = 1e-9


def is_in_range(metric: Metric, value: float | None, low: float | None, high: float | None) -> bool:
    bottom, top = metric.ends
    ends = [end for end in (value, low, high) if end is not None and end == end]
    return all(bottom - SLIGHTLY <= end <= top + SLIGHTLY for end in ends) and (
        low is None or high is None or low != low or low - SLIGHTLY <= (value or 0) <= high + SLIGHTLY
    )


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("lab", "metric"), METRICS, ids=[f"{lab.name}-{metric.name}" for lab, metric in METRICS])
def test_means_of_a_figure_stay_within_what_it_declares(lab: Lab, metric: Metric) -> None:
    bottom, top = (max(-50.0, min(50.0, end)) for end in metric.ends)

    @settings(max_examples=8, database=None)
    @given(some.lists(some.floats(bottom, top), min_size=1, max_size=12))
    def hold(values: list[float]) -> None:
        frame = pd.DataFrame({"item": range(len(values)), "value": values, "model": "m"})
        (row,) = group_statistics(frame, ["model"], kind=metric.kind, ends=metric.ends).itertuples()
        assert is_in_range(metric, row.macro, row.low, row.high), (row.macro, row.low, row.high)
        mean = mean_of_cases([Score(value, 1, 1) for value in values], metric.kind, metric.ends)
        assert is_in_range(metric, mean.value, mean.low, mean.high)

    hold()


@cache
def recordings() -> tuple[tuple[Lab, Path], ...]:
    paths = sorted(home.recordings().glob("*.jsonl"))
    return tuple((entry.labs()[begun.lab], path) for path in paths if (begun := journal.first_event(path)) is not None)


def scored(lab: Lab, path: Path) -> Iterator[tuple[str, str, str, Score]]:
    """Yield every figure of a recording, of each case ('' for the run) by either parser: the published one, the one
    computed now, and those that its lab adds for studies.
    """
    run = transcript(journal.read(path).events)
    views = {case: lab.view(run.case(case)) for case in run.cases}
    for place, held in run.places.items():
        for one in held.scores.values():
            yield place, one.metric, one.rules, Score(one.value, one.n, one.of, one.low, one.high)
    for one in lab.scores(list(views.values())):
        yield "", one.metric, one.rules, one.score  # type: ignore[attr-defined]
    for case, view in views.items():
        for rules in RULES:
            for one in (*lab.scores([view]), *lab.studies.extra_figures(view.by(rules))):
                yield case, one.metric, one.rules, one.score  # type: ignore[attr-defined]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("lab", "path"), recordings(), ids=[path.stem.split("-", 2)[2] for _, path in recordings()])
def test_no_figure_of_a_recording_leaves_its_range(lab: Lab, path: Path) -> None:
    found = list(scored(lab, path))
    assert {metric for _, metric, *_ in found} <= {metric.name for at, metric in METRICS if at is lab}
    for place, name, rules, score in found:
        assert is_in_range(lab.metric(name), score.value, score.low, score.high), (place, name, rules, score)
    rows = pd.DataFrame(
        {"run": path.stem, "case": case, "item": case, "metric": name, "value": score.value, "n": score.n,
         "of": max(score.of, score.n), "rules": rules, "truth": None, "complete": True, "early": False,
         "applies": True}
        for case, name, rules, score in found if case
    )  # fmt: skip
    for name, some_rows in rows.groupby("metric"):
        metric = lab.metric(str(name))
        for cell in cells(some_rows, ["rules"], [], "all", metric):
            assert is_in_range(metric, cell["value"], cell["low"], cell["high"]), (name, cell)


def test_no_table_of_a_picture_leaves_the_range_of_its_figures(recorded: Path) -> None:
    seen = 0
    with Store(recorded / "store.duckdb", entry.labs()) as store:
        for lab in LABS:
            for picture in lab.listing.pictures:
                ends = [lab.metric(name).ends for name in picture.of.metrics]
                frame = Selection(store, Filter(recordings=True)).of_cases(lab.name, picture.of)
                for table in (picture.table(frame, choice) for choice in picture.choices if len(frame)):
                    bounds = [name for name in table if str(name).endswith(("low", "high")) and name != "link"]
                    values = table[bounds].astype(float).stack().dropna()
                    seen += len(values)
                    if "macro" in table and "95 % interval is" in picture.caption:
                        assert all(how.split()[0].title() in picture.caption for how in table["how"] if "over" in how)
                    # Nothing is sampled again: no interval of a picture is a bootstrap interval.
                    assert "again" not in picture.caption
                    assert values.between(min(e[0] for e in ends) - SLIGHTLY, max(e[1] for e in ends) + SLIGHTLY).all()
    assert seen > 20


def test_an_axis_has_the_range_of_its_kind() -> None:
    rows = pd.DataFrame({"model": "m", "item": range(12), "value": 0.2, "n": 1, "of": 1})
    table = forest.lines(rows, ["model"], lambda row: "m", kind="difference")
    for kind, ends in (("share", (0, 1)), ("difference", (-1, 1))):
        low, high = forest.forest(table, "x", "things", kind=kind).layout.xaxis.range  # type: ignore[arg-type]
        assert low < ends[0] < ends[1] < high and high - low < 1.2 * (ends[1] - ends[0])
