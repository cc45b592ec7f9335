"""Links to the games of a lab: packs of recorded cards, which need no model."""

from __future__ import annotations

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
        named = " · ".join(f"[{plain(one.title)}](/play?pack={one.name}){_to_a_class(one.name)}" for one in packs)
        with st.container(key=f"games-{lab.path}"):
            st.markdown(f":gray[As a game, at once:] {named}")


def _to_a_class(pack: str) -> str:
    """A link to a room with cards of that pack."""
    return f" ([for a class](/wall?pack={pack}))" if session.visitor().takes_part else ""
