"""The Probe lab's pictures: what is drawn, and what is left out."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from core.labs.find import charts, pictures


def probes(*rows: tuple[float, float | None]) -> pd.DataFrame:
    return pd.DataFrame([{"x": x, "y": y, "round": 1, "number": k} for k, (x, y) in enumerate(rows, start=1)])


def names(figure) -> list[str]:
    return [trace.name for trace in figure.data]


def test_truth_estimate_and_probes_share_one_picture() -> None:
    x = [-1.0, 0.0, 1.0]
    figure = charts.curves(
        probes((0, 1.0), (1, None)), x, [1.0, 2.0, 3.0], [1.0, None, 2.5], (0.0, None), [(-0.5, 0.5)]
    )
    assert names(figure) == ["probes", "the function", "its code"], "probes lie behind the curves"
    assert [trace.line.dash for trace in figure.data[1:]] == [None, "dash"], "distinct without colour"
    assert list(figure.data[0].x) == [0], "a call without a number is no point"
    assert "1 calls gave no number" in figure.layout.xaxis.title.text
    shaded, *dotted = figure.layout.shapes
    assert (shaded.type, shaded.x0, shaded.x1) == ("rect", 0.0, 1.0), "an open end reaches the edge"
    assert [(line.x0, line.line.dash) for line in dotted] == [(-0.5, "dot"), (0.5, "dot")]


def test_many_probes_leave_the_curves_in_view() -> None:
    def size(count: int) -> int:
        return charts.curves(probes(*((k, float(k)) for k in range(count)))).data[0].marker.size

    assert size(20) == 8 and size(200) < 5


def test_residuals_are_what_the_code_gives_less_what_the_function_gives() -> None:
    figure = charts.residuals([1.0, 2.0, 3.0, 4.0], [1.0, None, 3.0, 1e3], [1.5, 2.0, None, 1e3 - 2])
    assert list(figure.data[0].y) == [0.5, None, None, -2.0]
    low, high = figure.layout.yaxis.range
    assert low == -high and high > 2
    assert figure.layout.yaxis.title.text == "code − function"
    flat = charts.residuals([1.0, 2.0], [1.0, 2.0], [1.0, 2.0 + 1e-15])
    assert flat.layout.yaxis.range[1] >= 1e-4, "rounding does not fill the picture"
    assert charts.residuals([1.0], [0.0], [0.0]).layout.yaxis.range[1] > 0


def test_while_the_truth_is_hidden_only_probes_are_drawn() -> None:
    figure = charts.curves(probes((0, 1.0), (5, 2.0)))
    assert names(figure) == ["probes"] and not figure.layout.shapes


def test_nothing_at_all_is_an_empty_picture() -> None:
    assert names(charts.curves(probes())) == []


def test_a_pole_does_not_flatten_the_picture() -> None:
    x = [float(k) for k in range(-50, 50)]
    y = [1e9 if k == 0 else 1.0 + k % 3 for k in range(-50, 50)]
    low, high = charts.curves(probes(), x, y).layout.yaxis.range
    assert low < 1 and high < 100


def test_calls_outside_of_the_tested_range_are_listed_and_not_drawn() -> None:
    made = probes((1e9, 5.0), (-100, 1.0), (0, 2.0), (128, 3.0), (-128.5, 1e12), (7, None))
    figure = charts.curves(made, within=(-128.0, 128.0))
    assert list(figure.data[0].x) == [-100, 0, 128]
    low, high = figure.layout.xaxis.range
    assert -140 < low < -128 and 128 < high < 140, "the tested range rules"
    assert figure.layout.yaxis.range[1] < 4, "nor do they stretch the other axis"
    assert "1 calls gave no number" in figure.layout.xaxis.title.text
    left_out = charts.cut(made, within=(-128.0, 128.0))
    assert left_out.outside["x"].tolist() == [1e9, -128.5] and not len(left_out.beyond)


@pytest.mark.parametrize("many", [4, 10, 60])
@pytest.mark.parametrize("huge", [1e300, -1e300, 1.7e308])
def test_a_huge_value_within_the_range_leaves_the_axis_readable(many: int, huge: float) -> None:
    made = probes((3.5, huge), *((float(k), float(k)) for k in range(many)))
    figure, left_out = charts.curves(made), charts.cut(made)
    low, high = figure.layout.yaxis.range
    assert max(abs(low), abs(high)) < 1.2 * many and (left_out.low, left_out.high) == (low, high)
    assert left_out.beyond["y"].tolist() == [huge] and 3.5 not in figure.data[0].x
    truth = [1.0, 2.0, 3.0] * 20
    code = [1.0, 2.0, huge] * 20
    curve = charts.curves(probes(), range(60), truth, code).data[1]
    assert max(abs(y) for y in curve.y) < 100 and curve.text[2] == f"{huge:.6g}", "the value itself is still told"
    assert charts.cut(probes(), truth, code).estimate == 20
    apart = charts.residuals(range(60), truth, code)
    assert max(map(abs, apart.layout.yaxis.range)) < 100 and math.isfinite(charts.reach(truth, code))


@pytest.mark.parametrize("power", [1, 2, 3, 5])
def test_powers_of_ten_are_no_outliers(power: int) -> None:
    made = probes(*((x, x**power) for x in (-100.0, -10.0, -1.0, 0.0, 1.0, 10.0, 100.0)))
    left_out = charts.cut(made, within=(-128.0, 128.0))
    assert not len(left_out.beyond) and not len(left_out.outside)
    assert len(charts.curves(made).data[0].x) == 7


def test_where_all_is_huge_the_axis_is_finite() -> None:
    made = probes(*((float(k), (-1) ** k * 1.7e308) for k in range(9)))
    assert all(map(math.isfinite, charts.curves(made).layout.yaxis.range))


def test_bars_show_each_word_once_the_highest_first() -> None:
    words = pd.DataFrame(
        [("eagle", 0.1, 1), ("<b>stone</b>", 0.7, 2), ("eagle", 0.9, 3), ("nothing", None, 4)],
        columns=["input", "y", "number"],
    )
    bar = charts.bars(words).data[0]
    assert list(bar.y) == ["eagle", "&lt;b&gt;stone&lt;/b&gt;"] and list(bar.x) == [0.9, 0.7]
    assert len(charts.bars(words, most=1).data[0].y) == 1


def test_the_heat_map_keeps_rows_and_columns() -> None:
    heat = charts.heat_map(["birds", "ships"], [[0.9, 0.1], [None, 0.8]]).data[0]
    assert list(heat.y) == ["birds", "ships"] and heat.z[0][0] == 0.9 and (heat.zmin, heat.zmax) == (0, 1)


def found(*rows: tuple[float | None, int]) -> pd.DataFrame:
    """Cases of functions of numbers by error and calls."""
    case = {
        "run": "r", "case": "numeric-1", "title": "f", "model": "", "how": "fit", "category": "numeric",
        "difficulty": "hard", "lab": "find", "own": None, "n": 256, "of": 256, "found": 9,
        "x": [0.0, 1.0], "y": [1.0, None], "estimate": [1.0, 1e300],
    }  # fmt: skip
    return pd.DataFrame([{**case, "metric": "nmse", "value": error, "calls": calls} for error, calls in rows])


def test_errors_over_calls_are_in_powers_of_ten_and_the_sentence_counts_them() -> None:
    table = pictures.each(found((0.0, 5), (0.01, 7), (10.0, 100), (None, 3)), "")
    figure = pictures.errors(table, "", ())
    (trace,) = figure.data
    assert (list(trace.x), list(trace.y)) == ([5, 7, 100], [-6, -2, 1])
    assert trace.customdata[0][0] == "run=r&case=numeric-1" and "1 undefined" in figure.layout.xaxis.title.text
    assert pictures.said_of_errors(table, "") == (
        "2 of 3 cases came to an NMSE below 0.1. Median calls of the function: 6 of these, 100 of the others."
    )
    nothing = pictures.each(found((None, 3)), "")
    assert not pictures.errors(nothing, "", ()).data and "None of 1" in pictures.said_of_errors(nothing, "")


def test_truth_and_estimate_stand_in_a_picture_each_and_how_many_are_drawn_is_said() -> None:
    table = pictures.each(found((0.5, 1), (None, 2), (0.01, 3)), "")
    figure = pictures.curves(table, "", ())
    assert [trace.name for trace in figure.data] == ["function", "code"] * 3
    assert len({trace.xaxis for trace in figure.data}) == 3 and figure.layout.yaxis.range[1] < 10
    assert pictures.said_of_curves(table, "") == (
        "These are the 3 newest of 9 judged cases of numbers; in 1 of them the NMSE is below 0.1."
    )


def test_success_is_the_share_that_decides_in_its_category() -> None:
    rows = found((1.0, 1), (0.0, 1)).assign(metric="nmse_success", case=["numeric-1", "numeric-2"], n=1, of=1)
    (line,) = pictures.success(rows, "numeric").to_dict("records")
    assert (line["label"], line["macro"], line["items"]) == ("fit, hard", 0.5, 2)
    assert not len(pictures.success(rows, "strings"))
    assert {one.about["category"] for one in pictures.theirs("strings")} == {"strings"}
    assert {one.metric for one in pictures.theirs("strings")} == {"exact_match"}
