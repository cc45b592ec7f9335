"""*Try it*: what one model accepts, found out with at most six small calls."""

import time

import pandas as pd
import streamlit as st

from core import entry, home, policy
from core.events import CallError, Model
from core.models import capabilities
from core.models.endpoint import Endpoint
from core.models.ids import is_control
from pages.components import session, widgets
from pages.components.text import plain
from pages.components.throttle import let_others_draw
from pages.components.widgets import TRIED, choose, chosen_models

_MARKS = {True: ":green[:material/check:]", False: ":orange[:material/close:]", None: ":gray[–]"}


def section(offered: list[str]) -> None:
    """Draw the last chosen model and what it accepts; `offered` are the ids that can be asked."""
    st.header("Try a model", anchor=False)
    if TRIED not in st.session_state:
        st.session_state[TRIED] = (chosen_models() or offered)[-1 if chosen_models() else 0]
    now = [st.session_state[TRIED]] if st.session_state[TRIED] else []
    known = list(dict.fromkeys([*now, *reversed(chosen_models()), *offered]))
    words = f"Choose one of {len(offered)}, or type a name"
    help = "Type to search. The name of a model that is not listed can be typed after its endpoint: openai/gpt-4.1."
    id = st.selectbox(
        "Model", known, index=None, key=TRIED, accept_new_options=True, placeholder=words, on_change=_pick, help=help
    )
    if not id:
        return
    id = id.strip()
    try:
        model = session.catalog().get(id)
    except CallError as error:
        session.problems(error)
        if suggested := session.catalog().suggest(id):
            st.button(f"Use {plain(suggested)}", key="use-suggested", on_click=choose, args=(suggested,))
        return
    may = may_try(id)
    _result(model, may)
    if may and isinstance(inner := capabilities.unwrapped(model), Endpoint):
        _room(inner)


def _pick() -> None:
    if id := st.session_state[TRIED]:
        choose(id.strip())


def may_try(id: str) -> bool:
    """Whether the visitor may try the model. In a hosted app, visitors may try only models that they connected
    themselves: other calls count against their limits, but these calls do not.
    """
    config = session.endpoints().get(id.partition("/")[0])
    return not policy.is_hosted() or session.visitor().is_host or (config is not None and config.of_visitor)


def _result(model: Model, may: bool) -> None:
    found = capabilities.saved_capabilities(model, home.home())
    if is_control(model.id):
        found = capabilities.Capabilities(model=model.id, answers=True, thinks="no")
    if found is not None:
        inner = capabilities.unwrapped(model)
        _shown(found, inner.connection.room(inner.model) if isinstance(inner, Endpoint) else 0)
    elif not may:
        st.markdown("It has not been tried here.")
    else:
        st.markdown("Does it answer, does it think, and which settings does it take?")
    if may and not is_control(model.id):
        label = "Try it again" if found else "Try it · up to 6 small calls"
        is_next = found is None and bool(session.endpoints())
        if st.button(label, type="primary" if is_next else "secondary", icon=":material/bolt:", key="try"):
            run(model)


def _room(model: Endpoint) -> None:
    """Let the user change the number of tokens reserved for the model's thinking, in addition to those of each
    answer.
    """
    room, for_all = model.connection.room(model.model), model.connection.config.thinking_room is not None
    key = f"room-{model.id}-{room}"

    def keep() -> None:
        model.connection.learn(model.model, room=st.session_state[key])

    learned = "It is learned from answers that ran out while thinking. You can change it here."
    help = f"Added to the length of every answer. {'It is set for the whole endpoint.' if for_all else learned}"
    widgets.thinking_room(key, help, room, on_change=keep, disabled=for_all)


def _shown(found: capabilities.Capabilities, room: int) -> None:
    if is_control(found.model):
        st.markdown("A robot: it answers only the questions of its lab, at no cost.")
        return
    state = "is ready" if found.answers else "does not answer"
    st.markdown(f"**{plain(found.model)} {state}** :gray[tried {found.at:%d %B %Y}, {capabilities.summary(found)}]")
    if not found.answers:
        st.error(plain(found.problem), icon=":material/error:")
        return
    lines = [(row.title, _MARKS[row.holds], plain(row.detail)) for row in capabilities.rows(found, room)]
    frame = pd.DataFrame(lines, columns=["Looked at", "Accepted", "More"])
    st.table(frame, border="horizontal", hide_index=True, hide_header=True, alt="What the model accepts")


def run(model: Model) -> None:
    """Try the model on the event loop of the runs, showing which call is being made. It continues if the page is
    left.
    """
    steps: list[str] = []

    async def trial() -> None:
        capabilities.save_capabilities(await capabilities.find_capabilities(model, steps.append), model, home.home())

    future = entry.jobs().run_on_loop(trial())
    with st.spinner("Asking …", show_time=True), let_others_draw():
        line = st.empty()
        while not future.done():
            if steps:
                line.caption(f"Call {len(steps)} of 6: {steps[-1]}")
            time.sleep(0.1)
    future.result()
    st.rerun()
