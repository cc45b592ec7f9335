"""The front page: a game with one question, and links to the labs."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from core import entry
from core.labs.base.lab import Lab
from core.report.game import pack
from core.report.game.page import FIRST
from pages import addresses
from pages.components import lab_page
from pages.viewer.component import game

# The small pictures of the front page: one per lab, each a link to its page.


_HERE = Path(__file__).parent


@cache
def _component() -> Any:
    place = '<div class="place"><nav class="doors"></nav></div>'
    style, script = ((_HERE / name).read_text(encoding="utf-8") for name in ("lab_cards.css", "lab_cards.js"))
    return st.components.v2.component("doors", html=place, css=style, js=script)


def doors(labs: list[Lab]) -> None:
    """Draw a picture for each lab, with one verb; a lab without a picture shows its name."""
    shown = [
        {"path": lab.path, "title": lab.title, "verb": lab_page.page_of(lab).verb, "picture": _picture(lab)}
        for lab in labs
    ]
    chosen = _component()(data={"doors": shown}, key="doors", on_chosen_change=lambda: None).chosen
    for lab in labs:
        if lab.path == chosen:
            st.switch_page(addresses.of_lab(lab))


def _picture(lab: Lab) -> str:
    path = _HERE / "drawings" / f"{lab.path}.svg"
    return path.read_text(encoding="utf-8") if path.is_file() else ""


WIDTH = 1120
"""Greatest width in pixels of the card with, if there is room, the pictures beside it."""

with st.container(horizontal_alignment="center"), st.container(width=WIDTH):
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.title("Explain Yourself", anchor=False, width="content")
        st.markdown("A model answers and says why. **Is its reason worth anything?**", width="content")
    card, ways = st.columns([17, 5], gap="large")
    with card:
        game(pack.load_pack(FIRST), "game")
        for lab in entry.labs().values():
            lab_page.page_of(lab).welcome()
    with ways:
        doors([lab for lab in entry.labs().values() if not lab.hidden])
        st.page_link(addresses.STORY, label="Stories of a real model", icon=":material/slideshow:")
        st.link_button("Lessons for a class", "/lessons", icon=":material/school:", type="tertiary")
