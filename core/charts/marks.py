"""What the marks of all pictures have in common: colours, faintness, names, what a click leads to, room for each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

if TYPE_CHECKING:
    from pandas import Series

OURS, COMPARED, THEIRS = "#4C7BD9", "#A6761D", "#8C6BD1"
"""What was measured here, what it is held against, and what a paper published; no colour that says kept or broken."""

PALETTE = ("#56B4E9", "#E69F00", "#CC79A7", "#8C6BD1", "#00A5A5", "#A6761D")
"""Things that are told apart by colour, at most so many: none of these says kept, broken or not settled."""

FAINT = 0.45
"""Opacity of a figure that rests on too little."""

CLICKABLE = {"hovermode": "closest", "clickmode": "event+select"}
"""Of a figure's layout: a click on a mark leads somewhere."""

_GOLDEN = math.pi * (3 - math.sqrt(5))


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


def spread(
    points: Sequence[tuple[float, float]], size: tuple[float, float]
) -> tuple[list[tuple[float, float]], list[bool]]:
    """Points that would cover each other, side by side: those within one cell of `size` (in units of x and y) go on a
    spiral around the first of them. Gives the places, in order, and which of them were moved. Nothing lies in two
    places, and what lies alone stays where it is. Raises ValueError for a size that is not positive.
    """
    if min(size) <= 0:
        raise ValueError("a mark has a size")
    seen: dict[tuple[int, int], list[tuple[float, float]]] = {}
    places, moved = [], []
    for x, y in points:
        here = seen.setdefault((round(x / size[0]), round(y / size[1])), [])
        here.append((x, y))
        turn, far = _GOLDEN * (len(here) - 1), math.sqrt(len(here) - 1)
        first = here[0]
        is_moved = len(here) > 1
        places.append(
            (first[0] + far * math.cos(turn) * size[0], first[1] + far * math.sin(turn) * size[1])
            if is_moved
            else (x, y)
        )
        moved.append(is_moved)
    return places, moved
