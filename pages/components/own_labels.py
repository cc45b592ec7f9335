"""The visitor's own label schemes: their buttons and keys beside a case, the file they come from, and how far people
agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Literal, NamedTuple

import streamlit as st

from core import entry
from core.home import DataDirError
from core.judging.lab import CASE
from core.runs import label_schemes
from core.runs.label_schemes import Scheme, SchemeError
from core.server.quotas import QuotaExceededError
from core.store import label_agreement
from core.store.filters import label_facet
from core.store.label_agreement import Judge
from core.store.listing import RowPlace, Selection
from core.store.store import Store, StoreError
from pages import addresses
from pages.components import session
from pages.components.models import short
from pages.components.text import plain, shortened

BLIND = "Other people's labels are hidden until you have labelled every case that they did."


@contextmanager
def warns_when_full() -> Iterator[None]:
    """Context for storing a person's statement; if the host has no room for more, the page says so."""
    try:
        yield
    except QuotaExceededError as error:
        st.warning(plain(str(error)), icon=":material/inventory_2:")


class Labeller(NamedTuple):
    """Someone whose labels under a scheme the visitor may see: a person, or the run of a judge model."""

    scheme: str
    who: str
    title: str
    is_own: bool

    @property
    def facet(self) -> str:
        """The name of the facet of these labels."""
        return label_facet(self.scheme, self.who)


def schemes() -> tuple[Scheme, ...]:
    """Return the label schemes of this home; none if their file is invalid, which `edit` reports."""
    with suppress(SchemeError, DataDirError):
        return label_schemes.schemes()
    return ()


def _store() -> Store | None:
    with suppress(StoreError):
        return entry.keeper().store
    return None


def is_blind(scheme: str = "") -> bool:
    """Whether the visitor may not see other people's labels under the scheme, or under any one of the schemes."""
    store, who = _store(), session.runs().labeller
    names = [scheme] if scheme else [one.name for one in schemes()]
    return store is not None and any(
        label_agreement.is_blind(label_agreement.own_labels(store, name, session.viewer()), who) for name in names
    )


def labellers() -> list[Labeller]:
    """Return everyone whose labels the visitor may see: themselves first, other people only under schemes for which
    the visitor is not blind, then judge models.
    """
    store, own, viewer = _store(), session.runs().labeller, session.viewer()
    if store is None:
        return []
    titles = {one.name: one.shown for one in schemes()}
    judges = {one.run: judge_title(one) for one in label_agreement.judges(store, viewer)}
    found: list[Labeller] = []
    people = dict[str, int]()
    for scheme, who, is_judge in label_agreement.labellers_by_scheme(store, viewer):
        if is_judge or who == own:
            by = judges.get(who, "a judge, not tested") if is_judge else "you"
        elif is_blind(scheme):
            continue
        else:
            by = f"person {people.setdefault(who, len(people) + 1)}"
        found.append(Labeller(scheme, who, f"{titles.get(scheme, scheme)} ({by})", who == own))
    return sorted(found, key=lambda one: not one.is_own)


def judge_title(judge: Judge) -> str:
    """Return the name of a judge model, with a warning if it did not pass its test."""
    warning = f", which {judge.warning}" if judge.passed is False else f", {judge.warning}" if judge.warning else ""
    return f"judge {short(judge.model)}{warning}: {shortened(judge.question, 60)}"


def draw(run_id: str, case: str) -> None:
    """Draw the buttons of each scheme for a case; their keys are shortcuts. Below, the other people's labels."""
    run = session.run(run_id)
    own = run.label_of(case, "").own
    for scheme in schemes():
        with st.container(
            horizontal=True, vertical_alignment="center", gap="small", key=f"own-{scheme.name.replace(' ', '-')}"
        ):
            st.markdown(f"**{plain(scheme.shown)}**", width="content")
            for label, key in scheme.labels.items():
                kind: Literal["primary", "secondary"] = "primary" if label in own.get(scheme.name, ()) else "secondary"
                st.button(
                    plain(label),
                    type=kind,
                    key=f"own-label-{key}",
                    shortcut=key,
                    on_click=partial(_label, run_id, case, scheme, label),
                )
    edit()
    _others(run_id, case)


def _label(run_id: str, case: str, scheme: Scheme, label: str) -> None:
    run = session.run(run_id)
    with warns_when_full():
        run.label(case, "", run.label_of(case, "").labelled(scheme.name, label, scheme.several))


def _others(run_id: str, case: str) -> None:
    """Draw what others say about the case: people if the visitor is not blind, and judge models."""
    store = _store()
    if store is None:
        return
    (here,) = Selection(store, viewer=session.viewer()).own_labels([RowPlace(run_id, case)])
    for one in labellers():
        if one.is_own or not (said := here.get((one.scheme, one.who))):
            continue
        words = plain(f"{one.title}: {said}")
        if trial := label_agreement.judgement_of(store, one.who, run_id, case):
            to = {"run": one.who, "case": CASE, "trial": trial}
            st.page_link(addresses.CASE, label=words, icon=":material/gavel:", query_params=to)
        else:
            st.caption(words)


def edit() -> None:
    """Draw the file of schemes with how far people agree; only the host may change it."""
    with st.popover(
        "Label schemes", icon=":material/label:", type="tertiary", key="own-edit", on_change="rerun"
    ) as shown:
        if not shown.open:
            return
        st.caption(
            "Your own labels for cases: a name in brackets for each scheme, and each label with its key. "
            f"Free keys: {' '.join(label_schemes.FREE)}."
        )
        _file()
        _agreement(schemes())


def _file() -> None:
    if not session.runs().may_all:
        st.caption("Only the host of this app can change them.")
        return
    try:
        file = label_schemes.path()
        text = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
        label_schemes.schemes()
    except (SchemeError, DataDirError, OSError) as error:
        st.warning(plain(str(error)), icon=":material/rule:")
    st.text_area(
        "Schemes", value=text or label_schemes.EXAMPLE, key="own-text", height=200, label_visibility="collapsed"
    )
    st.button("Save schemes", key="own-save", on_click=_save)
    if problem := st.session_state.pop("own-problem", ""):
        st.error(plain(problem), icon=":material/error:")


def _save() -> None:
    try:
        label_schemes.save(str(st.session_state["own-text"]))
    except (SchemeError, DataDirError) as error:
        st.session_state["own-problem"] = str(error)


def _agreement(known: tuple[Scheme, ...]) -> None:
    store = _store()
    for scheme in known if store else ():
        assert store is not None
        labels = label_agreement.own_labels(store, scheme.name, session.viewer())
        st.markdown(f"**{plain(scheme.shown)}**")
        st.caption(
            plain(f"{len(labels):,} cases labelled. {label_agreement.scheme_agreement(labels, scheme).sentence}")
        )
        if label_agreement.is_blind(labels, session.runs().labeller):
            st.caption(BLIND)
