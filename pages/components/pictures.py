"""How pictures are shown."""

from __future__ import annotations

from typing import Literal

PLAIN = {"displayModeBar": False}
"""Without the tool bar, which covers the legend on a phone."""

Saved = Literal["PNG", "SVG"]


def saved_as(kind: Saved, name: str) -> dict[str, object]:
    """With a bar of one tool: to save the picture as a file of that kind and name, made in the browser."""
    return {
        "displaylogo": False,
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {"format": kind.lower(), "filename": name, "scale": 2 if kind == "PNG" else 1},
    }
