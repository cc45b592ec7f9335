"""Choosing a model, for the whole run or for one role."""

from __future__ import annotations

import streamlit as st

from core import entry
from pages.parts import session

FIRST = {"simulatability": "control/fickle", "consistency": "control/decoy-lexicon", "find": "control/straight"}
"""Whom a newcomer meets in each lab: a control that is not faithful, or sees less than there is."""


def _ids(lab: str) -> list[str]:
    """What can be asked now; of the controls, those that know the lab."""
    return [
        info.id
        for info in session.catalog().describe()
        if not info.needs and info.kind != "replay" and (info.kind != "control" or info.id in entry.controls_of(lab))
    ]


def _titles() -> dict[str, str]:
    infos = session.catalog().describe()
    return {info.id: info.id if info.title == info.id else f"{info.id} · {info.title}" for info in infos}


def pick(label: str, key: str, lab: str) -> str:
    """One model's id; the choice is kept from page to page. An id that is not listed can be typed."""
    titles = _titles()
    ids = _ids(lab)
    chosen = st.selectbox(
        label,
        ids,
        index=ids.index(FIRST[lab]),
        format_func=lambda one: titles.get(one, one),
        key=key,
        persist_state="session",
        accept_new_options=True,
        help="Controls are robots whose faithfulness is known. More models: see the Models page.",
    )
    return chosen or FIRST[lab]


def pick_or_same(label: str, model: str, key: str, lab: str) -> str:
    """A model for one role; by default the explained model itself."""
    chosen = st.selectbox(
        label, _ids(lab), index=None, placeholder=f"the model itself ({model})", key=key, persist_state="session",
        accept_new_options=True,
    )  # fmt: skip
    return chosen or model


def pick_many(label: str, model: str, key: str, help: str, lab: str) -> list[str]:
    """At most two models for one role; none chosen: the explained model itself."""
    return st.multiselect(
        label,
        _ids(lab),
        key=key,
        max_selections=2,
        placeholder=f"the model itself ({model})",
        persist_state="session",
        accept_new_options=True,
        help=help,
    )


def pick_or_none(label: str, nobody: str, key: str, lab: str) -> str:
    """A model for one role, or "" for `nobody`."""
    chosen = st.selectbox(
        label, _ids(lab), index=None, placeholder=nobody, key=key, persist_state="session", accept_new_options=True
    )
    return chosen or ""
