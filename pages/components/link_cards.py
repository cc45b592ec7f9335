"""Cards that are links, as a Streamlit component."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import streamlit as st

from core.report.viewer_assets import style as viewer_style

_HERE = Path(__file__).parent


class LinkCard(NamedTuple):
    """A card that leads `to` an address of this app. Each of the `lines` is an HTML element's name and its text;
    `picture` is an SVG of ours above them.
    """

    to: str
    lines: Sequence[tuple[str, str]]
    picture: str = ""


@cache
def _component() -> Any:
    style, script = ((_HERE / f"link_cards.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    html = '<div class="place"><nav></nav></div>'
    return st.components.v2.component("link_cards", html=html, css=viewer_style("base.css") + style, js=script)


def link_cards(kind: Literal["doors", "stories"], label: str, cards: Sequence[LinkCard]) -> str:
    """Draw the cards as a navigation with this label, in the style of their kind. Return, once, the address of the card
    that was clicked, else an empty string.
    """
    data = {"kind": kind, "label": label, "cards": [card._asdict() for card in cards]}
    chosen = _component()(data=data, key=kind, on_chosen_change=lambda: None).chosen
    return chosen if chosen in {card.to for card in cards} else ""
