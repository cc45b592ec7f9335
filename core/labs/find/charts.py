"""Pictures of the Probe lab. Data in, figure out: no colour of paper or font is set, so light and dark themes both fit.

Colours are of Okabe and Ito's set, the blue a little lighter, for dark pages; what a colour says, a dash, a symbol or
a word says too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.labs.find.agreement import absolute_bound

if TYPE_CHECKING:
    from pandas import DataFrame
    from plotly.graph_objects import Figure

TRUTH, ESTIMATE, PROBED, CORRUPTED = "#2B8CC4", "#D55E00", "#8A8A8A", "#E69F00"

Number = float | None

_FEW = 40
"""As many probes are drawn large; more are drawn small, to leave the curves in view."""

_LEFT = 64
"""Pixels left of the axis: pictures that stand above each other have their x in line."""

_FAR = 3.0
"""The picture reaches this many times the truth's spread beyond it; an estimate that leaves it is cut off."""


def curves(
    probes: DataFrame,
    x: Sequence[float] = (),
    truth: Sequence[Number] = (),
    estimate: Sequence[Number] = (),
    corrupted: tuple[Number, Number] | None = None,
    claimed: Sequence[tuple[Number, Number]] = (),
) -> Figure:
    """Truth, estimate and probes on one picture, as the paper's figure 3. All but the probes may be missing.

    `probes` has columns x, y, round, number (y null where there was no output). `corrupted` is shaded; an interval that
    was `claimed` is marked by dotted lines; None is an open end.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    low, high = (min(x), max(x)) if len(x) else (-128.0, 128.0)
    if corrupted is not None:
        figure.add_vrect(
            x0=corrupted[0] if corrupted[0] is not None else low,
            x1=corrupted[1] if corrupted[1] is not None else high,
            fillcolor=CORRUPTED,
            opacity=0.2,
            line_width=0,
            annotation_text="replaced",
            annotation_position="top left",
        )
    for ends in claimed:
        for end in ends:
            if end is not None:
                figure.add_vline(x=end, line={"color": ESTIMATE, "dash": "dot", "width": 1})
    # First, so that they lie behind the curves.
    seen = probes.dropna(subset=["y"]) if len(probes) else probes
    if len(seen):
        few = len(seen) <= _FEW
        figure.add_scatter(
            x=seen["x"],
            y=seen["y"],
            mode="markers",
            name="probes",
            marker={"color": PROBED, "size": 8 if few else 4, "symbol": "circle"},
            opacity=0.8 if few else 0.5,
            customdata=seen[["number", "round"]],
            hovertemplate="call %{customdata[0]}, round %{customdata[1]}<br>f(%{x}) = %{y}<extra></extra>",
        )
    if any(y is not None for y in truth):
        figure.add_scatter(
            x=list(x), y=list(truth), mode="lines", name="the function", line={"color": TRUTH, "width": 4}, opacity=0.75
        )
    if any(y is not None for y in estimate):
        figure.add_scatter(
            x=list(x),
            y=list(estimate),
            mode="lines",
            name="its code",
            line={"color": ESTIMATE, "width": 2, "dash": "dash"},
        )
    lost = len(probes) - len(seen)
    figure.update_layout(
        xaxis={"title": f"x ({lost} calls gave no number)" if lost else "x", "zeroline": False},
        yaxis={"title": "f(x)", "zeroline": False, **_range(truth, seen["y"].tolist() if len(seen) else [])},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0},
        margin={"l": _LEFT, "r": 10, "t": 40, "b": 40},
        height=380,
        hovermode="closest",
    )
    return figure


def residuals(x: Sequence[float], truth: Sequence[Number], estimate: Sequence[Number]) -> Figure:
    """What the code gives less what the function gives, over x; nothing where either has no value.

    Differences within the bounds of `agreement` look as small as they are.
    """
    import plotly.graph_objects as go

    off = [
        None if y is None or g is None or not math.isfinite(g - y) else g - y
        for y, g in zip(truth, estimate, strict=True)
    ]
    figure = go.Figure()
    figure.add_hline(y=0, line={"color": TRUTH, "width": 2})
    figure.add_scatter(x=list(x), y=off, mode="lines", name="difference", line={"color": ESTIMATE, "width": 2})
    largest = max((abs(one) for one in off if one is not None), default=0.0)
    reach = max(1.1 * largest, absolute_bound(truth)) or 1.0
    figure.update_layout(
        xaxis={"title": "x", "zeroline": False, **({"range": [min(x), max(x)]} if len(x) > 1 else {})},
        yaxis={"title": "code − function", "zeroline": False, "range": [-reach, reach], "nticks": 5},
        margin={"l": _LEFT, "r": 10, "t": 10, "b": 40},
        height=190,
        showlegend=False,
    )
    return figure


def _range(truth: Sequence[Number], seen: Sequence[float]) -> dict[str, list[float]]:
    """The axis' range: what is true and seen, with some room; nothing where that is not known. A pole is cut."""
    known = sorted(y for y in (*truth, *seen) if y is not None and math.isfinite(y))
    if len(known) < 2:
        return {}
    middle = known[len(known) // 20 : len(known) - len(known) // 20]
    low, high = middle[0], middle[-1]
    room = (high - low) or abs(high) or 1.0
    return {"range": [max(known[0] - 0.08 * room, low - _FAR * room), min(known[-1] + 0.08 * room, high + _FAR * room)]}


def bars(probes: DataFrame, most: int = 60) -> Figure:
    """One bar a word with its value, 0 to 1, the highest on top; at most `most` of them.

    `probes` has columns input, y (null: no output), number. A word probed twice keeps its last value.
    """
    import plotly.graph_objects as go

    seen = probes.drop_duplicates("input", keep="last").dropna(subset=["y"])
    seen = seen.sort_values(["y", "number"], ascending=[False, True]).head(most)
    figure = go.Figure()
    figure.add_bar(
        x=seen["y"],
        y=[_safe(text) for text in seen["input"]],
        orientation="h",
        marker={"color": [TRUTH if value >= 0.5 else PROBED for value in seen["y"]]},
        text=[f"{value:.2f}" for value in seen["y"]],
        hovertemplate="%{y}: %{x:.4f}<extra></extra>",
    )
    figure.add_vline(x=0.5, line={"dash": "dot", "width": 1, "color": PROBED})
    figure.update_layout(
        xaxis={"range": [0, 1.05], "title": "f(word)", "zeroline": False},
        yaxis={"autorange": "reversed", "type": "category", "automargin": True},
        height=110 + 22 * len(seen),
        margin={"l": 10, "r": 10, "t": 10, "b": 40},
        showlegend=False,
    )
    return figure


def heat_map(names: Sequence[str], means: Sequence[Sequence[float | None]], largest: float = 1.0) -> Figure:
    """Selectivity as the paper's figure A4: rows are functions, columns the words of each concept, values from 0 to
    `largest`.
    """
    import plotly.graph_objects as go

    safe = [_safe(name) for name in names]
    figure = go.Figure(
        go.Heatmap(
            z=means,
            x=safe,
            y=safe,
            zmin=0,
            zmax=largest,
            colorscale="Viridis",
            colorbar={"title": "mean"},
            hovertemplate="function: %{y}<br>words of: %{x}<br>mean %{z:.2f}<extra></extra>",
        )
    )
    figure.update_layout(
        xaxis={"title": "words of", "tickangle": -60, "dtick": 1, "automargin": True},
        yaxis={"title": "function", "autorange": "reversed", "dtick": 1, "automargin": True},
        height=max(360, 60 + 22 * len(names)),
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
    )
    return figure


def _safe(text: str) -> str:
    """Plotly reads some HTML in labels; what a model or a person wrote is shown as it is."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
