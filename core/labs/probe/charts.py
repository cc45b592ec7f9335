"""Charts of the Probe lab. They take data and return figures, and set no paper colour or font, so light and dark themes
both fit.

What a colour says, a dash, a symbol or a word says too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING

from ...charts.marks import OURS
from ...scene import AxisInterval, Curve, Mark, Plot, Point
from ...text.display import count_noun
from ..base.declared import words_of
from .evaluate import absolute_bound
from .functions.base import as_number
from .functions.numeric import PROBED
from .records import Ends

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from .verdict import CaseVerdict


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
        # Values that are cut off keep their number in the tooltip.
        text=["" if one is None else f"{one:.6g}" for one in off],
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


# The plot of a function of numbers in its scene: calls, the code's curve, the truth, and where the two differ.


MOST = 400
"""The most points of a curve; of a longer one, the points that show its shape are used."""

STRETCHES = 16
"""Into how many parts, each with its outcome, the tested range is divided: a single mark would say little."""

STRETCH: dict[Mark, str] = words_of(__file__, "stretches")
"""What screens call the marks of a stretch."""

LISTED = 6
"""The most undrawn calls that are listed; the rounds list all calls."""

Axis = tuple[float, float]


def plot_of(case: CaseVerdict) -> Plot | None:
    """Return the plot as far as the case has run. None if there is nothing to plot yet, or the function is not one of
    numbers.
    """
    points = tuple(_points(case))
    if not case.is_numeric or not (points or case.truth):
        return None
    x_ends = _across(case, [point.x for point in points])
    true = [y for y in case.truth.y if _is_number(y)] if case.truth else []
    seen = [point.y for point in points if not _is_beyond(point.x, x_ends)]
    ends = upright(true, seen)
    y_ends = ends if ends and all(map(isfinite, ends)) else None
    return Plot(
        points=points,
        curves=tuple(_curves(case)),
        intervals=tuple(_intervals(case, x_ends)),
        x_ends=x_ends,
        y_ends=y_ends,
        left_out=tuple(_left_out(case, points, x_ends, y_ends)),
    )


def _is_number(value: Number) -> bool:
    return value is not None and isfinite(value)


def _points(case: CaseVerdict) -> Iterator[Point]:
    for probe in case.probes:
        x, y = as_number(probe.input), probe.value
        if x is not None and y is not None and isfinite(y):
            yield Point(x=x, y=y, number=probe.number)


def _left_out(case: CaseVerdict, points: Sequence[Point], x_ends: Axis | None, y_ends: Axis | None) -> Iterator[str]:
    """Yield what the plot does not show: calls without a number, and calls and parts of the curves beyond its ends."""
    calls = count_noun(len(case.probes), "call")
    if lost := len(case.probes) - len(points):
        yield f"{lost} of {calls} gave no number."
    if outside := [point for point in points if _is_beyond(point.x, x_ends)]:
        low, high = x_ends or PROBED
        lie = "lies" if len(outside) == 1 else "lie"
        tested = f"the tested range from {low:g} to {high:g}"
        yield f"{len(outside)} of {calls} {lie} outside of {tested}: {_listed(outside)}."
    if y_ends is None:
        return
    far = [point for point in points if not _is_beyond(point.x, x_ends) and _is_beyond(point.y, y_ends)]
    beyond = [f"{len(far)} of {calls}, {_listed(far)}"] if far else []
    true, given = (case.truth.y, case.estimate.repaired if case.estimate else ()) if case.truth else ((), ())
    for name, ys in (("function", true), ("code", given)):
        if many := sum(y is not None and _is_beyond(y, y_ends) for y in ys):
            beyond.append(f"the {name} at {count_noun(many, 'test point')}")
    if beyond:
        yield f"The picture ends at {y_ends[0]:.4g} and {y_ends[1]:.4g}. Beyond it: {'; '.join(beyond)}."


def _is_beyond(value: float, ends: Axis | None) -> bool:
    return ends is not None and not ends[0] <= value <= ends[1]


def _listed(points: Sequence[Point]) -> str:
    shown = [f"f({one.x:g}) = {one.y:.6g}" for one in points[:LISTED]]
    more = len(points) - len(shown)
    return ", ".join(shown) + (f", and {more} more" if more else "")


def _across(case: CaseVerdict, asked: Sequence[float]) -> Axis | None:
    """Return the tested range; for typed pairs, the range of all inputs."""
    if not (case.spec and case.spec.own and case.spec.own_kind == "pairs"):
        return PROBED
    xs = [*(x for x in (case.truth.x if case.truth else ()) if isfinite(x)), *asked]
    return (min(xs), max(xs)) if xs else None


def _curves(case: CaseVerdict) -> Iterator[Curve]:
    truth, estimate, whose = case.truth, case.estimate, case.whose
    if truth is None:
        return
    if estimate is not None:
        yield from _curve(f"{whose} code", "claim", truth.x, estimate.repaired)
        said = case.interpretation
        # The original parser may read other code in the same answer; then the paper rules judge another curve.
        if said is not None and said.code.paper != said.code.repaired and estimate.paper != estimate.repaired:
            yield from _curve(f"{whose} code as the original parser reads it", "reader", truth.x, estimate.paper)
    yield from _curve("The function", "truth", truth.x, truth.y)


def _curve(label: str, kind: str, xs: Sequence[float], ys: Sequence[Number]) -> Iterator[Curve]:
    both = [(x, y if _is_number(y) else None) for x, y in zip(xs, ys, strict=False) if isfinite(x)]
    both.sort(key=lambda point: point[0])
    if any(y is not None for _, y in both):
        kept = thinned([y for _, y in both])
        x, y = zip(*(both[place] for place in kept), strict=True)
        yield Curve.model_validate({"label": label, "kind": kind, "x": x, "y": y})


def thinned(ys: Sequence[Number], most: int = MOST) -> list[int]:
    """Return the indices to draw: all if there are at most `most`; otherwise half of `most` evenly spaced, then both
    sides of each gap and of the largest jumps until `most` is reached.
    """
    if len(ys) <= most:
        return list(range(len(ys)))
    evenly = most // 2
    kept = {place * (len(ys) - 1) // (evenly - 1) for place in range(evenly)}

    def jump(place: int) -> float:
        before, after = ys[place], ys[place + 1]
        if before is None or after is None:
            return -1.0 if before is after else float("inf")
        return abs(after - before)

    for place in sorted(range(len(ys) - 1), key=jump, reverse=True):
        if len(kept | {place, place + 1}) > most or jump(place) <= 0:
            break
        kept |= {place, place + 1}
    return sorted(kept)


def _intervals(case: CaseVerdict, ends: Axis | None) -> Iterator[AxisInterval]:
    yield from stretches(case)
    for low, high in case.unseen:
        yield AxisInterval(low=low, high=high, label=f"{case.who} never looked here", kind="unseen")
    for interval in case.audit.claimed if case.audit else ():
        yield from _whole(interval, ends, f"Exception according to {case.whose.lower()} description", "claimed")
    if case.corrupted is not None:
        yield from _whole(case.corrupted, ends, "We altered the function here", "replaced")


def _whole(interval: Ends, ends: Axis | None, label: str, kind: str) -> Iterator[AxisInterval]:
    """Yield an interval within the plot, with the plot's ends in place of open ends."""
    if ends is None:
        return
    low, high = (end if one is None else one for one, end in zip(interval, ends, strict=True))
    low, high = max(low, ends[0]), min(high, ends[1])
    if low <= high:
        yield AxisInterval.model_validate({"low": low, "high": high, "label": label, "kind": kind})


def stretches(case: CaseVerdict) -> list[AxisInterval]:
    """Return the outcome of each part of the tested range, from the lowest on."""
    xs = sorted(case.truth.x) if case.truth else []
    apart: Mark = "not settled" if case.outcome == "within the noise" else "broken"
    marks: dict[bool | None, Mark] = {True: "kept", False: apart, None: "set aside"}
    ends = [len(xs) * part // STRETCHES for part in range(STRETCHES + 1)]
    return [
        AxisInterval(low=xs[low], high=xs[high - 1], label=STRETCH[marks[one]], mark=marks[one])
        for one, (low, high) in zip(case.by_stretch(STRETCHES), pairwise(ends), strict=True)
        if low < high
    ]
