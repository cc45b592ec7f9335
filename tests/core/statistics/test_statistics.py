import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.statistics.agreement import correlation_per_input, kappa, weighted_kappa
from core.statistics.comparisons import compare
from core.statistics.intervals import difference_of_pairs, interval_of_items, jackknife_of_pairs, wilson


def test_wilson_is_scipys():
    from scipy.stats import binomtest

    for n in (1, 2, 5, 10, 97):
        for hits in range(n + 1):
            interval = binomtest(hits, n).proportion_ci(method="wilson")
            assert wilson(hits / n, n) == pytest.approx((interval.low, interval.high), abs=1e-12)


@given(st.floats(0, 1), st.integers(1, 10_000))
def test_it_holds_the_share_and_stays_between_0_and_1(share, n):
    low, high = wilson(share, n)
    assert 0 <= low <= share <= high <= 1


LABEL = st.sampled_from(["yes", "no", "unknown"])
PAIRS = st.lists(st.tuples(LABEL, LABEL), min_size=1, max_size=30)


@given(PAIRS)
@settings(deadline=None)
def test_kappa_is_nltks_and_its_shares_are_those_of_the_definition(pairs):
    from nltk.metrics.agreement import AnnotationTask

    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    assume(len({*a, *b}) > 1)
    got = kappa(a, b)
    task = AnnotationTask([(who, item, label) for who in "ab" for item, label in enumerate({"a": a, "b": b}[who])])
    assert got.value == pytest.approx(task.kappa(), abs=1e-9)
    assert weighted_kappa([(*pair, 2.5) for pair in pairs]).value == pytest.approx(task.kappa(), abs=1e-9)
    first, second = Counter(a), Counter(b)
    assert (got.n, got.agreed) == (len(pairs), pytest.approx(sum(x == y for x, y in pairs) / len(pairs)))
    assert got.by_chance == pytest.approx(sum(first[label] * second[label] for label in first) / len(pairs) ** 2)


def test_kappa_of_little_is_undefined_and_what_one_left_out_does_not_count():
    assert kappa([], []) == (None, 0, None, None)
    assert kappa([None, "yes"], ["yes", None]) == (None, 0, None, None)
    assert kappa(["yes"] * 3, ["yes"] * 3) == (None, 3, 1.0, 1.0)
    assert kappa(["yes"] * 3, ["no"] * 3) == (0.0, 3, 0.0, 0.0)
    assert kappa(["yes", "no", None], ["yes", "no", "yes"]) == (1.0, 2, 1.0, 0.5)
    with pytest.raises(ValueError):
        kappa(["yes"], [])


def test_kappa_of_cohens_kind_of_table():
    """40 yes-yes, 10 yes-no, 15 no-yes, 35 no-no: 0.75 agreed, 0.5 by chance."""
    pairs = [("yes", "yes")] * 40 + [("yes", "no")] * 10 + [("no", "yes")] * 15 + [("no", "no")] * 35
    got = kappa([x for x, _ in pairs], [y for _, y in pairs])
    assert got == (pytest.approx(0.5), 100, pytest.approx(0.75), pytest.approx(0.5))


def test_a_difference_of_pairs_is_bonett_and_prices():
    """One more of each outcome than was seen: 10 and 3 of 22."""
    reach = 1.959964 * math.sqrt((13 / 22 - (7 / 22) ** 2) / 22)
    assert difference_of_pairs(9, 2, 20) == pytest.approx((7 / 20, 7 / 22 - reach, 7 / 22 + reach))
    value, low, high = difference_of_pairs(20, 0, 20)
    assert (value, high) == (1, 1) and 0.7 < low < 0.9
    assert difference_of_pairs(0, 20, 20) == (-1, -1, -low)


@given(st.lists(st.floats(0, 1), min_size=3, max_size=8), st.sampled_from([1.0, 2.0]))
@settings(deadline=None)
def test_a_jackknife_of_pairs_leaves_out_one_thing_at_a_time(things, most):
    from scipy.stats import t

    def spread(of):
        likeness = [1 - abs(a - b) for i, a in enumerate(of) for j, b in enumerate(of) if i != j]
        return 1 - sum(likeness) / len(likeness)

    n = len(things)
    matrix = np.array([[0 if i == j else 1 - abs(a - b) for j, b in enumerate(things)] for i, a in enumerate(things)])
    value = spread(things)
    low, high = jackknife_of_pairs(matrix, float(matrix.sum()), value, most)
    without = np.array([spread([*things[:k], *things[k + 1 :]]) for k in range(n)])
    error = math.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
    assume(error > 1e-6)
    reach = t.ppf(0.975, n - 1) * error
    assert (low, high) == pytest.approx((max(0, value - reach), min(most, value + reach)), abs=1e-6)


def test_a_jackknife_of_little_or_of_things_all_alike_has_no_interval():
    assert jackknife_of_pairs(np.zeros((2, 2)), 0.0, 1.0, 1.0) == (None, None)
    assert jackknife_of_pairs(np.ones((4, 4)) - np.eye(4), 12.0, 0.0, 1.0) == (None, None)


def test_a_comparison_is_scipys_paired_t_test_over_the_items_that_both_have():
    from scipy.stats import ttest_rel

    a = {"p": 0.2, "q": 0.9, "r": 0.5, "s": None, "only a": 1.0}
    b = {"p": 0.1, "q": 0.3, "r": 0.6, "s": 0.4, "only b": 0.0}
    test = ttest_rel([0.2, 0.9, 0.5], [0.1, 0.3, 0.6])
    got = compare(a, b)
    assert (got.n, got.of) == (3, 6)
    assert (got.mean_a, got.mean_b, got.difference) == pytest.approx((1.6 / 3, 1 / 3, 0.2))
    assert (got.t, got.p) == pytest.approx((test.statistic, test.pvalue))
    assert (got.low, got.high) == interval_of_items([0.2 - 0.1, 0.9 - 0.3, 0.5 - 0.6], "difference")[1:3]
    wide = compare({"p": 24.0, "q": 3.0, "r": 5.0}, {"p": 20.0, "q": 6.0, "r": 0.0}, "positive")
    # Errors have no upper end.
    errors = ttest_rel([24, 3, 5], [20, 6, 0]).confidence_interval(0.95)
    assert (wide.low, wide.high) == pytest.approx((errors.low, errors.high))
    assert compare({}, b).detail == {"reason": "no item is in both settings"} and compare({}, b).difference is None
    assert compare({"p": 1.0}, {"p": 0.0}).detail == {"reason": "a paired test needs two items"}
    assert compare({"p": 1.0, "q": 0.5}, {"p": 0.75, "q": 0.5}).p == pytest.approx(0.5), "t = 1 of two items"
    alike = compare({"p": 1.0, "q": 0.5}, {"p": 0.75, "q": 0.25})
    assert (alike.difference, alike.t) == (0.25, None) and alike.low < 0.25 < alike.high, "no test, but an interval"
    assert "same on every item" in alike.detail["reason"]


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_is_newcombes_table(hits, n, low, high):
    """Newcombe 1998, Statistics in Medicine 17, 857-872, table I, method 3."""
    assert wilson(hits / n, n) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_correlation_is_scipys_within_each_input_and_then_the_mean(kind):
    from scipy.stats import pearsonr, spearmanr

    inputs = ["p"] * 4 + ["q"] * 4 + ["flat"] * 2 + ["one"]
    first = [0.1, 0.9, 0.4, 0.4, 1.0, 0.0, 0.5, None, 0.3, 0.3, 1.0]
    second = [3, 2, 1, 5, 2, 1, 9, 4, 1, 2, 1]
    by = {"pearson": pearsonr, "spearman": spearmanr}[kind]
    each = [by(first[:4], second[:4]).statistic, by(first[4:7], second[4:7]).statistic]
    got = correlation_per_input(inputs, first, second, kind)
    assert (got.value, got.n) == (pytest.approx(np.mean(each)), 2) and got.how.startswith("2 of 4 inputs")
    assert (got.low, got.high) == (pytest.approx(min(each)), pytest.approx(max(each)))


def test_correlation_of_the_same_of_a_constant_and_of_nothing():
    inputs = ["p", "p", "q", "q"]
    assert correlation_per_input(inputs, [1, 2, 3, 1], [1, 2, 3, 1]).value == pytest.approx(1)
    assert correlation_per_input(inputs, [1, 1, 1, 1], [1, 2, 3, 1]).value is None
    assert correlation_per_input([], [], []).value is None
    assert correlation_per_input(["p", "q"], [1, None], [1, 2]).value is None
    # What is undefined on one side counts on neither, not even in the other's ranks.
    whole = correlation_per_input(["p"] * 3, [1, 2, 3], [1, 3, 2], "spearman").value
    assert correlation_per_input(["p"] * 4, [1, 2, 3, math.nan], [1, 3, 2, 2.5], "spearman").value == whole == 0.5
    random = np.random.default_rng(2)
    chance = correlation_per_input(np.repeat(range(200), 4), random.random(800), random.random(800), "spearman")
    assert chance.low < 0 < chance.high and chance.high - chance.low < 0.3
    with pytest.raises(ValueError):
        correlation_per_input(["p"], [1], [])
