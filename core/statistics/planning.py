"""How many items are needed, and what a given number of them can show."""

from collections.abc import Callable, Sequence
from typing import Any

from .intervals import ROOM, wilson


def items_for_width(width: float, share: float = 0.5) -> int:
    """Return the fewest independent items whose Wilson interval around this share is at most `width` wide (high - low).

    A share of 0.5 needs the most, Z² (1 / width² - 1) of them; 0 and 1 the fewest. If items have several trials that
    partly agree, count the items. Raises ValueError for a width or share outside 0 to 1.
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
    """Return how often McNemar's exact test at `level` would find a difference over `n` shared items, by simulation.

    `only_first` and `only_second` are the expected shares of items that come true for one side only. Each draw is `n`
    items; the result is accurate to about 1 / sqrt(draws). Equal shares (no difference, as for two that guess): at most
    `level`. Two that never differ, or no items: 0. Raises ValueError for shares that no two outcomes can have.
    """
    import numpy as np
    from scipy.special import bdtr

    if min(only_first, only_second) < 0 or only_first + only_second > 1:
        raise ValueError(f"{only_first} and {only_second} cannot be shares of the same items")
    rest = 1 - only_first - only_second
    drawn = np.random.default_rng(seed).multinomial(n, [only_first, only_second, rest], size=draws)[:, :2]
    parted = drawn.sum(axis=1)
    p_values = np.where(parted > 0, 2 * bdtr(drawn.min(axis=1), parted, 0.5), 1.0)  # shares.mcnemar, vectorised
    return float((p_values <= level).mean())


def items_for_power(
    only_first: float, only_second: float, power: float = 0.8, level: float = 0.05, seed: int = 0, most: int = 100_000
) -> int | None:
    """Return about how many shared items McNemar's exact test needs to find such a difference with probability `power`.

    By simulation, so accurate to a few items; an exact test's power also rises and falls a little from n to n + 1. None
    if `most` items are not enough, as for equal shares and for two that never differ. Raises ValueError as
    `power_of_pairs` does.
    """
    if power_of_pairs(only_first, only_second, most, level, seed=seed) < power:
        return None
    return _fewest(lambda n: power_of_pairs(only_first, only_second, n, level, seed=seed) >= power)


def power_of_differences(
    differences: Sequence[float], n: int, level: float = 0.05, draws: int = 2000, seed: int = 0
) -> float:
    """Return how often a paired t test at `level` would find a difference over `n` items like those that were measured.

    `differences` are results of earlier runs, one per shared item; each draw samples `n` of them with replacement, so
    the result promises no more than these items do. Draws whose differences are all the same have no t test, and count
    as not found. Identical settings (all 0), and fewer than two items sampled: 0. Raises ValueError without
    differences.
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
    """Return about how many items like those that were measured a paired t test needs to find their difference with
    probability `power` (`power_of_differences`). None if `most` are not enough. Raises ValueError without
    differences.
    """

    def is_enough(n: int) -> bool:
        return power_of_differences(differences, n, level, draws=500, seed=seed) >= power

    return _fewest(is_enough) if is_enough(most) else None


def _fewest(enough: Callable[[int], Any]) -> int:
    """Return the smallest number from 1 that is enough, assuming that all larger ones are."""
    high = 1
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
