"""Cards that are links, as a Streamlit component, and the links to games and to a class."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import urlencode

import streamlit as st

from core.labs.base.lab import Lab
from core.report.game import pack
from core.report.game.page import FIRST
from core.report.viewer_assets import style as viewer_style
from pages.components import session
from pages.components.text import plain

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


# Links to the games of a lab, packs of recorded cards that need no model, and to a class.


def links(lab: Lab) -> None:
    """Draw a line of links to the lab's games; nothing if it has none."""
    packs = [one for path in pack.shipped_packs() if (one := pack.load_pack(path.stem)).kind == lab.path]
    packs.sort(key=lambda one: one.name != FIRST)
    if packs:
        named = " · ".join(f"[{plain(one.title)}](/play?pack={one.name}){_for_a_class(one.name)}" for one in packs)
        with st.container(key=f"games-{lab.path}"):
            st.markdown(f":gray[Play it as a game:] {named}")


def to_a_class(words: str = "Present to a class", **cards: str) -> None:
    """Draw the link to a room with the cards of a `run` or of a `pack`, for those who may open one."""
    if session.visitor().takes_part:
        st.link_button(
            words,
            f"/wall?{urlencode(cards)}",
            icon=":material/groups:",
            type="tertiary",
        )


def _for_a_class(pack: str) -> str:
    """A link to a room with cards of that pack."""
    return f" ([for a class](/wall?pack={pack}))" if session.visitor().takes_part else ""
