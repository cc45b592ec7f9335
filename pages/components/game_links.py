"""The games of a lab: packs of cards that were recorded of it, which ask nobody."""

from __future__ import annotations

import streamlit as st

from core.labs.base.lab import Lab
from core.report.game import pack
from core.report.game.page import FIRST
from pages.components.text import plain


def links(lab: Lab) -> None:
    """A line that leads to them; nothing where the lab has none."""
    packs = [one for path in pack.shipped() if (one := pack.named(path.stem)).kind == lab.path]
    packs.sort(key=lambda one: one.name != FIRST)
    if packs:
        named = " · ".join(f"[{plain(one.title)}](/play?pack={one.name})" for one in packs)
        with st.container(key=f"games-{lab.path}"):
            st.markdown(f":gray[As a game, at once:] {named}")
