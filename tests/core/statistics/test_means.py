"""The one interval of a mean over items: how often it holds the truth, and that it is the same wherever it stands."""

from statistics import fmean

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as some

from benchmarks.coverage import DIFFERENCES, KINDS, SHARES, differences, drawn, exact, held, of_pairs, ours
from core.score import Score, mean_of_cases
from core.statistics.comparisons import compare_pairs
from core.statistics.groups import group_statistics
from core.statistics.intervals import difference_of_pairs, interval_of_items, interval_of_trials, wilson


@pytest.mark.parametrize("n", [5, 10, 20, 50])
def test_it_holds_the_truth_as_often_as_it_says(n: int) -> None:
    """Exactly for items that are 0 or 1, drawn for means of several trials; more often than 95 % is no failure."""
    for trials, rho in KINDS:
        covered = [
            exact(share, n, ours).covered
            if trials == 1
            else held(drawn(share, n, trials, rho, 600, seed=3), share, ours).covered
            for share in SHARES
        ]
        assert fmean(covered) >= 0.94 and min(covered) >= 0.90, (trials, rho, covered)


@pytest.mark.parametrize("n", [5, 10, 20, 50])
def test_differences_hold_the_truth_as_often(n: int) -> None:
    for trials in (1, 4):
        covered = [
            held(differences(one, n, trials, 400, seed=3), one[0] - one[1], of_pairs).covered for one in DIFFERENCES
        ]
        assert fmean(covered) >= 0.94 and min(covered) >= 0.90, (trials, covered)


def test_of_zeros_and_ones_it_is_wilsons_and_of_what_is_alike_it_has_a_width() -> None:
    for hits, n in ((0, 1), (1, 1), (3, 8), (0, 7), (40, 40), (19, 60)):
        found = interval_of_items([1.0] * hits + [0.0] * (n - hits))
        assert found[:4] == pytest.approx((hits / n, *wilson(hits / n, n), n))
    alike = interval_of_items([0.75] * 10)
    assert wilson(0.75, 10)[0] < alike.low < 0.75 < alike.high < wilson(0.75, 10)[1], "narrower than of zeros and ones"
    assert interval_of_items([0.0] * 10, "difference")[:3] == pytest.approx(difference_of_pairs(0, 0, 10))
    assert interval_of_items([1.0] * 6 + [-1.0] * 2 + [0.0] * 5, "difference")[:3] == pytest.approx(
        difference_of_pairs(6, 2, 13)
    )


def test_of_many_items_it_is_the_t_interval() -> None:
    from scipy.stats import sem, t

    values = np.random.default_rng(2).beta(4, 2, 4_000)
    plain = t.interval(0.95, len(values) - 1, values.mean(), sem(values))
    assert interval_of_items(values.tolist())[1:3] == pytest.approx(plain, abs=2e-4)
    assert interval_of_items(values.tolist(), "difference")[1:3] == pytest.approx(plain, abs=4e-4)
    assert interval_of_items(values.tolist(), "any")[1:3] == pytest.approx(plain)


def test_what_has_no_end_has_no_interval_without_spread() -> None:
    assert interval_of_items([]) == (None, None, None, 0, "there is nothing to take the mean of")
    assert interval_of_items([7.0], "any")[:4] == (7.0, None, None, 1)
    assert interval_of_items([7.0, 7.0], "any") == (
        7,
        None,
        None,
        2,
        "all items have the same value: they show no spread",
    )
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="not finite"):
            interval_of_items([value], "any")


def test_a_value_outside_the_range_leaves_a_mean_without_an_interval() -> None:
    """Only a damaged journal holds one; before, it turned a share into any number."""
    found = interval_of_items([1.5, 0.5, 0.4], "share")
    assert found[:4] == (pytest.approx(0.8), None, None, 3) and found.how.endswith("range of this figure, 0 to 1")
    assert interval_of_items([0.2, -0.1, 3], "positive").low is None
    # A figure that may go a little beyond its kind, as generality by cosine does, keeps an interval.
    wider = interval_of_items([1.25, 0.5, 0.4], "share", (0.0, 2.0))
    assert wider.how == "t over items" and wider.low == 0.0 < 0.7 < wider.high < 2.0


def test_an_error_has_an_interval_of_errors_even_where_all_lie_between_0_and_1() -> None:
    """Seconds read "0.29 (-0.28 to 0.87)": their kind was guessed from their values."""
    from scipy.stats import t

    values = [0.1, 0.1, 0.95]
    mean, low, high, *_ = interval_of_items(values, "positive")
    reach = t.interval(0.95, 2, fmean(values), np.std(values, ddof=1) / 3**0.5)
    assert reach[0] < 0 == low and high == pytest.approx(reach[1]) and high > 1 and mean == pytest.approx(fmean(values))


@given(some.lists(some.floats(0, 1), min_size=1, max_size=40))
def test_it_holds_the_mean_lies_within_the_ends_and_mirrors(values: list[float]) -> None:
    found = interval_of_items(values)
    assert found.value is not None and found.low is not None and found.high is not None
    assert 0 <= found.low <= found.value <= found.high <= 1
    n = len(values)
    low, high = wilson(found.value, n)
    assert low - 1e-9 <= found.low and found.high <= high + 1e-9, "never wider than of zeros and ones"
    mirrored = interval_of_items([1 - value for value in values])
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - found.high, 1 - found.low), abs=1e-6)
    _, low, high, *_ = interval_of_items(values, "difference")
    assert low is not None and high is not None and -1 <= low <= found.value <= high <= 1


def test_trials_of_one_item_are_one_thing() -> None:
    items = ["a"] * 3 + ["b"] * 3 + ["c"] * 3
    even = interval_of_trials([1, 1, 0, 1, 0, 0, 1, 1, 1], items)
    assert even == interval_of_items([2 / 3, 1 / 3, 1])
    copied = interval_of_trials([1, 1, 0, 1, 0, 0, 1, 1, 1] * 10, items * 10)
    assert copied[:4] == pytest.approx(even[:4]), "copies narrow nothing"
    uneven = interval_of_trials([1, 1, 1, 1, 0], ["a"] * 4 + ["b"])
    assert (uneven.value, uneven.n) == (0.8, 2)
    # Their mean is that of the trials: 0.8 + 0.2 · 4 / 2.5 and 0.8 - 0.8 · 1 / 2.5.
    assert uneven.low == pytest.approx(interval_of_items([0.8] * 2)[1], abs=0.2) and uneven.low < wilson(0.8, 5)[0]
    assert interval_of_trials([], []).value is None
    with pytest.raises(ValueError):
        interval_of_trials([1.0], [])


def test_a_figure_has_the_same_interval_on_a_run_in_a_table_and_beside_zero() -> None:
    values = [0.75, 0.5, 1.0, 0.75, 0.75, 0.25, 1.0]
    on_a_run = mean_of_cases([Score(value, 4, 4) for value in values])
    frame = pd.DataFrame({"m": "x", "item": range(7), "value": values, "n": 4, "of": 4})
    (in_a_study,) = group_statistics(frame, ["m"]).itertuples()
    assert (on_a_run.value, on_a_run.low, on_a_run.high) == (in_a_study.macro, in_a_study.low, in_a_study.high)
    trials = [hit for value in values for hit in [1.0] * round(4 * value) + [0.0] * round(4 - 4 * value)]
    of_trials = interval_of_trials(trials, [item for item in range(7) for _ in range(4)])
    assert of_trials[:3] == (on_a_run.value, on_a_run.low, on_a_run.high)


@pytest.mark.parametrize("n", [1, 5, 6, 7, 20, 51])
def test_errors_have_a_median_with_limits_that_are_two_of_them(n: int) -> None:
    from scipy.stats import quantile_test

    values = np.random.default_rng(n).lognormal(sigma=2, size=n).tolist()
    found = interval_of_items(values, "error")
    assert found.value == np.median(values) and found.n == n
    if n < 6:
        assert found.low is found.high is None and "so few items" in found.how
        return
    # Either limit is that of one side, 97.5 %.
    low, high = (
        quantile_test(values, p=0.5, alternative=side).confidence_interval(0.975)[at]
        for at, side in enumerate(("greater", "less"))
    )
    assert (found.low, found.high) == (low, high) and found.how == "order statistics over items"
    far = interval_of_items([*sorted(values)[:-1], 1e9], "error")
    assert far[:1] == found[:1] and far.low == found.low, "one that is far off moves nothing"
    gaps = interval_of_items([value - 1 for value in values], "gap")
    assert gaps[:3] == pytest.approx([end - 1 for end in found[:3]])


def test_the_difference_of_errors_is_a_median_with_the_sign_test() -> None:
    table = pd.DataFrame({"a": [0.2, 0.3, 0.5, 0.9, 0.4, 1e9], "b": [0.1] * 6})
    (pair,) = compare_pairs(table, table.notna(), pd.Series(range(6)), "error")
    assert pair.difference.value == pytest.approx(0.35) and pair.difference.low == pytest.approx(0.1)
    assert pair.test is not None and pair.test.name == "sign test" and pair.test.p == pytest.approx(2 / 2**6)
