"""Whether one thing does as well as another, but for a margin: the test's formula, its size and its power."""

import numpy as np
import pytest

from core.statistics.comparisons import not_worse


def shown(
    n: int, lost: float, won: float, *, size: int = 1, alike: float = 0.0, times: int = 600, seed: int = 0
) -> float:
    """How often it is shown of `n` pairs, in clusters of `size` that lose by shares of their own where they are
    `alike` (an intraclass correlation); `lost` and `won` are the shares of pairs that differ.
    """
    rng = np.random.default_rng(seed)
    names = np.repeat(np.arange(n // size), size)
    count = 0
    for _ in range(times):
        share = np.full(n // size, lost)
        if alike:
            share = rng.beta(lost * (1 - alike) / alike, (1 - lost) * (1 - alike) / alike, n // size)
        drawn, losing = rng.random(n), share[names]
        first, second = drawn >= losing, (drawn < losing) | (drawn >= losing + won)
        count += not_worse(first.tolist(), second.tolist(), names.tolist() if size > 1 else None).is_shown
    return count / times


def test_the_statistic_is_that_of_the_formula() -> None:
    """Without a difference the variance under the bound is nm(1 - m)."""
    for n in (10, 40, 200):
        found = not_worse([True] * n, [True] * n)
        z = (0.1 * n - 0.5) / (n * 0.1 * 0.9) ** 0.5
        from scipy.stats import t

        assert found.p == pytest.approx(t.sf(z, n - 1)) and (found.n, found.difference) == (n, 0)


def test_the_likeliest_share_under_the_bound_is_found() -> None:
    """Against a search over the shares: won 3, lost 5 of 40."""
    n, won, lost, m = 40, 3, 5, 0.1
    grid = np.linspace(1e-6, 0.45, 400_001)[:-1]  # the share won; lost is by m more
    likelihood = won * np.log(grid) + lost * np.log(grid + m) + (n - won - lost) * np.log(1 - 2 * grid - m)
    best = grid[np.argmax(likelihood)]
    z = (won - lost + n * m - 0.5) / (n * (2 * best + m - m * m)) ** 0.5
    first = [True] * won + [False] * lost + [True] * (n - won - lost)
    second = [False] * won + [True] * lost + [True] * (n - won - lost)
    from scipy.stats import t

    assert not_worse(first, second).p == pytest.approx(t.sf(z, n - 1), rel=1e-4)


@pytest.mark.parametrize("n", [20, 40, 80])
@pytest.mark.parametrize("won", [0.0, 0.05, 0.15])
def test_what_is_worse_by_the_margin_is_seldom_shown(n: int, won: float) -> None:
    """One-sided 5 %, with three standard errors of 600 draws."""
    assert shown(n, 0.1 + won, won) <= 0.05 + 3 * (0.05 * 0.95 / 600) ** 0.5


@pytest.mark.parametrize(("n", "size", "alike"), [(80, 4, 0.3), (200, 10, 0.2), (400, 20, 0.2), (400, 20, 0.6)])
def test_pairs_that_come_in_clusters_are_no_more_than_they_are(n: int, size: int, alike: float) -> None:
    assert shown(n, 0.15, 0.05, size=size, alike=alike, times=600, seed=1) <= 0.05 + 3 * (0.05 * 0.95 / 600) ** 0.5


def test_power() -> None:
    """Docs: no difference at all is shown from 40 pairs on; of 80 that differ by chance in 2 % most."""
    assert not not_worse([True] * 30, [True] * 30).is_shown and not_worse([True] * 40, [True] * 40).is_shown
    assert shown(80, 0.01, 0.01, times=200) > 0.9 and shown(80, 0.05, 0.05, times=200) > 0.6


def test_few_and_wrong_input() -> None:
    assert not not_worse([], []).is_shown and not not_worse([True], [True]).is_shown
    assert not not_worse([True] * 80, [True] * 80, ["one"] * 80).is_shown
    assert not_worse([True] * 80, [False] * 80).is_shown
    # Of one cluster nothing can be shown; what the difference is can be said.
    one = not_worse([False, False, True], [True, True, True], ["one"] * 3)
    assert (one.p, one.difference, one.n, one.clusters) == (1.0, pytest.approx(-2 / 3), 3, 1)
    with pytest.raises(ValueError, match="as many"):
        not_worse([True], [])
    with pytest.raises(ValueError, match="margin"):
        not_worse([True], [True], margin=0)
