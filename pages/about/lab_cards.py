"""The four small pictures of the front page: one a lab, each a link to its page."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from core.labs.base.lab import Lab
from pages import addresses
from pages.components import lab_page

_HERE = Path(__file__).parent


@cache
def _component() -> Any:
    place = '<div class="place"><nav class="doors"></nav></div>'
    style, script = ((_HERE / name).read_text(encoding="utf-8") for name in ("lab_cards.css", "lab_cards.js"))
    return st.components.v2.component("doors", html=place, css=style, js=script)


def doors(labs: list[Lab]) -> None:
    """A picture for each lab, with one verb; a lab that has none is its name."""
    shown = [
        {"path": lab.path, "title": lab.title, "verb": lab_page.of(lab).verb, "picture": _picture(lab)} for lab in labs
    ]
    chosen = _component()(data={"doors": shown}, key="doors", on_chosen_change=lambda: None).chosen
    for lab in labs:
        if lab.path == chosen:
            st.switch_page(addresses.of_lab(lab))


def _picture(lab: Lab) -> str:
    path = _HERE / "drawings" / f"{lab.path}.svg"
    return path.read_text(encoding="utf-8") if path.is_file() else ""
