"""How far two or more who labelled the same things agree, and how far one is right."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple


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
