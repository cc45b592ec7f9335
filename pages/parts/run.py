"""What stands around every run, whichever lab made it: its title, and what can be done with it."""

from __future__ import annotations

import streamlit as st
from pydantic import ValidationError

from core import entry, home
from core.events import CallFailed, Frozen
from core.journal import JournalInUse
from core.runs.jobs import NoSuchRun
from core.runs.run import complaints
from core.runs.transcript import Transcript
from pages.parts import session
from pages.parts.text import plain
from pages.shell import PAGES

LONGEST_TITLE = 120
"""Characters of a heading; the whole question stands below it."""

_COLOURS = {"completed": "green", "running": "blue", "cancelled": "orange", "interrupted": "orange", "failed": "red"}


def title(told: Transcript, run_id: str) -> None:
    """The question as the page's heading, and under it model, time and state of the run."""
    spec = told.started.spec if told.started else {}
    asked = " ".join(str(spec.get("title") or spec.get("question") or spec.get("context") or run_id).split())
    st.title(plain(asked if len(asked) <= LONGEST_TITLE else f"{asked[:LONGEST_TITLE]} …"), anchor=False)
    state = told.status or ("running" if entry.jobs().active(run_id) else "interrupted")
    method = str(spec.get("method") or spec.get("interpreter") or ", ".join(spec.get("explanations", ())))
    when = f"{told.started.at:%d %B %Y, %H:%M} UTC · " if told.started else ""
    st.caption(
        f":{_COLOURS[state]}-badge[{state}] {plain(str(spec.get('model', '')))} · "
        f"{plain(method)} · {when}{told.seconds:.1f} s · {plain(run_id)}"
    )


def stopped(told: Transcript, unread: int = 0) -> None:
    """Why the run stopped, where it did; `unread` entries of its journal could not be read."""
    if told.started is None and not told.calls:
        st.info("The journal of this run holds nothing yet.", icon=":material/hourglass_empty:")
    if unread:
        st.warning(
            f"The journal of this run is damaged: {unread} of its entries cannot be read and are left out.",
            icon=":material/broken_image:",
        )
    for failure in told.failures:
        st.error(
            plain(failure.message) + (f"\n\n{plain(failure.hint)}" if failure.hint else ""),
            title="The run stopped",
            icon=":material/error:",
        )
    if told.status == "cancelled":
        st.info(
            "You stopped this run. What was answered is kept, and it can go on from here.",
            icon=":material/stop_circle:",
        )


def actions(run_id: str, told: Transcript, here: str) -> None:
    """Links and buttons for a run that is over: case, replay, link, download. `here` is the page they stand on."""
    with st.container(horizontal=True, vertical_alignment="center", key="actions"):
        if here != "case":
            st.page_link(
                PAGES / "results/case.py",
                label="Open as case",
                icon=":material/folder_open:",
                query_params={"run": run_id},
            )
        st.page_link(
            PAGES / "results/case.py",
            label="Replay",
            icon=":material/replay:",
            query_params={"run": run_id, "replay": "1"},
        )
        st.page_link(
            PAGES / "results/case.py",
            label="Step by step",
            icon=":material/step:",
            query_params={"run": run_id, "replay": "step"},
        )
        with st.popover("Link", icon=":material/link:", type="tertiary", key="link"):
            st.caption("Opens this run for anyone who can reach this app.")
            st.code(f"{(st.context.url or '').split('?')[0]}?run={run_id}", language=None, wrap_lines=True)
        st.download_button(
            "Download",
            lambda: (home.journals() / f"{run_id}.jsonl").read_bytes(),
            file_name=f"{run_id}.jsonl",
            mime="application/jsonl",
            icon=":material/download:",
            on_click="ignore",
            type="tertiary",
            key="download",
            help="The journal: every prompt, raw answer and figure, one JSON object a line.",
        )


def go_on(run_id: str, told: Transcript) -> None:
    """Offer to go on with a run that was stopped, failed, or whose process died."""
    words = "Go on from here"
    if told.status == "completed":
        if not any(drop.reason == "error" for drop in told.drops):
            return
        words = "Ask again what failed"
    if told.status is None:
        st.warning("This run was interrupted: the app stopped while it went on.", icon=":material/power_off:")
    if st.button(
        words, icon=":material/play_arrow:", key="go-on", help="What was answered is kept and not asked again."
    ) and resume(run_id):
        st.rerun()


def resume(run_id: str) -> bool:
    """Go on with a run; False, and said, where it cannot."""
    try:
        entry.jobs().resume(run_id, session.catalog().get)
    except (JournalInUse, NoSuchRun) as error:
        st.warning(plain(f"{error}."), icon=":material/pause_circle:")
        return False
    return True


def keep(run_id: str, record: Frozen, item: str) -> bool:
    """Write down what the reader said; False, and said, while another process writes the journal."""
    try:
        entry.jobs().note(run_id, record, item)
    except JournalInUse:
        st.toast(
            "This run goes on in another process, so nothing can be added to it yet. Try again when it is over.",
            icon=":material/pause_circle:",
        )
        return False
    return True


def problems(error: ValidationError | ValueError | CallFailed) -> None:
    """What is wrong with what was entered, in words."""
    if isinstance(error, ValidationError):
        for complaint in complaints(error):
            st.warning(plain(complaint), icon=":material/edit:")
    else:
        hint = error.hint if isinstance(error, CallFailed) else ""
        st.warning(plain(str(error)) + (f"  \n{plain(hint)}" if hint else ""), icon=":material/edit:")
