"""The marks of all charts: colours, faintness, names, the links that a click opens, and marks in the same place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

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

EXTRA = "extra:"
"""Begins the facet of a column of a person's own file, in links as on Browse."""


def safe(text: str) -> str:
    """Escape a text that a model or a person wrote, because Plotly interprets some HTML in labels."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def error_bars(low: Iterable[Any], at: Iterable[Any], high: Iterable[Any], **look: Any) -> dict[str, Any]:
    """Return Plotly's error bars from marks to the ends of their intervals; of length 0 if there is no interval."""
    import pandas as pd

    def lengths(begins: Iterable[Any], ends: Iterable[Any]) -> list[float]:
        both = zip(begins, ends, strict=True)
        return [0.0 if pd.isna(begin) or pd.isna(end) else max(float(end - begin), 0.0) for begin, end in both]

    return {"type": "data", "symmetric": False, "array": lengths(at, high), "arrayminus": lengths(low, at), **look}


def link(query: Mapping[str, str]) -> str:
    """Return the link of a mark, its `customdata[0]`: the query of an address that opens a run (and case) or filters by
    values. Empty values are left out.
    """
    return urlencode({name: value for name, value in query.items() if value})
