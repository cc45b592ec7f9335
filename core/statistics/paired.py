"""Two settings over the items that both have: tests, and the correction for several tests."""

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
    """Run a paired t test over items, as Chen et al. do (calculate_precision.py:34-52, scipy ttest_rel).

    `a` and `b` map an item (such as a starter question) to its value under one setting, None if undefined; the `kind`
    of these values determines the interval. Only items defined in both count (`n` of the `of` items in either). There
    is no correction for several tests, as in the paper (`holm` is ours, and so is the interval: that of means over
    items everywhere, `interval_of_items`). When the paper compares two methods together, it uses the mean of both per
    item (:50-52).

    With fewer than two items, or if all differences are equal (identical settings), there is no test; `detail` says so.
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
    """Test how often the average difference is at least as far from 0 if the sign of each difference is random:
    Fisher's randomisation test for pairs (1935, The Design of Experiments, section 21).

    `differences` has one value per independent item. If all are 1, 0 or -1, this is McNemar's exact test, and is called
    so. Otherwise it is exact as long as the 2^n sign patterns number no more than `draws` + 1; beyond that, `draws` of
    them are sampled and the observed one counts as one of them (Phipson and Smyth 2010, Statistical Applications in
    Genetics 9, 39). No items, or identical settings: p = 1. Two that both guess: p is at most 0.05 one time in twenty
    or less.
    """
    import numpy as np

    gaps, n = np.asarray(differences, dtype=float), len(differences)
    if np.isin(gaps, (-1, 0, 1)).all():
        return Test(mcnemar(int((gaps == 1).sum()), int((gaps == -1).sum())), "exact McNemar")
    far = abs(gaps.sum()) - 1e-9 * np.abs(gaps).sum()  # sums in another order differ a little
    if 2**n <= draws + 1:
        signs = 1.0 - 2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1)
        return Test(float((np.abs(signs @ gaps) >= far).mean()), f"sign flips, all {2**n:,}")
    random, at_once, reached = np.random.default_rng(seed), max(1, ROOM // n), 0
    sizes, times = np.unique(np.abs(gaps).round(12), return_counts=True)
    if is_alike(len(sizes), n):
        # Of c differences of one size, the number that keep their sign is binomial.
        sums = (2.0 * random.binomial(times, 0.5, size=(draws, len(sizes))) - times) @ sizes
        return Test((int((np.abs(sums) >= far).sum()) + 1) / (draws + 1), f"sign flips, {draws:,} drawn")
    for start in range(0, draws, at_once):
        signs = 2.0 * random.integers(2, size=(min(at_once, draws - start), n), dtype=np.int8) - 1
        reached += int((np.abs(signs @ gaps) >= far).sum())
    return Test((reached + 1) / (draws + 1), f"sign flips, {draws:,} drawn")


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Correct each p for the number of tests made (Holm 1979, Scandinavian Journal of Statistics 6, 65-70).

    The smallest is multiplied by the number of tests, the next by one less, and so on; none falls below the one before
    it, and none exceeds 1. None stays None and does not count as a test. A single test is unchanged, an empty list
    stays empty, equal p's stay equal. If there are no differences at all, the chance that any p is at most 0.05 is at
    most 1 in 20.
    """
    made = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    floor = 0.0
    for rank, (p, place) in enumerate(made):
        corrected[place] = floor = max(floor, min(1.0, p * (len(made) - rank)))
    return corrected
