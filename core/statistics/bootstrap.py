"""Intervals by drawing again, or leaving out, what is independent: starter items, not their trials."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

from core.statistics.interval import Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Mean = Literal["macro", "micro", "median"]
"""macro: each cluster counts alike (the mean of the clusters' means). micro: each trial does. median: of the clusters'
means."""

ROOM = 1_000_000
"""Clusters drawn at a time: memory stays at some tens of megabytes however many draws and clusters there are."""


def is_alike(distinct: int, n: int) -> bool:
    """Whether of `n` things so few differ, and so many there are, that drawing how often each of the distinct ones
    comes up is much quicker than drawing each thing. It is the same distribution.
    """
    return n > 1_000 and distinct * 10 <= n and distinct <= 1_000


def cluster_bootstrap(
    values: Sequence[float] | NDArray[np.float64],
    clusters: Sequence[Hashable] | NDArray[Any],
    mean: Mean = "macro",
    method: Literal["percentile", "bca"] = "percentile",
    draws: int = 2000,
    seed: int = 0,
) -> Interval:
    """The mean of trials and its 95 % interval, where trials of one cluster (a starter item) depend on each other.

    `values` and `clusters` hold one entry a trial. Whole clusters are drawn with replacement, as many as there are
    (Davison and Hinkley 1997, section 3.8; Cameron, Gelbach and Miller 2008, Review of Economics and Statistics 90,
    414-427), and their order plays no part. `bca` corrects bias and skewness, its acceleration by leaving out one
    cluster at a time (Efron 1987, JASA 82, 171-185); not for a median, whose jackknife fails.

    `n` of the result counts clusters. Nothing in: no value. One cluster: a value, no interval. All clusters with one
    same mean (a constant guess that is always right): no interval, for drawing again shows no spread. Trials of
    identical copies of a cluster's value narrow nothing. Pure chance at 1/2 over k clusters of one trial each reaches
    about 0.98 / sqrt(k) to either side. Raises ValueError for unequal lengths, values that are no finite numbers, a
    trial without a cluster, and BCa of a median.
    """
    import numpy as np
    import pandas as pd

    if len(values) != len(clusters):
        raise ValueError(f"{len(values)} values of {len(clusters)} clusters")
    if mean == "median" and method == "bca":
        raise ValueError("BCa needs a jackknife, and a median has none that holds")
    if not len(values):
        return Interval(None, None, None, 0, "there is nothing to draw from")
    trials = np.asarray(values, dtype=float)
    codes, _ = pd.factorize(np.asarray(clusters, dtype=getattr(clusters, "dtype", object)))
    if not np.isfinite(trials).all() or (codes < 0).any():
        raise ValueError("each trial needs a finite value and a cluster")
    sums, sizes = np.bincount(codes, weights=trials).astype(float), np.bincount(codes).astype(float)
    order = np.lexsort((sizes, sums))  # so that the same clusters in another order give the same draws
    sums, sizes = sums[order], sizes[order]
    means, k = sums / sizes, len(sums)
    centre = _centre(mean, sums, sizes)
    value = float(centre(np.arange(k)[None, :])[0])
    if k < 2:
        return Interval(value, None, None, k, "one cluster shows no spread")
    if means.max() - means.min() < 1e-12:
        return Interval(value, None, None, k, "all clusters have the same mean: drawing again shows no spread")
    random, at_once = np.random.default_rng(seed), max(1, ROOM // k)
    distinct, times = np.unique(means.round(12), return_counts=True)
    if mean == "macro" and is_alike(len(distinct), k):
        drawn = random.multinomial(k, times / k, size=draws) @ (distinct / k)
    else:
        drawn = np.concatenate(
            [
                centre(random.integers(k, size=(min(at_once, draws - start), k), dtype=np.int32))
                for start in range(0, draws, at_once)
            ]
        )
    levels = [0.025, 0.975]
    if method == "bca":
        left_out = (sums.sum() - sums) / (sizes.sum() - sizes) if mean == "micro" else (means.sum() - means) / (k - 1)
        levels = _bca_levels(drawn, value, left_out, levels)
    low, high = np.quantile(drawn, levels)
    return Interval(value, float(low), float(high), k, f"cluster bootstrap, {method}, {draws:,} draws")


def _centre(
    mean: Mean, sums: NDArray[np.float64], sizes: NDArray[np.float64]
) -> Callable[[NDArray[np.integer]], NDArray[np.float64]]:
    """Gives the mean of each row of clusters: (draws, k) -> (draws,)."""
    import numpy as np

    means = sums / sizes
    if mean == "micro":
        return lambda rows: sums[rows].sum(axis=1) / sizes[rows].sum(axis=1)
    return (lambda rows: np.median(means[rows], axis=1)) if mean == "median" else lambda rows: means[rows].mean(axis=1)


def _bca_levels(
    drawn: NDArray[np.float64], value: float, left_out: NDArray[np.float64], levels: list[float]
) -> list[float]:
    """Efron's (1987) corrected levels; as given where all draws lie on one side of the value."""
    below = float(((drawn < value).mean() + (drawn <= value).mean()) / 2)
    if not 0 < below < 1:
        return levels
    normal, gaps = NormalDist(), left_out.mean() - left_out
    bias, skew = normal.inv_cdf(below), float((gaps**3).sum() / (6 * (gaps**2).sum() ** 1.5))
    reached = [bias + normal.inv_cdf(level) for level in levels]
    return [normal.cdf(bias + z / (1 - skew * z)) for z in reached]


def jackknife_of_pairs(
    matrix: NDArray[np.float64], total: float, value: float, most: float
) -> tuple[float | None, float | None]:
    """A 95 % interval of `value` = 1 - the mean of `matrix` over ordered pairs, by leaving out one thing at a time.

    `matrix` has shape (n, n), its diagonal 0, and adds up to `total`. Pairs that share a thing are not independent, and
    a bootstrap would draw a thing twice and count it as its own likeness. t distribution with n - 1 degrees of freedom,
    cut to [0, `most`] (Efron and Tibshirani 1993, chapter 11). (None, None) for fewer than three things, and where
    leaving out any one changes nothing, as of identical things.
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
