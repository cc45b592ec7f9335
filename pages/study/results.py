"""The results of a study: its tables, each cell with n, interval and a link to the cases behind it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import streamlit as st

from core import entry, home
from core.charts import scatter
from core.labs.base.declared import FACETS
from core.report import methods, study_html
from core.store.filters import MOST_VALUES, Filter
from core.studies import table_cells, tables
from core.studies.plan import Planned, Study
from core.studies.run_status import StudyState
from core.studies.table_cells import MULTIVERSE, Row, has_figures, pivot
from core.studies.tables import DIFFERENCES
from core.text.display import on_hover
from pages import addresses
from pages.components import lab_page
from pages.components.tables import PLAIN, as_csv, download, table
from pages.components.text import plain
from pages.components.throttle import let_others_draw
from pages.components.widgets import short

if TYPE_CHECKING:
    from pandas import DataFrame

LARGEST = 12
"""Most columns of a table; a wider one is drawn as a list."""

READ = "study-found"
"""Session key of what was read from a study's journals."""

PATIENCE = 10.0
"""While a study runs, reading its journals again takes at most one part in this many of the time."""


@dataclass(frozen=True)
class StudyResults:
    """The cells of all tables, each with the `link` to its cases, and what is wrong with the controls."""

    cells: Sequence[Row] = ()
    off: Sequence[str] = ()


@dataclass
class _Kept:
    """What was found in the situation `now`, at time `at` (time.monotonic()), which took `took` seconds; `runs` caches
    what was read from completed runs.
    """

    now: tuple[Any, ...] = ()
    found: StudyResults = StudyResults()
    at: float = 0.0
    took: float = 0.0
    runs: dict[str, DataFrame] = field(default_factory=dict)


def load_results(state: StudyState, file: int, running: bool) -> StudyResults:
    """Return the study's results so far. `file` distinguishes versions of its file. While the study runs, the results
    may be slightly out of date.
    """
    study, cases = state.study, sum(len(one.cases) for one in state.runs.values())
    said = table_cells.bytes_said(study, entry.labs(), home.journals())
    now = (study.name, file, cases, state.statuses["completed"], said)
    if not cases:
        return StudyResults()
    kept: _Kept | None = st.session_state.get(READ)
    if kept is None or kept.now[:2] != now[:2]:
        kept = st.session_state[READ] = _Kept()
    elif kept.now == now or (running and time.monotonic() < kept.at + PATIENCE * kept.took):
        return kept.found
    began, labs = time.monotonic(), entry.labs()
    with let_others_draw():
        frame = tables.measured(study, labs, home.journals(), kept.runs)
        runs = {run.id: run for run in study.all}
        cells = [{**cell, "link": _link(study, runs, cell["behind"])} for cell in tables.all_cells(study, labs, frame)]
        kept.found = StudyResults(cells, tables.instrument_faults(labs, frame))
    kept.now, kept.at, kept.took = now, time.monotonic(), time.monotonic() - began
    return kept.found


def _link(study: Study, runs: Mapping[str, Planned], behind: Sequence[tuple[str, str]]) -> str:
    """Return the address at which Browse lists the cases behind a cell: its runs, and the facets that all these cases
    share.
    """
    if not behind:
        return ""
    of = list(dict.fromkeys(run for run, _ in behind))
    spec = {run: runs[run].spec.model_dump(mode="json") for run in of if run in runs}
    facets = [runs[run].lab.facets(spec[run], case) for run, case in behind if run in spec]
    alike = {name: {str(one.get(name) or "") for one in facets} for name in FACETS}
    chosen = {name: tuple(values) for name, values in alike.items() if len(values) == 1 and values != {""}}
    # An address holds only so many runs; for more it names the study.
    few = len(of) <= MOST_VALUES
    wanted = Filter(chosen=chosen if few else {**chosen, "study": (study.name,)}, runs=tuple(of) if few else ())
    return f"browse?{urlencode(wanted.query(), doseq=True)}"


def called(label: str) -> str:
    """Return the name of a row, a column or a cell on the screen."""
    return " · ".join(lab_page.all_words().get(part) or short(part) for part in label.split(" · "))


def draw(study: Study, found: StudyResults) -> None:
    """Draw the tables, those of the controls first; the calibration chart if the truth is known; and the downloads."""
    by_title: dict[str, list[Row]] = {}
    for cell in found.cells:
        by_title.setdefault(cell["table"], []).append(cell)
    for title, cells in by_title.items():
        if title == tables.CONTROLS:
            _controls(found, cells)
        elif title != "Power" and not title.startswith(MULTIVERSE):
            figure = title.rpartition(": ")[2].removesuffix(DIFFERENCES)
            if title.endswith(DIFFERENCES) and len(cells) > LARGEST:
                with st.expander(plain(title), icon=":material/difference:"):
                    _table(cells, title)
            else:
                st.subheader(plain(title), anchor=False, help=_meaning(figure))
                _table(cells, title)
            if title.endswith(DIFFERENCES):
                st.caption(
                    "First minus second, over the items that both have while all else is equal, with a 95 % interval; "
                    "p of a paired test, corrected by Holm's method for all pairs of this table."
                )
    if "Power" in by_title:
        st.subheader("Calibration: measured against true", anchor=False)
        st.caption(
            "Each point is a robot built to act on its explanations on a known share of its items. On "
            "the dotted line the measured share equals the true one."
        )
        figure = scatter.draw(found.cells)
        st.plotly_chart(
            figure,
            key="study-dial",
            config=PLAIN,
            alt="Above: the measured share over the true one, with intervals. Below: the chance of telling a robot "
            "from one that keeps to half of its explanations, over the number of items.",
        )
    for title, cells in by_title.items():
        if title.startswith(MULTIVERSE):
            with st.expander(
                f"How much analysis choices matter: {plain(title.removeprefix(MULTIVERSE))}",
                icon=":material/alt_route:",
            ):
                st.caption(
                    "The same answers, parsed and counted in every way that was tried: from the lowest to the highest "
                    "figure, and how much each choice alone changes it. This is a range, not an interval."
                )
                _table(cells, title)
    if by_title:
        take_along(study, found)


def _meaning(title: str) -> str | None:
    """Return the meaning of the figure with that title, from the glossary or else from its lab."""
    helps = {
        one.help
        for lab in entry.labs().values()
        for one in (*lab.metrics, *lab.studies.for_tables)
        if one.title == title
    }
    return on_hover(title, helps.pop() if len(helps) == 1 else None)


def _controls(found: StudyResults, cells: Sequence[Row]) -> None:
    """Draw the measured values of the robots beside the known ones."""
    icon, passed = (":material/error:", "Controls failed") if found.off else (":material/verified:", "Controls passed")
    with st.expander(passed, icon=icon, expanded=bool(found.off), key="study-controls"):
        then = "If one is measured wrongly, the study stops there."
        if found.off:
            then = "One was measured wrongly, so no figure below is reliable, and nothing more is asked."
        st.caption(f"Robots with known behaviour come first. {then}")
        rows = [
            {
                "Robot": plain(called(cell["row"])),
                "What is measured": plain(cell["column"]),
                "Must read": f"{cell['truth']:.2f}",
                "Reads": _value(cell),
                "Items": _items(cell),
            }
            for cell in cells
        ]
        st.table(rows, border="horizontal", hide_index=True, alt="Results of the controls")


def _table(cells: Sequence[Row], title: str) -> None:
    if not has_figures(cells):
        st.caption(plain(" ".join(str(cell["note"]) for cell in cells)))
        return
    if len({cell["column"] for cell in cells}) > LARGEST:
        _list(cells, title)
        return
    columns, rows = pivot(
        [{**cell, **{side: plain(called(cell[side])) for side in ("row", "column")}} for cell in cells]
    )
    drawn = [
        {" ": name, **{column: _cell(row[column]) if column in row else "–" for column in columns}}
        for name, row in rows.items()
    ]
    st.table(drawn, border="horizontal", hide_index=True, alt=title)
    printed = dict.fromkeys((cell["source"], cell["reading"]) for cell in cells if cell["reading"])
    if printed:
        why = " ".join(dict.fromkeys(cell["why"] for cell in cells if cell["why"]))
        st.caption(f"Printed: {'; '.join(f'[{plain(source)}]({address})' for source, address in printed)}. {why}")
    if any(cell["thin"] for cell in cells):
        st.caption(
            "\\* Of what was tried on these items, question by question or test by test, less than 70 % counts; the "
            "rest is excluded, each with its reason."
        )


def _list(cells: Sequence[Row], title: str) -> None:
    """Draw as a list a table that has too many columns."""
    names = {"Row": "row", "Column": "column", "Value": "value", "From": "low", "To": "high", "Items": "n", "Of": "of"}
    rows = [{**{shown: cell[name] for shown, name in names.items()}, "Cases": cell["link"] or None} for cell in cells]
    config = {"Cases": st.column_config.LinkColumn(display_text="Browse")}
    table(rows, f"study-list-{title}", title, column_config=config)


def _cell(cell: Row) -> str:
    """Return value, interval, items, and the paper's figure, if any."""
    parts = [] if cell["published"] is not None and not cell["of"] else [_value(cell)]
    if cell["low"] is not None and cell["high"] is not None:
        parts.append(f"{cell['low']:.2f} to {cell['high']:.2f}")
    if cell["of"]:
        parts.append(f"{_items(cell)} items" + (" \\*" if cell["thin"] else ""))
    if cell["other_parser"]:
        other = "undefined" if cell["other"] is None else f"{cell['other']:.2f}"
        parts.append(f"{cell['other_parser']}: {other}")
    if cell["truth"] is not None:
        parts.append(f"the truth is {cell['truth']:.2f}")
    if cell["p_holm"] is not None:
        parts.append(f"p {cell['p_holm']:.3f}")
    if cell["published"] is not None:
        apart = "" if cell["difference"] is None else f", ours {cell['difference']:+.2f}"
        parts.append(f"paper: {cell['published']:.2f}{apart}")
    if cell["note"]:
        parts.append(plain(str(cell["note"])))
    return " · ".join(parts) + ("" if cell["complete"] else " · so far")


def _items(cell: Row) -> str:
    return f"{cell['n']}" if cell["n"] == cell["of"] else f"{cell['n']} of {cell['of']}"


def _value(cell: Row) -> str:
    if cell["value"] is None:
        return "undefined" if cell["of"] else "–"
    shown = f"{cell['value']:.2f}"
    return f"[**{shown}**]({cell['link']})" if cell["link"] else f"**{shown}**"


def take_along(study: Study, found: StudyResults) -> None:
    """Draw the downloads, and the link to all cases of the study."""
    import pandas as pd

    with st.container(horizontal=True, vertical_alignment="center", key="study-along"):
        about = "One page that needs no network: plan, tables, and cases behind every cell."
        report, file = partial(_report, study), f"{study.name}.html"
        download("Download the report", report, file, "text/html", "description", "study-report", about)
        as_csv(lambda: pd.DataFrame(found.cells).drop(columns=["behind", "link"]), study.name)
        query = {"study": [study.name]}
        st.page_link(addresses.BROWSE, label="All cases in Browse", icon=":material/table_rows:", query_params=query)


def _report(study: Study) -> bytes:
    sentences = methods.sentences(entry.keeper().store, [run.id for run in study.all], figures=False)
    return study_html.html(study, entry.labs(), home.journals(), sentences)
