"""The plot of a function of numbers in its scene: calls, the code's curve, the truth, and where the two differ.

What a colour says, a dash, a symbol or a word says too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, TypeGuard, TypeVar

from ...charts.marks import OURS
from ...scene import AxisInterval, Curve, Mark, Plot, Point
from ...text.display import count_noun
from ..base.declared import words_of
from .functions.base import as_number
from .functions.numeric import PROBED
from .records import Ends

if TYPE_CHECKING:
    from .verdict import CaseVerdict


TRUTH, ESTIMATE = OURS, "#D55E00"

Number = float | None

T = TypeVar("T")

_FAR = 3.0
"""The chart extends this many times the truth's spread beyond it; values outside are cut off."""

_FAR_OF_FEW = 1e6
"""The same with fewer than twenty values: powers of ten are then no outliers."""

_LARGEST = 1e300
"""Larger values are limited to this, so that sums and differences stay finite."""


def upright(truth: Sequence[Number], seen: Sequence[float]) -> tuple[float, float] | None:
    """Return the ends of the vertical axis: the true and seen values with some room, without outliers. None with fewer
    than two values.
    """
    known = sorted(max(-_LARGEST, min(_LARGEST, y)) for y in (*truth, *seen) if _is_number(y))
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
    seen = [point.y for point in points if not _is_beyond(point.x, x_ends)]
    y_ends = upright(case.truth.y if case.truth else (), seen)
    return Plot(
        points=points,
        curves=tuple(_curves(case)),
        intervals=tuple(_intervals(case, x_ends)),
        x_ends=x_ends,
        y_ends=y_ends,
        left_out=tuple(_left_out(case, points, x_ends, y_ends)),
    )


def _is_number(value: Number) -> TypeGuard[float]:
    return value is not None and isfinite(value)


def _points(case: CaseVerdict) -> Iterator[Point]:
    for probe in case.probes:
        x, y = as_number(probe.input), probe.value
        if x is not None and _is_number(y):
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
    if any(y is not None for _, y in both):
        x, y = zip(*sorted(both, key=lambda point: point[0]), strict=True)
        yield Curve.model_validate({"label": label, "kind": kind, "x": x, "y": y})


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


def divided(points: Sequence[T]) -> list[Sequence[T]]:
    """Divide the test points into STRETCHES parts of equally many; fewer if there are fewer points."""
    ends = [len(points) * part // STRETCHES for part in range(STRETCHES + 1)]
    return [points[low:high] for low, high in pairwise(ends) if low < high]


def stretches(case: CaseVerdict) -> Iterator[AxisInterval]:
    """Yield the outcome of each part of the tested range, from the lowest on: whether the code gives the function's
    value at all of its points. Nothing is compared where the function has no value, or if no code was run.
    """
    held = {point.x: point.holds for point in case.points} if any(one is not None for one in case.given) else {}
    for xs in divided(sorted(case.truth.x) if case.truth else []):
        inside = [held[x] for x in xs if x in held]
        apart: Mark = "not settled" if case.outcome == "within the noise" else "broken"
        mark: Mark = "set aside" if not inside else "kept" if all(inside) else apart
        yield AxisInterval(low=xs[0], high=xs[-1], label=STRETCH[mark], mark=mark)
