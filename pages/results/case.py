"""Case: one run with everything in it; or the same run played again, at its pace or step by step."""

from __future__ import annotations

import time
from itertools import pairwise

import streamlit as st

from core import entry
from core.runs.jobs import NoSuchRun
from core.runs.transcript import Transcript, transcript
from pages.parts import cases
from pages.parts.calls import footnote, inspector
from pages.parts.run import actions, title
from pages.parts.text import plain
from pages.shell import PAGES

SHORTEST_REPLAY, LONGEST_REPLAY = 5.0, 12.0
"""Seconds. A replay takes as long as the run did, within these: a control is done before one has looked."""

CALLS_A_PAGE = 50


def replay(run_id: str) -> None:
    """Play the journal's events at the pace they came."""
    events, _ = entry.jobs().events(run_id)
    began = st.session_state.setdefault(f"replay-{run_id}", time.monotonic())
    first, last = events[0].at, events[-1].at
    span = max((last - first).total_seconds(), 0.001)
    pace = span / min(max(span, SHORTEST_REPLAY), LONGEST_REPLAY)
    elapsed = (time.monotonic() - began) * pace
    shown = [event for event in events if (event.at - first).total_seconds() <= elapsed]
    st.progress(min(elapsed / span, 1.0), text=f"Replay at {pace:.2g} × the run's own speed. No model is asked.")
    told = transcript(shown)
    cases.draw(told, run_id, active=told.status is None)
    if elapsed > span:
        del st.session_state[f"replay-{run_id}"]
        st.query_params.pop("replay")
        st.rerun()


def step_through(run_id: str) -> None:
    """The run as it stood before each of its calls, forwards and back; those made at once are one step."""
    events, _ = entry.jobs().events(run_id)
    calls = [n for n, (last, event) in enumerate(pairwise(events), start=1) if event.kind == "asked" != last.kind]
    ends = [*calls[1:], len(events)]
    key = f"step-{run_id}"
    step = min(st.session_state.setdefault(key, 1), len(ends))

    def move(by: int) -> None:
        st.session_state[key] = step + by

    with st.container(horizontal=True, vertical_alignment="center", key="steps"):
        st.button("Back", icon=":material/arrow_back:", key="back", disabled=step == 1, on_click=move, args=(-1,))
        last = step == len(ends)
        st.button(
            "Next", icon=":material/arrow_forward:", type="primary", key="next", disabled=last, on_click=move, args=(1,)
        )
        st.caption(f"Step {step} of {len(ends)}. No model is asked.")
        st.page_link(
            PAGES / "results/case.py",
            label="The whole case",
            icon=":material/folder_open:",
            query_params={"run": run_id},
        )
    told = transcript(events[: ends[step - 1]])
    cases.draw(told, run_id, active=told.status is None)


def everything(told: Transcript) -> None:
    """The ledger of what does not count, every call, and what the run was made with."""
    st.subheader("Set aside, and why", anchor=False)
    if told.drops:
        st.dataframe(
            [
                {"item": drop.item, "reason": drop.reason, "rules": drop.rules or "both", "detail": drop.detail}
                for drop in told.drops
            ],
            hide_index=True,
            key="drops",
            alt="Items that do not count, with reasons",
        )
    else:
        st.caption("Nothing was set aside.")
    st.subheader("Every figure", anchor=False)
    st.dataframe(
        [
            {
                "metric": score.metric,
                "about": score.item or "the whole run",
                "rules": score.rules,
                "value": score.value,
                "n": score.n,
                "of": score.of,
                "low": score.low,
                "high": score.high,
                "made with": ", ".join(str(value) for value in score.detail.values()),
            }
            for score in told.scores.values()
        ],
        hide_index=True,
        key="scores",
        alt="All scores under both sets of rules",
    )
    st.subheader("Every call", anchor=False)
    names = list(told.calls)
    page = st.pagination(-(-len(names) // CALLS_A_PAGE), key="calls-page") if len(names) > CALLS_A_PAGE else 1
    for name in names[(page - 1) * CALLS_A_PAGE : page * CALLS_A_PAGE]:
        call = told.calls[name]
        label = f"`{name}` {plain(call.asked.role)} · {plain(call.asked.item)} · {footnote(call)}"
        shown = st.expander(label, key=f"call-{name}", type="compact", on_change="rerun")
        with shown:
            if shown.open:
                inspector(call)
            else:
                st.skeleton(120)
    if told.started:
        st.subheader("Made with", anchor=False)
        st.json(
            {
                "spec": told.started.spec,
                "prompts (hash)": told.started.prompts,
                "versions": told.started.versions,
            },
            expanded=1,
        )


run_id = st.query_params.get("run", "")
if not run_id:
    st.info("No run is named in the address. Choose one on the Browse page.", icon=":material/info:")
    st.page_link(PAGES / "results/browse.py", label="Browse the runs", icon=":material/table_rows:")
    st.stop()
try:
    events, partial = entry.jobs().events(run_id)
except NoSuchRun as error:
    st.error(plain(str(error)), title="There is no such run", icon=":material/error:")
    st.page_link(PAGES / "results/browse.py", label="Browse the runs", icon=":material/table_rows:")
    st.stop()

told = transcript(events, partial)
title(told, run_id)
if st.query_params.get("replay") == "step" and len(events) > 1:
    step_through(run_id)
elif st.query_params.get("replay") and len(events) > 1:
    st.fragment(replay, run_every=0.25)(run_id)
else:
    actions(run_id, told, here="case")
    if faults := entry.jobs().faults(run_id):
        lines = "1 line of its journal" if faults == 1 else f"{faults} lines of its journal"
        st.warning(f"{lines} could not be read, and what they said is missing here.", icon=":material/broken_image:")
    cases.draw(told, run_id, active=entry.jobs().active(run_id))
    everything(told)
