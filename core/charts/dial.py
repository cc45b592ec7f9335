"""Measured values against the true ones, and the number of items needed to distinguish them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def draw(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw two panels of `rows`, which are in the form of a study's tables. The upper panel shows the cells whose true
    value is known, except those of the controls: value and 95 % interval over the true value, with the line on which
    the two are equal. The lower panel shows the table "Power" over the number of items.
    """
    from plotly.graph_objects import Scatter
    from plotly.subplots import make_subplots

    figure: Figure = make_subplots(
        rows=2,
        vertical_spacing=0.16,
        subplot_titles=("What is measured, over what is so", "How surely so many items tell it from 0.5"),
    )
    figure.add_trace(Scatter(x=[0, 1], y=[0, 1], mode="lines", line={"dash": "dot"}, name="the same"), 1, 1)
    known = [row for row in rows if None not in (row["truth"], row["value"])]
    known = [row for row in known if row["table"] != "Controls" and not row.get("mixed")]
    for title in dict.fromkeys(row["table"] for row in known):
        cells = sorted((row for row in known if row["table"] == title), key=lambda row: float(row["truth"]))
        up = [row["high"] - row["value"] if row["high"] is not None else 0 for row in cells]
        down = [row["value"] - row["low"] if row["low"] is not None else 0 for row in cells]
        figure.add_trace(
            Scatter(
                **{"x": [row["truth"] for row in cells], "y": [row["value"] for row in cells]},
                **{"mode": "markers", "name": title, "text": [f"{row['row']}, {row['n']} items" for row in cells]},
                error_y={"array": up, "arrayminus": down},
            ),
            1,
            1,
        )
    powers = [row for row in rows if row["table"] == "Power"]
    for name in dict.fromkeys(row["row"] for row in powers):
        cells = [row for row in powers if row["row"] == name]
        x, y = [row["n"] for row in cells], [row["value"] for row in cells]
        figure.add_trace(Scatter(x=x, y=y, mode="lines+markers", name=name), 2, 1)
    figure.update_xaxes(title="share of items that are faithful by construction", row=1)
    figure.update_xaxes(title="items", type="log", tickvals=sorted({row["n"] for row in powers}), row=2)
    figure.update_yaxes(title="measured, with its 95 % interval", row=1)
    figure.update_yaxes(title="chance of finding a difference (5 % level)", row=2)
    figure.update_yaxes(range=[-0.05, 1.05])
    figure.update_layout(template="plotly_white", height=900, legend={"orientation": "h", "y": -0.1}, margin={"t": 40})
    return figure
