"""The front page: a game with one question, links to the labs, and three stories."""

from pathlib import Path

import streamlit as st

from core import entry
from core.labs.base.lab import Lab
from core.report.game import pack
from core.report.standalone_html import FIRST
from pages import addresses
from pages.components import lab_page
from pages.components.recordings import STORIES, LinkCard, link_cards, story_cards
from pages.viewer.component import game


def doors(labs: list[Lab]) -> None:
    """Draw a picture for each lab, with one verb; a lab without a picture shows its name."""
    cards = [
        LinkCard(f"/{lab.path}", (("b", lab.title), ("span", lab_page.page_of(lab).verb)), _picture(lab))
        for lab in labs
    ]
    chosen = link_cards("doors", "Labs", cards)
    for lab in labs:
        if f"/{lab.path}" == chosen:
            st.switch_page(addresses.of_lab(lab))


def _picture(lab: Lab) -> str:
    path = Path(__file__).parent / "drawings" / f"{lab.path}.svg"
    return path.read_text(encoding="utf-8") if path.is_file() else ""


# The card and the pictures stand beside each other, and no line is too long.
st.html("<style>.st-key-front {max-width: 70rem}</style>")
with st.container(horizontal_alignment="center"), st.container(key="front"):
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
        st.link_button("Lessons for a class", "/lessons", icon=":material/school:", type="tertiary")
    st.subheader("Stories of a real model", anchor=False)
    story_cards(STORIES[:3])
    st.page_link(addresses.STORIES, label=f"All {len(STORIES)} stories", icon=":material/slideshow:")
