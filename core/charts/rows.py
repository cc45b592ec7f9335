"""A picture of any table of which two columns allow one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame
    from plotly.graph_objects import Figure

MOST_BARS = 40
"""Bars that can be told apart; a table of more of them has no picture."""

_LABEL = 40
"""Letters of what stands beside a bar."""


def picture(rows: DataFrame) -> Figure | None:
    """Bars of the first column of numbers over the first of texts, a line over the first of times, or points of the
    first two of numbers; None where no two columns go together, or there are too many bars.
    """
    import plotly.graph_objects as go
    from pandas.api import types

    numbers = [name for name in rows if types.is_numeric_dtype(rows[name]) and not types.is_bool_dtype(rows[name])]
    times = [name for name in rows if types.is_datetime64_any_dtype(rows[name])]
    texts = [name for name in rows if types.is_string_dtype(rows[name]) and rows[name].notna().any()]
    if len(rows) < 2 or not numbers:
        return None
    y = rows[numbers[0]].astype(float)
    if times:
        line = rows[[times[0]]].assign(y=y).sort_values(times[0])
        figure, across = go.Figure(go.Scatter(x=line[times[0]], y=line["y"], mode="lines+markers")), times[0]
    elif texts and len(rows) <= MOST_BARS and rows[texts[0]].is_unique:
        labels = [_label(text) for text in rows[texts[0]].fillna("")]
        # By their place, so that two that are cut to the same letters stay two.
        figure, across = go.Figure(go.Bar(x=list(range(len(rows))), y=y)), texts[0]
        figure.update_xaxes(tickvals=list(range(len(rows))), ticktext=labels)
    elif not texts and len(numbers) > 1:
        y, across = rows[numbers[1]].astype(float), numbers[0]
        figure = go.Figure(go.Scatter(x=rows[across].astype(float), y=y, mode="markers"))
        numbers = numbers[1:]
    else:
        return None
    figure.update_layout(margin={"t": 10, "b": 10, "l": 10, "r": 10}, height=320)
    figure.update_xaxes(title=_label(across))
    figure.update_yaxes(title=_label(numbers[0]))
    return figure


def _label(text: str) -> str:
    """A text beside a bar: Plotly obeys what looks like HTML."""
    text = text if len(text) <= _LABEL else f"{text[:_LABEL]}…"
    return text.replace("&", "&amp;").replace("<", "&lt;")
