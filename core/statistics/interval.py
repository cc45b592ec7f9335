"""A figure with its interval, and intervals of means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Interval(NamedTuple):
    """A figure, its interval (95 % unless said otherwise), and the number `n` of independent things behind both. None
    if undefined; `how` names the method, or says why there is no interval.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    how: str


# An interval that may be checked after every answer.


def anytime(total: float, n: int, level: float = 0.95) -> Interval:
    """Return the mean of values from 0 to 1 with an interval that holds at every n simultaneously (a confidence
    sequence).

    Stopping as soon as an interval is narrow enough makes an ordinary interval too narrow. This one is the set of p
    against which a bet spread evenly over all alternatives (a Beta(1, 1) mixture of likelihood ratios) has not grown by
    a factor of 1 / (1 - level)::

        ln B(1 + total, 1 + n - total) - total ln p - (n - total) ln(1 - p) < -ln(1 - level)

    By Ville's inequality, the probability that it ever excludes the truth is at most 1 - level (Robbins 1970, Annals of
    Mathematical Statistics 41, 1397-1409; Howard, Ramdas, McAuliffe and Sekhon 2021, Annals of Statistics 49,
    1055-1080; Waudby-Smith and Ramdas 2024, JRSS B 86, 1-27). It also holds for values between 0 and 1, because the
    ratio is convex in the value, so its expectation is greatest for zeros and ones. The order of the items must be
    independent of their outcomes.

    `total` is the sum of the `n` values. Nothing yet: no value, from 0 to 1. Always 1: the high end is 1. Raises
    ValueError for a total outside 0 to n and a level outside 0 to 1.
    """
    if not 0 <= total <= n or not 0 < level < 1:
        raise ValueError(f"{total} of {n} at level {level} is no share to be bounded")
    if not n:
        return Interval(None, 0.0, 1.0, 0, "nothing was seen yet")
    mixture = math.lgamma(1 + total) + math.lgamma(1 + n - total) - math.lgamma(2 + n)
    mean = total / n

    def excluded(p: float) -> bool:
        if (total and p <= 0) or (total < n and p >= 1):  # bisection has reached an end that the data rule out
            return True
        against = sum(part * math.log(share) for part, share in ((total, p), (n - total, 1 - p)) if part)
        return mixture - against >= -math.log(1 - level)

    def end(outside: float) -> float:
        inside = mean
        for _ in range(50):
            middle = (inside + outside) / 2
            inside, outside = (inside, middle) if excluded(middle) else (middle, outside)
        return outside

    low, high = (end(0.0) if total else 0.0), (end(1.0) if total < n else 1.0)
    return Interval(mean, low, high, n, "mixture confidence sequence, holds at every n")


# Intervals by resampling, or leaving out, what is independent: starter items, not their trials.


ROOM = 1_000_000
"""Items sampled at a time: memory stays at some tens of megabytes, however many draws and items there are."""


def is_alike(distinct: int, n: int) -> bool:
    """Whether `n` is so large and so few of the things differ that drawing the count of each distinct one is much
    quicker than drawing each thing. The distribution is the same.
    """
    return n > 1_000 and distinct * 10 <= n and distinct <= 1_000


def bootstrap_of_mean(values: Sequence[float], draws: int = 2000, seed: int = 0) -> Interval:
    """Return the mean of independent items (one entry each) and its 95 % interval, by resampling the items with
    replacement (Efron and Tibshirani 1993, chapter 13). The order of the values does not matter.

    No items: no value. One item: a value, no interval. All items alike: no interval, because resampling shows no
    spread. Raises ValueError for values that are not finite.
    """
    import numpy as np

    k = len(values)
    if not k:
        return Interval(None, None, None, 0, "there is nothing to draw from")
    items = np.sort(np.asarray(values, dtype=float))
    if not np.isfinite(items).all():
        raise ValueError("each item needs a finite value")
    value = float(items.mean())
    if k < 2:
        return Interval(value, None, None, k, "one cluster shows no spread")
    if items[-1] - items[0] < 1e-12:
        return Interval(value, None, None, k, "all clusters have the same mean: drawing again shows no spread")
    random, at_once = np.random.default_rng(seed), max(1, ROOM // k)
    drawn = [
        items[random.integers(k, size=(min(at_once, draws - start), k), dtype=np.int32)].mean(axis=1)
        for start in range(0, draws, at_once)
    ]
    low, high = np.quantile(np.concatenate(drawn), [0.025, 0.975])
    return Interval(value, float(low), float(high), k, f"cluster bootstrap, percentile, {draws:,} draws")


def jackknife_of_pairs(
    matrix: NDArray[np.float64], total: float, value: float, most: float
) -> tuple[float | None, float | None]:
    """Return a 95 % interval of `value` = 1 - the mean of `matrix` over ordered pairs, by leaving out one thing at a
    time.

    `matrix` has shape (n, n), a diagonal of 0, and the sum `total`. Pairs that share a thing are not independent, and a
    bootstrap would draw a thing twice and compare it with itself. Uses the t distribution with n - 1 degrees of
    freedom; the interval is cut to [0, `most`] (Efron and Tibshirani 1993, chapter 11). (None, None) for fewer than
    three things, and if leaving out any one changes nothing, as for identical things.
    """
    count = len(matrix)
    if count < 3:
        return None, None
    import numpy as np

    without = 1 - (total - matrix.sum(axis=0) - matrix.sum(axis=1)) / ((count - 1) * (count - 2))
    error = math.sqrt((count - 1) / count * float(np.sum((without - without.mean()) ** 2)))
    if error < 1e-9:
        return None, None
    from scipy.special import stdtrit

    reach = float(stdtrit(count - 1, 0.975)) * error
    return max(0.0, value - reach), min(most, value + reach)
