"""One case beside the list: what came of it, the case as its lab's page draws it, and the same question elsewhere."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core import entry
from core.runs.jobs import NoSuchRun
from core.store import listing
from core.store.listing import Place
from pages.parts import labels, live
from pages.parts.models import short
from pages.parts.run import actions, damage, go_on
from pages.parts.text import plain, shortened
from pages.results import address
from pages.results.facets import Looked, words

ELSEWHERE = 20
"""So many cases of the same question are listed."""


def draw(looked: Looked, at: Place, open: Callable[[Place], None] = address.open_at) -> None:
    """The case of the row `at`; a run that is gone is reported. `open` leads to the same question elsewhere."""
    try:
        state, active = live.look(at.run)
    except NoSuchRun as error:
        st.error(plain(str(error)), title=error.title, icon=":material/error:")
        return
    lab = entry.labs().get(state.started.lab) if state.started else None
    if lab is None:
        st.error("This app has no lab that made this run.", icon=":material/error:")
        return
    if not active:
        damage(at.run)
        labels.draw(lab, at.run, state, at.case, at.trial)
    if not live.watched(lab, at.run, state, active):
        go_on(at.run, state)
        actions(at.run, state, here="browse")
    _elsewhere(looked, at, open)


def _elsewhere(looked: Looked, at: Place, open: Callable[[Place], None]) -> None:
    """The same question in other runs: by other models, explained in other ways."""
    others = listing.elsewhere(looked.store, at, looked.viewer, ELSEWHERE)
    if others.empty:
        return
    labs = entry.labs()
    st.markdown("#### The same question elsewhere", anchors=False)
    for number, row in enumerate(others.itertuples(index=False)):
        lab = labs[row.lab].title if row.lab in labs else row.lab
        label = " · ".join(
            filter(None, (short(row.model or ""), words("how", row.how), lab, words("outcome", row.outcome or "")))
        )
        st.button(
            plain(shortened(label)),
            key=f"elsewhere-{number}",
            type="tertiary",
            icon=":material/arrow_forward:",
            on_click=open,
            args=(Place(row.run, row.case),),
        )
    if len(others) == ELSEWHERE:
        st.caption(f"The newest {ELSEWHERE}.")
