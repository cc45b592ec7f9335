"""How pictures are shown."""

from __future__ import annotations

from typing import Literal

PLAIN = {"displayModeBar": False}
"""Without the tool bar, which covers the legend on a phone."""

Saved = Literal["PNG", "SVG"]


def saved_as(kind: Saved, name: str, is_box: bool = False) -> dict[str, object]:
    """With a bar of the tools that help: to save the picture as a file of that kind and name, made in the browser, and
    with `is_box` to choose marks by a box.
    """
    # In the mode of the box a click chooses nothing: the other mode leads back.
    buttons = [*(["select2d", "pan2d"] if is_box else []), "toImage"]
    return {
        "displaylogo": False,
        "modeBarButtons": [buttons],
        "toImageButtonOptions": {"format": kind.lower(), "filename": name, "scale": 2 if kind == "PNG" else 1},
    }
