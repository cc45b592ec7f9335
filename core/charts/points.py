"""Points of runs or cases: one picture where colours can tell them apart, else one small picture for each name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.charts.marks import CLICKABLE, FAINT, OURS, PALETTE, error_bars, safe, spread

if TYPE_CHECKING:
    from pandas import DataFrame
    from plotly.graph_objects import Figure

SYMBOLS = ("circle", "diamond", "x", "square", "triangle-up", "star")

MOST = 30
"""Small pictures; of more names those with the most points, and the axis says so."""

_ACROSS, _HIGH = 2, 210


def points(rows: DataFrame, axes: tuple[str, str], size: tuple[float, float], **layout: Any) -> Figure:
    """One mark a row of x, y, low, high (of x, NaN for none), name, kind, n, faint, grey, text (what hovering shows,
    safe) and link: colour, or a picture of its own, for the name, symbol for the kind, area for n. Marks that would
    cover each other stand side by side; `size` is a mark's in units of the axes. `layout` is of all axes.
    """
    from plotly.subplots import make_subplots

    places, _ = spread(list(zip(rows["x"], rows["y"], strict=True)), size)
    rows = rows.assign(at_x=[x for x, _ in places], at_y=[y for _, y in places])
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
    legend = set()
    for (name, kind, faint, grey), some in rows[rows["name"].isin(shown)].groupby(["name", "kind", "faint", "grey"]):
        place = shown.index(name)
        label = (kind if many else ", ".join(word for word in (name, kind) if word)) or "unnamed"
        figure.add_scatter(
            row=place // _ACROSS + 1 if many else 1,
            col=place % _ACROSS + 1 if many else 1,
            x=some["at_x"],
            y=some["at_y"],
            # From where the mark stands, so that the bar's ends are true.
            error_x=error_bars(some["low"], some["at_x"], some["high"], thickness=1, width=0),
            mode="markers",
            name=safe(label),
            legendgroup=label,
            showlegend=label not in legend,
            opacity=FAINT if faint or grey else 1.0,
            cliponaxis=False,
            marker={
                "color": "#8A8A8A" if grey else OURS if many else PALETTE[place],
                "symbol": SYMBOLS[kinds.index(kind) % len(SYMBOLS)],
                "size": [min(8 + n**0.5, 26) for n in some["n"]],
            },
            customdata=[[one] for one in some["link"]],
            text=some["text"],
            hovertemplate="%{text}<extra></extra>",
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


def _cut(name: str) -> str:
    return name if len(name) <= 26 else f"…{name[-25:]}"
