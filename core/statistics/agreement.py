"""How far several labellers of the same items agree."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple


class Agreement(NamedTuple):
    """`value` is the coefficient over `n` items, None if undefined; the shares are from 0 to 1, None without items."""

    value: float | None
    n: int
    agreed: float | None
    by_chance: float | None


def kappa(a: Sequence[Hashable | None], b: Sequence[Hashable | None]) -> Agreement:
    """Compute Cohen's kappa between two labellers of the same items (Cohen 1960): (agreed - by chance) / (1 - by
    chance).

    It is in [-1, 1]. Items that either left out (None) do not count. It is undefined without items, and if both always
    gave the same single label, because chance alone would then make them agree. Two who guess: around 0. One who always
    gives the same label: exactly 0. Identical labels of two kinds: 1. Raises ValueError for unequal lengths.
    """
    both = [(x, y, 1.0) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    return weighted_kappa(both)


def weighted_kappa(pairs: Sequence[tuple[Hashable, Hashable, float]]) -> Agreement:
    """Compute Cohen's kappa (1960) for weighted pairs of labels (weights of at least 0).

    With equal weights it equals `kappa`: in [-1, 1], undefined without items and if both always gave the same single
    label. Guesses: around 0; one who always gives the same label: exactly 0. `n` is the number of pairs.
    """
    every = math.fsum(weight for *_, weight in pairs)
    if not every:
        return Agreement(None, len(pairs), None, None)
    first, second = Counter[Hashable](), Counter[Hashable]()
    for a, b, weight in pairs:
        first[a] += weight / every  # type: ignore[assignment]  # a Counter can hold shares too
        second[b] += weight / every  # type: ignore[assignment]
    agreed = math.fsum(weight for a, b, weight in pairs if a == b) / every
    by_chance = math.fsum(share * second[label] for label, share in first.items())
    if len({*first, *second}) < 2:
        return Agreement(None, len(pairs), agreed, by_chance)
    return Agreement((agreed - by_chance) / (1 - by_chance), len(pairs), agreed, by_chance)
