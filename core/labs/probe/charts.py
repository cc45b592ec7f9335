"""Charts of the Probe lab. They take data and return figures, and set no paper colour or font, so light and dark themes
both fit.

What a colour says, a dash, a symbol or a word says too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...charts.marks import OURS
from .agreement import absolute_bound

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

TRUTH, ESTIMATE = OURS, "#D55E00"

Number = float | None

_FAR = 3.0
"""The chart extends this many times the truth's spread beyond it; values outside are cut off."""

_FAR_OF_FEW = 1e6
"""The same with fewer than twenty values: powers of ten are then no outliers."""

_APART = 10.0
"""Differences are drawn up to this many times the height of the chart of the curves."""

_LARGEST = 1e300
"""Larger values are limited to this, so that sums and differences stay finite."""


def residuals(x: Sequence[float], truth: Sequence[Number], estimate: Sequence[Number]) -> Figure:
    """Draw what the code gives minus what the function gives, over x; nothing where either has no value.

    Differences within the bounds of `agreement` look as small as they are; larger ones are drawn up to `reach`.
    """
    import plotly.graph_objects as go

    off, most = differences(truth, estimate), reach(truth, estimate)
    drawn = [None if one is None else max(-2 * most, min(2 * most, one)) for one in off]
    figure = go.Figure()
    figure.add_hline(y=0, line={"color": TRUTH, "width": 2})
    figure.add_scatter(
        x=list(x),
        y=drawn,
        text=_said(off),
        hovertemplate="%{text}",
        mode="lines",
        name="difference",
        line={"color": ESTIMATE, "width": 2},
    )
    figure.update_layout(
        xaxis={"title": "x", "zeroline": False, **({"range": [min(x), max(x)]} if len(x) > 1 else {})},
        yaxis={"title": "code − function", "zeroline": False, "range": [-most, most], "nticks": 5},
        margin={"l": 64, "r": 10, "t": 10, "b": 40},
        height=190,
        showlegend=False,
    )
    return figure


def differences(truth: Sequence[Number], estimate: Sequence[Number]) -> list[Number]:
    """Return what the code gives minus what the function gives; None where either has no value or it is not finite."""
    both = zip(truth, estimate, strict=True)
    return [None if y is None or g is None or not math.isfinite(g - y) else g - y for y, g in both]


def reach(truth: Sequence[Number], estimate: Sequence[Number]) -> float:
    """Return the largest difference that `residuals` draws."""
    largest = max((abs(one) for one in differences(truth, estimate) if one is not None), default=0.0)
    low, high = upright(truth, []) or (0.0, _LARGEST / _APART)
    return max(min(1.1 * largest, _APART * (high - low)), absolute_bound(truth)) or 1.0


def _said(values: Sequence[Number]) -> list[str]:
    """Return the values in words for the tooltip; values that are cut off keep their number."""
    return ["" if y is None else f"{y:.6g}" for y in values]


def ends(truth: Sequence[Number]) -> tuple[float, float]:
    """Return the ends of an axis that shows the function; 0 and 1 for one without values."""
    return upright(truth, []) or (0.0, 1.0)


def upright(truth: Sequence[Number], seen: Sequence[float]) -> tuple[float, float] | None:
    """Return the ends of the vertical axis: the true and seen values with some room, without outliers. None with fewer
    than two values.
    """
    known = sorted(max(-_LARGEST, min(_LARGEST, y)) for y in (*truth, *seen) if y is not None and math.isfinite(y))
    if len(known) < 2:
        return None
    is_few = len(known) < 20
    edge = (1 if len(known) > 2 else 0) if is_few else len(known) // 20
    middle = known[edge : len(known) - edge]
    low, high = middle[0], middle[-1]
    room = (high - low) or abs(high) or 1.0
    far = min((_FAR_OF_FEW if is_few else _FAR) * room, _LARGEST)
    kept = [y for y in known if low - far <= y <= high + far]
    some = 0.08 * (kept[-1] - kept[0] or room)
    return kept[0] - some, kept[-1] + some
