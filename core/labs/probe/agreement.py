"""Whether code gives a function's values, point by point: a small error over all points does not say so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

RELATIVE = 1e-5
"""Two values agree where they differ by no more than this share of the true one, …"""

ABSOLUTE = 1e-4
"""… or by no more than this; of a function that stays below 1, by this share of its largest value."""


class PointAgreement(NamedTuple):
    """`agreed` of the `of` points at which the function has a value; `absolute` is the absolute bound that held."""

    agreed: int
    of: int
    absolute: float

    @property
    def is_whole(self) -> bool:
        """Whether they agree wherever the function has a value, and it has some."""
        return 0 < self.of == self.agreed

    @property
    def within(self) -> str:
        """The bounds as they are said on screen."""
        return f"to within {RELATIVE:.3%} of its value" + (f", or {self.absolute:.1g} near zero" * (self.absolute > 0))


def absolute_bound(truth: Sequence[float | None]) -> float:
    """The absolute bound for a function with these values, None where it has none."""
    return ABSOLUTE * min(1.0, max((abs(y) for y in truth if y is not None), default=0.0))


def agrees(truth: float, estimate: float | None, absolute: float) -> bool:
    """Whether `estimate` is the value `truth` to within the bounds; no number never is."""
    if estimate is None:
        return False
    off = abs(truth - estimate)
    return off <= absolute or off <= RELATIVE * abs(truth)


def agreement(truth: Sequence[float | None], estimate: Sequence[float | None]) -> PointAgreement:
    """Count the points that agree. Where the truth is None the function has no value, and nothing is asked for.

    Raises ValueError where the lengths differ.
    """
    absolute = absolute_bound(truth)
    held = [agrees(y, g, absolute) for y, g in zip(truth, estimate, strict=True) if y is not None]
    return PointAgreement(sum(held), len(held), absolute)
