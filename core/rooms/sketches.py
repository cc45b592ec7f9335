"""Cards on which a class draws a function of numbers: the axes and points that it sees, and how close a curve is."""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ..labs.base.lab import DrawnCurves
from ..report.game.pack import PackCard
from ..scene import Curve, Plot, Point

POINTS = 33
"""How many values a drawn curve has, evenly spaced over the range."""

TOP = 1_000
"""A value of a drawn curve is a whole number from 0, the lower end of the axis, to TOP, its upper end."""

ROOM = 0.4
"""How much of the height of the known points the axis has above them, and below them."""

Line = tuple[Sequence[float], Sequence[float | None]]
"""A curve's x, from left to right, and its y; None is a gap."""


class SketchCard(PackCard):
    """A function to draw: `plot` is all that is known of it, and `lab_curves` scores a curve. `card` has no options."""

    plot: Plot
    lab_curves: DrawnCurves

    @cached_property
    def seen(self) -> tuple[Point, ...]:
        """The points that a class may see: those that the interpreter asked for."""
        low, high = self.x_ends
        asked = (point for point in self.plot.points if point.number and low <= point.x <= high)
        return tuple({(point.x, point.y): point for point in asked}.values())

    @property
    def x_ends(self) -> tuple[float, float]:
        """The ends of the range."""
        assert self.plot.x_ends is not None
        return self.plot.x_ends

    @cached_property
    def y_ends(self) -> tuple[float, float]:
        """The ends of the axis to draw on, which follow from the seen points alone."""
        ys = [point.y for point in self.seen]
        room = ROOM * (max(ys) - min(ys) or abs(ys[0]) or 1.0)
        return min(ys) - room, max(ys) + room

    @cached_property
    def function(self) -> Curve:
        """The function itself."""
        return next(curve for curve in self.plot.curves if curve.kind == "truth")

    @cached_property
    def parts(self) -> int:
        """In how many parts of the range a curve can be close to the function: those in which it has a value."""
        return self.lab_curves.hits(self.function.x, self.function.y, self.function.y)

    def hits(self, line: Line) -> int:
        """In how many parts of the range a line is close to the function."""
        import numpy as np

        xs, ys = line
        given = np.interp(self.function.x, xs, [math.nan if y is None else y for y in ys])
        return self.lab_curves.hits(
            self.function.x, self.function.y, [None if math.isnan(y) else y for y in given.tolist()]
        )

    def line(self, ys: Sequence[int]) -> Line:
        """The line of a drawn curve, in the function's own units."""
        (left, right), (low, high) = self.x_ends, self.y_ends
        xs = [left + (right - left) * place / (POINTS - 1) for place in range(POINTS)]
        return xs, [low + (high - low) * y / TOP for y in ys]

    def baselines(self) -> dict[str, int]:
        """What the hits of others are: of a line through the seen points and, if there is one, of the model's code."""
        points = sorted({point.x: point.y for point in self.seen}.items())
        found = {"Joining the points": self.hits(([x for x, _ in points], [y for _, y in points]))}
        code = next((curve for curve in self.plot.curves if curve.kind == "claim"), None)
        return found | ({"Its own code": self.hits((code.x, code.y))} if code else {})

    def shown(self, is_turned: bool) -> dict[str, Any]:
        """The plot for a screen: before the card is turned the seen points on axes, then the function and the curve of
        the model's code too. What is not named here is left out.
        """
        curves = [curve for curve in self.plot.curves if is_turned and curve.kind in ("truth", "claim")]
        (low, high), more = self.y_ends, self.plot.y_ends
        if is_turned and more is not None:
            low, high = min(low, more[0]), max(high, more[1])
        return {
            "points": [point.model_dump() for point in self.seen],
            "x_ends": self.x_ends,
            "y_ends": (low, high),
            "drawn_on": self.y_ends,
            "many": POINTS,
            "top": TOP,
            "parts": self.parts if is_turned else 0,
            "curves": [curve.model_dump() for curve in curves],
        }


def can_be_drawn(plot: Plot | None) -> bool:
    """Whether a class can draw that function: its truth is known, and points of it give a scale."""
    if plot is None or plot.x_ends is None or plot.x_ends[0] >= plot.x_ends[1]:
        return False
    low, high = plot.x_ends
    seen = {point.x for point in plot.points if point.number and low <= point.x <= high}
    return len(seen) > 1 and any(curve.kind == "truth" for curve in plot.curves)
