"""The progress of a study, in a sentence, bars and buttons, with what it has spent. Redrawn while the study runs."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from core import entry, home
from core.errors import ExplainError
from core.journal import JournalInUseError
from core.runs.library import RunNotFoundError
from core.statistics.intervals import FEW
from core.studies import plan
from core.studies.execute import UnderWay
from core.studies.plan import MOST_AT_ONCE, Study
from core.studies.run_status import CONTROLS, StudyProgress
from core.studies.tables import DIFFERENCES
from core.text.display import count_noun
from pages.components import session
from pages.components.tables import button, table
from pages.components.text import plain
from pages.results.facets import words as of_facet
from pages.study.form import edit
from pages.study.results import READ, StudyResults, called

# The state of a study in a sentence or two.


State = Literal["new", "running", "pausing", "paused", "interrupted", "spent", "off", "failed", "done"]


class StateLook(NamedTuple):
    """How a state is shown: colour, word and icon of its badge, and the primary button's label, '' if it has none."""

    colour: str
    badge: str
    icon: str
    button: str = ""


LOOKS: dict[State, StateLook] = {
    "new": StateLook("gray", "planned", "checklist", "Start"),
    "running": StateLook("blue", "running", "sync"),
    "pausing": StateLook("orange", "pausing", "hourglass_bottom"),
    "paused": StateLook("orange", "paused", "pause_circle", "Resume"),
    "interrupted": StateLook("orange", "interrupted", "info", "Go on"),
    "spent": StateLook("orange", "budget spent", "info"),
    "off": StateLook("red", "controls failed", "error", "Try the controls again"),
    "failed": StateLook("red", "stopped on an error", "error", "Try again"),
    "done": StateLook("green", "done", "check_circle"),
}


def state_of(now: StudyProgress, going: UnderWay | None, off: Sequence[str]) -> State:
    """Return the state of the study, from its journals, from what this process knows, and from the results of its
    controls.
    """
    goes_on = going is not None and not going.over.is_set()
    if goes_on or now.status.get("running"):
        return "pausing" if now.paused else "running"
    if off:
        return "off"
    if now.ended == now.runs:
        return "done"
    begun = any(cell.answered or cell.completed for cell in now.cells if cell.cell != CONTROLS)
    if is_spent(now) or (going is not None and going.outcome.spent):
        return "spent"
    if now.paused and begun:
        return "paused"
    if now.status.get("failed") or (going is not None and (going.fault or going.outcome.failed)):
        return "failed"
    return "interrupted" if begun or now.status.get("interrupted") or now.status.get("cancelled") else "new"


def is_spent(now: StudyProgress) -> bool:
    """Whether a budget is used up."""
    calls = now.budget_calls is not None and now.paid >= now.budget_calls
    return calls or (now.budget_money is not None and now.money >= now.budget_money)


def status(state: State, study: Study, now: StudyProgress, going: UnderWay | None, off: Sequence[str]) -> str:
    """Return the sentence under the title: what the state means."""
    completed, kept = f"{now.ended} of {count_noun(now.runs, 'run')} completed", "Answers are kept"
    match state:
        case "running":
            left = "" if now.minutes is None else f", about {minutes(now.minutes)} left"
            return f"{completed}{left}."
        case "pausing":
            return f"No new calls; it waits for those under way. {completed}."
        case "paused":
            return f"No calls are made now; {completed}. {kept}."
        case "interrupted":
            why = "It stopped early, for example because the app was closed"
            return f"{why}; {completed}. {kept}, and not asked again."
        case "spent":
            return f"The budget of {budget(study)} is used up; {completed}. {kept}."
        case "off":
            why = "A robot with known behaviour was measured wrongly, so no figure of this study is reliable."
            return " ".join([why, *off])
        case "failed":
            here = [going.fault, *going.outcome.failed.values()] if going is not None else []
            reasons = dict.fromkeys([*now.stopped.values(), *here])
            failed = now.status.get("failed", 0)
            of = f"{count_noun(failed, 'run')} failed; " if failed else ""
            return f"{of}{completed}. {' '.join(filter(None, reasons))}"
        case "done":
            lost = sum(now.failures.values())
            but = f" {count_noun(lost, 'call')} failed on the way; no figure counts them as answers." if lost else ""
            early = len(now.stopped_early)
            enough = f", {early} of them early: their intervals were narrow enough" if early else ""
            return f"All {count_noun(now.runs, 'run')} completed{enough}.{but}"
    if now.status.get("completed"):
        return f"Not begun; {completed} already, as controls or for other studies."
    return "Nothing was asked yet."


def finding(cells: Sequence[Mapping[str, Any]], called: Callable[[str], str]) -> str:
    """Return a sentence on the highest and lowest value of the first table of one figure; empty if there are not two
    values to compare. `called` returns the names of rows and columns.
    """
    own = [cell for cell in cells if cell["table"] not in ("Controls", "Power") and not cell["mixed"]]
    first = [cell for cell in own if cell["table"] == own[0]["table"] and cell["value"] is not None] if own else []
    if len(first) < 2:
        return ""
    low, high = min(first, key=lambda cell: float(cell["value"])), max(first, key=lambda cell: float(cell["value"]))
    if low["value"] == high["value"]:
        return f"{first[0]['table']}: {low['value']:.2f} for each of the {len(first)} compared."
    # What both have in common, such as the way to explain, does not distinguish them.
    alike = {low["row"], low["column"]} & {high["row"], high["column"]}
    ends = f"from {_figure(low, called, alike)} to {_figure(high, called, alike)}"
    return f"{first[0]['table']} goes {ends}.{_apart(cells, high, low)}"


def _apart(cells: Sequence[Mapping[str, Any]], high: Mapping[str, Any], low: Mapping[str, Any]) -> str:
    """Return how much the highest and the lowest value differ over the items that both have or, if this pair was not
    tested, how many pairs of the table differ. The overlap of two cells' intervals would not answer that.
    """
    pairs = [cell for cell in cells if cell["table"] == f"{high['table']}{DIFFERENCES}"]
    tested = [cell for cell in pairs if cell["p_holm"] is not None]
    for same, other in (("row", "column"), ("column", "row")):
        for cell in tested if high[same] == low[same] else ():
            ways = {f"{high[other]} over {low[other]}": 1, f"{low[other]} over {high[other]}": -1}
            if cell[same] == high[same] and (sign := ways.get(cell[other])):
                return _difference(cell, sign, len(tested))
    if not tested:
        return " They share no item on which all else is equal, so no difference is given." if pairs else ""
    far = sum(cell["p_holm"] <= LIKELY and cell["n"] >= FEW for cell in tested)
    return (
        f" Of {count_noun(len(tested), 'pair')} over the same items {far or 'none'} differ{'' if far > 1 else 's'} by "
        "more than chance."
    )


def _difference(cell: Mapping[str, Any], sign: int, tests: int) -> str:
    over = f" Over the {count_noun(cell['n'], 'item')} that both have the difference is {sign * cell['value']:.2f}"
    if cell["n"] < FEW:
        return f"{over}: fewer than {FEW}, an example and not a finding."
    known = None not in (cell["low"], cell["high"])
    low, high = sorted((sign * cell["low"], sign * cell["high"])) if known else (0.0, 0.0)
    between = f"{low:.2f} to {high:.2f}; " if known else ""
    p = "below 0.001" if cell["p_holm"] < 0.001 else f"{cell['p_holm']:.3f}"
    return f"{over} ({between}p {p}{f', for all {tests} pairs' if tests > 1 else ''})."


LIKELY = 0.05
"""A difference counts as more than chance if its corrected p is at most this."""


def _figure(cell: Mapping[str, Any], called: Callable[[str], str], alike: Collection[str]) -> str:
    names = " · ".join(called(name) for name in (cell["row"], cell["column"]) if name not in alike)
    return f"{cell['value']:.2f} ({names}, {count_noun(cell['n'], 'item')})"


def budget(study: Study) -> str:
    """Return the study's budget in words."""
    calls = [count_noun(study.budget_calls, "call")] if study.budget_calls else []
    return " or ".join(calls + ([f"{study.budget_money:.2f} US dollars"] if study.budget_money else []))


def minutes(number: float) -> str:
    """Return a time in words."""
    if number < 1:
        return "a minute"
    return f"{number:.0f} minutes" if number < 90 else f"{number / 60:.0f} hours"


TROUBLE = "study-trouble"
"""Session key of the study that could not be continued, and why."""

COLOURS = {"blue": st.info, "green": st.success, "orange": st.warning, "red": st.error}


def verdict(words: str, state: State, found: StudyResults) -> None:
    """Draw the state, with the sentence on it, and the finding."""
    text, look = plain(words), LOOKS[state]
    if state != "off" and (sentence := finding(found.cells, called)):
        text += f"\n\n**{plain(sentence)}**"
    if state == "new":
        st.markdown(f":gray-badge[{look.badge}] {text}")
        return
    COLOURS[look.colour](text, icon=f":material/{look.icon}:", title=look.badge.capitalize())


def buttons(study: Study, state: State, now: StudyProgress, text: str) -> None:
    """Draw the buttons to start, continue or pause, and the number of runs at a time. `text` is the study's file."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="study-buttons"):
        if go_on := LOOKS[state].button:
            does = _again if state == "off" else _start
            button(go_on, "play_arrow", "study-go", does, study, type="primary")
        if state == "spent":
            button("Raise the budget", "edit", "study-raise", edit, text, type="primary")
        if state in ("running", "pausing"):
            pausing, wanted = state == "pausing", {"paused": True}
            button("Pause", "pause", "study-pause", _want, study, wanted, type="secondary", disabled=pausing)
        if state in ("running", "pausing", "paused", "interrupted"):
            key = "study-at-once-now"

            def keep() -> None:
                _want(study, {"at_once": int(st.session_state[key])})

            st.number_input("Runs at a time", 1, MOST_AT_ONCE, now.at_once, key=key, width=160, on_change=keep)
    if state == "spent":
        st.caption(
            "This opens the file as a text. Raise the budget there, and plan it as another study: answers are "
            "reused, and nothing is asked twice."
        )
    if (trouble := st.session_state.get(TROUBLE)) and trouble[0] == study.name and go_on:
        session.problems(trouble[1])


def _want(study: Study, changes: dict[str, object]) -> None:
    plan.want(home.home(), study.name, **changes)


def _start(study: Study) -> None:
    st.session_state.pop(TROUBLE, None)
    try:
        entry.studies().start(study, session.catalog().get, session.visitor().name)
    except (ExplainError, OSError) as error:
        st.session_state[TROUBLE] = (study.name, error)


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
                "Asked of models",
                f"{now.paid:,}{of}",
                help="Calls of models other than robots, including failed calls.",
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
    rows = []
    for cell in now.cells:
        named = "robots with known behaviour, asked first" if cell.cell == CONTROLS else called(cell.cell)
        rows.append(
            {
                "Done": int(100 * cell.share),
                "What": f"{cell.lab} · {named}".removesuffix(" · "),
                "Cases": f"{cell.cases:,} of {cell.of:,}" if cell.of else f"{cell.cases:,}",
                "Calls": cell.answered,
                "Failed": sum(cell.failures.values()),
            }
        )
    config: dict[str, ColumnConfig] = {
        "Done": st.column_config.ProgressColumn(format="%d %%", min_value=0, max_value=100, width="small"),
        "What": st.column_config.TextColumn(width="large"),
    }
    high, about = min(38 + 35 * max(1, len(rows)), 320), "How far each combination of settings is"
    table(rows, "study-cells", about, height=high, column_config=config)
