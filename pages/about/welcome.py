"""The front door: a question to whoever comes, and the ways in."""

from __future__ import annotations

import streamlit as st

from core import entry
from core.telling.game import pack
from core.telling.game.page import FIRST
from pages import addresses
from pages.about.doors import doors
from pages.stage.mount import game

st.title("Explain Yourself", anchor=False)
st.markdown("A model answers and says why. **Is its reason worth anything?**")
game(pack.named(FIRST), "game")
doors([lab for lab in entry.labs().values() if not lab.hidden])
st.page_link(addresses.STORY, label="Stories of a real model", icon=":material/slideshow:")
