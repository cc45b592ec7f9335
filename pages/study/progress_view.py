"""The progress of a study: state, buttons, a bar for each cell, and what it has spent. Redrawn while the study runs."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from core import entry, home
from core.events import CallError
from core.journal import JournalInUseError
from core.runs.library import RunNotFoundError
from core.studies import desired_state
from core.studies.background import StudyRunningError
from core.studies.desired_state import MOST_AT_ONCE
from core.studies.plan import Study, StudyError
from core.studies.progress import CONTROLS, StudyProgress
from core.text.display import count_noun
from pages.components import session
from pages.components.run import problems
from pages.components.text import plain
from pages.results.facets import words as of_facet
from pages.study.form import edit
from pages.study.results import READ, StudyResults, called
from pages.study.table_text import Badge, State, finding

GO_ON = {
    "new": "Start",
    "paused": "Resume",
    "interrupted": "Go on",
    "failed": "Try again",
    "off": "Try the controls again",
}
"""Label of the primary button by state, if there is one."""

TROUBLE = "study-trouble"
"""Session key of the study that could not be continued, and why."""

COLOURS = {"blue": st.info, "green": st.success, "orange": st.warning, "red": st.error}


def verdict(said: Badge, state: State, found: StudyResults) -> None:
    """Draw the state and the finding in a sentence or two."""
    icons = {
        "done": "check_circle",
        "running": "sync",
        "pausing": "hourglass_bottom",
        "new": "checklist",
        "paused": "pause_circle",
        "off": "error",
        "failed": "error",
    }
    text = plain(said.words)
    if state != "off" and (sentence := finding(found.cells, called)):
        text += f"\n\n**{plain(sentence)}**"
    if state == "new":
        st.markdown(f":gray-badge[{said.badge}] {text}")
        return
    COLOURS[said.colour](text, icon=f":material/{icons.get(state, 'info')}:", title=said.badge.capitalize())


def buttons(study: Study, state: State, now: StudyProgress, text: str) -> None:
    """Draw the buttons to start, continue or pause, and the number of runs at a time. `text` is the study's file."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="study-buttons"):
        if state in GO_ON:
            st.button(
                GO_ON[state],
                type="primary",
                icon=":material/play_arrow:",
                key="study-go",
                on_click=_again if state == "off" else _start,
                args=[study],
            )
        if state == "spent":
            st.button(
                "Raise the budget",
                type="primary",
                icon=":material/edit:",
                key="study-raise",
                on_click=edit,
                args=[text],
            )
        if state in ("running", "pausing"):
            st.button(
                "Pause",
                icon=":material/pause:",
                key="study-pause",
                disabled=state == "pausing",
                on_click=_want,
                args=[study, {"paused": True}],
            )
        if state in ("running", "pausing", "paused", "interrupted"):
            st.number_input(
                "Runs at a time",
                1,
                MOST_AT_ONCE,
                now.at_once,
                key="study-at-once-now",
                width=160,
                on_change=lambda: _want(study, {"at_once": int(st.session_state["study-at-once-now"])}),
            )
    if state == "spent":
        st.caption(
            "This opens the file as a text. Raise the budget there, and plan it as another study: what was "
            "answered is found again, and not asked twice."
        )
    if (trouble := st.session_state.get(TROUBLE)) and trouble[0] == study.name and state in GO_ON:
        problems(trouble[1])


def _want(study: Study, changes: dict[str, object]) -> None:
    desired_state.want(home.home(), study.name, **changes)


def _start(study: Study) -> None:
    st.session_state.pop(TROUBLE, None)
    try:
        entry.studies().start(study, session.catalog().get, session.visitor().name)
    except (CallError, StudyRunningError, StudyError, OSError) as error:
        words = error if isinstance(error, CallError) else ValueError(str(error))
        st.session_state[TROUBLE] = (study.name, words)


def _again(study: Study) -> None:
    """Ask the controls again. Their earlier runs are deleted, because a completed run is never repeated."""
    st.session_state.pop(READ, None)
    for run in study.controls:
        with suppress(RunNotFoundError, JournalInUseError):
            session.own(run.id).delete()
    _start(study)


def bars(now: StudyProgress, state: State) -> None:
    """Draw overall progress, speed, cost, and each cell."""
    shares = sum(cell.share * cell.runs for cell in now.cells)
    st.progress(min(1.0, shares / max(1, now.runs)), text=f"{now.ended} of {count_noun(now.runs, 'run')}")
    with st.container(horizontal=True, key="study-now"):
        st.metric("Calls answered", f"{now.answered:,}")
        if state in ("running", "pausing"):
            st.metric("Calls a minute", "–" if now.rate is None else f"{now.rate:,.0f}", help="Over the last minute.")
        if now.paid or now.budget_calls:
            of = f" of {now.budget_calls:,}" if now.budget_calls else ""
            st.metric(
                "Asked of models", f"{now.paid:,}{of}", help="Calls of models that are no robots, failed ones too."
            )
        if now.paid:
            of = f" of ${now.budget_money:,.2f}" if now.budget_money else ""
            more = "" if not now.unpriced else " and unknown"
            st.metric(
                "Spent",
                f"${now.money:,.2f}{more}{of}" if now.money or not now.unpriced else "unknown",
                help="By the prices in data/models.toml.",
            )
        if failed := sum(now.failures.values()):
            st.metric("Failed", f"{failed:,}", help="Calls or runs. None of them is counted as an answer.")
    if now.failures:
        st.caption(
            "Failed: " + "; ".join(f"{n:,} × {plain(of_facet('error', name))}" for name, n in now.failures.items())
        )
    for endpoint, history in now.limits.items():
        st.caption(
            f"Concurrency limit of {plain(endpoint)}: {history[-1]} calls"
            + (f", at first {history[0]}" if history[1:] else "")
        )
    _cells(now)


def _cells(now: StudyProgress) -> None:
    st.dataframe(
        [
            {
                "Done": int(100 * cell.share),
                "What": f"{cell.lab} · {_named(cell.cell)}".removesuffix(" · "),
                "Cases": f"{cell.cases:,} of {cell.of:,}" if cell.of else f"{cell.cases:,}",
                "Calls": cell.answered,
                "Failed": sum(cell.failures.values()),
            }
            for cell in now.cells
        ],
        hide_index=True,
        key="study-cells",
        height=min(38 + 35 * max(1, len(now.cells)), 320),
        alt="How far each combination of settings is",
        column_config={
            "Done": st.column_config.ProgressColumn(format="%d %%", min_value=0, max_value=100, width="small"),
            "What": st.column_config.TextColumn(width="large"),
        },
    )


def _named(cell: str) -> str:
    return "robots with known behaviour, asked first" if cell == CONTROLS else called(cell)
