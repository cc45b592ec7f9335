"""Shares and their differences: intervals, McNemar's test, thresholds for too little data. Plain arithmetic."""

from __future__ import annotations

import math

Z = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""

ENOUGH = 0.7
"""The smallest share of what should count on which a figure may rest without a warning."""

FEW = 10
"""A figure over fewer independent things than this is drawn faint."""


def is_thin(n: int, of: int) -> bool:
    """Whether less than 70 % of what should count does. Nothing out of nothing is not thin."""
    return n < ENOUGH * of


def wilson(share: float, n: float) -> tuple[float, float]:
    """Return the 95 % Wilson score interval of a share of `n` > 0 things (Wilson 1927), as scipy's binomtest gives it.
    `n` need not be a whole number: things may be worth more than one each (`interval_of_items`).

    Written out because importing scipy.stats would take longer than a short run. It has a width even at a share of 0 or
    1. For pure chance it contains the rate about 95 times in a hundred. Raises ZeroDivisionError for n = 0.
    """
    middle = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    reach = Z / (1 + Z * Z / n) * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    return max(0.0, min(share, middle - reach)), min(1.0, max(share, middle + reach))


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the exact two-sided p of McNemar's test (1947) for the numbers of pairs in which only one of two came
    true, under a fair coin. 1 without such pairs, and so for identical sides and for nothing.

    For few pairs it is written out for the same reason as `wilson`; it equals scipy's binomtest(only_first, n, 0.5).
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


def exact_share(hits: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return Clopper and Pearson's interval (1934) of a share: `hits` of `n`. From 0 to 1 for n = 0."""
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, n - hits + 1, tail))
    return low, 1.0 if hits == n else float(betaincinv(hits + 1, n - hits, 1 - tail))


def most_errors(errors: int, n: int) -> float:
    """Return the one-sided 95 % upper limit of an error rate, with `errors` in `n` trials. 1 for n = 0."""
    return exact_share(errors, n, 0.9)[1]


def tail_of_binomial(least: int, n: int, share: float) -> float:
    """Return the probability of `least` or more hits in `n` trials that each hit with probability `share`."""
    hits = (math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(max(least, 0), n + 1))
    return min(1.0, math.fsum(hits))


def exact_difference_of_pairs(
    only_first: int, only_second: int, n: int, level: float = 0.95
) -> tuple[float, float, float]:
    """Like `difference_of_pairs`, with an interval that lies above 0 exactly if McNemar's exact test finds the first
    better at 1 - `level`. Raises ZeroDivisionError for n = 0.

    The difference is d (2 p - 1): a share d of pairs differs, and in a share p of these only the first came true. The
    limits of p are Clopper and Pearson's, which invert that test; they are multiplied by the Wilson limit of d that
    reaches further from the value, so the interval is conservative.
    """
    differ = only_first + only_second
    value = (only_first - only_second) / n
    few, many = wilson(differ / n, n)

    def limit(p: float, outward: float) -> float:
        side = 2 * p - 1
        return side * (many if side * outward > 0 else few)

    low, high = exact_share(only_first, differ, level)
    return value, max(-1.0, min(value, limit(low, -1))), min(1.0, max(value, limit(high, 1)))


def difference_of_pairs(only_first: int, only_second: int, n: int, z: float = Z) -> tuple[float, float, float]:
    """Return how much more often the first of two came true over the same `n` > 0 things, and its interval (95 % by
    default, set by `z`): (difference, low, high). `only_first` counts the pairs in which only the first came true.
    The interval is Bonett and Price's (2012, Journal of Educational and Behavioral Statistics 37, 479-488), which
    has a width even if all pairs agree (then the difference is 0). Raises ZeroDivisionError for n = 0.
    """
    first, second = (only_first + 1) / (n + 2), (only_second + 1) / (n + 2)
    middle = first - second
    reach = z * math.sqrt((first + second - middle**2) / (n + 2))
    value = (only_first - only_second) / n
    return value, max(-1.0, min(value, middle - reach)), min(1.0, max(value, middle + reach))
