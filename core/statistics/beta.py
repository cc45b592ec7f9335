"""Two over the same few items by Bayes' rule, exact however few there are."""

from __future__ import annotations

from typing import NamedTuple


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
