"""Browse: every run that was made, and where it stands."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core import entry
from core.charts import PLAIN
from core.charts import consistency as check_charts
from core.charts import simulatability as charts
from core.runs.jobs import NoSuchRun
from core.store import queries
from core.store.store import StoreError
from pages.parts.text import plain
from pages.shell import PAGES

LABS = {queries.ASK: "Ask", queries.CHECK: "Check", queries.PROBE: "Probe", "reliability": "Test of a backbone"}

st.title("Browse", anchor=False)
st.markdown("Every run made in this app or on the command line. Select one to see all its prompts and answers.")

try:
    keeper = entry.keeper()
except StoreError as error:
    st.error(plain(str(error)), title="The list of runs cannot be opened", icon=":material/error:")
    st.stop()

with st.spinner("Reading the journals …"):
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
        return entry.jobs().active(run)
    except NoSuchRun:
        return False


def open_case(run: str) -> None:
    st.switch_page(PAGES / "results/case.py", query_params={"run": run})


watch()
runs = queries.runs(keeper.store, limit=500, alive=alive)
if runs.empty:
    with st.container(border=True, horizontal_alignment="center"):
        st.markdown("**No runs yet.** Ask a model a question, and what came of it will be listed here.")
        st.page_link(PAGES / "labs/ask.py", label="Ask a question", icon=":material/forum:")
    st.stop()

figures = queries.ask_scatter(keeper.store)
checks = queries.check_scores(keeper.store)
of_runs = checks[checks["item"] == ""].rename(columns={"n": "n_checks", "of": "of_checks"})
listed = runs.merge(figures.drop(columns=["at", "model", "question"]), on="run", how="left").merge(
    of_runs[["run", "explanations", "faithfulness", "gain", "n_checks", "of_checks"]], on="run", how="left"
)
probes = queries.probe_results(keeper.store)
listed = listed.merge(probes[["run", "interpreter", "nmse", "exact_match", "unit_test"]], on="run", how="left")
listed["method"] = listed["method"].fillna(listed["interpreter"])
listed["n"] = listed["n"].fillna(listed["n_checks"])
listed["of"] = listed["of"].fillna(listed["of_checks"])
how = [
    ", ".join(explanations) if isinstance(explanations, list) else method
    for explanations, method in zip(listed["explanations"], listed["method"], strict=True)
]
table = pd.DataFrame(
    {
        "Asked": listed["at"],
        "Lab": [LABS.get(lab, lab) for lab in listed["lab"]],
        "Question": listed["title"],
        "Model": listed["model"],
        "Method": how,
        "Status": listed["status"],
        "Precision": listed["precision"],
        "Generality": listed["generality_cosine"],
        "Faithfulness": listed["faithfulness"],
        "Gain": listed["gain"],
        "NMSE": listed["nmse"],
        "Exact match": listed["exact_match"],
        "Unit test": listed["unit_test"],
        "Counted": [
            f"{n:.0f} of {of:.0f}" if of == of else "" for n, of in zip(listed["n"], listed["of"], strict=True)
        ],
        "Calls": listed["answered"],
        "Failed": listed["failed"],
    }
)
COLUMNS = {
    "Ask": ["Precision", "Generality"],
    "Check": ["Faithfulness", "Gain"],
    "Probe": ["NMSE", "Exact match", "Unit test"],
}
for lab, columns in COLUMNS.items():
    if lab not in set(table["Lab"]):
        table = table.drop(columns=columns)
chosen = st.dataframe(
    table,
    hide_index=True,
    on_select="rerun",
    selection_mode="single-row",
    key="runs",
    alt="Table of runs, newest first; selecting a row opens the run",
    column_config={
        "Asked": st.column_config.DatetimeColumn(format="distance"),
        "Question": st.column_config.TextColumn(width="large"),
        "Precision": st.column_config.NumberColumn(format="%.2f", help="Repaired rules; empty where undefined."),
        "Generality": st.column_config.NumberColumn(format="%.2f", help="1 minus mean cosine similarity."),
        "Faithfulness": st.column_config.NumberColumn(format="%.2f", help="Repaired rules; empty where undefined."),
        "Gain": st.column_config.NumberColumn(format="%.2f", help="Faithfulness minus that of random masks."),
        "NMSE": st.column_config.NumberColumn(format="%.3f", help="Error of its code; a success below 0.1."),
        "Exact match": st.column_config.NumberColumn(format="%.2f", help="Share of texts its code gets right."),
        "Unit test": st.column_config.NumberColumn(format="%.2f", help="Share of triplets; chance is 0.33."),
    },
)
if rows := chosen["selection"]["rows"]:
    open_case(str(listed["run"].iloc[rows[0]]))

if figures["precision"].notna().any():
    st.subheader("Precision and generality", anchor=False)
    st.caption(
        "One point a run. Further right: the explanation kept its promises. Higher: it settles more varied questions."
    )
    similarity = st.segmented_control(
        "Similarity",
        ["cosine", "bleu", "jaccard"],
        default="cosine",
        required=True,
        key="similarity",
        label_visibility="collapsed",
    )
    picked = st.plotly_chart(
        charts.scatter(figures, similarity or "cosine"),
        key="scatter",
        config=PLAIN,
        on_select="rerun",
        selection_mode="points",
        alt="Scatter plot of precision and generality, one point a run",
    )
    if points := picked["selection"]["points"]:
        open_case(str(points[0]["customdata"][0]))

by_model = checks[(checks["wording"] == "") & (checks["explanation"] != "")]
if by_model["faithfulness"].notna().any():
    st.subheader("Faithfulness by model", anchor=False)
    st.caption("One mark a run and explanation, with its 95 % interval. Faint: fewer than 70 % of the checks count.")
    picked = st.plotly_chart(
        check_charts.faithfulness(by_model, "model"),
        key="faithfulness",
        config=PLAIN,
        on_select="rerun",
        selection_mode="points",
        alt="Faithfulness of each model and task, one mark a run and explanation",
    )
    if points := picked["selection"]["points"]:
        open_case(str(points[0]["customdata"][0]))
