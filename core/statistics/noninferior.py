"""Whether one of two things that met the same tests does as well as the other, but for a margin."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

MARGIN = 0.10
"""So much less, in share of tests, counts as just as well."""

LEVEL = 0.05
"""One-sided."""


class NotWorse(NamedTuple):
    """The difference of two paired shares (first minus second), and how likely one as high would be if the first were
    worse by the whole margin; `n` pairs in `clusters`. Both are 1 and 0 where there is no pair.
    """

    p: float
    difference: float
    n: int
    clusters: int

    @property
    def is_shown(self) -> bool:
        """Whether the first is shown to be worse by less than the margin."""
        return self.n > 0 and self.p <= LEVEL


def not_worse(
    first: Sequence[bool], second: Sequence[bool], clusters: Sequence[Hashable] | None = None, margin: float = MARGIN
) -> NotWorse:
    """A test of "`first` is right less often than `second`, by `margin` or more" over the pairs.

    Tango's score test of paired shares (Statistics in Medicine 17, 1998), with a continuity correction; its variance is
    that under the bound of the hypothesis, so that twenty pairs without a difference are no proof. Pairs of one cluster
    (None: each is its own) may come out alike: the variance is widened by as much as the clusters' own sums show it to
    be, never narrowed, and the quantile is Student's for as many clusters. Where fewer than ten pairs differ nothing
    shows how alike those of a cluster are, and a cluster counts as one pair. Raises ValueError where the
    lengths differ, and for a margin outside 0 to 1.
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
    # Of so many pairs as are worth what these are; the share of each outcome stays.
    pairs, won_of, lost_of = (count / widened for count in (n, won, lost))
    b = 2 * pairs * -margin + margin * (won_of - lost_of) - won_of - lost_of
    c = lost_of * margin * (1 + margin)
    losing = ((b * b - 8 * pairs * c) ** 0.5 - b) / (4 * pairs)
    variance = pairs * (2 * losing - margin * (1 + margin))
    z = (won_of - lost_of + pairs * margin - 0.5) / variance**0.5
    return NotWorse(float(t.sf(z, number - 1)), sum(differences) / n, n, number)


_TO_SEE = 10
"""So many pairs have to differ before the likeness within clusters is read off them."""


def _widening(differences: Sequence[int], names: Sequence[Hashable]) -> float:
    """By what factor pairs that come in clusters vary more than as many apart (the design effect); 1 at least."""
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
    # Read off few clusters it is too small more often than not; by simulation this much keeps the level.
    return 1.0 + max(0.0, seen - 1.0) * (1.0 + 4.0 / math.sqrt(len(sums)))
