"""Choosing a model for the whole run or for one role."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from core.labs.base.lab import Lab
from core.models import local
from core.models.ids import CONTROL
from pages.components import session
from pages.components.text import plain

SHIPPED = f"local/{local.SHIPPED}"
"""The real model that comes with the app, for visitors who have seen a robot."""


_CHOSEN = "models-chosen"
TRIED = "model-tried"
"""Key of the picker in *Try a model* on the Models page."""


def model_choices(lab: Lab) -> list[str]:
    """Return the models that can be asked now; of the controls, only those that know the lab."""
    return [
        info.id
        for info in session.catalog().offered()
        if not info.needs and (info.kind != "control" or info.id in lab.robots.controls())
    ]


def _titles() -> dict[str, str]:
    infos = session.catalog().offered()
    return {info.id: info.id if info.title == info.id else f"{info.id} · {info.title}" for info in infos}


def chosen_models() -> list[str]:
    """Return the ids of models typed, tried or picked on the Models page in this session, newest last."""
    return list(st.session_state.get(_CHOSEN, []))


def choose(id: str) -> None:
    """Add the model to those used in this session, and pick it in *Try a model*."""
    st.session_state[_CHOSEN] = [*(one for one in chosen_models() if one != id), id]
    st.session_state[TRIED] = id


def short(id: str) -> str:
    """Return a model's name for display: a control's without its prefix."""
    return id.removeprefix(CONTROL)


def pick(label: str, key: str, lab: Lab) -> str:
    """Let the user pick a model, or type an id that is not listed. The choice is kept from page to page."""
    titles = _titles()
    ids = model_choices(lab)
    first = lab.robots.default_model if lab.robots.default_model in ids else ids[0]
    chosen = st.selectbox(
        label,
        ids,
        index=ids.index(first),
        format_func=lambda one: titles.get(one, one),
        key=key,
        persist_state="session",
        accept_new_options=True,
        help="Controls are robots whose faithfulness is known. More models: see the Models page.",
    )
    _correct(chosen, key)
    return chosen or first


def _correct(typed: str | None, key: str, others: Sequence[str] = ()) -> None:
    """Offer a button with the whole id if `typed` in the picker `key` lacks its endpoint, such as gpt-4o. `others` are
    the other models chosen there, if it allows several.
    """
    catalog = session.catalog()
    if not typed or catalog.is_at_hand(typed) or not (meant := catalog.suggest(typed)):
        return

    def correct() -> None:
        st.session_state[key] = [*others, meant] if others or isinstance(st.session_state[key], list) else meant

    st.button(
        f"Did you mean {plain(meant)}?", key=f"meant-{key}-{typed}", icon=":material/spellcheck:", on_click=correct
    )


def outside(said: str, known: Mapping[str, str], take: Callable[[str], None], key: str, lab: Lab) -> None:
    """Say that the control chosen in the picker `key` cannot answer the question, and offer the real model or questions
    that the control knows. `known` maps each of these to its label; `take` gets the one that is clicked.
    """

    def real() -> None:
        st.session_state[key] = SHIPPED

    with st.container(border=True, gap="xsmall", key=f"outside-{key}"):
        st.markdown(f":material/travel_explore: {plain(said)}")
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            if SHIPPED in model_choices(lab):
                st.button(
                    "Ask a real language model instead", icon=":material/smart_toy:", key=f"real-{key}", on_click=real
                )
            for number, (one, words) in enumerate(known.items(), start=1):
                st.button(plain(words), key=f"known-{key}-{number}", icon=":material/edit:", on_click=take, args=(one,))


def pick_many(label: str, nobody: str, key: str, help: str, lab: Lab, but: str = "") -> list[str]:
    """Let the user pick at most two models for one role, not including `but`; `nobody` is shown if none is chosen."""
    chosen = st.multiselect(
        label,
        [id for id in model_choices(lab) if id != but],
        key=key,
        max_selections=2,
        placeholder=nobody,
        persist_state="session",
        accept_new_options=True,
        help=help,
    )
    for one in chosen:
        _correct(one, key, [other for other in chosen if other != one])
    return chosen


def pick_or_none(label: str, nobody: str, key: str, lab: Lab, help: str | None = None) -> str:
    """Let the user pick a model for one role; "" stands for `nobody`."""
    chosen = st.selectbox(
        label,
        model_choices(lab),
        index=None,
        placeholder=nobody,
        key=key,
        persist_state="session",
        accept_new_options=True,
        help=help,
    )
    _correct(chosen, key)
    return chosen or ""
