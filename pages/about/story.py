"""The story on the front page: the labs in a few screens, each made from a recorded run."""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from core import entry, home
from core.lab.lab import Lab
from core.runs.recordings import Recording, listed
from pages import addresses
from pages.parts import present, recording, rooms, session
from pages.parts.slides import Link, Slide


def slides() -> list[Slide]:
    """The labs in their order, each by the recording that is chosen for it; and what it comes to."""
    labs = [lab for lab in entry.labs().values() if not lab.hidden]
    return [slide for lab in labs for slide in _of_lab(lab)] + [_end(labs)]


def _of_lab(lab: Lab) -> Iterator[Slide]:
    for one in listed(home.recordings()).of_lab(lab.name):
        if one.story:
            state = session.runs().watch(one.run).transcript
            for slide in rooms.of(lab).scene(lab.view(state.case(state.only)), one.row):
                yield slide._replace(links=(_whole(lab, one),))


def _whole(lab: Lab, one: Recording) -> Link:
    return Link("The whole run", lab.icon, addresses.of_lab(lab), {"run": one.run})


def _end(labs: list[Lab]) -> Slide:
    return Slide(
        "What it means, and what it does not",
        "An explanation is worth what it lets you expect",
        ("That can be tried out. It does not say whether an answer is right, nor what went on inside the model.",),
        links=tuple(Link(f"{lab.title}: {lab.question}", lab.icon, addresses.of_lab(lab), {}) for lab in labs),
        foot=recording.about_all(),
    )


present.story(slides(), lambda: st.switch_page(addresses.WELCOME))
