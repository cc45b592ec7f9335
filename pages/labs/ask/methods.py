"""The Methods page's section on the Ask lab."""

from __future__ import annotations

import streamlit as st

from core.labs.ask.lab import LAB
from core.labs.ask.null_controls import worthless
from core.text.templates import PROMPTS
from pages.components import plain_methods
from pages.components.tables import published
from pages.labs.ask.words import WORDS


def draw() -> None:
    """Procedure, figures, rules, prompts and what the paper reported."""
    texts = plain_methods.told(LAB)
    fooled, fool = (
        "\n".join(
            f"- `{robot.id}` {robot.title}. {robot.about} It fools {robot.fools}."
            for robot in worthless().values()
            if robot.id.endswith("-0") and robot.gains is gains
        )
        for gains in (False, True)
    )
    st.markdown("\n\n".join([texts["fooled"], fooled, texts["fool"], fool]))
    plain_methods.folded(plain_methods.RULES, "rule", "rules", texts["rules"])
    st.subheader("Prompts", anchor=False)
    plain_methods.prompts(PROMPTS / "simulatability", "template", bind="query-params")
    published(LAB, WORDS, "published")
