"""The front door: what this is, and the shortest way to see it."""

from __future__ import annotations

import streamlit as st

from core import entry
from core.labs.consistency.tasks import CheckSpec, shipped
from core.labs.find.tasks import ProbeSpec
from core.labs.simulatability.tasks import AskSpec
from pages.parts import session
from pages.shell import PAGES

st.title("Explain Yourself", anchor=False)
st.markdown(
    "A language model answers and says why. The reason sounds convincing. **Is it worth anything?** "
    "This app holds models to their own explanations, live, and shows every prompt and raw answer behind every number."
)

with st.container(border=True, key="lab-ask"):
    st.subheader(":material/forum: Ask", anchor=False)
    st.markdown("From its explanation, can you predict what it will answer next?")
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(
            "Show me, with a robot that misleads",
            type="primary",
            icon=":material/play_arrow:",
            key="show",
            help="No key, no download: a robot whose unfaithfulness is built in.",
        ):
            spec = AskSpec(question="Can a penguin fly?", gold="no", model="control/fickle")
            run = entry.jobs().start("simulatability", spec, session.catalog().get)
            st.switch_page(PAGES / "labs/ask.py", query_params={"run": run})
        st.page_link(PAGES / "labs/ask.py", label="Ask a question of my own", icon=":material/edit:")

with st.container(border=True, key="lab-check"):
    st.subheader(":material/fact_check: Check", anchor=False)
    st.markdown("Does it keep to its own explanation in a fresh session?")
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(
            "Show me, with a robot that names the wrong words",
            icon=":material/play_arrow:",
            key="show-check",
            help="It decides by a word list, and says that other words mattered.",
        ):
            check = CheckSpec(
                task="sentiment",
                items=shipped("sentiment")[:1],
                explanations=("attribution",),
                model="control/decoy-lexicon",
            )
            run = entry.jobs().start("consistency", check, session.catalog().get)
            st.switch_page(PAGES / "labs/check.py", query_params={"run": run})
        st.page_link(PAGES / "labs/check.py", label="Check a paragraph of my own", icon=":material/edit:")

with st.container(border=True, key="lab-probe"):
    st.subheader(":material/experiment: Probe", anchor=False)
    st.markdown("Can it explain a black box whose truth we know?")
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(
            "Show me a robot that makes things up",
            icon=":material/play_arrow:",
            key="show-probe",
            help="No key, no download. It asks once, invents the rest, and is found out.",
        ):
            probe = ProbeSpec(own="2 * x + 7", title="A first black box", model="control/inventor")
            run = entry.jobs().start("find", probe, session.catalog().get)
            st.switch_page(PAGES / "labs/probe.py", query_params={"run": run})
        st.page_link(PAGES / "labs/probe.py", label="Probe a function of my choice", icon=":material/edit:")

st.caption(
    "Three ways to start: the robots (*control/…*) answer at once and their faithfulness is known; "
    "*local/smollm2-135m* is a real, small language model that came with the app; "
    "anything else is connected on the Models page."
)
