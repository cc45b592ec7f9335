"""Points of runs or cases: a single chart if colours can distinguish their names, else one small chart per name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .marks import CLICKABLE, NUMBER, OURS, PALETTE, number_on, one_a_place, safe, size_of

if TYPE_CHECKING:
    from pandas import DataFrame
    from plotly.graph_objects import Figure

SYMBOLS = ("circle", "diamond", "x", "square", "triangle-up", "star")

GREY, SEVERAL = "#8A8A8A", "several"
"""Colour and name of marks in one place that have different names."""

MOST = 30
"""Maximum number of small charts. If there are more names, those with the most points are drawn, and the axis says so.
"""

_ACROSS, _HIGH = 2, 210


def points(rows: DataFrame, axes: tuple[str, str], **layout: Any) -> Figure:
    """Draw one mark for each place in `rows`, with the columns x, y, name, kind, text (hover text, already escaped) and
    link. A name has its own colour or chart, a kind its own symbol. Every mark is at its exact values; several in
    one place become one mark with their number on it (`one_a_place`), grey if their names differ. `layout` applies
    to all axes.
    """
    from plotly.subplots import make_subplots

    names, kinds = sorted(rows["name"].unique()), sorted(rows["kind"].unique())
    many = len(names) > len(PALETTE)
    shown = sorted(rows["name"].value_counts().head(MOST).index) if many else names
    high = -(-len(shown) // _ACROSS) if many else 1
    figure = make_subplots(
        rows=high,
        cols=_ACROSS if many else 1,
        subplot_titles=[safe(_cut(name)) for name in shown] if many else None,
        shared_xaxes=True,
        shared_yaxes=True,
        vertical_spacing=min(0.12, 0.3 / high),
        horizontal_spacing=0.04,
    )
    panels = [rows[rows["name"] == name] for name in shown] if many else [rows]
    alike: dict[tuple[int, str, str], list[dict[Any, Any]]] = {}
    for panel, some in enumerate(panels):
        for mark in one_a_place(some):
            name, kind = (_common(row[field] for row in mark["there"]) for field in ("name", "kind"))
            alike.setdefault((panel, name, kind), []).append(mark)
    legend = set()
    for (panel, name, kind), marks in sorted(alike.items()):
        label = (kind if many else ", ".join(dict.fromkeys(word for word in (name, kind) if word))) or "unnamed"
        colour = OURS if many else GREY if name == SEVERAL else PALETTE[names.index(name)]
        figure.add_scatter(
            row=panel // _ACROSS + 1,
            col=panel % _ACROSS + 1,
            x=[mark["x"] for mark in marks],
            y=[mark["y"] for mark in marks],
            mode="markers+text",
            text=[number_on(mark) for mark in marks],
            textfont=NUMBER,
            name=safe(label),
            legendgroup=label,
            showlegend=label not in legend,
            cliponaxis=False,
            marker={
                "color": colour,
                "symbol": "circle" if kind == SEVERAL else SYMBOLS[kinds.index(kind) % len(SYMBOLS)],
                "size": [size_of(mark, 9) for mark in marks],
            },
            customdata=[[mark["link"]] for mark in marks],
            hovertext=[mark["text"] for mark in marks],
            hovertemplate="%{hovertext}<extra></extra>",
        )
        legend.add(label)
    left = f"<br>{len(shown)} of {len(names)} drawn, those with the most points" if len(shown) < len(names) else ""
    figure.update_xaxes(zeroline=False, fixedrange=True, **layout.pop("xaxis", {}))
    figure.update_yaxes(zeroline=False, fixedrange=True, **layout.pop("yaxis", {}))
    figure.update_xaxes(title=axes[0] + left, row=high)
    figure.update_yaxes(title=axes[1], col=1)
    figure.update_layout(
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.06 if many else 1.02, "x": 0},
        margin={"l": 10, "r": 10, "t": 60, "b": 60},
        height=130 + _HIGH * high if many else 450,
        **CLICKABLE,
        **layout,
    )
    return figure


def _common(values: Iterable[str]) -> str:
    """Return the common value, or SEVERAL if the values differ."""
    one, *others = dict.fromkeys(values)
    return SEVERAL if others else one


def _cut(name: str) -> str:
    return name if len(name) <= 26 else f"…{name[-25:]}"
