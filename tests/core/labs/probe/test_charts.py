"""The Probe lab's pictures: what is drawn, and what is left out."""

import math

import pandas as pd
import pytest

from core.labs.probe import charts, pictures


def test_a_pole_does_not_flatten_the_picture() -> None:
    low, high = charts.upright([1e9 if k == 0 else 1.0 + k % 3 for k in range(-50, 50)], []) or (0.0, 0.0)
    assert low < 1 and high < 100


@pytest.mark.parametrize("many", [4, 10, 60])
@pytest.mark.parametrize("huge", [1e300, -1e300, 1.7e308])
def test_a_huge_value_that_was_seen_is_cut(many: int, huge: float) -> None:
    ends = charts.upright((), [huge, *map(float, range(many))])
    assert ends is not None and max(map(abs, ends)) < 1.2 * many


@pytest.mark.parametrize("power", [1, 2, 3, 5])
def test_powers_of_ten_are_no_outliers(power: int) -> None:
    seen = [x**power for x in (-100.0, -10.0, -1.0, 0.0, 1.0, 10.0, 100.0)]
    low, high = charts.upright((), seen) or (0.0, 0.0)
    assert all(low <= y <= high for y in seen)


def test_where_all_is_huge_the_axis_is_finite() -> None:
    ends = charts.upright((), [(-1) ** k * 1.7e308 for k in range(9)])
    assert ends is not None and all(map(math.isfinite, ends))


def found(*rows: tuple[float | None, int]) -> pd.DataFrame:
    """Cases of functions of numbers by error and calls."""
    case = {
        "run": "r", "case": "numeric-1", "title": "f", "model": "", "how": "fit", "category": "numeric",
        "difficulty": "hard", "lab": "find", "own": None, "n": 256, "of": 256, "found": 9,
        "x": [0.0, 1.0], "y": [1.0, None], "estimate": [1.0, 1e300],
    }  # fmt: skip
    return pd.DataFrame([{**case, "metric": "nmse", "value": error, "calls": calls} for error, calls in rows])


def test_errors_over_calls_are_in_powers_of_ten_and_the_sentence_counts_them() -> None:
    table = pictures.numeric_cases(found((0.0, 5), (0.01, 7), (10.0, 100), (None, 3)), "")
    figure = pictures.errors(table, "", ())
    (trace,) = figure.data
    assert (list(trace.x), list(trace.y)) == ([5, 7, 100], [-6, -2, 1])
    assert trace.customdata[0][0] == "run=r&case=numeric-1" and "1 undefined" in figure.layout.xaxis.title.text
    assert pictures.said_of_errors(table, "") == (
        "2 of 3 cases came to an NMSE below 0.1. Median calls of the function: 6 of these, 100 of the others."
    )
    nothing = pictures.numeric_cases(found((None, 3)), "")
    assert not pictures.errors(nothing, "", ()).data and "None of 1" in pictures.said_of_errors(nothing, "")


def test_truth_and_estimate_stand_in_a_picture_each_and_how_many_are_drawn_is_said() -> None:
    table = pictures.numeric_cases(found((0.5, 1), (None, 2), (0.01, 3)), "")
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
