"""Browse: every run that was made, and where it stands."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core import entry
from core.lab import Lab, Picture
from core.runs.jobs import NoSuchRun
from core.store import queries
from core.store.store import StoreError
from pages import shell
from pages.parts import recording, rooms, session
from pages.parts.pace import waits
from pages.parts.pictures import PLAIN
from pages.parts.tables import as_csv
from pages.parts.text import plain

LIMIT = 500
"""Runs that are listed: the newest."""

st.title("Browse", anchor=False)
visit = session.runs()
viewer = None if visit.sees_all else visit.visitor.name
which = (
    "Every run made in this app or on the command line." if viewer is None else "Your runs, and those that are shared."
)
st.markdown(f"{which} Select one to see all its prompts and answers.")

try:
    keeper = entry.keeper()
except StoreError as error:
    st.error(plain(str(error)), title="The list of runs cannot be opened", icon=":material/error:")
    st.stop()

with waits("Reading the journals …"):
    keeper.looked.wait(timeout=60)
seen = keeper.changes


@st.fragment(run_every=2)
def watch() -> None:
    """Redraw the page once there is something new; the table itself must not sit in a fragment that polls."""
    if keeper.changes != seen:
        st.rerun()


def alive(run: str) -> bool:
    """Whether the run goes on; one whose journal has just been deleted does not."""
    try:
        return visit.active(run)
    except NoSuchRun:
        return False


def open_case(run: str) -> None:
    st.switch_page(shell.PAGES / "results/case.py", query_params={"run": run})


def listed(runs: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, object]]:
    """The table as it is shown, and how its columns are."""
    labs = entry.labs()
    table = {
        "Asked": runs["at"],
        "Lab": [labs[lab].title if lab in labs else lab for lab in runs["lab"]],
        "About": runs["title"],
        "Model": runs["model"],
        "Method": [
            _how(labs[lab], how) if lab in labs else how for lab, how in zip(runs["lab"], runs["how"], strict=True)
        ],
        "Cases": runs["cases"],
        "Status": runs["status"],
    }
    columns: dict[str, object] = {
        "Asked": st.column_config.DatetimeColumn(format="distance"),
        "About": st.column_config.TextColumn(width="large"),
    }
    for lab in labs.values():
        for metric in lab.metrics:
            # A lab that was never used takes no room.
            if metric.leads and metric.name in runs and runs[metric.name].notna().any():
                table[metric.title] = runs[metric.name]
                columns[metric.title] = st.column_config.NumberColumn(
                    format=f"%{metric.format}", help=f"{metric.help} Repaired rules; empty where undefined."
                )
    counted = [f"{n:.0f} of {of:.0f}" if pd.notna(of) else "" for n, of in zip(runs["n"], runs["of"], strict=True)]
    return pd.DataFrame({**table, "Counted": counted, "Calls": runs["answered"], "Failed": runs["failed"]}), columns


def _how(lab: Lab | None, how: str) -> str:
    """The way that was chosen, in the words of the lab's page."""
    words = rooms.of(lab).words if lab else {}
    return ", ".join(words.get(one, one) for one in how.split(", "))


def picture(lab: Lab, one: Picture) -> None:
    """A picture of all runs of a lab, where there is something to draw; a click on a point opens its run."""
    query = queries.figure_groups if one.grouped else queries.figures
    frame = query(keeper.store, lab.name, one.metrics, spec=one.fields, viewer=viewer, held=one.held)
    if frame.empty or not frame[one.metrics[0]].notna().any():
        return
    st.subheader(one.title, anchor=False)
    st.caption(one.caption)
    key = f"{lab.path}-{one.metrics[0]}"
    choice: str | None = one.choices[0]
    if len(one.choices) > 1:
        choice = st.segmented_control(
            one.title, list(one.choices), default=one.choices[0], required=True, key=f"{key}-choice",
            label_visibility="collapsed",
        )  # fmt: skip
    picked = st.plotly_chart(
        one.draw(frame, choice or one.choices[0]),
        key=key,
        config=PLAIN,
        on_select="rerun",
        selection_mode="points",
        alt=one.alt,
    )
    if points := picked["selection"]["points"]:
        open_case(str(points[0]["customdata"][0]))


def opening(runs: pd.DataFrame, key: str, alt: str) -> pd.DataFrame:
    """The table of the runs; selecting one opens it. What is listed, to be downloaded."""
    table, columns = listed(runs)
    chosen = st.dataframe(
        table, hide_index=True, placeholder="", on_select="rerun", selection_mode="single-row", key=key, alt=alt,
        column_config=columns,
    )  # fmt: skip
    if rows := chosen["selection"]["rows"]:
        open_case(str(runs["run"].iloc[rows[0]]))
    return table


def recordings() -> None:
    """The runs that came with the app, which are nobody's."""
    runs = queries.runs(keeper.store, limit=LIMIT, recordings=True)
    if not runs.empty:
        st.subheader("Recordings", anchor=False)
        st.caption(recording.about_all())
        opening(runs, "recordings", "Table of the runs that came with the app; selecting a row opens the run")


watch()
runs = queries.runs(keeper.store, limit=LIMIT, alive=alive, viewer=viewer)
if runs.empty:
    with st.container(border=True, horizontal_alignment="center"):
        st.markdown("**No runs yet.** Ask a model a question, and what came of it will be listed here.")
        for lab in entry.labs().values():
            if not lab.hidden:
                st.page_link(shell.of_lab(lab), label=f"{lab.title}: {lab.question}", icon=lab.icon)
    recordings()
    st.stop()
as_csv(opening(runs, "runs", "Table of runs, newest first; selecting a row opens the run"), "runs")
if len(runs) == LIMIT:
    st.caption(f"The newest {LIMIT} runs.")
recordings()
for lab in entry.labs().values():
    for one in lab.pictures:
        picture(lab, one)
