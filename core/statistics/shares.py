"""Shares and their differences: intervals, McNemar's test, what is too little to rest on. Plain arithmetic."""

from __future__ import annotations

import math

Z = 1.959963984540054
"""The normal distribution's 97.5 % point."""

ENOUGH = 0.7
"""The smallest share of what should count that a figure may rest on without a warning."""

FEW = 10
"""A figure over fewer independent things than this is drawn faint."""


def is_thin(n: int, of: int) -> bool:
    """Whether fewer than 70 % of what should count does. Nothing of nothing is not thin."""
    return n < ENOUGH * of


def wilson(share: float, n: float) -> tuple[float, float]:
    """The Wilson score interval, 95 %, of a share of `n` > 0 things (Wilson 1927), as scipy's binomtest gives it. `n`
    need be no whole number: things may be worth more than one each (`interval_of_items`).

    Written out, for importing scipy.stats would hold up a run for longer than the run lasts. It has a width at a share
    of 0 and 1 too. Pure chance holds its own rate about 95 times in a hundred. Raises ZeroDivisionError for n = 0.
    """
    middle = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    reach = Z / (1 + Z * Z / n) * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    return max(0.0, min(share, middle - reach)), min(1.0, max(share, middle + reach))


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact two-sided p of McNemar's test (1947): so many pairs in which only one of two came true, under a fair
    coin. 1 without such pairs, so for identical sides and for nothing.

    Written out for the same reason as `wilson`, where they are few; it is scipy's binomtest(only_first, n, 0.5).
    """
    n = only_first + only_second
    if n > 1_000:
        from scipy.special import bdtr

        return min(1.0, 2 * float(bdtr(min(only_first, only_second), n, 0.5)))
    tail = ways = 1
    for hits in range(min(only_first, only_second)):
        ways = ways * (n - hits) // (hits + 1)
        tail += ways
    return min(1.0, float(2 * tail / 2**n))


def difference_of_pairs(only_first: int, only_second: int, n: int, z: float = Z) -> tuple[float, float, float]:
    """How much more often the first of two came true over the same `n` > 0 things, and its interval, 95 % unless `z`
    says otherwise: (difference, low, high). `only_first` are the pairs in which only the first did. The interval is
    Bonett and Price's (2012, Journal of Educational and Behavioral Statistics 37, 479-488), which has a width where
    all pairs agree (then the difference is 0). Raises ZeroDivisionError for n = 0.
    """
    first, second = (only_first + 1) / (n + 2), (only_second + 1) / (n + 2)
    middle = first - second
    reach = z * math.sqrt((first + second - middle**2) / (n + 2))
    value = (only_first - only_second) / n
    return value, max(-1.0, min(value, middle - reach)), min(1.0, max(value, middle + reach))
