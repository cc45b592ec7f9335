"""A figure with its interval: intervals of means, medians, shares and their differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from statistics import median
from typing import TYPE_CHECKING, Literal, NamedTuple

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

    def is_within(p: float) -> bool:
        if (total and p <= 0) or (total < n and p >= 1):  # bisection has reached an end that the data rule out
            return False
        against = sum(part * math.log(share) for part, share in ((total, p), (n - total, 1 - p)) if part)
        return mixture - against < -math.log(1 - level)

    low = bisected(mean, 0.0, is_within)[1] if total else 0.0
    high = bisected(mean, 1.0, is_within)[1] if total < n else 1.0
    return Interval(mean, low, high, n, "mixture confidence sequence, holds at every n")


def bisected(inside: float, outside: float, is_within: Callable[[float], bool]) -> tuple[float, float]:
    """Return two points next to each other, one on either side of the end of what `is_within`: from a point within and
    one outside, by 50 halvings.
    """
    for _ in range(50):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if is_within(middle) else (inside, middle)
    return inside, outside


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


# Shares and their differences: intervals, McNemar's test, thresholds for too little data. Plain arithmetic.


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


def exact_share(hits: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Return Clopper and Pearson's interval (1934) of a share: `hits` of `n`, which need not be whole numbers. From 0
    to 1 for n = 0.
    """
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


# The one interval of a mean, or a median, over items, used for runs, studies, lists and comparisons alike.


Kind = Literal["share", "difference", "positive", "any", "error", "gap"]
"""The kind of a figure's values. `share`: from 0 to 1; `difference`: of two shares, or a correlation; `positive`: 0 or
more; `any`: any number; `error`: 0 or more, where one value may outweigh all others; `gap`: the difference of two
errors.
"""

MEDIAN = frozenset[Kind]({"error", "gap"})
"""Kinds that are summarised by the median over items instead of the mean."""

Range = tuple[float, float]
"""The smallest and the largest value that a figure can have."""

RANGES: dict[Kind, Range] = {
    "share": (0.0, 1.0),
    "difference": (-1.0, 1.0),
    "positive": (0.0, math.inf),
    "any": (-math.inf, math.inf),
    "error": (0.0, math.inf),
    "gap": (-math.inf, math.inf),
}

SAME = 1e-12


def of_gaps(kind: Kind) -> Kind:
    """Return the kind of the difference of two figures of this kind."""
    return "difference" if kind == "share" else "gap" if kind == "error" else "any"


def of_items(values: Sequence[float], kind: Kind) -> float:
    """Return the median of the items' `values` if the `kind` has one, else their mean. Raises ValueError without
    values.
    """
    return median(values) if kind in MEDIAN else math.fsum(values) / len(values)


def interval_of_items(values: Sequence[float], kind: Kind = "share", ends: Range | None = None) -> Interval:
    """Return the mean of `values`, one per independent item (the mean of its trials), or their median (`MEDIAN`), and
    its 95 % interval, which stays within the figure's range: `ends`, or else that of its kind.

    **share**: Wilson's interval for as many things as the items are worth: k = p (1 - p) / error², with the error of a
    t interval with n - 1 degrees of freedom, and at least n, because values from 0 to 1 never spread more than zeros
    and ones do (Korn and Graubard 1998, Survey Methodology 24, 193-201, with Wilson's limits in place of Clopper and
    Pearson's). The error is that of the items and of half an item at either end, so that a few items which happen to be
    alike are not taken to be all alike::

        k = max(n, n² (z / t)² p (1 - p) / (sum (x - p)² + (p² + (1 - p)²) / 2))

    For items that are 0 or 1 this is Wilson's interval of n; it has a width even if all items are alike.

    **difference**: Bonett and Price's interval of paired shares (2012, JEBS 37, 479-488), whose idea holds for means
    too: the error is that of the items and of one more at -1 and one at 1. It has a width even if all pairs agree.

    **positive** and **any**: a t interval, cut to the range; none for one item or if all are alike, because nothing
    shows how far off another could be. A share or a difference whose `ends` are wider than its kind has this interval
    too if a value lies beyond the kind's range.

    **error** and **gap**: the median lies between two of the ordered items, as far apart as the sign test needs,
    whatever the distribution of the values (Conover 1999, Practical Nonparametric Statistics, section 3.2); at 95 %,
    five items or fewer give none.

    How often the intervals contain the truth: `benchmarks/coverage.py`, and §6.1 of docs/measuring.md. A constant guess
    that is always right: 1, from Wilson's low end of n. Identical sides: 0, with symmetric limits. No values: no value.
    A value outside the range, which only a damaged journal contains: no interval, and `how` says so. Raises ValueError
    for values that are not finite.
    """
    n = len(values)
    if not n:
        return Interval(None, None, None, 0, "there is nothing to take the mean of")
    if not all(map(math.isfinite, values)):
        raise ValueError("a value is not finite")
    bottom, top = ends or RANGES[kind]
    mean = of_items(values, kind)
    least, most = min(values), max(values)
    if least < bottom - SAME or most > top + SAME:
        return Interval(mean, None, None, n, f"a value lies outside the range of this figure, {bottom:g} to {top:g}")
    if kind in MEDIAN:
        return _of_median(values, mean)
    if least < RANGES[kind][0] - SAME or most > RANGES[kind][1] + SAME:
        kind = "any"
    mean = min(top, max(bottom, mean))
    found = _interval(mean, math.fsum((value - mean) ** 2 for value in values), n, kind)
    if found.low is None or found.high is None:
        return found
    return found._replace(low=max(bottom, found.low), high=min(top, found.high))


def interval_of_trials(values: Sequence[float], items: Sequence[Hashable], kind: Kind = "share") -> Interval:
    """Return the mean of all trials, each with equal weight, with the interval of its items; `items` names that of each
    trial.

    An item moves such a mean in proportion to its number of trials, so item i with n_i trials and the mean x_i enters
    `interval_of_items` as p + (x_i - p) n_i / (mean of all n_i), whose mean is p (the linearised ratio: Cochran 1977,
    Sampling Techniques, section 6.4). If all items have the same number of trials, these are the items' means, and the
    interval is the same. `n` counts items. Raises ValueError for unequal lengths and as `interval_of_items`.
    """
    by_item: dict[Hashable, list[float]] = {}
    for value, item in zip(values, items, strict=True):
        by_item.setdefault(item, []).append(value)
    if len({len(trials) for trials in by_item.values()}) <= 1:
        return interval_of_items([math.fsum(trials) / len(trials) for trials in by_item.values()], kind)
    whole = interval_of_items(values, kind)
    p, n = whole.value or 0.0, len(by_item)
    pulls = [math.fsum(value - p for value in trials) * n / len(values) for trials in by_item.values()]
    return _interval(p, math.fsum(pull * pull for pull in pulls), n, kind)


def _interval(mean: float, squares: float, n: int, kind: Kind) -> Interval:
    """Return the interval from the mean and the sum of squares around it."""
    if kind == "share":
        worth = n * max(1.0, _worth(mean, squares, n))
        how = "wilson over items" if worth == n else "wilson over items, by their spread"
        return Interval(mean, *wilson(mean, worth), n, how)
    if kind == "difference":
        middle = mean * n / (n + 2)
        reach = Z * math.sqrt(max(0.0, (squares + n * mean * mean + 2) / (n + 2) - middle * middle) / (n + 2))
        low, high = max(-1.0, min(mean, middle - reach)), min(1.0, max(mean, middle + reach))
        return Interval(mean, low, high, n, "bonett and price over items")
    if n < 2 or squares < SAME:
        why = "one item shows no spread" if n < 2 else "all items have the same value: they show no spread"
        return Interval(mean, None, None, n, why)
    reach = _t(n) * math.sqrt(squares / (n - 1) / n)
    return Interval(mean, mean - reach, mean + reach, n, "t over items")


def _of_median(values: Sequence[float], middle: float) -> Interval:
    """Return the median, `middle`, with its limits."""
    from scipy.special import bdtr

    n = len(values)
    # The largest k for which fewer than k of n fair coins show heads at most 2.5 % of the time.
    k = sum(bdtr(heads, n, 0.5) <= 0.025 for heads in range(n // 2))
    if not k:
        return Interval(middle, None, None, n, "so few items show no limits of a median")
    ordered = sorted(values)
    return Interval(middle, ordered[k - 1], ordered[n - k], n, "order statistics over items")


def _worth(p: float, squares: float, n: int) -> float:
    """Return how many zeros and ones an item is worth; see `interval_of_items`."""
    most = p * (1 - p)
    if n < 2 or most < SAME or squares >= n * most * (1 - SAME):  # zeros and ones need no quantile
        return 1.0
    return n * (Z / _t(n)) ** 2 * most / (squares + (p * p + (1 - p) ** 2) / 2)


def _t(n: int) -> float:
    from scipy.special import stdtrit  # imported only where it is used, as everywhere here

    return float(stdtrit(n - 1, 0.975))
