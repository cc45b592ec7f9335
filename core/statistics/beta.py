"""Shares of few things by Bayes' rule: a Beta prior and its binomial data, exact however few there are."""

from __future__ import annotations

from typing import NamedTuple

from core.statistics.interval import Interval

UNIFORM = (1.0, 1.0)
"""The prior: before anything is seen every share is as likely (Bayes 1763, Laplace 1774)."""


def beta_interval(hits: int, n: int, prior: tuple[float, float] = UNIFORM) -> Interval:
    """A share's posterior mean and its central 95 % credible interval, from Beta(prior + hits, prior + misses).

    For fewer than about a hundred things (Bowyer, Aitchison and Ivanova 2025, arXiv 2503.01747): unlike the normal
    approximation it holds the truth as often as it says, and has a width at 0 and 1. Nothing seen: the prior itself,
    0.5 from 0.025 to 0.975. `n` is the number of things. Raises ValueError for hits outside 0 to n.
    """
    from scipy.special import betaincinv

    a, b = _posterior(hits, n, prior)
    low, high = betaincinv(a, b, [0.025, 0.975])
    return Interval(a / (a + b), float(low), float(high), n, f"Beta({prior[0]:g}, {prior[1]:g}) prior")


def first_is_better(hits_a: int, n_a: int, hits_b: int, n_b: int, prior: tuple[float, float] = UNIFORM) -> float:
    """P(A > B): how probable it is that A's share exceeds B's, of two that share NO items (Beta posteriors, each with
    the same prior). For shared items use `beta_pairs`, which is sharper and does not take the pairs for independent.

    The integral over A's quantiles u of P(B < A's u-quantile). Nothing seen, or identical counts: 0.5. Raises
    ValueError for hits outside 0 to n.
    """
    from scipy.integrate import quad
    from scipy.special import betainc, betaincinv

    a, b = _posterior(hits_a, n_a, prior), _posterior(hits_b, n_b, prior)
    value, _ = quad(lambda u: betainc(*b, betaincinv(*a, u)), 0, 1, epsabs=1e-9, limit=200)
    return float(value)


class BetaPairs(NamedTuple):
    """How much more often the first came true: posterior mean and 95 % credible limits of the difference of shares,
    and how probable it is that the first is better.
    """

    difference: float
    low: float
    high: float
    first_is_better: float


def beta_pairs(only_first: int, only_second: int, n: int) -> BetaPairs:
    """Two over the same `n` items, by the items on which they part: `only_first` came true of the first alone.

    The four outcomes of a pair have a Dirichlet(1, 1, 1, 1) prior. Then the share s of pairs that part and the share r
    of those that the first wins are independent, s ~ Beta(2 + parted, 2 + alike), r ~ Beta(1 + only_first, 1 +
    only_second), and the difference is s (2 r - 1) (Bowyer et al. 2025, section 4, on paired questions; Gelman et al.
    2013, Bayesian Data Analysis, section 3.4). So P(first better) = P(r > 1/2), an incomplete beta integral; the limits
    come from the integral over s at 2,001 of its quantiles, to about 1e-4. Identical sides: 0 and 0.5. Nothing: 0, 0.5
    and limits that rule out little. Two that guess: around 0.5. Raises ValueError for more parted pairs than `n`.
    """
    import numpy as np
    from scipy.special import betainc, betaincc, betaincinv

    parted = only_first + only_second
    if min(only_first, only_second) < 0 or parted > n:
        raise ValueError(f"{only_first} and {only_second} of {n} pairs cannot part")
    won, lost = 1 + only_first, 1 + only_second
    shares = betaincinv(2 + parted, 2 + n - parted, (np.arange(2001) + 0.5) / 2001)

    def quantile(level: float) -> float:
        low, high = -1.0, 1.0
        for _ in range(40):
            middle = (low + high) / 2
            below = betainc(won, lost, np.clip((1 + middle / shares) / 2, 0, 1)).mean()
            low, high = (middle, high) if below < level else (low, middle)
        return (low + high) / 2

    mean = (won - lost) / (n + 4)
    return BetaPairs(mean, quantile(0.025), quantile(0.975), float(betaincc(won, lost, 0.5)))


def _posterior(hits: int, n: int, prior: tuple[float, float]) -> tuple[float, float]:
    if not 0 <= hits <= n:
        raise ValueError(f"{hits} of {n} is no share")
    return prior[0] + hits, prior[1] + n - hits
