"""Scatter plots: groups on a plane of two figures, points of runs or cases, and measured values against true ones. On
the plane, each group has both intervals and a name at its mark. Some marks are in colour and the others light, so that
one chart is enough for any number of groups.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode

from .labels import MarkLabel, ReferenceLine, add, write
from .marks import CLICKABLE, FAINT, LIGHT, OURS, PALETTE, THEIRS, error_bars, safe

if TYPE_CHECKING:
    from pandas import DataFrame
    from plotly.graph_objects import Figure


SYMBOLS = ("circle", "square", "diamond", "triangle-up", "star", "hexagon")

_LIGHTER = 0.75
"""Opacity of the marks that are not chosen, visible on white and on black."""

HEIGHT = 600
"""Height of the whole chart in pixels, including the margins."""

_ACROSS = (-0.03, 1.05)
"""The range of the x axis: that of a share, with room for a mark."""

_LEAST = 0.3
"""The smallest range of the y axis."""

_CHOSEN, _OTHER, _PUBLISHED = 13, 9, 13
"""Sizes of marks, in pixels."""


def plane(rows: DataFrame, axes: tuple[str, str], lines: Sequence[ReferenceLine] = ()) -> Figure:
    """Draw one mark per row.

    The columns of `rows` are x, x_low, x_high, y, y_low, y_high (shares; NaN without an interval); `name` and `n`,
    written next to the mark; `kind`, shown by a symbol; `chosen`; `open` (an open mark); `faint`; `own` (the row's own
    value of x to compare with, NaN for none); `text` (hover text, already escaped) and `link`. Each chosen mark has its
    own colour as long as there are enough colours. Every mark is at its exact values; several in one place become one
    mark with their number on it (`one_a_place`). Names get a key if there is no room for them (`labels`).
    """
    import plotly.graph_objects as go

    rows = rows.sort_values("chosen", ascending=False, kind="stable")
    kinds = {kind: SYMBOLS[number % len(SYMBOLS)] for number, kind in enumerate(sorted(rows["kind"].unique()))}
    colours = iter(PALETTE)
    figure = go.Figure()
    for line in lines:
        figure.add_vline(line.x, line={"dash": "dash", "width": 2, "color": LIGHT})
    rows = rows.assign(colour=[next(colours, LIGHT) if chosen else LIGHT for chosen in rows["chosen"]])
    drawn = one_a_place(rows)
    # Chosen marks are drawn last, on top of the others.
    for row in reversed(drawn):
        figure.add_scatter(**_mark(row, kinds[row["kind"]]))
    for row in rows.to_dict("records"):
        if row["chosen"] and row["own"] == row["own"]:
            # It may lie under its mark, so both have the same hover text and link, whichever a click hits.
            figure.add_scatter(
                x=[row["own"]],
                y=[row["y"]],
                mode="markers",
                marker={"symbol": "line-ns", "size": 16, "line": {"width": 3, "color": row["colour"]}},
                customdata=[[row["link"]]],
                hovertext=[row["text"]],
                hovertemplate="%{hovertext}<extra></extra>",
                showlegend=False,
            )
    shared = {"zeroline": False, "fixedrange": True, "tick0": 0}
    figure.update_xaxes(title=axes[0], range=_ACROSS, dtick=0.2, **shared)
    figure.update_yaxes(title=axes[1], range=_ends(drawn), dtick=0.1, **shared)
    figure.update_layout(
        height=HEIGHT,
        margin={"l": 10, "r": 10, "t": 50, "b": 70},
        showlegend=False,
        **CLICKABLE,
    )
    _label(figure, drawn, lines)
    return figure


def add_published(figure: Figure, points: Sequence[tuple[float, float, str, str]]) -> None:
    """Add a paper's points (x, y, name, hover text) to a plane, as open marks with their own colour and names."""
    figure.add_scatter(
        x=[x for x, *_ in points],
        y=[y for _, y, *_ in points],
        mode="markers",
        name="published, not measured here",
        marker={"color": THEIRS, "symbol": "diamond-open", "size": _PUBLISHED, "line": {"width": 2}},
        text=[f"{safe(name)}, published" for *_, name, _ in points],
        cliponaxis=False,
        hovertext=[text for *_, text in points],
        hovertemplate="%{hovertext}<extra></extra>",
    )
    (low, high), ys = figure.layout.yaxis.range, [y for _, y, *_ in points]
    figure.update_yaxes(range=(min(low, min(ys) - 0.02), max(high, max(ys) + 0.02)))
    add(figure, [MarkLabel(x, y, [f"{name}, published"]) for x, y, name, _ in points], _PUBLISHED)


def _mark(row: Mapping[Any, Any], symbol: str) -> dict[str, Any]:
    """Return a mark with error bars that end where the intervals end."""
    look = {"thickness": 2 if row["chosen"] else 1, "width": 0}
    bars = {
        f"error_{axis}": error_bars([row[f"{axis}_low"]], [row[axis]], [row[f"{axis}_high"]], **look)
        for axis in ("x", "y")
    }
    return {
        "x": [row["x"]],
        "y": [row["y"]],
        **bars,
        "mode": "markers+text",
        "text": [number_on(row)],
        "textfont": {**NUMBER, "color": row["colour"]} if row["open"] else NUMBER,
        "marker": {
            "color": row["colour"],
            "symbol": f"{symbol}-open" if row["open"] else symbol,
            "size": size_of(row, _CHOSEN if row["chosen"] else _OTHER),
            "line": {"width": 2, "color": row["colour"]},
        },
        "opacity": FAINT if row["faint"] else 1.0 if row["chosen"] else _LIGHTER,
        "cliponaxis": False,
        "customdata": [[row["link"]]],
        "hovertext": [row["text"]],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "name": safe(str(row["name"])),
        "showlegend": False,
    }


def _ends(drawn: Sequence[Mapping[Any, Any]]) -> tuple[float, float]:
    """Return the range of the y axis: tenths around all marks and intervals, with room for a mark."""
    known = [row[name] for row in drawn for name in ("y", "y_low", "y_high") if row[name] == row[name]]
    low, high = math.floor(10 * min(known, default=0.0)) / 10, math.ceil(10 * max(known, default=1.0)) / 10
    if high - low < _LEAST:
        low = max(min((low + high - _LEAST) / 2, 1 - _LEAST), 0.0)
        low = math.floor(10 * low + 1e-9) / 10
        high = max(high, low + _LEAST)
    room = 0.04 * (high - low)
    return low - room, high + room


def _label(figure: Figure, drawn: Sequence[Mapping[Any, Any]], lines: Sequence[ReferenceLine]) -> None:
    """Write names and numbers of items next to marks, which no name covers, nor the strokes of their own values."""
    labels = [
        MarkLabel(row["x"], row["y"], [f"{one['name']} · {one['n']}" for one in row["there"]], bool(row["chosen"]))
        for row in drawn
    ]
    marks = [(row["x"], row["y"], size_of(row, _CHOSEN if row["chosen"] else _OTHER)) for row in drawn]
    marks += [(row["own"], row["y"], 14) for row in drawn if row["chosen"] and row["own"] == row["own"]]
    ends = [(row["x_low"], row["y"], row["x_high"], row["y"]) for row in drawn]
    ends += [(row["x"], row["y_low"], row["x"], row["y_high"]) for row in drawn]
    write(figure, labels, marks, [bar for bar in ends if all(end == end for end in bar)], lines)


# Marks in the same place.


TOLD = 6
"""Maximum number of marks in one place that the hover text describes."""

NUMBER = {"size": 11, "color": "#000000"}
"""The font of a number on a mark."""


def one_a_place(rows: DataFrame) -> list[dict[Any, Any]]:
    """Combine marks in the same place (x, y). Each result is the first of the `rows` there, with all of them as
    `there`. If there are several, the bars reach to the outermost ends, the text describes each, the link leads to
    all, and the mark is faint only if all are.
    """
    there: dict[tuple[float, float], list[dict[Any, Any]]] = {}
    for row in rows.to_dict("records"):
        there.setdefault((round(row["x"], 9), round(row["y"], 9)), []).append(row)
    return [_as_one(some) for some in there.values()]


def _as_one(rows: Sequence[dict[Any, Any]]) -> dict[Any, Any]:
    first, count = rows[0], len(rows)
    one = {**first, "there": rows}
    if count == 1:
        return one
    more = [f"and {count - TOLD} more"] if count > TOLD else []
    one["text"] = "<br>".join([f"<b>{count} at this place</b>", *(row["text"] for row in rows[:TOLD]), *more])
    one |= {"link": _to_all(rows), "faint": all(row.get("faint") for row in rows)}
    for name, outermost in {"low": min, "x_low": min, "y_low": min, "high": max, "x_high": max, "y_high": max}.items():
        if name in first:
            one[name] = outermost((row[name] for row in rows if row[name] == row[name]), default=math.nan)
    return one


def _to_all(rows: Sequence[Mapping[Any, Any]]) -> str:
    """Return a filter with the values of all rows; if they open a run or a case, the link of the first."""
    queries = [parse_qs(row["link"]) for row in rows]
    if "run" in queries[0]:
        return str(rows[0]["link"])
    names = dict.fromkeys(name for query in queries for name in query)
    values = {name: list(dict.fromkeys(v for query in queries for v in query.get(name, ()))) for name in names}
    return urlencode(values, doseq=True)


def number_on(row: Mapping[Any, Any]) -> str:
    """Return the label of a mark from `one_a_place`: the number of rows it represents, or an empty string for one."""
    return str(len(row["there"])) if len(row["there"]) > 1 else ""


def size_of(row: Mapping[Any, Any], size: float) -> float:
    """Return the size of the mark in pixels: `size`, or more if a number must fit on it."""
    return max(size, 18) if number_on(row) else size


# Points of runs or cases: a single chart if colours can distinguish their names, else one small chart per name.


POINT_SYMBOLS = ("circle", "diamond", "x", "square", "triangle-up", "star")

SEVERAL = "several"
"""The name of marks in one place that have different names."""

MOST = 30
"""Maximum number of small charts. If there are more names, those with the most points are drawn, and the axis says so.
"""

_PANELS, _HIGH = 2, 210


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
    high = -(-len(shown) // _PANELS) if many else 1
    figure = make_subplots(
        rows=high,
        cols=_PANELS if many else 1,
        subplot_titles=[safe(_short(name)) for name in shown] if many else None,
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
        colour = OURS if many else LIGHT if name == SEVERAL else PALETTE[names.index(name)]
        figure.add_scatter(
            row=panel // _PANELS + 1,
            col=panel % _PANELS + 1,
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
                "symbol": "circle" if kind == SEVERAL else POINT_SYMBOLS[kinds.index(kind) % len(POINT_SYMBOLS)],
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


def _short(name: str) -> str:
    return name if len(name) <= 26 else f"…{name[-25:]}"


# Measured values against the true ones, and the number of items needed to distinguish them.


def draw(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw two panels of `rows`, which are in the form of a study's tables. The upper panel shows the cells whose true
    value is known, except those of the controls: value and 95 % interval over the true value, with the line on which
    the two are equal. The lower panel shows the table "Power" over the number of items.
    """
    from plotly.subplots import make_subplots

    figure: Figure = make_subplots(
        rows=2,
        vertical_spacing=0.16,
        subplot_titles=("What is measured, over what is so", "How surely so many items tell it from 0.5"),
    )
    figure.add_scatter(x=[0, 1], y=[0, 1], mode="lines", line={"dash": "dot"}, name="the same", row=1, col=1)
    known = [row for row in rows if None not in (row["truth"], row["value"])]
    known = [row for row in known if row["table"] != "Controls" and not row.get("mixed")]
    for title in dict.fromkeys(row["table"] for row in known):
        cells = sorted((row for row in known if row["table"] == title), key=lambda row: float(row["truth"]))
        figure.add_scatter(
            **{"x": [row["truth"] for row in cells], "y": [row["value"] for row in cells], "row": 1, "col": 1},
            **{"mode": "markers", "name": title, "text": [f"{row['row']}, {row['n']} items" for row in cells]},
            error_y=error_bars(*([row[end] for row in cells] for end in ("low", "value", "high"))),
        )
    powers = [row for row in rows if row["table"] == "Power"]
    for name in dict.fromkeys(row["row"] for row in powers):
        cells = [row for row in powers if row["row"] == name]
        x, y = [row["n"] for row in cells], [row["value"] for row in cells]
        figure.add_scatter(x=x, y=y, mode="lines+markers", name=name, row=2, col=1)
    figure.update_xaxes(title="share of items that are faithful by construction", row=1)
    figure.update_xaxes(title="items", type="log", tickvals=sorted({row["n"] for row in powers}), row=2)
    figure.update_yaxes(title="measured, with its 95 % interval", row=1)
    figure.update_yaxes(title="chance of finding a difference (5 % level)", row=2)
    figure.update_yaxes(range=[-0.05, 1.05])
    figure.update_layout(template="plotly_white", height=900, legend={"orientation": "h", "y": -0.1}, margin={"t": 40})
    return figure
