"""Intervals, paired tests and agreement. The ground floor: it imports nothing of ours."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Z = 1.959963984540054
"""The normal distribution's 97.5 % point."""


def wilson(share: float, n: int) -> tuple[float, float]:
    """The Wilson score interval, 95 %, of a share of `n` > 0 things (Wilson 1927), as scipy's binomtest gives it.

    Written out, for importing scipy.stats would hold up a run for longer than the run lasts.
    """
    middle = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    reach = Z / (1 + Z * Z / n) * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    return max(0.0, min(share, middle - reach)), min(1.0, max(share, middle + reach))


class Agreement(NamedTuple):
    """`value` is the coefficient over `n` items, None where undefined; the shares, from 0 to 1, None without items."""

    value: float | None
    n: int
    agreed: float | None
    by_chance: float | None


def kappa(a: Sequence[Hashable | None], b: Sequence[Hashable | None]) -> Agreement:
    """Cohen's kappa between two who labelled the same items (Cohen 1960): (agreed - by chance) / (1 - by chance).

    In [-1, 1]. What either left out (None) does not count. Undefined without items, and where both always gave the same
    one label: chance alone would then make them agree. Raises ValueError for unequal lengths.
    """
    from nltk.metrics.agreement import AnnotationTask

    both = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    n = len(both)
    if not n:
        return Agreement(None, 0, None, None)
    task = AnnotationTask([(coder, item, pair[coder]) for item, pair in enumerate(both) for coder in (0, 1)])
    agreed, by_chance = float(task.Ao(0, 1)), float(task.Ae_kappa(0, 1))
    if len(task.K) == 1:  # NLTK calls that 1.0
        return Agreement(None, n, agreed, by_chance)
    return Agreement(float(task.kappa()), n, agreed, by_chance)


def alpha(
    coders: Sequence[Sequence[Hashable | None]], level: Literal["nominal", "interval"] = "nominal"
) -> float | None:
    """Krippendorff's alpha (2004, chapter 11): 1 - observed / expected disagreement, at most 1.

    `coders` holds one row of labels a coder, (coders, items); None where one did not label the item. Items labelled by
    fewer than two do not count. `interval` takes numbers, and their squared difference as disagreement. Undefined
    (None) where no item was labelled twice, and where all that count have the same one label. Raises ValueError for
    rows of unequal length.
    """
    from nltk.metrics import binary_distance, interval_distance
    from nltk.metrics.agreement import AnnotationTask

    items = [[label for label in item if label is not None] for item in zip(*coders, strict=True)]
    counted = [item for item in items if len(item) > 1]
    if len({label for item in counted for label in item}) < 2:  # NLTK calls one label 1.0
        return None
    rated = [(coder, item, label) for item, labels in enumerate(counted) for coder, label in enumerate(labels)]
    return float(AnnotationTask(rated, binary_distance if level == "nominal" else interval_distance).alpha())


# Several items


def jackknife_of_pairs(
    matrix: NDArray[np.float64], total: float, value: float, most: float
) -> tuple[float | None, float | None]:
    """A 95 % interval of `value` = 1 - the mean of `matrix` over ordered pairs, by leaving out one thing at a time.

    `matrix` has shape (n, n), its diagonal 0, and adds up to `total`. Pairs that share a thing are not independent, and
    a bootstrap would draw a thing twice and count it as its own likeness. t distribution with n - 1 degrees of freedom,
    cut to [0, `most`] (Efron and Tibshirani 1993, chapter 11). (None, None) for fewer than three things, and where
    leaving out any one changes nothing.
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


@dataclass(frozen=True)
class Comparison:
    """Two settings over the items that both have: means, their difference a - b with a 95 % interval, and the test."""

    mean_a: float | None
    mean_b: float | None
    difference: float | None
    low: float | None
    high: float | None
    t: float | None
    p: float | None
    n: int
    of: int
    detail: dict[str, Any] = field(default_factory=dict)


def compare(
    a: Mapping[str, float | None],
    b: Mapping[str, float | None],
    alternative: Literal["two-sided", "less", "greater"] = "two-sided",
) -> Comparison:
    """A paired t test over items, as Chen et al. make it (calculate_precision.py:34-52, scipy ttest_rel).

    `a` and `b` map an item (such as a starter question) to its value under one setting, None where undefined. Only
    items defined in both count (`n` of the `of` items in either). No correction for several tests, as in the paper.
    Without two items, or where all differences are equal, there is no test; `detail` says so.
    """
    shared = sorted(item for item in a.keys() & b.keys() if a[item] is not None and b[item] is not None)
    of = len(a.keys() | b.keys())
    left = [float(a[item] or 0.0) for item in shared]
    right = [float(b[item] or 0.0) for item in shared]
    if not shared:
        return Comparison(None, None, None, None, None, None, None, 0, of, {"reason": "no item is in both settings"})
    mean_a, mean_b = math.fsum(left) / len(left), math.fsum(right) / len(right)
    difference = mean_a - mean_b
    gaps = [x - y for x, y in zip(left, right, strict=True)]
    if len(shared) < 2 or max(gaps) - min(gaps) < 1e-12:
        reason = "a paired test needs two items" if len(shared) < 2 else "the difference is the same on every item"
        return Comparison(mean_a, mean_b, difference, None, None, None, None, len(shared), of, {"reason": reason})
    from scipy.stats import ttest_rel

    test = ttest_rel(left, right, alternative=alternative)
    interval = ttest_rel(left, right).confidence_interval(0.95)
    return Comparison(
        mean_a,
        mean_b,
        difference,
        float(interval.low),
        float(interval.high),
        float(test.statistic),
        float(test.pvalue),
        len(shared),
        of,
        {"test": "paired t", "alternative": alternative},
    )


def difference_of_paired_shares(
    first: Sequence[float], second: Sequence[float], independent: int
) -> tuple[float, float, float]:
    """The mean difference of two shares over the same items, and its 95 % interval: (difference, low, high).

    `first` and `second` hold one value in [0, 1] for each item, in the same order; `independent` of them are
    independent. The interval joins the Wilson intervals of the two means p and q, corrected for the correlation r of
    the pairs ("square and add": Newcombe 1998, Statistics in Medicine 17, 2635-2650; for other means than proportions
    Zou and Donner 2008, ibid. 27, 1693-1702)::

        low  = d - sqrt((p - l1)² - 2 r (p - l1)(u2 - q) + (u2 - q)²)
        high = d + sqrt((u1 - p)² - 2 r (u1 - p)(q - l2) + (q - l2)²)

    Unlike a t interval or a bootstrap it has a width when all items agree. Raises ValueError for no items.
    """
    if not first or len(first) != len(second):
        raise ValueError(f"{len(first)} and {len(second)} values are no pairs")
    p, q = sum(first) / len(first), sum(second) / len(second)
    (l1, u1), (l2, u2) = wilson(p, independent), wilson(q, independent)
    r = _correlation(first, second)
    down = math.sqrt(max(0.0, (p - l1) ** 2 - 2 * r * (p - l1) * (u2 - q) + (u2 - q) ** 2))
    up = math.sqrt(max(0.0, (u1 - p) ** 2 - 2 * r * (u1 - p) * (q - l2) + (q - l2) ** 2))
    return p - q, max(-1.0, p - q - down), min(1.0, p - q + up)


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact two-sided p of McNemar's test (1947): so many pairs in which only one of two came true, under a fair
    coin. 1 without such pairs.

    Written out for the same reason as `wilson`; it is scipy's binomtest(only_first, n, 0.5).
    """
    n = only_first + only_second
    tail = sum(math.comb(n, hits) for hits in range(min(only_first, only_second) + 1))
    return min(1.0, float(2 * tail / 2**n))


def difference_of_pairs(only_first: int, only_second: int, n: int) -> tuple[float, float, float]:
    """How much more often the first of two came true over the same `n` > 0 things, and its 95 % interval: (difference,
    low, high). `only_first` are the pairs in which only the first did. The interval is Bonett and Price's (2012,
    Journal of Educational and Behavioral Statistics 37, 479-488), which has a width where all pairs agree.
    """
    first, second = (only_first + 1) / (n + 2), (only_second + 1) / (n + 2)
    middle = first - second
    reach = Z * math.sqrt((first + second - middle**2) / (n + 2))
    value = (only_first - only_second) / n
    return value, max(-1.0, min(value, middle - reach)), min(1.0, max(value, middle + reach))


def _correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Pearson's; 0 where one side is all alike."""
    p, q = sum(first) / len(first), sum(second) / len(second)
    spread = math.sqrt(sum((a - p) ** 2 for a in first) * sum((b - q) ** 2 for b in second))
    return sum((a - p) * (b - q) for a, b in zip(first, second, strict=True)) / spread if spread > 1e-12 else 0.0
