"""The chart that one draws on, in a page of Streamlit (draw.js)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from core.report.viewer_assets import stage_files
from core.scene import Curve, Point

_HERE = Path(__file__).parent


class SketchInput(NamedTuple):
    """What a person did, once: the x that they ask for, or the values of the curve that they conclude with."""

    asked: float | None
    curve: list[float] | None


@cache
def _component() -> Any:
    style, script = ((_HERE / name).read_text(encoding="utf-8") for name in ("draw.css", "draw.js"))
    stage = stage_files()["stage.css"].read_text(encoding="utf-8")
    return st.components.v2.component("draw", html='<div class="stage draw"></div>', css=stage + style, js=script)


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
    """Draw the chart of a run: `points` are what was asked, by `calls`, of which so many are `left`; a curve is `many`
    values, evenly from end to end of `x_ends`. With `curves` it is over: they are wiped in, one after another.
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
