"""The marks of all charts: colours, faintness, names, the links that a click opens, and marks in the same place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode

if TYPE_CHECKING:
    from pandas import DataFrame, Series

OURS, COMPARED, THEIRS = "#7468D8", "#A6761D", "#008A9E"
"""Colours of what was measured here, what it is compared with, and what a paper published. None of them means kept or
broken. OURS is the accent colour of all pages, in a lightness that can be seen on light and dark ones.
"""

PALETTE = (OURS, "#E69F00", "#CC79A7", "#00A5A5", "#A6761D", "#9C9A00")
"""Colours to distinguish things; there can be no more than these. None of them means kept, broken or not settled."""

LIGHT = "#8A8A8A"
"""Colour of what is not chosen, and of lines to compare with, visible on white and on black."""

FAINT = 0.45
"""Opacity of a mark with too little data."""

CLICKABLE = {"hovermode": "closest", "clickmode": "event+select"}
"""Layout of a figure whose marks can be clicked."""

TOLD = 6
"""Maximum number of marks in one place that the hover text describes."""

NUMBER = {"size": 11, "color": "#000000"}
"""The font of a number on a mark."""

EXTRA = "extra:"
"""Begins the facet of a column of a person's own file, in links as on Browse."""


def safe(text: str) -> str:
    """Escape a text that a model or a person wrote, because Plotly interprets some HTML in labels."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def error_bars(low: Series[Any], at: Series[Any], high: Series[Any], **look: Any) -> dict[str, Any]:
    """Return Plotly's error bars from marks to the ends of their intervals; of length 0 if there is no interval."""
    reach = {"array": high - at, "arrayminus": at - low}
    lengths = {side: length.to_numpy(float, na_value=0.0).clip(0.0) for side, length in reach.items()}
    return {"type": "data", "symmetric": False, **lengths, **look}


def link(query: Mapping[str, str]) -> str:
    """Return the link of a mark, its `customdata[0]`: the query of an address that opens a run (and case) or filters by
    values. Empty values are left out.
    """
    return urlencode({name: value for name, value in query.items() if value})


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
