"""A share of a population by a sample drawn by strata: against figures by hand, and by simulation."""

import numpy as np
import pytest
from pytest import approx
from scipy.stats import binomtest

from core.statistics.agreement import Stratum, allotted, kappa, weighted_kappa, weighted_share


def test_each_stratum_counts_by_its_part_of_the_population() -> None:
    found = weighted_share([Stratum(900, 10, 10), Stratum(100, 10, 0)])
    assert found.value == approx(0.9) and found.n == 20, "10 of 20, were they counted as drawn"
    one = weighted_share([Stratum(10**9, 50, 48)])
    exact = binomtest(48, 50).proportion_ci(0.95, "exact")
    assert (one.low, one.high) == (approx(exact.low, abs=1e-6), approx(exact.high, abs=1e-6))
    assert weighted_share([Stratum(10, 10, 9)])[:3] == approx((0.9, 0.9, 0.9)), "all of them were judged"
    assert weighted_share([Stratum(10, 0, 0), Stratum(10, 5, 5)]).value == 1
    assert weighted_share([Stratum(10, 0, 0)]).value is None and weighted_share([]).n == 0


def test_kappa_with_weights_is_kappa_of_so_many() -> None:
    table = {("yes", "yes"): 6, ("yes", "no"): 2, ("no", "no"): 3, ("no", "yes"): 1}
    pairs = [pair for pair, times in table.items() for _ in range(times)]
    plain = kappa([a for a, _ in pairs], [b for _, b in pairs])
    weighted = weighted_kappa([(a, b, times) for (a, b), times in table.items()])
    assert weighted.value == approx(plain.value) and weighted.by_chance == approx(plain.by_chance)
    assert weighted_kappa([("yes", "yes", 3.0)]).value is None and weighted_kappa([]).value is None
    assert weighted_kappa([("yes", "yes", 1), ("no", "yes", 1)]).value == 0, "who always says the same"


def test_what_is_rare_is_drawn_too() -> None:
    assert allotted([900, 90, 5, 1], 50) == [42, 5, 2, 1]
    assert allotted([3, 2], 50) == [3, 2] and allotted([], 50) == [] and allotted([5, 5, 5], 2) == [1, 1, 0]
    for populations in ([7, 11, 400, 3], [1] * 30, [60]):
        drawn = allotted(populations, 20)
        assert sum(drawn) == 20 and all(n <= of for n, of in zip(drawn, populations, strict=True))


@pytest.mark.parametrize("rates", [(0.98, 0.9, 0.5), (0.9, 0.9, 0.9), (0.7, 0.8, 0.3), (1.0, 0.95, 0.6)])
@pytest.mark.parametrize("size", [30, 50, 100])
def test_its_interval_holds_the_truth_as_often_as_it_says(rates: tuple[float, ...], size: int) -> None:
    sizes, random, held, looks = (400, 150, 20), np.random.default_rng(1), 0, 1_000
    drawn = allotted(sizes, size)
    right = [round(of * rate) for of, rate in zip(sizes, rates, strict=True)]
    truth = sum(right) / sum(sizes)
    for _ in range(looks):
        found = weighted_share(
            [
                Stratum(of, n, int(random.hypergeometric(good, of - good, n)))
                for of, n, good in zip(sizes, drawn, right, strict=True)
            ]
        )
        assert found.low is not None and found.high is not None
        held += found.low <= truth <= found.high
    assert held / looks >= 0.94
