"""The call inspector: what was sent, what came back, and how it was read. Every number leads here."""

from __future__ import annotations

import streamlit as st

from core.report.evidence import CallEvidence
from core.transcript import Call
from pages import addresses
from pages.components import reader_accuracy
from pages.components.text import plain

LONG = 2_000
"""Characters of a text, such as worked examples, that has a scroll bar of its own."""


def inspector(call: Call, behind: CallEvidence) -> None:
    """Draw one call, of which `behind` is what stands behind it."""
    asked = call.asked
    # A link that leads to the page on which it stands changes no address.
    if st.button(
        "Edit this answer and go on from it",
        icon=":material/fork_right:",
        type="tertiary",
        key=f"fork-{asked.run}-{asked.call}-begin",
    ):
        named = {"case": st.query_params["case"]} if st.query_params.get("case") else {}
        st.switch_page(addresses.CASE, query_params={"run": asked.run, **named, "fork": asked.call})
    for part in behind.parts:
        st.markdown(f"**{plain(part.label)}**")
        st.code(part.text, language=None, wrap_lines=True, height=400 if len(part.text) > LONG else "content")
    reader_accuracy.beside(asked.run, asked.role, asked.model, any(part.label == "Read as" for part in behind.parts))
