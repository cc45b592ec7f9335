"""How a person keeps a run of their own: by another title, out of the lists, or no longer at all."""

from __future__ import annotations

import streamlit as st

from core.journal import JournalInUse
from core.runs.labels import Kept
from core.runs.library import NoSuchRun
from pages import addresses
from pages.components import session
from pages.components.text import plain


def menu(run_id: str, study: str) -> None:
    """Title, hiding, deleting; nothing for a run that is not the visitor's. `study` is what the run was made for."""
    visit = session.runs()
    if not visit.owns(run_id):
        return
    with st.popover("Keep", icon=":material/bookmark_manager:", type="tertiary", key="keep"):
        kept = visit.run(run_id).kept()
        title = st.text_input(
            "Title", value=kept.title, max_chars=200, key=f"title-{run_id}", placeholder="Its question"
        )
        hidden = st.toggle("Hide it from the lists", value=kept.hidden, key=f"hide-{run_id}")
        now = Kept(title=" ".join(title.split()), hidden=hidden)
        if now != kept:
            visit.own(run_id).keep(now)
            st.rerun()
        sure = True
        if study or visit.run(run_id).is_of_others():
            sure = st.checkbox(
                "It is another person's or a study's, or holds others' words: delete it all the same", key="sure"
            )
        if st.button("Delete", icon=":material/delete:", key="delete", disabled=not sure):
            try:
                visit.own(run_id).delete()
            except (JournalInUse, NoSuchRun) as error:
                st.warning(plain(str(error)), icon=":material/edit:")
            else:
                st.switch_page(addresses.BROWSE)
        st.caption("It can be brought back on the Browse page until the app is closed. No file holds it any more.")


def deleted() -> None:
    """The runs that were deleted, to be brought back."""
    visit = session.runs()
    for run in visit.deleted()[-3:]:
        with st.container(horizontal=True, vertical_alignment="center", key=f"deleted-{run}"):
            st.caption(f"Deleted: {plain(run)}")
            st.button(
                "Undo", icon=":material/undo:", type="tertiary", key=f"undo-{run}", on_click=visit.undo, args=(run,)
            )
    if (more := len(visit.deleted()) - 3) > 0:
        st.caption(f"And {more:,} more, which can be brought back after these.")
