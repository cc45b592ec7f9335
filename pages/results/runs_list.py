"""The list of runs: when, by whom, about what, and the figures of each."""

from __future__ import annotations

from zlib import crc32

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.column_types import ColumnConfig

from core import entry
from core.runs.library import RunNotFoundError
from core.statistics.comparisons import MOST
from core.store import listing, queries
from core.store.filters import Filter
from core.store.listing import Listed, RowPlace, Selection
from core.store.store import Store
from pages import addresses
from pages.components import session, tables
from pages.components.models import short
from pages.components.side_by_side import MOST as SIDE_BY_SIDE
from pages.results import address, opened_case
from pages.results.columns import choose_columns
from pages.results.facets import words


def read(looked: Selection) -> Listed:
    """Return the page of the list that the address names."""
    return looked.runs(address.sort() == "oldest", address.anchor("after"), address.anchor("before"))


def draw(looked: Selection, found: Listed, line: DeltaGenerator) -> None:
    """Draw the current page of the list, and beside it the open run; the choice of columns is drawn in `line`."""
    ids = list(found.rows["run"])
    at = address.open_row()
    if at is None:
        _table(looked, ids, dict(zip(ids, found.rows["found"], strict=True)), "", line)
        return
    left, right = st.columns(opened_case.WIDTHS, gap="medium")
    with left:
        _table(looked, ids, {}, at.run, line)
    with right:
        ways, menu = opened_case.step([RowPlace(run) for run in ids], RowPlace(at.run))
        opened_case.draw(looked, at, ways, menu)


def _table(looked: Selection, ids: list[str], counts: dict[str, int], at: str, line: DeltaGenerator) -> None:
    """Draw the rows. A click on a row opens it; selected rows can be compared."""
    runs = queries.runs(
        looked.store, limit=len(ids), alive=alive, viewer=looked.viewer, recordings=looked.filter.recordings, only=ids
    )
    runs = runs.set_index("run", drop=False).reindex([run for run in ids if run in set(runs["run"])])
    table, columns = list_table(runs, counts if not looked.filter.is_everything else {})
    there = list(runs["run"])
    if at:
        table = table[["About", "Model"]]
        table.insert(0, "", ["▶" if run == at else "" for run in there])
        columns = {"": st.column_config.TextColumn(width=24), "About": st.column_config.TextColumn(width="medium")}
    else:
        table = choose_columns(table, line)
    together = None if at else st.container(horizontal=True, vertical_alignment="center", key="together")
    key = f"runs-{crc32(repr((there, bool(at))).encode())}"
    chosen = tables.table(
        table,
        key,
        "Table of runs; a click on a row opens the run",
        column_config=columns,
        **opened_case.clickable(key, len(table), lambda row, _: RowPlace(there[row]))
        | ({} if at else {"selection_mode": ["multi-row", "single-cell"]}),
    )
    if together:
        ticked = [there[row] for row in chosen["selection"]["rows"]]
        with together:
            _together(ticked, runs["lab"].reindex(ticked).nunique())
        tables.as_csv(table, "runs")


def _together(runs: list[str], labs: int) -> None:
    """Draw links that lead to all selected runs together."""
    if len(runs) < 2:
        st.caption(f"Click a run to open it. Tick 2 to {MOST} to compare them.")
        return
    if len(runs) > MOST or labs > 1:
        why = f"{len(runs)} are ticked" if len(runs) > MOST else "these are of several labs"
        st.caption(f"You can compare 2 to {MOST} runs of one lab; {why}.")
        return
    ways = [(addresses.COMPARE, f"Compare these {len(runs)}", ":material/balance:")]
    if len(runs) <= SIDE_BY_SIDE:
        ways.append((addresses.SIDE, "Side by side", ":material/view_column_2:"))
    for page, label, icon in ways:
        st.page_link(page, label=label, icon=icon, query_params={"runs": ",".join(runs)})


def alive(run: str) -> bool:
    """Whether the run is in progress; False if its journal has just been deleted."""
    try:
        return session.run(run).active()
    except RunNotFoundError:
        return False


def selection(store: Store, wanted: Filter) -> Selection:
    """Return the rows that the visitor wants and may see."""
    return Selection(store, wanted, session.viewer(), listing.interrupted(store, alive))


def list_table(runs: pd.DataFrame, found: dict[str, int]) -> tuple[pd.DataFrame, dict[str, ColumnConfig]]:
    """Return the table as shown, and the configuration of its columns. `found`: the number of rows per run that match a
    filter.
    """
    labs = entry.labs()
    senders = queries.senders(entry.keeper().store)
    table: dict[str, object] = {
        "Asked": runs["at"],
        "Lab": [labs[lab].title if lab in labs else lab for lab in runs["lab"]],
        "About": runs["title"],
        "Model": [short(model) if isinstance(model, str) else "" for model in runs["model"]],
        "Method": [", ".join(words("how", how) for how in str(one).split(", ")) for one in runs["how"]],
        "Cases": runs["cases"],
        "Status": runs["status"],
    }
    if senders.keys() & set(runs["run"]):
        table["Sent by"] = [senders.get(run, "") for run in runs["run"]]
    if found:
        table["Found"] = [found[run] for run in runs["run"]]
    columns: dict[str, ColumnConfig] = {
        "Asked": st.column_config.DatetimeColumn(format="distance"),
        "About": st.column_config.TextColumn(width="large"),
        "Found": st.column_config.NumberColumn(help="Rows of the run that match the filter."),
        "Model calls": st.column_config.NumberColumn(help="Answered calls of language models and robots."),
    }
    for lab in labs.values():
        for metric in lab.metrics:
            # Labs that were never used get no columns.
            if metric.leads and metric.name in runs and (runs["lab"] == lab.name).any():
                table[metric.title] = [
                    _figure(value, of, own == lab.name, metric.format)
                    for value, of, own in zip(runs[metric.name], runs["of"], runs["lab"], strict=True)
                ]
                columns[metric.title] = st.column_config.TextColumn(help=f"{metric.help} With the updated parser.")
    counted = [f"{n:.0f} of {of:.0f}" if pd.notna(of) else "" for n, of in zip(runs["n"], runs["of"], strict=True)]
    return pd.DataFrame(
        {**table, "Counted": counted, "Model calls": runs["answered"], "Failed calls": runs["failed"]}
    ), columns


def _figure(value: float | None, of: float | None, own: bool, format: str) -> str:
    """Return a figure as text; it is empty for another lab's figure, and otherwise says if it is undefined or not
    reached.
    """
    if not own:
        return ""
    if value is not None and pd.notna(value):
        return f"{value:{format}}"
    return "undefined" if of is not None and pd.notna(of) else "not reached"
