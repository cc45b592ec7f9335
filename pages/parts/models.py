"""Choosing a model, for the whole run or for one role."""

from __future__ import annotations

import streamlit as st

from core.lab import Lab
from pages.parts import session


def _ids(lab: Lab) -> list[str]:
    """What can be asked now; of the controls, those that know the lab."""
    return [
        info.id
        for info in session.catalog().offered()
        if not info.needs and (info.kind != "control" or info.id in lab.controls())
    ]


def _titles() -> dict[str, str]:
    infos = session.catalog().offered()
    return {info.id: info.id if info.title == info.id else f"{info.id} · {info.title}" for info in infos}


def short(id: str) -> str:
    """A model's name in a line: a control by its own name alone."""
    return id.removeprefix("control/")


def pick(label: str, key: str, lab: Lab) -> str:
    """One model's id; the choice is kept from page to page. An id that is not listed can be typed."""
    titles = _titles()
    ids = _ids(lab)
    first = lab.newcomer if lab.newcomer in ids else ids[0]
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
    return chosen or first


def pick_many(label: str, nobody: str, key: str, help: str, lab: Lab, but: str = "") -> list[str]:
    """At most two models for one role, none of them `but`; none chosen: `nobody`."""
    return st.multiselect(
        label,
        [id for id in _ids(lab) if id != but],
        key=key,
        max_selections=2,
        placeholder=nobody,
        persist_state="session",
        accept_new_options=True,
        help=help,
    )


def pick_or_none(label: str, nobody: str, key: str, lab: Lab, help: str | None = None) -> str:
    """A model for one role, or "" for `nobody`."""
    chosen = st.selectbox(
        label, _ids(lab), index=None, placeholder=nobody, key=key, persist_state="session", accept_new_options=True,
        help=help,
    )  # fmt: skip
    return chosen or ""
