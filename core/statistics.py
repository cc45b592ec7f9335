"""Intervals. The ground floor: it imports nothing of ours."""

from __future__ import annotations

import math

Z = 1.959963984540054
"""The normal distribution's 97.5 % point."""


def wilson(share: float, n: int) -> tuple[float, float]:
    """The Wilson score interval, 95 %, of a share of `n` > 0 things (Wilson 1927), as scipy's binomtest gives it.

    Written out, for importing scipy.stats would hold up a run for longer than the run lasts.
    """
    middle = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    reach = Z / (1 + Z * Z / n) * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    return max(0.0, min(share, middle - reach)), min(1.0, max(share, middle + reach))
