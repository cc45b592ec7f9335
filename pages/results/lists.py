"""The lists of Browse, of runs and of cases and trials: their columns, rows and figures; and the case that is open
beside one.
"""

import json
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any
from zlib import crc32

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.column_types import ColumnConfig

from core import entry
from core.runs.library import RunInAuditError, RunNotFoundError
from core.statistics.comparisons import MOST
from core.store import audits, listing, ranking, run_list
from core.store.filters import Filter
from core.store.listing import EVERYTHING, Listed, RowPlace, Selection
from core.store.store import Store
from pages import addresses
from pages.components import labels, reader_accuracy, run_view, session, tables
from pages.components.lab_page import page_of
from pages.components.run import actions, damage, go_on
from pages.components.side_by_side import MOST as SIDE_BY_SIDE
from pages.components.text import plain, shortened
from pages.components.widgets import short
from pages.results import address, meaning
from pages.results.facets import words
from pages.viewer.component import ListRow, Staging, stage

# One case beside the list: its outcome, the case as its lab's page draws it, and the same question in other runs.


HIGH, BESIDE = 560, 300
"""Height in pixels of a list with many rows, alone and above the verdict on a row."""

WIDTHS = (2, 3)
"""Relative widths of a list and the case beside it."""

ELSEWHERE = 20
"""Most cases of the same question that are listed."""


def clickable(key: str, rows: int, place: Callable[[int, str], RowPlace | None], most: int = HIGH) -> dict[str, Any]:
    """Return the arguments of a list with that key and number of rows, at most `most` pixels high: a click on a cell
    opens the `place` of its row and column.
    """

    def take() -> None:
        for row, column in st.session_state[key]["selection"]["cells"]:
            # The browser may have opened it, for a finger (live.js).
            if (found := place(row, column)) and found != address.open_row():
                address.open_at(found)

    return {"on_select": take, "selection_mode": "single-cell", "height": most if 36 * (rows + 1) > most else "auto"}


Ways = Mapping[str, RowPlace | None]
"""The rows to which keys on the stage lead: the "next" and the "previous" one."""


LAYOUT = """<style>
:root:not([data-ahead]) [data-testid="stColumn"]:has(.st-key-alone) + [data-testid="stColumn"] {display: none}
@media (min-width: 1000px) {
[data-testid="stColumn"]:has(.st-key-beside, .st-key-alone) {position: sticky; top: 4rem; align-self: flex-start}
}
@media (max-width: 640px) {
[data-testid="stColumn"]:has(.st-key-beside) {order: 1}
:root[data-ahead] [data-testid="stColumn"]:has(.st-key-alone) {order: 1}
.st-key-beside {flex-direction: column-reverse}
.st-key-labels [data-testid="stHorizontalBlock"], .st-key-labels .stHorizontalBlock {row-gap: 0.25rem}
}
</style>"""
"""The list and the reader's verdict stay in view beside a long case. On a phone the case comes first,
then the verdict, then the list. A list alone has all the width, until the browser opens a row of it (live.js).
"""


def step(places: list[RowPlace], at: RowPlace) -> tuple[Ways, DeltaGenerator]:
    """Draw buttons to the next row, the previous one, and back to the list alone. Returns the rows for `draw`, and the
    place of the run's menu.
    """
    here = places.index(at) if at in places else -1
    before = places[here - 1] if here > 0 else None
    after = places[here + 1] if 0 <= here < len(places) - 1 else (places[0] if here < 0 and places else None)
    with st.container(horizontal=True, vertical_alignment="center", key="step-through"):
        for label, icon, place in (("Previous", "arrow_upward", before), ("Next", "arrow_downward", after)):
            more: dict[str, Any] = {"type": "secondary", "disabled": place is None}
            tables.button(label, icon, f"to-{label.lower()}", address.open_at, place, **more)
        close()
        menu = st.container(width="content")
    return {"next": after, "previous": before}, menu


def close() -> None:
    """Draw the button back to the list alone."""
    tables.button("Close", "close", "close", address.open_at, None)


def wait_for_row(listed: Sequence[ListRow]) -> None:
    """Draw what an opened case needs, beside a list from which none is open: it is hidden until the browser draws one
    of the rows `listed` there. The page, which hears of the click later, then draws the same case in the same place.
    """
    _, menu = step([], RowPlace(""))
    menu.popover("More", icon=":material/more_horiz:", type="tertiary", disabled=True)
    with st.container():
        meaning.more_like(RowPlace(""))
    st.container()
    went = stage("read", [], run_view.STAGE_OF_LIST, staging=Staging(steps=True, listed=listed))
    if went.startswith("row ") and _go(went, listed):
        st.rerun()


def _go(where: str, listed: Sequence[ListRow]) -> bool:
    """Open the row to which the browser went by itself: "row" and the JSON of its place. Returns whether it was not
    open yet.
    """
    place = RowPlace(*json.loads(where.removeprefix("row ")))
    # The browser has set the address already; setting it again would be a step of its own for *back*.
    is_new = place != address.open_row() and place in [RowPlace(*one.place) for one in listed]
    if is_new:
        address.open_at(place)
    return is_new


def draw_open_case(
    looked: Selection,
    at: RowPlace,
    ways: Ways | None = None,
    menu: DeltaGenerator | None = None,
    verdict: DeltaGenerator | None = None,
    listed: Sequence[ListRow] = (),
    here: ListRow | None = None,
) -> None:
    """Draw the case of the row `at`, or report that its run is gone. Keys on the stage lead to `ways` and back to the
    list. The run's menu is drawn in the container `menu`, and the visitor's verdict in `verdict`; without them, below
    the case. The browser steps through the rows `listed` by itself, beginning `here`.
    """

    def go(where: str) -> bool:
        if where.startswith("row "):
            return _go(where, listed)
        if is_known := where == "close" or bool((ways or {}).get(where)):
            address.open_at((ways or {}).get(where))
        return is_known

    try:
        # Reading a run of a thousand trials takes seconds; one steps from case to case.
        whole = not at.case or bool(st.session_state.get(run_view.WHOLE))
        state, active = run_view.load_run(at.run, whole)
    except RunInAuditError as error:
        reader_accuracy.not_yet_judged(error)
        return
    except RunNotFoundError as error:
        st.error(plain(str(error)), title=error.title, icon=":material/error:")
        return
    lab = entry.labs().get(state.started.lab) if state.started else None
    if lab is None:
        st.error("No lab of this app made this run.", icon=":material/error:")
        return
    # Within a container, so that what follows keeps its place on the page, and the stage stays while one steps.
    with st.container():
        if not active:
            damage(at.run)
    cases = run_view.CaseList(go, listed, here)
    run_view.watched(run_view.Shown(lab, at.run, state, active), cases, case_first=bool(at.case))
    if not active:
        with verdict or st.container():
            labels.draw(lab, at.run, state, at.case or run_view.chosen_case(state), at.trial if at.case else None)
        go_on(at.run, state)
        actions(at.run, state, here="browse", place=menu or st.container())
    _elsewhere(looked, at)


def _elsewhere(looked: Selection, at: RowPlace) -> None:
    """List the same question in other runs: with other models or other ways to explain."""
    others = looked.by(EVERYTHING).elsewhere(at, ELSEWHERE)
    if others.empty:
        return
    st.markdown("#### The same question elsewhere", anchors=False)
    for number, row in enumerate(others.itertuples(index=False)):
        said = short(row.model or ""), words("how", row.how), words("lab", row.lab), words("outcome", row.outcome or "")
        label, to = plain(shortened(" · ".join(filter(None, said)))), RowPlace(row.run, row.case)
        tables.button(label, "arrow_forward", f"elsewhere-{number}", address.open_at, to)
    if len(others) == ELSEWHERE:
        st.caption(f"The newest {ELSEWHERE}.")


def choose_columns(table: pd.DataFrame, line: DeltaGenerator) -> pd.DataFrame:
    """Draw the choice of columns in `line`. Returns the table with those that were chosen, in that order, or with all;
    a column without a name, which marks rows, stays first.
    """
    known = [name for name in table if name]
    now = address.columns(known)
    with line.popover(
        f"Columns: {len(now)} of {len(known)}" if now else "Columns", icon=":material/view_column:", type="tertiary"
    ):
        st.multiselect(
            "Columns, in this order",
            known,
            placeholder="All",
            width=420,
            **address.bound("columns", now, lambda chosen: address.update(columns=chosen)),
        )
    marks = [name for name in table if not name]
    return table[[*marks, *now]] if now else table


# The list of cases and trials: one row per thing tested, with its outcome.


def draw_cases(looked: Selection, found: Listed, line: DeltaGenerator) -> None:
    """Draw the current page of the list, and beside it the open row; the choice of columns is drawn in `line`."""
    places = found.places()
    at = address.open_row()
    left, right = st.columns(WIDTHS, gap="medium")
    st.html(LAYOUT)
    if at is None:
        with left, st.container(key="alone"):
            cases_table(looked, found, at, line)
        with right:
            wait_for_row(_listed(_rows(looked, found.rows)))
        return
    with left, st.container(key="beside"):
        beside, verdict = st.container(), st.container()
    # Last, as the filters are (browse.py).
    try:
        with right:
            ways, menu = step(places, at)
            with st.container():
                if at.case:
                    meaning.more_like(at)
            # A link may open a row that is not on this page of the list.
            rows = _rows(looked, found.rows if at in places else looked.row(at))
            here = next((row for row in rows if row.place == at), None)
            listed = _listed(rows) if at in places else []
            draw_open_case(looked, at, ways, menu, verdict, listed, here)
    finally:
        with beside:
            cases_table(looked, found, at, line)


def _listed(rows: list[ListRow]) -> list[ListRow]:
    """Return the rows that the browser may open by itself: those of a case; none for a reader who guesses first."""
    pages = map(page_of, entry.labs().values())
    if any(page.guess_param and page.guess_param in st.query_params for page in pages):
        return []
    return [row for row in rows if row.place[1]]


def _rows(looked: Selection, rows: pd.DataFrame) -> list[ListRow]:
    """Return for each row what a reader came for: what was asked, the explanation under test, what was expected, what
    came, and why the row has its place in the list.
    """
    ranks = _ranking(looked)
    return [_row(number, row, ranks) for number, row in enumerate(rows.to_dict("records"))]


def _row(number: int, row: dict[Hashable, Any], ranks: Mapping[RowPlace, str]) -> ListRow:
    place = RowPlace(row["run"], row["case"], row["trial"])
    lines = [shortened(row["about"] or row["title"], 200)]
    if isinstance(explanation := row["explanation"], str) and explanation.strip():
        of = f" of its answer to “{shortened(row['title'], 100)}”" if row["trial"] and row["about"] else ""
        lines.append(f"Its explanation{of}: {' '.join(explanation.split())}")
    said = f"expected {_said(row['expected'])} · it said {_said(row['observed'])} · "
    came = _outcome(row["outcome"], row["reason"], row["error"], row["status"])
    lines.append((said if row["outcome"] and row["expected"] else "") + came)
    if why := ranks.get(place):
        lines.append(f"{RANKED[address.sort()]}: {why}")
    return ListRow((place.run, place.case, place.trial), tuple(lines), number)


RANKED = {"instructive": "Instructive", "meaning": "Likeness"}
"""The column that says why a row has its place, by the order of the list."""


INSTRUCTIVE = (
    "How many of these are true. *harm*: the explanation led to a wrong prediction and nothing makes that doubtful; "
    "*parsers*: both agree; *votes*: all of the predictor's votes agree; *gold*: the correct answer is known; "
    "*no copy*: it is not a near copy of the row above."
)


def read_cases(looked: Selection) -> Listed:
    """Return the page of the list that the address names."""
    ends = address.anchor("after"), address.anchor("before")
    order = list(_ranking(looked))
    # Nothing is compared by meaning before there is a text, and vectors.
    sort = "newest" if address.sort() in RANKED else address.sort()
    return ranking.page(looked, order, *ends) if order else looked.items(sort, *ends)


def _ranking(looked: Selection) -> dict[RowPlace, str]:
    """Return the places of an order that no column gives, each with why it is there; empty for other orders."""
    sort = address.sort()
    if sort not in RANKED:
        return {}
    like = address.like() if sort == "meaning" else ""
    return _ranked(sort, like, repr((looked.filter, looked.blind)), looked.viewer, looked.store.writer.writes, looked)


@st.cache_data(max_entries=8, show_spinner=False)
def _ranked(
    sort: str, like: RowPlace | str, filter: str, viewer: str | None, writes: int, _looked: Selection
) -> dict[RowPlace, str]:
    """Return the ranking; the other arguments are what it depends on."""
    if sort == "instructive":
        return dict(ranking.by_instructive(_looked))
    encoder = meaning.encoder()
    return dict(ranking.by_meaning(_looked, like, encoder)) if encoder else {}


def questions(rows: pd.DataFrame) -> list[str]:
    """Return each row's question: for a trial what it asked, such as a new question; for a case the question itself,
    without anything inserted into it, such as a cue.
    """
    named = zip(rows["trial"], rows["about"], rows["title"], strict=True)
    return [about if trial and about else title for trial, about, title in named]


def cases_table(looked: Selection, found: Listed, at: RowPlace | None, line: DeltaGenerator) -> None:
    """Draw the rows, with the columns of people's own files last; a click anywhere on a row opens it."""
    rows = found.rows
    places = found.places()
    labs = entry.labs()
    narrow = at is not None
    shown = pd.DataFrame(
        {
            # By these numbers the browser knows the rows of a table that its reader sorted (live.js).
            "": ["▶" if place == at else str(number) for number, place in enumerate(places, start=1)],
            "Question": questions(rows),
            "Expected": [_said(value) for value in rows["expected"]],
            "It said": [_said(value) for value in rows["observed"]],
            "Outcome": [
                _outcome(*row) for row in rows[["outcome", "reason", "error", "status"]].itertuples(index=False)
            ],
            "Its explanation": [
                " ".join(str(text).split()) if isinstance(text, str) else "" for text in rows["explanation"]
            ],
            "Model": [short(model) for model in rows["model"]],
            "How": [words("how", how) for how in rows["how"]],
            "Lab": [labs[lab].title if lab in labs else lab for lab in rows["lab"]],
            "Rules": ["differ" if differ else "" for differ in rows["differ"]],
            "Run of": rows["at"],
        }
    )
    if ranks := _ranking(looked):
        shown.insert(1, RANKED[address.sort()], [ranks.get(place, "") for place in places])
    if narrow:
        shown = shown[["", "Question", "Outcome", "Model"]]
    else:
        own = pd.DataFrame(looked.extra_values(places), index=shown.index)
        shown = shown.join(own.rename(columns={name: f"{name} (your column)" for name in own if name in shown}))
        own_labels = looked.own_labels(places)
        for one in labels.labellers():
            values = [here.get((one.scheme, one.who), "") for here in own_labels]
            if any(values) and one.title not in shown:
                shown[one.title] = values
        shown = choose_columns(shown, line)
    # A new key per page, so that the selection of the previous page is forgotten.
    key = f"items-{crc32(repr((places, narrow)).encode())}"

    tables.table(
        shown,
        key,
        "Table of cases and trials: what was expected, what was said, and the outcome; a click opens one",
        **clickable(key, len(shown), lambda row, _: places[row], BESIDE if narrow else HIGH),
        column_config={
            "": st.column_config.TextColumn(width=36),
            "Question": st.column_config.TextColumn(width="medium" if narrow else 300),
            "Its explanation": st.column_config.TextColumn(width="medium"),
            "Instructive": st.column_config.TextColumn(width=260, help=INSTRUCTIVE),
            "Likeness": st.column_config.TextColumn(help="Mean cosine of the questions and of the explanations."),
            "Run of": st.column_config.DatetimeColumn(format="distance"),
            "Rules": st.column_config.TextColumn(help="Whether the original and the updated parser disagree on it."),
        },
    )
    if not narrow:
        tables.as_csv(shown.drop(columns=""), "cases")


def _said(value: object) -> str:
    return words("said", value) if isinstance(value, str) and value else "–"


def _outcome(outcome: str, reason: str, error: str, status: str) -> str:
    """Return the outcome in words; excluded, failed, not reached and not asked are distinguished."""
    if outcome and reason:
        return f"{words('outcome', outcome)}: {words('reason', reason)}"
    if outcome and outcome != "failed":
        return words("outcome", outcome)
    if error:
        return f"failed: {words('error', error)}"
    return {"running": "going on", "completed": "nothing"}.get(status, f"not reached: {status}")


# The list of runs: when, by whom, about what, and the figures of each.


def draw_runs(looked: Selection, found: Listed, line: DeltaGenerator) -> None:
    """Draw the current page of the list, and beside it the open run; the choice of columns is drawn in `line`."""
    ids = list(found.rows["run"])
    at = address.open_row()
    if at is None:
        _table(looked, ids, dict(zip(ids, found.rows["found"], strict=True)), "", line)
        return
    left, right = st.columns(WIDTHS, gap="medium")
    # The table last, as in `draw_cases`.
    try:
        with right:
            ways, menu = step([RowPlace(run) for run in ids], RowPlace(at.run))
            draw_open_case(looked, at, ways, menu)
    finally:
        with left:
            _table(looked, ids, {}, at.run, line)


def _table(looked: Selection, ids: list[str], counts: dict[str, int], at: str, line: DeltaGenerator) -> None:
    """Draw the rows. A click on a row opens it; selected rows can be compared."""
    only: dict[str, Any] = {"limit": len(ids), "only": ids, "recordings": looked.filter.recordings}
    blind = {run for run, _ in looked.blind}
    runs = run_list.runs(looked.store, alive=alive, viewer=looked.viewer, blind=blind, **only)
    runs = runs.set_index("run", drop=False).reindex([run for run in ids if run in set(runs["run"])])
    table, columns = list_table(runs, counts if not looked.filter.is_everything else {}, blind)
    there = list(runs["run"])
    if at:
        table = table[["About", "Model"]]
        table.insert(0, "", ["▶" if run == at else "" for run in there])
        columns = {"": st.column_config.TextColumn(width=24), "About": st.column_config.TextColumn(width="medium")}
    else:
        table = choose_columns(table, line)
    together = None if at else st.container(horizontal=True, vertical_alignment="center", key="together")
    key = f"runs-{crc32(repr((there, bool(at))).encode())}"
    options = clickable(key, len(table), lambda row, _: RowPlace(there[row]))
    if not at:
        options["selection_mode"] = ["multi-row", "single-cell"]
    about = "Table of runs; a click on a row opens the run"
    chosen = tables.table(table, key, about, column_config=columns, **options)
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
        return session.runs().unredacted(run).active()
    except RunNotFoundError:
        return False


def selection(store: Store, wanted: Filter) -> Selection:
    """Return the rows that the visitor wants and may see."""
    blind = audits.unjudged(store, session.runs().labeller)
    return Selection(store, wanted, session.viewer(), listing.interrupted(store, alive), blind)


BLIND = "hidden until your blind audit ends"
"""A figure of a run with answers that the visitor has yet to judge."""


def list_table(
    runs: pd.DataFrame, found: dict[str, int], blind: Collection[str] = ()
) -> tuple[pd.DataFrame, dict[str, ColumnConfig]]:
    """Return the table as shown, and the configuration of its columns. `found`: the number of rows per run that match a
    filter; `blind`: the runs whose figures are hidden.
    """
    labs = entry.labs()
    senders = run_list.senders(entry.keeper().store)
    table: dict[str, object] = {
        "Asked": runs["at"],
        "Lab": [labs[lab].title if lab in labs else lab for lab in runs["lab"]],
        # The titles in journals of qualification tests are part of their runs' names, so they stay as they were.
        "About": runs["title"].replace({test.spec.model_fields["title"].default: test.title for test in entry.TESTS}),
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
                    BLIND if run in blind and own == lab.name else _figure(value, of, own == lab.name, metric.format)
                    for run, value, of, own in runs[["run", metric.name, "of", "lab"]].itertuples(index=False)
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
