"""The second step: what the interpreter concludes."""

from __future__ import annotations

import streamlit as st

from core.labs.find.view import ProbeView
from pages.parts.calls import details
from pages.parts.text import plain


def conclusion(case: ProbeView, active: bool) -> None:
    found = case.interpretation
    if found is None:
        return
    st.markdown("#### 2 · " + ("You conclude" if found.interpreter == "you" else "It concludes"), anchors=False)
    with st.container(border=True, key="conclusion"):
        st.markdown(plain(found.description_repaired) if found.description_repaired else ":gray[No description.]")
        if found.domain_repaired:
            st.markdown(f"**Domain**  \n{plain(found.domain_repaired)}")
        if found.code_repaired:
            st.code(found.code_repaired, language=None, wrap_lines=True)
            if case.estimate and case.estimate.trouble_repaired:
                st.warning(plain(case.estimate.trouble_repaired), icon=":material/code_off:")
        if found.call and found.call in case.log.calls:
            readings = {
                "paper": _parts(found.description_paper, found.domain_paper, found.code_paper),
                "repaired": _parts(found.description_repaired, found.domain_repaired, found.code_repaired),
            }
            details(case.log.calls[found.call], "conclusion", readings)
    if active and case.truth is None:
        st.markdown(":shimmer[held against the truth …]")


def _parts(description: str, domain: str, code: str) -> str:
    named = {"description": description, "domain": domain, "code": code}
    there = [f"{name} of {len(text)} characters" for name, text in named.items() if text]
    return " and ".join(there) or "nothing"
