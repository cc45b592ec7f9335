"""How far two or more who labelled the same things agree, and how far one is right."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Literal, NamedTuple

from core.statistics.interval import Interval
from core.statistics.shares import wilson


class Agreement(NamedTuple):
    """`value` is the coefficient over `n` items, None where undefined; the shares, from 0 to 1, None without items."""

    value: float | None
    n: int
    agreed: float | None
    by_chance: float | None


def kappa(a: Sequence[Hashable | None], b: Sequence[Hashable | None]) -> Agreement:
    """Cohen's kappa between two who labelled the same items (Cohen 1960): (agreed - by chance) / (1 - by chance).

    In [-1, 1]. What either left out (None) does not count. Undefined without items, and where both always gave the same
    one label: chance alone would then make them agree. Two who guess, or one who always says the same: around 0, and
    exactly 0. Identical labels of two kinds: 1. Raises ValueError for unequal lengths.
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
    (None) where no item was labelled twice, and where all that count have the same one label. Guesses: around 0. One
    who always says the same: 0 or below. Identical labels of two kinds: 1. Raises ValueError for
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


def balanced_accuracy(truth: Sequence[Hashable | None], said: Sequence[Hashable | None]) -> Interval:
    """The mean, over the classes that are true of some item, of the share of that class that was said rightly
    (Brodersen et al. 2010, ICPR, 3121-3124).

    What either leaves out (None) does not count; `n` items do. The interval joins the classes' Wilson intervals by
    "square and add", for they are independent (Zou and Donner 2008, Statistics in Medicine 27, 1693-1702): with k
    classes of shares v, low = mean v - sqrt(sum (v - low of v)²) / k, and high likewise. Guesses, and always the same
    answer: around, and exactly, 1 / k, however uneven the classes are. Said as it is: 1. Undefined where fewer than two
    classes are true. Raises ValueError for unequal lengths.
    """
    both = [(x, y) for x, y in zip(truth, said, strict=True) if x is not None and y is not None]
    right: dict[Hashable, list[bool]] = {}
    for x, y in both:
        right.setdefault(x, []).append(x == y)
    if len(right) < 2:
        return Interval(None, None, None, len(both), "it needs items of two classes")
    recalls = [(sum(hits) / len(hits), *wilson(sum(hits) / len(hits), len(hits))) for hits in right.values()]
    k, value = len(recalls), math.fsum(share for share, _, _ in recalls) / len(recalls)
    down = math.hypot(*(share - low for share, low, _ in recalls)) / k
    up = math.hypot(*(high - share for share, _, high in recalls)) / k
    return Interval(value, max(0.0, value - down), min(1.0, value + up), len(both), f"{k} classes, square and add")
