"""What came of a test, as a mark: one colour and one shape a state, the same in every lab; and strips of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import streamlit as st

State = Literal[
    "kept", "broken", "not settled", "in doubt", "set aside", "unread", "failed", "stopped", "waiting", "sealed",
    "guessed",
]  # fmt: skip


class Look(NamedTuple):
    """How a state looks: its words, colour and icon."""

    words: str
    colour: str
    icon: str

    def badge(self, words: str = "") -> str:
        """Markdown of the mark with its words, or with others; these are Markdown too."""
        return f":{self.colour}-badge[{self.icon} {words or self.words}]"


LOOKS: dict[State, Look] = {
    "kept": Look("kept", "green", ":material/check_circle:"),
    "broken": Look("broken", "red", ":material/cancel:"),
    "not settled": Look("not settled", "gray", ":material/help:"),
    "in doubt": Look("no verdict", "gray", ":material/contrast:"),
    "set aside": Look("set aside", "gray", ":material/block:"),
    "unread": Look("could not be read", "orange", ":material/visibility_off:"),
    "failed": Look("failed", "orange", ":material/error:"),
    "stopped": Look("not reached", "gray", ":material/pause_circle:"),
    "waiting": Look("under way", "gray", ":material/hourglass_empty:"),
    "sealed": Look("sealed", "gray", ":material/lock:"),
    "guessed": Look("guessed", "blue", ":material/edit:"),
}
"""Nothing else on the pages says kept, broken or not settled by a colour of its own."""

MOST = 60
"""Tiles in a strip; what is left over is said below it."""


class Tile(NamedTuple):
    """One test: its state, and the `anchor` it leads to, if any."""

    state: State
    anchor: str = ""


def anchor(name: str) -> None:
    """The place that tiles lead to. `name` is a word of ours and a number, never text of a model or a person."""
    # The bar at the top would hide what stands at the edge.
    st.html(f'<span id="{name}" style="scroll-margin-top: 5rem"></span>')


def strip(tiles: Sequence[Tile], one: str, words: Mapping[State, str] | None = None, key: str = "tiles") -> None:
    """The tiles in order, numbered; below them what they mean. `one` is what a tile stands for, `words` are the lab's
    own for the states; strips on one page need a `key` each.
    """
    if not tiles:
        return
    named = {state: look.words for state, look in LOOKS.items()} | dict(words or {})
    marks = [LOOKS[tile.state].badge(str(number)) for number, tile in enumerate(tiles, start=1)]
    linked = [f"[{mark}](#{tile.anchor})" if tile.anchor else mark for mark, tile in zip(marks, tiles, strict=True)]
    counts = Counter(tile.state for tile in tiles)
    legend = [f"{LOOKS[state].icon} {counts[state]} {named[state]}" for state in LOOKS if counts[state]]
    left = f" · the first {MOST} are shown" if len(tiles) > MOST else ""
    with st.container(gap="xxsmall", key=key):
        st.markdown(" ".join(linked[:MOST]))
        st.caption(f"One tile a {one}: {' · '.join(legend)}{left}")
