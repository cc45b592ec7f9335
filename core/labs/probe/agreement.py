"""Whether code gives a function's values, point by point: a small error over all points does not show that."""

from collections.abc import Sequence
from typing import NamedTuple

RELATIVE = 1e-5
"""Two values agree if they differ by no more than this share of the true one, …"""

ABSOLUTE = 1e-4
"""… or by no more than this; if the function stays below 1, by this share of its largest value."""


class PointAgreement(NamedTuple):
    """`agreed` of the `of` points at which the function has a value; `absolute` is the absolute bound that was used."""

    agreed: int
    of: int
    absolute: float

    @property
    def is_whole(self) -> bool:
        """Whether they agree wherever the function has a value, and it has at least one."""
        return 0 < self.of == self.agreed

    @property
    def within(self) -> str:
        """The bounds in words, for screens."""
        return f"to within {RELATIVE:.3%} of its value" + (f", or {self.absolute:.1g} near zero" * (self.absolute > 0))


def absolute_bound(truth: Sequence[float | None]) -> float:
    """Return the absolute bound for a function with these values; None stands for no value at a point."""
    return ABSOLUTE * min(1.0, max((abs(y) for y in truth if y is not None), default=0.0))


def agrees(truth: float, estimate: float | None, absolute: float) -> bool:
    """Whether `estimate` equals `truth` within the bounds. None never does."""
    if estimate is None:
        return False
    off = abs(truth - estimate)
    return off <= absolute or off <= RELATIVE * abs(truth)


def agreement(truth: Sequence[float | None], estimate: Sequence[float | None]) -> PointAgreement:
    """Count the points that agree. Points where the function has no value (truth None) are ignored.

    Raises ValueError if the lengths differ.
    """
    absolute = absolute_bound(truth)
    held = [agrees(y, g, absolute) for y, g in zip(truth, estimate, strict=True) if y is not None]
    return PointAgreement(sum(held), len(held), absolute)
