"""Draws one case of the Probe lab, while it runs and after, step by step."""

from __future__ import annotations

import streamlit as st

from core.labs.find.view import ProbeView
from pages.labs.find.conclusion import conclusion
from pages.labs.find.experiments import experiments
from pages.labs.find.truth import against_the_truth, judged
from pages.parts.text import plain


def draw(case: ProbeView, active: bool, held: bool = False) -> None:
    """Draw `case`. While it is `held`, nothing is shown that gives the function away: the reader wants to try first."""
    if case.spec is None:
        return
    with st.container(key="asked", gap="small"):
        st.caption(plain(" · ".join(part for part in (case.spec.model, case.spec.title) if part)))
    if held:
        _held(case, active)
        return
    if case.truth is not None:
        judged(case)
    experiments(case, active)
    conclusion(case, active)
    if case.truth is not None:
        against_the_truth(case)


def _held(case: ProbeView, active: bool) -> None:
    state = "It is at work" if active else "It is done"
    with st.container(border=True, key="held"):
        st.markdown(
            f"**{state}: {len(case.probes)} calls in {len(case.exchanges)} rounds.** What it found and what the "
            "function is stay hidden until you have tried yourself."
        )
