"""A run on its lab's page, live while it goes on: whichever lab made it, it is watched and stopped in the same way."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core import entry
from core.runs.jobs import NoSuchRun
from core.runs.transcript import Transcript, transcript
from pages.parts.text import plain
from pages.shell import PAGES

SECONDS = 0.4
"""Between two looks at a run that goes on."""


def named_run(show: Callable[[str], None]) -> None:
    """`show` the run that the address names, if it names one; a run that does not exist is said."""
    if run_id := st.query_params.get("run", ""):
        try:
            show(run_id)
        except NoSuchRun as error:
            st.error(plain(str(error)), title="There is no such run", icon=":material/error:")


def watch(run_id: str, lab: str, draw: Callable[[Transcript, bool], None]) -> Transcript | None:
    """`draw(transcript, active)` the run, again and again while it goes on; its transcript once it is over, else None.

    A run of another lab opens as a case. Raises NoSuchRun.
    """
    jobs = entry.jobs()
    told = transcript(*jobs.events(run_id))
    if told.started and told.started.lab != lab:
        st.switch_page(PAGES / "results/case.py", query_params={"run": run_id})
    began_active = jobs.active(run_id)

    @st.fragment(run_every=SECONDS if began_active else None)
    def live() -> None:
        active = jobs.active(run_id)
        draw(transcript(*jobs.events(run_id)), active)
        if began_active and not active:
            st.rerun()

    live()
    return None if began_active else transcript(*jobs.events(run_id))


def answered(told: Transcript) -> int:
    """How many calls have ended, well or not."""
    return sum(call.answered is not None or call.failed is not None for call in told.calls.values())


def progress(run_id: str, share: float, text: str) -> None:
    """How far the run is (`share` up to 1), and the button that stops it."""
    with st.container(horizontal=True, vertical_alignment="center", key="progress"):
        st.progress(min(share, 1.0), text=text)
        if not entry.jobs().here(run_id):
            st.caption("It goes on in another process; stop it there.")
        elif st.button("Cancel", icon=":material/stop_circle:", key="cancel"):
            entry.jobs().cancel(run_id)
            st.rerun()
