"""Few items: by Bayes' rule, watched as they come, and how many there should be."""

import math
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

from core.statistics.comparisons import (
    beta_pairs,
    items_for_power,
    items_for_width,
    power_of_differences,
    power_of_pairs,
)
from core.statistics.intervals import anytime, mcnemar, wilson


@pytest.mark.parametrize(("first", "second", "n"), [(3, 1, 10), (0, 0, 0), (0, 0, 20), (12, 0, 12), (20, 35, 99)])
def test_pairs_are_draws_from_their_dirichlet(first, second, n):
    """The same by drawing from the posterior of all four outcomes, the two alike ones split anyhow."""
    both = (n - first - second) // 2
    cells = np.array([first, second, both, n - first - second - both]) + 1
    drawn = np.random.default_rng(2).dirichlet(cells, size=200_000)
    gaps = drawn[:, 0] - drawn[:, 1]
    got = beta_pairs(first, second, n)
    assert got.difference == pytest.approx(gaps.mean(), abs=0.003)
    assert (got.low, got.high) == pytest.approx(tuple(np.quantile(gaps, [0.025, 0.975])), abs=0.008)
    assert got.first_is_better == pytest.approx((gaps > 0).mean(), abs=0.005)
    if first == second:
        assert got.difference == 0 and got.first_is_better == 0.5 and got.low == pytest.approx(-got.high)


def test_more_pairs_than_there_are_cannot_part():
    for counts in ((3, 1, 3), (-1, 1, 3), (1, -1, 3)):
        with pytest.raises(ValueError, match="cannot part"):
            beta_pairs(*counts)


watched = cache(anytime)


def test_a_watched_interval_holds_at_every_look_and_an_ordinary_one_does_not():
    """Each of 400 runs is looked at after every answer up to 120. It may miss the truth in one run of twenty."""
    for truth in (0.5, 0.9):
        hits = np.random.default_rng(1).random((400, 120)) < truth
        ours = ordinary = 0
        for run in hits.cumsum(axis=1):
            looks = [(int(total), n) for n, total in enumerate(run, start=1)]
            ours += any(not watched(*look).low <= truth <= watched(*look).high for look in looks)
            ordinary += any(not low <= truth <= high for low, high in (wilson(total / n, n) for total, n in looks))
        assert ours / 400 <= 0.05 < 0.15 < ordinary / 400


def test_a_watched_interval_holds_for_shares_too():
    values = np.random.default_rng(2).beta(0.3, 0.6, size=(80, 60)).cumsum(axis=1)
    missed = [
        any(not (i := anytime(total, n)).low <= 1 / 3 <= i.high for n, total in enumerate(run, 1)) for run in values
    ]
    assert np.mean(missed) <= 0.05


def test_a_watched_interval_has_a_closed_form_at_the_ends_and_is_wider():
    """All n true: (n + 1) p^n < 0.05 rules p out."""
    for n in (1, 10, 200):
        got = anytime(n, n)
        assert (got.low, got.high) == (pytest.approx((0.05 / (n + 1)) ** (1 / n)), 1.0)
        assert anytime(0, n)[1:3] == pytest.approx((0, 1 - got.low))
    low, high = wilson(0.3, 100)
    assert anytime(30, 100).low < low < high < anytime(30, 100).high < anytime(30, 100, 0.99).high
    assert anytime(0, 0)[:4] == (None, 0, 1, 0)
    for total, n, level in ((2, 1, 0.95), (-1, 1, 0.95), (1, 2, 1.0), (1, 2, 1.5), (1, 2, 0.0)):
        with pytest.raises(ValueError, match="no share to be bounded"):
            anytime(total, n, level)


@pytest.mark.parametrize(("width", "share", "n"), [(0.2, 0.5, 93), (0.1, 0.5, 381), (0.02, 0.5, 9600)])
def test_items_for_a_width_around_a_half_have_a_closed_form(width, share, n):
    """Z² (1 / width² - 1), rounded up."""
    assert items_for_width(width, share) == n


def test_items_for_a_width_are_the_fewest():
    for share in (0.0, 0.1, 0.77, 1.0):
        n = items_for_width(0.15, share)
        assert np.subtract(*wilson(share, n)[::-1]) <= 0.15 < np.subtract(*wilson(share, n - 1)[::-1])
    for width, share in ((0.0, 0.5), (1.0, 0.5), (0.2, -0.1), (0.2, 1.1)):
        with pytest.raises(ValueError, match="no number of items"):
            items_for_width(width, share)


def exact_power(first, second, n):
    """The chance of each pair of counts, summed where McNemar's p is at most 0.05."""
    found = [
        binom.pmf(parted, n, first + second) * binom.pmf(one, parted, first / (first + second))
        for parted in range(n + 1)
        for one in range(parted + 1)
        if mcnemar(one, parted - one) <= 0.05
    ]
    return math.fsum(found)


def test_power_is_the_exact_one():
    assert power_of_pairs(0.3, 0.1, 50) == pytest.approx(exact_power(0.3, 0.1, 50), abs=0.015)
    assert power_of_pairs(0.2, 0.2, 60) <= 0.05  # no difference to be found
    assert power_of_pairs(0.0, 0.0, 60) == power_of_pairs(0.5, 0.0, 0) == 0
    for shares in ((0.7, 0.4), (-0.1, 0.4), (0.4, -0.1)):
        with pytest.raises(ValueError, match="cannot be shares"):
            power_of_pairs(*shares, 10)


def test_items_for_power_reach_it_and_are_few():
    n = items_for_power(0.3, 0.1)
    assert exact_power(0.3, 0.1, n) == pytest.approx(0.8, abs=0.02) and exact_power(0.3, 0.1, n - 10) < 0.79
    assert items_for_power(0.2, 0.2) is None


def test_power_of_measured_differences_is_the_t_tests():
    """Differences like a normal distribution's: power by the noncentral t distribution, as R's power.t.test has it."""
    from scipy.stats import nct, norm, t

    measured = norm.ppf((np.arange(4000) + 0.5) / 4000) + 0.5
    limit = t.ppf(0.975, 29)
    right = nct.sf(limit, 29, 0.5 * 30**0.5) + nct.cdf(-limit, 29, 0.5 * 30**0.5)
    assert right == pytest.approx(0.754, abs=5e-4)  # R: power.t.test(30, 0.5, type = "paired")
    assert power_of_differences(list(measured), 30, draws=20_000) == pytest.approx(right, abs=0.012)
    assert power_of_differences([0.0] * 9, 30) == power_of_differences([1.0, 0.0], 1) == 0
    with pytest.raises(ValueError, match="differences of some items"):
        power_of_differences([], 10)
