"""The front door: a question to anyone who comes, and the ways in."""

from __future__ import annotations

import streamlit as st

from core import entry
from core.report.game import pack
from core.report.game.page import FIRST
from pages import addresses
from pages.about.lab_cards import doors
from pages.viewer.component import game

WIDTH = 1120
"""Pixels, at most: the card and beside it, where there is room, the pictures."""

with st.container(horizontal_alignment="center"), st.container(width=WIDTH):
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.title("Explain Yourself", anchor=False, width="content")
        st.markdown("A model answers and says why. **Is its reason worth anything?**", width="content")
    card, ways = st.columns([17, 5], gap="large")
    with card:
        game(pack.named(FIRST), "game")
    with ways:
        doors([lab for lab in entry.labs().values() if not lab.hidden])
        st.page_link(addresses.STORY, label="Stories of a real model", icon=":material/slideshow:")
