"""The chart that one draws on, in a page of Streamlit (draw.js)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from core.scene import Curve, Point

_HERE = Path(__file__).parent

_STYLE = """
.draw { display: flow-root; }
.draw [hidden] { display: none; }
.draw > :is(header, footer) { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center;
  justify-content: space-between; }
.draw > header nav { display: flex; gap: 8px; }
.draw .lives { font-size: var(--s); color: var(--soft); }
.draw .lives i { display: inline-block; width: 11px; height: 11px; margin-right: 4px; border-radius: 50%;
  background: var(--said); border: 2px solid var(--said); }
.draw .lives i.gone { background: none; border-color: var(--edge); }
.draw .plain[aria-pressed=true] { background: var(--said); border-color: var(--said); color: var(--on); }
.draw :is(.plain, .primary) { min-height: 44px; }
.draw .primary { padding: 4px 18px; border-radius: 9px; background: var(--said); color: var(--on); }
.draw .plane { height: 320px; cursor: crosshair; touch-action: pan-y; user-select: none; }
.draw .plane:focus-visible { outline: 3px solid var(--said); outline-offset: 6px; }
.draw .plane.is-drawing { touch-action: none; }
.draw .plane .line-claim { stroke-dasharray: none; stroke-width: 4; }
.draw .plane .line-reader { stroke-width: 3; }
.draw .plane .line-baseline { stroke-dasharray: 3 7; }
.draw .plane * { pointer-events: none; }
.draw .hair { position: absolute; inset-block: 0; border-left: 2px dashed var(--edge); padding-left: 4px;
  font-size: var(--s); color: var(--soft); }
.draw .hair.is-asked { border-color: var(--said); color: var(--said); }
.draw .handle { position: absolute; width: 12px; height: 12px; margin: -6px; border: 2px solid var(--said);
  background: var(--paper); }
.draw .handle.is-on { background: var(--said); }
.draw .said-of { min-height: 1.4em; }
.draw .legend .key-truth { font-weight: 700; color: var(--ink); }
.draw .legend .key-reader { color: var(--cue); }
@media (prefers-reduced-motion: no-preference) {
  .draw .plane .line-claim { animation: none; }
  .draw.is-over .plane path { animation: wipe 1.2s calc(var(--nth) * 1.2s) ease-in-out backwards; }
}
"""


class Drawn(NamedTuple):
    """What a person did, once: the x that they ask for, or the values of the curve that they conclude with."""

    asked: float | None
    curve: list[float] | None


@cache
def _component() -> Any:
    return st.components.v2.component(
        "draw",
        html='<div class="stage draw"></div>',
        css=(_HERE / "stage.css").read_text(encoding="utf-8") + _STYLE,
        js=(_HERE / "draw.js").read_text(encoding="utf-8"),
    )


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
) -> Drawn:
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
    return Drawn(given.asked, given.drawn)
