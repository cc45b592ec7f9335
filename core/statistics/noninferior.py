"""Whether one of two things that took the same tests does as well as the other, up to a margin."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

MARGIN = 0.10
"""Being worse by less than this share of tests counts as just as well."""

LEVEL = 0.05
"""The one-sided level of the test."""


class NotWorse(NamedTuple):
    """The difference of two paired shares (first minus second), and the probability `p` of one at least as high if the
    first were worse by the whole margin; `n` pairs in `clusters`. Without pairs, p is 1 and the difference 0.
    """

    p: float
    difference: float
    n: int
    clusters: int

    @property
    def is_shown(self) -> bool:
        """Whether the first is shown to be worse by less than the margin, if at all."""
        return self.n > 0 and self.p <= LEVEL


def not_worse(
    first: Sequence[bool], second: Sequence[bool], clusters: Sequence[Hashable] | None = None, margin: float = MARGIN
) -> NotWorse:
    """Test the hypothesis that `first` is right less often than `second`, by `margin` or more, over the pairs.

    Tango's score test of paired shares (Statistics in Medicine 17, 1998), with a continuity correction; its variance is
    that under the bound of the hypothesis, so that twenty pairs without a difference are no proof. Pairs of one cluster
    (None: each is its own) may be alike: the variance is widened by as much as the sums of the clusters indicate, never
    narrowed, and the quantile is Student's for the number of clusters. If fewer than ten pairs differ, nothing shows
    how alike the pairs of a cluster are, and a cluster counts as one pair. Raises ValueError if the lengths differ, and
    for a margin outside 0 to 1.
    """
    from scipy.stats import t

    n = len(first)
    names = list(range(n)) if clusters is None else list(clusters)
    if len(second) != n or len(names) != n:
        raise ValueError("not as many of each")
    if not 0 < margin < 1:
        raise ValueError("the margin is a share between 0 and 1")
    differences = [int(one) - int(other) for one, other in zip(first, second, strict=True)]
    number = len(set(names))
    if number < 2:
        return NotWorse(1.0, sum(differences) / n if n else 0.0, n, number)
    won, lost = differences.count(1), differences.count(-1)
    widened = _widening(differences, names)
    # Reduced to the number of independent pairs that these are worth; the share of each outcome stays.
    pairs, won_of, lost_of = (count / widened for count in (n, won, lost))
    b = 2 * pairs * -margin + margin * (won_of - lost_of) - won_of - lost_of
    c = lost_of * margin * (1 + margin)
    losing = ((b * b - 8 * pairs * c) ** 0.5 - b) / (4 * pairs)
    variance = pairs * (2 * losing - margin * (1 + margin))
    z = (won_of - lost_of + pairs * margin - 0.5) / variance**0.5
    return NotWorse(float(t.sf(z, number - 1)), sum(differences) / n, n, number)


_TO_SEE = 10
"""Differing pairs that are needed to estimate the similarity within clusters."""


def _widening(differences: Sequence[int], names: Sequence[Hashable]) -> float:
    """Return the factor by which pairs in clusters vary more than the same number of independent pairs (the design
    effect); at least 1.
    """
    mean = sum(differences) / len(differences)
    sums: dict[Hashable, float] = {}
    for name, difference in zip(names, differences, strict=True):
        sums[name] = sums.get(name, 0.0) + difference - mean
    alike = len(differences) / len(sums)
    if sum(map(bool, differences)) < _TO_SEE:
        return alike
    apart = sum((difference - mean) ** 2 for difference in differences)
    if not apart:
        return alike
    seen: float = len(sums) / (len(sums) - 1) * sum(one * one for one in sums.values()) / apart
    # Estimated from few clusters, it is usually too small; according to simulations, this correction keeps the level.
    return 1.0 + max(0.0, seen - 1.0) * (1.0 + 4.0 / math.sqrt(len(sums)))
