"""The chart to draw on, as a Streamlit component (draw.js)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import streamlit as st

from core.report.viewer_assets import drawing_files
from core.report.viewer_assets import style as viewer_style
from core.scene import Curve, Point


class SketchInput(NamedTuple):
    """What a person did, reported once: the x they query, or the values of the curve they submit."""

    asked: float | None
    curve: list[float] | None


@cache
def _component() -> Any:
    style, script = drawing_files()
    style = viewer_style("base.css", "stage.css") + style
    return st.components.v2.component("draw", html='<div class="stage draw"></div>', css=style, js=script)


def drawing(
    run: str,
    points: Sequence[Point],
    *,
    calls: int,
    left: int,
    many: int,
    x_ends: tuple[float, float],
    y_ends: tuple[float, float] | None = None,
    curves: Sequence[Curve] = (),
) -> SketchInput:
    """Draw the chart of a run. `points` are the values queried so far, `calls` is the number of queries allowed, of
    which `left` remain. A submitted curve has `many` values, evenly spaced over `x_ends`. If there are `curves` the
    round is over: they are drawn one after another.
    """
    data = {
        "run": run,
        "points": [point.model_dump(mode="json") for point in points],
        "calls": calls,
        "left": left,
        "points_of_a_curve": many,
        "x_ends": x_ends,
        "y_ends": y_ends,
        "is_over": bool(curves),
        "curves": [curve.model_dump(mode="json") for curve in curves],
    }
    given = _component()(data=data, key=f"draw-{run}", on_asked_change=lambda: None, on_drawn_change=lambda: None)
    return SketchInput(given.asked, given.drawn)
