"""The call inspector: what was sent, what came back, and how it was parsed. Every figure links to it."""

import streamlit as st

from core.report.evidence import CallEvidence
from core.transcript import Call
from pages import addresses
from pages.components import reader_accuracy
from pages.components.text import plain

LONG = 2_000
"""Characters beyond which a text, such as worked examples, gets its own scroll bar."""


def inspector(call: Call, behind: CallEvidence) -> None:
    """Draw one call; `behind` is its evidence."""
    asked = call.asked
    # A button, because a link to the page it is on would not change the address.
    if st.button(
        "Edit this answer and continue",
        icon=":material/fork_right:",
        type="tertiary",
        key=f"fork-{asked.run}-{asked.call}-begin",
    ):
        named = {"case": st.query_params["case"]} if st.query_params.get("case") else {}
        st.switch_page(addresses.CASE, query_params={"run": asked.run, **named, "fork": asked.call})
    for part in behind.parts:
        st.markdown(f"**{plain(part.label)}**")
        st.code(part.text, language=None, wrap_lines=True, height=400 if len(part.text) > LONG else "content")
    reader_accuracy.draw_for_call(
        asked.run, asked.role, asked.model, any(part.label == "Read as" for part in behind.parts)
    )
