"""The list of runs: when, by whom, of what, and the figures that each came to."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core import entry
from core.runs.jobs import NoSuchRun
from core.store import listing, queries
from core.store.filters import Filter
from core.store.listing import Listed
from pages import shell
from pages.parts import session
from pages.parts.models import short
from pages.parts.tables import as_csv
from pages.results import address
from pages.results.facets import Looked, words


def read(looked: Looked, wanted: Filter) -> Listed:
    """The page of the list that the address names."""
    after, before = address.anchor("after"), address.anchor("before")
    return listing.runs(
        looked.store,
        wanted,
        after=after.run if after else "",
        before=before.run if before else "",
        oldest=address.sort() == "oldest",
        viewer=looked.viewer,
        stopped=looked.stopped,
    )


def draw(looked: Looked, wanted: Filter, found: Listed) -> None:
    """The page of the list; a click on a row opens the run."""
    ids = list(found.rows["run"])
    runs = queries.runs(
        looked.store,
        limit=len(ids),
        alive=alive,
        viewer=looked.viewer,
        recordings=wanted.recordings,
        only=ids,
    )
    runs = runs.set_index("run", drop=False).reindex([run for run in ids if run in set(runs["run"])])
    table, columns = listed(runs, dict(zip(ids, found.rows["found"], strict=True)) if not wanted.is_everything else {})
    chosen = st.dataframe(
        table,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-cell",
        key="runs",
        placeholder="",
        alt="Table of runs; a click on a row opens the run",
        column_config=columns,
    )
    if cells := chosen["selection"]["cells"]:
        open_run(ids[cells[0][0]])
    as_csv(table, "runs")


def open_run(run: str) -> None:
    st.switch_page(shell.PAGES / "results/case.py", query_params={"run": run})


def alive(run: str) -> bool:
    """Whether the run goes on; one whose journal has just been deleted does not."""
    try:
        return session.runs().active(run)
    except NoSuchRun:
        return False


def listed(runs: pd.DataFrame, found: dict[str, int]) -> tuple[pd.DataFrame, dict[str, object]]:
    """The table as it is shown, and how its columns are. `found`: how many rows of each run a filter leaves."""
    labs = entry.labs()
    table: dict[str, object] = {
        "Asked": runs["at"],
        "Lab": [labs[lab].title if lab in labs else lab for lab in runs["lab"]],
        "About": runs["title"],
        "Model": [short(model) if isinstance(model, str) else "" for model in runs["model"]],
        "Method": [", ".join(words("how", how) for how in str(one).split(", ")) for one in runs["how"]],
        "Cases": runs["cases"],
        "Status": runs["status"],
    }
    if found:
        table["Found"] = [found[run] for run in runs["run"]]
    columns: dict[str, object] = {
        "Asked": st.column_config.DatetimeColumn(format="distance"),
        "About": st.column_config.TextColumn(width="large"),
        "Found": st.column_config.NumberColumn(help="Rows of the run that are as filtered."),
        "Model calls": st.column_config.NumberColumn(help="Answered calls of language models and robots."),
    }
    for lab in labs.values():
        for metric in lab.metrics:
            # A lab that was never used takes no room.
            if metric.leads and metric.name in runs and (runs["lab"] == lab.name).any():
                table[metric.title] = [
                    _figure(value, of, own == lab.name, metric.format)
                    for value, of, own in zip(runs[metric.name], runs["of"], runs["lab"], strict=True)
                ]
                columns[metric.title] = st.column_config.TextColumn(help=f"{metric.help} Repaired rules.")
    counted = [f"{n:.0f} of {of:.0f}" if pd.notna(of) else "" for n, of in zip(runs["n"], runs["of"], strict=True)]
    return pd.DataFrame(
        {**table, "Counted": counted, "Model calls": runs["answered"], "Failed calls": runs["failed"]}
    ), columns


def _figure(value: float | None, of: float | None, own: bool, format: str) -> str:
    """In words where there is no number: another lab's figure, one that has not come, and one that is undefined are
    three things.
    """
    if not own:
        return ""
    if value is not None and pd.notna(value):
        return f"{value:{format}}"
    return "undefined" if of is not None and pd.notna(of) else "not reached"
