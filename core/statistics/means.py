"""The one interval of a mean, or a median, over items, used for runs, studies, lists and comparisons alike."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from statistics import median
from typing import Literal

from .interval import Interval
from .shares import Z, wilson

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
