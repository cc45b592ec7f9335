"""An interval that may be looked at after every answer."""

from __future__ import annotations

import math

from .interval import Interval


def anytime(total: float, n: int, level: float = 0.95) -> Interval:
    """The mean of values from 0 to 1 with an interval that holds at every n at once (a confidence sequence).

    Anyone who stops as soon as an interval is narrow enough makes an ordinary one too narrow. This one is the set of p
    against which a bet spread evenly over all alternatives (a Beta(1, 1) mixture of likelihood ratios) has not grown
    1 / (1 - level) fold::

        ln B(1 + total, 1 + n - total) - total ln p - (n - total) ln(1 - p) < -ln(1 - level)

    By Ville's inequality it ever excludes the truth with probability at most 1 - level (Robbins 1970, Annals of
    Mathematical Statistics 41, 1397-1409; Howard, Ramdas, McAuliffe and Sekhon 2021, Annals of Statistics 49,
    1055-1080; Waudby-Smith and Ramdas 2024, JRSS B 86, 1-27). It holds for values between 0 and 1 too, for the ratio is
    convex in the value, so its expectation is greatest for zeros and ones. The items must come in an order that has
    nothing to do with their outcome.

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
        if (total and p <= 0) or (total < n and p >= 1):  # where halving has reached an end that was seen not to be
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
