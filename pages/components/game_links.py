"""Links to the games of a lab, packs of recorded cards that need no model, and to a class."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from core.labs.base.lab import Lab
from core.report.game import pack
from core.report.game.page import FIRST
from pages.components import session
from pages.components.text import plain


def links(lab: Lab) -> None:
    """Draw a line of links to the lab's games; nothing if it has none."""
    packs = [one for path in pack.shipped_packs() if (one := pack.load_pack(path.stem)).kind == lab.path]
    packs.sort(key=lambda one: one.name != FIRST)
    if packs:
        named = " · ".join(f"[{plain(one.title)}](/play?pack={one.name}){_for_a_class(one.name)}" for one in packs)
        with st.container(key=f"games-{lab.path}"):
            st.markdown(f":gray[As a game, at once:] {named}")


def to_a_class(words: str = "Present to a class", **cards: str) -> None:
    """Draw the link to a room with the cards of a `run` or of a `pack`, for those who may open one."""
    if session.visitor().takes_part:
        st.link_button(
            words,
            f"/wall?{urlencode(cards)}",
            icon=":material/groups:",
            type="tertiary",
        )


def _for_a_class(pack: str) -> str:
    """A link to a room with cards of that pack."""
    return f" ([for a class](/wall?pack={pack}))" if session.visitor().takes_part else ""
