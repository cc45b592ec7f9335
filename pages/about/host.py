"""The host's page: who runs what, what was spent today, and a message to everybody. Only the host can open it."""

from datetime import UTC, datetime

import pandas as pd
import streamlit as st

from core import entry, policy
from core.home import DataDirError
from core.server import admin
from core.text.display import count_noun
from pages import addresses
from pages.components import session
from pages.components.tables import button, table
from pages.components.text import plain
from pages.components.throttle import PACE
from pages.components.widgets import short

_EVERY = 3.0
"""Least seconds between two drawings of the running runs."""

_MOST = 50
"""Most rows that are drawn; *Stop all* stops the others too."""


def line() -> None:
    """Draw the form for the message to everybody."""
    st.header("Message to everyone", anchor=False)
    said = admin.announcement()
    with st.form("line", border=False):
        words = st.text_input(
            "Message to everyone",
            value=said,
            max_chars=admin.LONGEST_LINE,
            key="line-words",
            placeholder="We continue at 14:30.",
            label_visibility="collapsed",
        )
        with st.container(horizontal=True):
            say = st.form_submit_button("Show it on every page", icon=":material/campaign:", key="line-say")
            back = st.form_submit_button("Remove it", icon=":material/undo:", key="line-back", disabled=not said)
    if not (say or back):
        return
    try:
        admin.set_announcement("" if back else words)
    except DataDirError as error:
        st.warning(plain(str(error)), icon=":material/edit_off:")
    else:
        st.rerun()


@st.fragment(run_every=PACE.seconds(_EVERY))
def going_on() -> None:
    """List the runs in progress in all apps that use this home, each with a button that stops it."""
    with PACE.drawing(f"host {session.tab()}"):
        found = admin.going_on(entry.jobs())
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.header(f"Running now: {len(found)}", anchor=False)
            if found:
                with st.popover("Stop all", icon=":material/stop_circle:", key="stop-all"):
                    st.markdown("Answers are kept, and the person who began a run can resume it.")
                    runs = [one.run for one in found]
                    button(f"Stop all {len(found)}", "stop_circle", "stop-all-sure", _stop, runs, type="primary")
        if not found:
            st.caption("No run in progress.")
        for one in found[:_MOST]:
            _row(one)
        if len(found) > _MOST:
            st.caption(f"And {len(found) - _MOST:,} more.")


def _row(one: admin.ActiveRun) -> None:
    lab = entry.labs().get(one.lab)
    with st.container(border=True, key=f"going-{one.run}", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            models = ", ".join(plain(short(model)) for model in one.models[:3]) or "model not known yet"
            st.markdown(
                f"**{plain(_whose(one.owner, one.study))}** · {plain(lab.title if lab else one.lab)} · {models}"
            )
            with st.container(horizontal=True, vertical_alignment="center", width="content"):
                if lab is not None:
                    page = addresses.CASE if lab.hidden else addresses.of_lab(lab)
                    st.page_link(page, label="Open", icon=lab.icon, query_params={"run": one.run})
                button("Stop", "stop_circle", f"stop-{one.run}", _stop, [one.run], disabled=not one.is_here)
        st.caption(" · ".join(_words(one)))


def _words(one: admin.ActiveRun) -> list[str]:
    words = ["waiting in the queue" if one.is_queued else f"{count_noun(one.calls, 'call')} so far"]
    if one.since is not None:
        words.append(f"since {one.since:%H:%M} UTC")
    if not one.is_here:
        words.append("started on a command line; stop it there")
    return words


def _stop(runs: list[str]) -> None:
    # Checked here, in the callback, because a person who is no longer host may still have the button on an old page.
    if not session.visitor().is_host:
        return
    for run in runs:
        if entry.jobs().here(run):
            entry.jobs().cancel(run)


def _whose(owner: str, study: str = "") -> str:
    if not owner:
        return f"Study {study}" if study else "Command line"
    return f"Visitor {owner[:8]}" + (" (you)" if owner == session.visitor().name else "")


def spent() -> None:
    """Show what was spent today, and by whom."""
    st.header("Spent today", anchor=False)
    try:
        spent = entry.jobs().spent_today()
    except DataDirError as error:
        st.warning(plain(str(error)), icon=":material/edit_off:")
        return
    calls, cents = (sum(column) for column in zip(*spent.values(), strict=True)) if spent else (0, 0.0)
    with st.container(horizontal=True, key="spent"):
        for title, used, limit in (
            ("Calls", f"{calls:,}", "calls_of_all_a_day"),
            ("US cents", f"{cents:,.1f}", "cents_of_all_a_day"),
        ):
            most = policy.limit(limit)
            st.metric(title, used, help="No limit." if most is None else f"All together may take {most:,} a day.")
    if spent:
        rows = sorted(spent.items(), key=lambda one: (-one[1].cents, -one[1].calls, one[0]))
        taken = [{"Who": _whose(owner), "Calls": one.calls, "US cents": round(one.cents, 1)} for owner, one in rows]
        table(pd.DataFrame(taken), "spent-by", "Calls and US cents of today, by visitor")
    now = f"{datetime.now(UTC):%H:%M}"
    st.caption(f"Since midnight UTC, as of {now}. Robots, replays and cached answers do not count.")


if not session.visitor().is_host:
    # The navigation does not lead other visitors here.
    st.switch_page(addresses.WELCOME)
st.title("Host", anchor=False)
line()
going_on()
spent()
