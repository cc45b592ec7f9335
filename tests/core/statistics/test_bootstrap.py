"""Drawing clusters again, tossing signs, correcting for several tests, each against something that is not it."""

import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest

from core.statistics.comparisons import compare, holm, sign_flips
from core.statistics.intervals import bootstrap_of_mean, mcnemar, wilson

DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
"""Heights of crossed less self-fertilised maize in eighths of an inch (Fisher 1935, The Design of Experiments, 17)."""


def test_the_draws_are_those_of_all_ways_to_draw_the_items():
    """Five items can be drawn in 5^5 ways. Their means, each way as likely, against many draws."""
    values = [1.0, 0.5, 0.5, 0.15, 0.675]
    every = [np.mean(drawn) for drawn in itertools.product(values, repeat=5)]
    got = bootstrap_of_mean(values, draws=40_000)
    assert got.value == pytest.approx(np.mean(values)) and got.n == 5
    assert (got.low, got.high) == pytest.approx(tuple(np.quantile(every, [0.025, 0.975])), abs=0.006)
    assert bootstrap_of_mean(values[::-1], draws=40_000) == got
    assert bootstrap_of_mean(values, draws=40_000, seed=1) != got


def test_it_covers_the_truth_as_often_as_it_says_where_an_interval_over_trials_does_not():
    random = np.random.default_rng(6)
    names = np.repeat(np.arange(40), 10)
    ours = trials = 0
    for seed in range(300):
        values = (random.random(400) < random.beta(0.5, 0.5, size=40)[names]).astype(float)
        got = bootstrap_of_mean(values.reshape(40, 10).mean(axis=1), draws=600, seed=seed)
        ours += got.low <= 0.5 <= got.high
        low, high = wilson(values.mean(), 400)
        trials += low <= 0.5 <= high
    assert 0.91 <= ours / 300 <= 0.98 and trials / 300 < 0.7


def test_too_little_has_no_interval_and_says_why():
    assert bootstrap_of_mean([]) == (None, None, None, 0, "there is nothing to draw from")
    assert bootstrap_of_mean([0.5]) == (0.5, None, None, 1, "one cluster shows no spread")
    alike = bootstrap_of_mean([1.0] * 20)  # a constant guess that is always right
    assert alike[:4] == (1.0, None, None, 20) and "no spread" in alike.how
    with pytest.raises(ValueError, match="needs a finite value"):
        bootstrap_of_mean([float("nan")])


def test_signs_of_darwins_maize_as_fisher_counted_them():
    """Fisher 1935, section 21: 863 of the 32,768 ways reach the total on either side, 5.267 % together."""
    exact = sign_flips(DARWIN, draws=32_767)
    assert exact == (2 * 863 / 32_768, "sign flips, all 32,768")
    drawn = sign_flips(DARWIN)
    assert drawn.p == pytest.approx(exact.p, abs=0.008) and drawn.name == "sign flips, 9,999 drawn"
    # Of few draws that no toss reaches, what was seen is the one.
    assert sign_flips([1.0] * 30 + [0.5], draws=9).p == 0.1
    assert sign_flips([0.5, -0.5] * 100).p == 1, "drawn in two goes, each toss once"
    student = compare({str(k): gap for k, gap in enumerate(DARWIN)}, {str(k): 0.0 for k in range(15)})
    assert (student.t, student.p) == (pytest.approx(2.148, abs=5e-4), pytest.approx(0.0497, abs=5e-5))  # R's t.test


def test_signs_of_ones_are_mcnemars_and_of_nothing_prove_nothing():
    from statsmodels.stats.contingency_tables import mcnemar as theirs

    for first, second in itertools.product(range(8), repeat=2):
        table = [[5, first], [second, 3]]
        assert mcnemar(first, second) == pytest.approx(theirs(table, exact=True).pvalue)
        halves = [0.5] * first + [-0.5] * second + [0.0]  # the same test by enumeration
        assert sign_flips(halves, draws=2**15).p == pytest.approx(mcnemar(first, second))
    assert sign_flips([1, 1, 1, 1, 1, 1, -1, 0]) == (mcnemar(6, 1), "exact McNemar")
    assert sign_flips([]).p == sign_flips([0.0] * 30).p == 1
    assert mcnemar(3000, 3200) == pytest.approx(theirs([[0, 3000], [3200, 0]], exact=True).pvalue)


def test_signs_of_guesses_are_rarely_called_a_difference():
    random = np.random.default_rng(8)
    p_values = [sign_flips(list(random.normal(size=9))).p for _ in range(400)]
    assert 0.02 <= np.mean(np.array(p_values) <= 0.05) <= 0.075


def test_holm_is_rs_and_statsmodels():
    from statsmodels.stats.multitest import multipletests

    assert holm([0.01, 0.02, 0.03, 0.04]) == pytest.approx([0.04, 0.06, 0.06, 0.06])  # R: p.adjust(p, "holm")
    assert holm([0.04, None, 0.01]) == [0.04, None, 0.02] and holm([]) == [] and holm([0.3]) == [0.3]
    p_values = list(np.random.default_rng(9).random(12) ** 3)
    assert holm(p_values) == pytest.approx(list(multipletests(p_values, method="holm")[1]))


def test_many_alike_are_drawn_by_how_often_each_comes_up() -> None:
    random = np.random.default_rng(1)
    gaps = random.choice([-1, -0.5, 0, 0.5, 1], p=[0.19, 0.2, 0.2, 0.2, 0.21], size=3_000)
    apart = gaps + random.normal(scale=1e-6, size=len(gaps))
    assert sign_flips(gaps).p == pytest.approx(sign_flips(apart).p, abs=0.02)
    far = abs(gaps.sum()) / (gaps**2).sum() ** 0.5
    assert sign_flips(gaps).p == pytest.approx(2 * NormalDist().cdf(-far), abs=0.02)


def test_mcnemar_of_thousands_is_the_same_sum() -> None:
    assert mcnemar(480, 521) == pytest.approx(2 * sum(math.comb(1001, k) for k in range(481)) / 2**1001, rel=1e-9)
