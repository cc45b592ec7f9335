"""The second step: what the interpreter concludes."""

from __future__ import annotations

import streamlit as st

from core.by_rules import RULES
from core.labs.find.readings import parts_read
from core.labs.find.view import ProbeView
from pages.parts.calls import details
from pages.parts.text import plain


def conclusion(case: ProbeView, active: bool) -> None:
    found = case.interpretation
    if found is None:
        return
    st.markdown("#### 2 · " + ("You conclude" if found.interpreter == "you" else "It concludes"), anchors=False)
    with st.container(border=True, key="conclusion"):
        st.markdown(plain(found.description.repaired) if found.description.repaired else ":gray[No description.]")
        if found.domain.repaired:
            st.markdown(f"**Domain**  \n{plain(found.domain.repaired)}")
        if found.code.repaired:
            st.code(found.code.repaired, language=None, wrap_lines=True)
            if case.estimate and case.estimate.trouble.repaired:
                st.warning(plain(case.estimate.trouble.repaired), icon=":material/code_off:")
        if found.call and found.call in case.log.calls:
            details(case.log.calls[found.call], "conclusion", {rules: parts_read(found, rules) for rules in RULES})
    if active and case.truth is None:
        st.markdown(":shimmer[held against the truth …]")
