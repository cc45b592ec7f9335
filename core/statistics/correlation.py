"""Correlations within each input, averaged over inputs."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Literal

from .interval import Interval, bootstrap_of_mean


def correlation_per_input(
    inputs: Sequence[Hashable],
    first: Sequence[float | None],
    second: Sequence[float | None],
    kind: Literal["pearson", "spearman"] = "pearson",
) -> Interval:
    """Correlate two figures of explanations, as Chen et al. do for precision and plausibility (section 5.2.2): across
    the explanations of one input, then averaged over inputs.

    There is one entry per explanation; None where undefined, which removes that explanation. An input counts if at
    least two explanations are left and neither figure is constant over them, since a correlation is undefined
    otherwise; `n` counts these inputs, and `how` says how many do not count. The interval is a bootstrap over inputs,
    because the explanations of one input are not independent. Unrelated figures: around 0. Identical figures: 1. One
    constant, or nothing: undefined. Raises ValueError for unequal lengths.
    """
    from scipy.stats import pearsonr, spearmanr

    correlate = spearmanr if kind == "spearman" else pearsonr
    groups: dict[Hashable, list[tuple[float, float]]] = {}
    for key, x, y in zip(inputs, first, second, strict=True):
        groups.setdefault(key, [])
        if x is not None and y is not None and not (math.isnan(x) or math.isnan(y)):
            groups[key].append((x, y))
    found: dict[Hashable, float] = {}
    for key, pairs in groups.items():
        sides = list(zip(*pairs, strict=True))
        if sides and all(max(side) - min(side) > 1e-12 for side in sides):
            found[key] = float(correlate(*sides).statistic)
    mean = bootstrap_of_mean(list(found.values()))
    return mean._replace(how=f"{len(groups) - len(found)} of {len(groups)} inputs show no variation; {mean.how}")
