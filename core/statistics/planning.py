"""How many items are needed, and what so many can show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .interval import ROOM
from .shares import wilson


def items_for_width(width: float, share: float = 0.5) -> int:
    """The fewest independent items whose Wilson interval is at most `width` wide (high - low) around such a share.

    A share of 0.5, as of a coin, needs the most, Z² (1 / width² - 1) of them; 0 and 1 the fewest. For items of several
    trials that agree in part, the items are what counts. Raises ValueError for a width or share outside 0 to 1.
    """
    if not 0 < width < 1 or not 0 <= share <= 1:
        raise ValueError(f"no number of items makes an interval of {share} {width} wide")

    def is_narrow(n: int) -> bool:
        low, high = wilson(share, n)
        return high - low <= width

    return _fewest(is_narrow)


def power_of_pairs(
    only_first: float, only_second: float, n: int, level: float = 0.05, draws: int = 10_000, seed: int = 0
) -> float:
    """How often McNemar's exact test at `level` would find a difference over `n` shared items, by simulation.

    `only_first` and `only_second` are the expected shares of items of which one alone comes true. Each draw is `n`
    items; the result is good to about 1 / sqrt(draws). Equal shares (no difference, as of two that guess): at most
    `level`. Two that never part, or no items: 0. Raises ValueError for shares that no two outcomes can have.
    """
    import numpy as np
    from scipy.special import bdtr

    if min(only_first, only_second) < 0 or only_first + only_second > 1:
        raise ValueError(f"{only_first} and {only_second} cannot be shares of the same items")
    rest = 1 - only_first - only_second
    drawn = np.random.default_rng(seed).multinomial(n, [only_first, only_second, rest], size=draws)[:, :2]
    parted = drawn.sum(axis=1)
    p_values = np.where(parted > 0, 2 * bdtr(drawn.min(axis=1), parted, 0.5), 1.0)  # shares.mcnemar, all at once
    return float((p_values <= level).mean())


def items_for_power(
    only_first: float, only_second: float, power: float = 0.8, level: float = 0.05, seed: int = 0, most: int = 100_000
) -> int | None:
    """About how many shared items McNemar's exact test needs to find such a difference with probability `power`.

    By simulation, so good to a few items; an exact test's power also rises and falls a little from n to n + 1. None
    where `most` items do not do, as for equal shares and for two that never part. Raises ValueError as
    `power_of_pairs` does.
    """
    if power_of_pairs(only_first, only_second, most, level, seed=seed) < power:
        return None
    return _fewest(lambda n: power_of_pairs(only_first, only_second, n, level, seed=seed) >= power)


def power_of_differences(
    differences: Sequence[float], n: int, level: float = 0.05, draws: int = 2000, seed: int = 0
) -> float:
    """How often a paired t test at `level` would find a difference over `n` items like those that were measured.

    `differences` holds what earlier runs gave, one of each shared item; each draw takes `n` of them with replacement,
    so it promises no more than these items do. Draws whose differences are all the same have no t test, and count as
    not found. Identical settings (all 0), and fewer than two items drawn: 0. Raises ValueError for no differences.
    """
    import numpy as np
    from scipy.special import stdtrit

    if not len(differences):
        raise ValueError("power needs the differences of some items")
    if n < 2:
        return 0.0
    gaps, random, limit = (
        np.asarray(differences, dtype=float),
        np.random.default_rng(seed),
        stdtrit(n - 1, 1 - level / 2),
    )
    found, at_once = 0, max(1, ROOM // n)
    for start in range(0, draws, at_once):
        drawn = gaps[random.integers(len(gaps), size=(min(at_once, draws - start), n), dtype=np.int32)]
        error = drawn.std(axis=1, ddof=1) / n**0.5
        found += int(((error > 1e-12) & (np.abs(drawn.mean(axis=1)) > limit * error)).sum())
    return found / draws


def items_for_difference(
    differences: Sequence[float], power: float = 0.8, level: float = 0.05, seed: int = 0, most: int = 10_000
) -> int | None:
    """About how many items like those that were measured a paired t test needs to find their difference with
    probability `power` (`power_of_differences`). None where `most` do not do. Raises ValueError for no differences.
    """

    def is_enough(n: int) -> bool:
        return power_of_differences(differences, n, level, draws=500, seed=seed) >= power

    return _fewest(is_enough) if is_enough(most) else None


def _fewest(enough: Callable[[int], Any]) -> int:
    """The smallest number from 1 that is enough, where all beyond it are."""
    high = 1
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
