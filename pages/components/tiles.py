"""The outcome of a test as a mark, with the same colour and icon per state in every lab; and strips of marks."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import streamlit as st

from core.scene import Mark


class TileStyle(NamedTuple):
    """How a state looks: its words, colour and icon."""

    words: str
    colour: str
    icon: str

    def badge(self, words: str = "") -> str:
        """Return Markdown of the mark with its words, or with other words, also Markdown."""
        return f":{self.colour}-badge[{self.icon} {words or self.words}]"


LOOKS: dict[Mark, TileStyle] = {
    "kept": TileStyle("kept", "green", ":material/check_circle:"),
    "broken": TileStyle("broken", "red", ":material/cancel:"),
    "not settled": TileStyle("not settled", "gray", ":material/help:"),
    "in doubt": TileStyle("no verdict", "gray", ":material/contrast:"),
    "set aside": TileStyle("excluded", "gray", ":material/block:"),
    "unread": TileStyle("could not be read", "orange", ":material/visibility_off:"),
    "failed": TileStyle("failed", "orange", ":material/error:"),
    "stopped": TileStyle("not reached", "gray", ":material/pause_circle:"),
    "waiting": TileStyle("running", "gray", ":material/hourglass_empty:"),
    "sealed": TileStyle("sealed", "gray", ":material/lock:"),
}
"""No other part of the pages has its own colours for kept, broken or not settled."""

MOST = 60
"""Tiles in a strip; a line below it says if there are more."""


def anchor(number: int) -> None:
    """Mark the place to which the tile of that number leads."""
    # The margin keeps the place from being hidden by the bar at the top.
    st.html(f'<span id="row-{number}" style="scroll-margin-top: 5rem"></span>')


def strip(marks: Sequence[Mark], one: str, words: Mapping[Mark, str], key: str) -> None:
    """Draw a tile for each mark, numbered from 1, which leads to its `anchor`; below them, a legend. `one` is what a
    tile stands for, `words` are the lab's own for the marks; each strip on a page needs its own `key`.
    """
    if not marks:
        return
    linked = [f"[{LOOKS[mark].badge(str(number))}](#row-{number})" for number, mark in enumerate(marks, start=1)]
    counts = Counter(marks)
    legend = [
        f"{look.icon} {counts[mark]} {words.get(mark, look.words)}" for mark, look in LOOKS.items() if counts[mark]
    ]
    left = f" · the first {MOST} are shown" if len(marks) > MOST else ""
    with st.container(gap="xxsmall", key=key):
        st.markdown(" ".join(linked[:MOST]))
        st.caption(f"One tile per {one}: {' · '.join(legend)}{left}")
