"""The Methods page's section on the Probe lab."""

from __future__ import annotations

import streamlit as st

from core.labs.probe.lab import LAB as PROBE
from core.labs.probe.null_controls import worthless
from core.labs.probe.tasks import NAMES
from core.text.templates import PROMPTS
from pages.components import plain_methods
from pages.components.tables import published
from pages.labs.probe.form import TITLES


def draw() -> None:
    """Procedure, figures, rules, prompts, backbones and what the paper reported."""
    texts = plain_methods.told(PROBE)
    plain_methods.folded(plain_methods.RULES, "rule", "probe-rules", texts["rules"])
    robots = (f"`{id}`: {robot.about} It fools {robot.fools}." for id, robot in worthless().items())
    plain_methods.folded("Robots that explain nothing", "smart_toy", "probe-worthless", texts["robots"], robots)
    st.subheader("Prompts", anchor=False)
    plain_methods.prompts(PROMPTS / "find", "probe-template")
    st.subheader("Can the entity functions be trusted?", anchor=False)
    st.markdown(texts["backbones"])
    published(PROBE, dict([*NAMES.items(), *TITLES.items()]), "probe-published")
