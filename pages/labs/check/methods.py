"""The Methods page's section on the Check lab."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.labs.check.controls import worthless
from core.labs.check.lab import LAB
from core.paper_figures import figures
from core.text.templates import PROMPTS
from pages.components import plain_methods
from pages.components.tables import table


def draw() -> None:
    """Draw procedure, figures, rules, prompts and what the paper reported."""
    texts = plain_methods.method_texts(LAB)
    plain_methods.folded(plain_methods.RULES, "rule", "check-rules", texts["rules"])
    robots = (f"`{id}`: {robot.about}" for id, robot in worthless().items())
    plain_methods.folded("Robots that explain nothing", "smart_toy", "check-worthless", texts["robots"], robots)
    st.subheader("Prompts of Check", anchor=False)
    check_names = sorted(path.stem for path in (PROMPTS / "consistency").glob("*.toml"))
    check_chosen = st.selectbox("Template", check_names, key="check-template", bind="query-params")
    if check_chosen:
        text = (PROMPTS / "consistency" / f"{check_chosen}.toml").read_text(encoding="utf-8")
        st.caption(texts["wordings"])
        st.code(text, language=None, wrap_lines=True)
    st.subheader("What the paper reported", anchor=False)
    st.caption(texts["published"])
    times = pd.DataFrame(figures("consistency"))
    times = times.pivot(index=["dataset", "n", "model"], columns="step", values="value").reset_index()
    table(times, "check-published", "Published seconds of inference by data set, model and step")
