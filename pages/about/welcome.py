"""The front door: what this is, and the shortest way to see it."""

from __future__ import annotations

import streamlit as st

from core import entry
from core.lab.lab import Lab
from core.people.allowance import TooMuch
from pages import addresses
from pages.parts import begin_side_by_side, recording, session
from pages.parts.run import problems


def card(lab: Lab, primary: bool) -> None:
    """One lab: its question, a real model's run, its first minute, and the way to its page."""
    with st.container(border=True, key=f"lab-{lab.path}"):
        st.subheader(f"{lab.icon} {lab.title}", anchor=False)
        st.markdown(lab.question)
        with st.container(horizontal=True, vertical_alignment="center"):
            recording.play(lab, "primary" if primary else "secondary")
            first = lab.robots.first() if lab.robots.first else None
            if first and st.button(first.words, icon=":material/play_arrow:", key=f"show-{lab.path}", help=first.help):
                try:
                    run = session.runs().start(lab.name, first.spec, session.catalog().get)
                except TooMuch as error:
                    problems(error)
                else:
                    st.switch_page(addresses.of_lab(lab), query_params={"run": run})
            begin_side_by_side.first(lab)
        with st.container(horizontal=True, gap="small", key=f"recordings-{lab.path}"):
            recording.links(lab)
            st.page_link(addresses.of_lab(lab), label="Try something of my own", icon=":material/edit:")


st.title("Explain Yourself", anchor=False)
st.markdown(
    "A language model answers and says why. The reason sounds convincing. **Is it worth anything?** "
    "This app holds models to their own explanations, live, and shows every prompt and raw answer behind every number."
)
st.page_link(addresses.STORY, label="See it in a few screens", icon=":material/slideshow:")
for number, lab in enumerate(lab for lab in entry.labs().values() if not lab.hidden):
    card(lab, primary=number == 0)
st.caption(
    f"{recording.about_all()} The robots (*control/…*) answer at once and their faithfulness is known; "
    "*local/smollm2-135m* is a real, small language model that came with the app; "
    "anything else is connected on the Models page."
)
