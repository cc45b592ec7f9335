"""Ask a real model: it answers a question, says why, and the visitor predicts its next answers."""

import math
import random
from typing import Any, NamedTuple

import streamlit as st

from core import entry, policy
from core.events import CallError
from core.labs.ask.lab import LAB
from core.labs.ask.questions import CARDS, predicted_by_person, with_follow_ups
from core.labs.ask.tasks import AskSpec
from core.models import local
from core.models.ids import is_free
from core.models.settings import PRESETS
from pages import addresses
from pages import lab as driver
from pages.components import models, session
from pages.components.lab_page import NextRun
from pages.components.text import plain

LOADING, BYTES_A_SECOND = 5, 50e6
"""Seconds until a local model begins, and how many bytes of weights it has for each second until the first card after
that, on two processors (`benchmarks/real_model.py`).
"""

DRAWN = "real-model-question"
"""Session key of the question that was drawn for this visit."""


class Offer(NamedTuple):
    """A model that can be asked now: its id, what it is called, and how long the first card takes."""

    id: str
    name: str
    time: str


def best() -> Offer | None:
    """Return the best real model that can be asked now: one chosen on the Models page, else the first of a connected
    endpoint, else the largest on this machine. None if there is none.
    """
    catalog = session.catalog()
    titles = {info.id: info.title for info in catalog.offered() if not info.needs and not is_free(info.id)}
    chosen = [id for id in reversed(models.chosen_models()) if not is_free(id)]
    # A provider's list has more than chat models, in no order that helps: its example comes first.
    examples = {f"{one.name}/{PRESETS[one.preset].model}" for one in session.endpoints().values() if one.preset}
    endpoints = [id for id in titles if not id.startswith("local/") and not id.endswith("/…")]
    endpoints.sort(key=lambda id: id not in examples)
    sizes = {id: _size(id) for id in (*chosen, *titles) if id.startswith("local/")}
    here = sorted(sizes.keys() & titles.keys(), key=sizes.__getitem__, reverse=True)
    for id in (*chosen, *endpoints, *here):
        if sizes[id] if id in sizes else catalog.is_at_hand(id):
            seconds = 5 * math.ceil((LOADING + sizes.get(id, 0) / BYTES_A_SECOND) / 5)
            time = f"about {seconds} s" if id in sizes else "a few seconds"
            return Offer(id, titles.get(id, id).removesuffix(" Instruct"), time)
    return None


def _size(id: str) -> int:
    """Return the size of a local model's file in bytes; 0 if it is not there."""
    try:
        return local.weights(id.removeprefix("local/"), session.catalog().models_folder).stat().st_size
    except (CallError, OSError):
        return 0


def welcome() -> None:
    """Draw the offer on the front page: a button that names the model, and the question. In a hosted app without a
    model it is left out, since visitors cannot change that.
    """
    offer = best()
    if offer is None and policy.is_hosted():
        return
    known = with_follow_ups()
    drawn = st.session_state.setdefault(DRAWN, random.randrange(len(known)))
    with st.container(border=True, key="real-model"):
        st.markdown(f"**Ask a real model**, live. Read its reason, and predict its next {CARDS} answers.")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            asked = st.selectbox(
                "Question",
                known,
                index=drawn,
                format_func=lambda one: one.question,
                key="real-question",
                label_visibility="collapsed",
            )
            _button(offer, dict(asked))


def after_robot(spec: AskSpec, given: dict[str, Any]) -> NextRun | None:
    """Return the run that asks a real model what a robot was asked, with the first new questions that were `given` to
    the robot; or a question of ours, if the robot had fewer. The visitor predicts. None if there is no real model.
    """
    if (offer := best()) is None:
        return None
    few = given["given"][:CARDS]
    if spec.task == "strategyqa" and spec.question and len(few) == CARDS:
        asked = {**given, "question": spec.question, "gold": spec.gold, "given": few}
    else:
        asked = dict(with_follow_ups()[0])
    spec = predicted_by_person(offer.id, **asked)
    return NextRun(_label(offer), spec, {"reader": entry.new_reader()})


def _label(offer: Offer) -> str:
    return f"Ask {offer.name} · {offer.time}"


def _button(offer: Offer | None, asked: dict[str, Any]) -> None:
    """Draw the button, or say what is missing. A click starts the run and opens it at the first card."""
    if offer is None:
        st.button("Ask a real model", icon=":material/smart_toy:", key="real", disabled=True)
        st.page_link(addresses.MODELS, label="Connect one first", icon=":material/memory:")
        return
    if st.button(plain(_label(offer)), type="primary", icon=":material/smart_toy:", key="real") and (
        run_id := driver.begin(LAB, predicted_by_person(offer.id, **asked))
    ):
        st.switch_page(addresses.of_lab(LAB), query_params={"run": run_id, "reader": entry.new_reader()})
