"""What the marks of all pictures have in common: colours, faintness, names, what a click leads to, room for each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode

if TYPE_CHECKING:
    from pandas import DataFrame, Series

OURS, COMPARED, THEIRS = "#4C7BD9", "#A6761D", "#8C6BD1"
"""What was measured here, what it is held against, and what a paper published; no colour that says kept or broken."""

PALETTE = ("#56B4E9", "#E69F00", "#CC79A7", "#8C6BD1", "#00A5A5", "#A6761D")
"""Things that are told apart by colour, at most so many: none of these says kept, broken or not settled."""

FAINT = 0.45
"""Opacity of a figure that rests on too little."""

CLICKABLE = {"hovermode": "closest", "clickmode": "event+select"}
"""Of a figure's layout: a click on a mark leads somewhere."""

TOLD = 6
"""Marks at one place of which hovering tells."""

NUMBER = {"size": 11, "color": "#000000"}
"""The font of a number on a mark."""


def safe(text: str) -> str:
    """Plotly reads some HTML in labels; what a model or a person wrote is shown as it is."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def error_bars(low: Series[Any], at: Series[Any], high: Series[Any], **look: Any) -> dict[str, Any]:
    """Plotly's bars from where marks stand to the ends of their intervals; none where there is no interval."""
    reach = {"array": high - at, "arrayminus": at - low}
    lengths = {side: length.astype(float).clip(lower=0).fillna(0) for side, length in reach.items()}
    return {"type": "data", "symmetric": False, **lengths, **look}


def link(query: Mapping[str, str]) -> str:
    """What a mark leads to, as its `customdata[0]`: the query of an address, of a run (and case) to open, or of values
    to filter by. What is empty is left out.
    """
    return urlencode({name: value for name, value in query.items() if value})


def one_a_place(rows: DataFrame) -> list[dict[Any, Any]]:
    """One mark for each place (x, y): the first of the `rows` there, with all of them as `there`. Of several the bars
    reach to the outermost ends, the text tells of each, the link leads to all, and the mark is faint where all are.
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
    """A filter with the values of all; where they open a run or a case, that of the first."""
    queries = [parse_qs(row["link"]) for row in rows]
    if "run" in queries[0]:
        return str(rows[0]["link"])
    names = dict.fromkeys(name for query in queries for name in query)
    values = {name: list(dict.fromkeys(v for query in queries for v in query.get(name, ()))) for name in names}
    return urlencode(values, doseq=True)


def number_on(row: Mapping[Any, Any]) -> str:
    """What is written on a mark of `one_a_place`: how many it stands for; nothing on one that stands for itself."""
    return str(len(row["there"])) if len(row["there"]) > 1 else ""


def size_of(row: Mapping[Any, Any], size: float) -> float:
    """The size of such a mark, in pixels: `size`, or more where a number must have room on it."""
    return max(size, 18) if number_on(row) else size
