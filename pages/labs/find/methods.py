"""The Methods page's section on the Probe lab."""

from __future__ import annotations

import streamlit as st

from core.labs.find.lab import LAB as PROBE
from core.labs.find.tasks import NAMES
from core.labs.find.worthless import worthless
from core.text.templates import PROMPTS
from pages.labs.find.form import TITLES
from pages.parts import plain_methods
from pages.parts.tables import published


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
