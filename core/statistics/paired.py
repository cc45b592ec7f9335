"""Two settings over the items that both have: tests, and their correction where there are several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from .interval import ROOM, is_alike
from .means import Kind, interval_of_items, of_gaps
from .shares import mcnemar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Comparison:
    """Two settings over the items that both have: means, their difference a - b with a 95 % interval, and the test."""

    n: int
    of: int
    mean_a: float | None = None
    mean_b: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    t: float | None = None
    p: float | None = None
    detail: Mapping[str, str] = field(default_factory=dict)


def compare(a: Mapping[str, float | None], b: Mapping[str, float | None], kind: Kind = "share") -> Comparison:
    """A paired t test over items, as Chen et al. make it (calculate_precision.py:34-52, scipy ttest_rel).

    `a` and `b` map an item (such as a starter question) to its value under one setting, None where undefined; the
    `kind` of these values decides on the interval. Only items defined in both count (`n` of the `of` items in either).
    No correction for several tests, as in the paper (`holm` is ours, and so is the interval: that of means over items
    everywhere, `interval_of_items`). What the paper compares over two methods together is the mean of both per
    item (:50-52).
    Without two items, or where all differences are equal (identical settings), there is no test; `detail` says so.
    Two settings that both guess: p is at most 0.05 about one time in twenty.
    """
    shared = sorted(item for item in a.keys() & b.keys() if a[item] is not None and b[item] is not None)
    of = len(a.keys() | b.keys())
    left = [float(a[item] or 0.0) for item in shared]
    right = [float(b[item] or 0.0) for item in shared]
    if not shared:
        return Comparison(0, of, detail={"reason": "no item is in both settings"})
    mean_a, mean_b = math.fsum(left) / len(left), math.fsum(right) / len(right)
    gaps = [x - y for x, y in zip(left, right, strict=True)]
    low, high = interval_of_items(gaps, of_gaps(kind))[1:3]
    untested = Comparison(len(shared), of, mean_a, mean_b, mean_a - mean_b, low, high)
    if len(shared) < 2:
        return replace(untested, detail={"reason": "a paired test needs two items"})
    if max(gaps) - min(gaps) < 1e-12:
        return replace(untested, detail={"reason": "the difference is the same on every item"})
    from scipy.stats import ttest_rel

    test = ttest_rel(left, right)
    return replace(untested, t=float(test.statistic), p=float(test.pvalue), detail={"test": "paired t"})


class Test(NamedTuple):
    """A test's two-sided p and its name."""

    p: float
    name: str


def sign_flips(differences: Sequence[float] | NDArray[np.float64], draws: int = 9999, seed: int = 0) -> Test:
    """How often differences at least so far from 0 on average come up when each one's sign is tossed: Fisher's
    randomisation test for pairs (1935, The Design of Experiments, section 21).

    `differences` holds one of each independent item. Where all are 1, 0 or -1 that is McNemar's exact test, which is
    then named. Else exact while the 2^n ways number no more than `draws` + 1; beyond, `draws` of them are drawn and
    what was seen counts as one of them (Phipson and Smyth 2010, Statistical Applications in Genetics 9, 39). Nothing,
    or identical settings: p = 1. Two that both guess: a p at most 0.05 one time in twenty or less.
    """
    import numpy as np

    gaps, n = np.asarray(differences, dtype=float), len(differences)
    if np.isin(gaps, (-1, 0, 1)).all():
        return Test(mcnemar(int((gaps == 1).sum()), int((gaps == -1).sum())), "exact McNemar")
    far = abs(gaps.sum()) - 1e-9 * np.abs(gaps).sum()  # sums of the same numbers in another order differ a little
    if 2**n <= draws + 1:
        signs = 1.0 - 2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1)
        return Test(float((np.abs(signs @ gaps) >= far).mean()), f"sign flips, all {2**n:,}")
    random, at_once, reached = np.random.default_rng(seed), max(1, ROOM // n), 0
    sizes, times = np.unique(np.abs(gaps).round(12), return_counts=True)
    if is_alike(len(sizes), n):
        # Of c differences of one size, those that keep their sign are a binomial number.
        sums = (2.0 * random.binomial(times, 0.5, size=(draws, len(sizes))) - times) @ sizes
        return Test((int((np.abs(sums) >= far).sum()) + 1) / (draws + 1), f"sign flips, {draws:,} drawn")
    for start in range(0, draws, at_once):
        signs = 2.0 * random.integers(2, size=(min(at_once, draws - start), n), dtype=np.int8) - 1
        reached += int((np.abs(signs @ gaps) >= far).sum())
    return Test((reached + 1) / (draws + 1), f"sign flips, {draws:,} drawn")


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Each p, corrected for having made all of these tests (Holm 1979, Scandinavian Journal of Statistics 6, 65-70).

    The smallest is multiplied by how many there are, the next by one fewer, and so on; none falls below one before it,
    none exceeds 1. None stays None and is no test. One test alone is left as it is, nothing gives nothing, equal p's
    stay equal. Where nothing is there to be found, the chance of any p at most 0.05 is at most 1 in 20.
    """
    made = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    floor = 0.0
    for rank, (p, place) in enumerate(made):
        corrected[place] = floor = max(floor, min(1.0, p * (len(made) - rank)))
    return corrected
