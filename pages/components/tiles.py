"""What came of a test, as a mark: one colour and one shape a state, the same in every lab; and strips of them."""

from __future__ import annotations

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
        """Markdown of the mark with its words, or with others; these are Markdown too."""
        return f":{self.colour}-badge[{self.icon} {words or self.words}]"


LOOKS: dict[Mark, TileStyle] = {
    "kept": TileStyle("kept", "green", ":material/check_circle:"),
    "broken": TileStyle("broken", "red", ":material/cancel:"),
    "not settled": TileStyle("not settled", "gray", ":material/help:"),
    "in doubt": TileStyle("no verdict", "gray", ":material/contrast:"),
    "set aside": TileStyle("set aside", "gray", ":material/block:"),
    "unread": TileStyle("could not be read", "orange", ":material/visibility_off:"),
    "failed": TileStyle("failed", "orange", ":material/error:"),
    "stopped": TileStyle("not reached", "gray", ":material/pause_circle:"),
    "waiting": TileStyle("under way", "gray", ":material/hourglass_empty:"),
    "sealed": TileStyle("sealed", "gray", ":material/lock:"),
}
"""Nothing else on the pages says kept, broken or not settled by a colour of its own."""

MOST = 60
"""Tiles in a strip; what is left over is said below it."""


def anchor(number: int) -> None:
    """The place that the tile of that number leads to."""
    # The bar at the top would hide what stands at the edge.
    st.html(f'<span id="row-{number}" style="scroll-margin-top: 5rem"></span>')


def strip(marks: Sequence[Mark], one: str, words: Mapping[Mark, str], key: str) -> None:
    """A tile for each, numbered from 1, which leads to its `anchor`; below them what they mean. `one` is what a tile
    stands for, `words` are the lab's own for the marks; strips on one page need a `key` each.
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
        st.caption(f"One tile a {one}: {' · '.join(legend)}{left}")
