"""The list of cases and trials: one row per thing tested, with its outcome."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any
from zlib import crc32

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core import entry
from core.store import ranking
from core.store.listing import Listed, RowPlace, Selection
from pages.components import tables
from pages.components.labels import labellers
from pages.components.models import short
from pages.components.text import shortened
from pages.results import address, meaning, opened_case
from pages.results.columns import choose_columns
from pages.results.facets import words
from pages.viewer.component import ListRow


def draw(looked: Selection, found: Listed, line: DeltaGenerator) -> None:
    """Draw the current page of the list, and beside it the open row; the choice of columns is drawn in `line`."""
    places = found.places()
    at = address.open_row()
    if at is None:
        table(looked, found, at, line)
        return
    left, right = st.columns(opened_case.WIDTHS, gap="medium")
    st.html(opened_case.LIST_STAYS)
    with left, st.container(key="beside"):
        beside, verdict = st.container(), st.container()
    # Last, as the filters are (browse.py).
    try:
        with right:
            ways, menu = opened_case.step(places, at)
            with st.container():
                if at.case:
                    meaning.more_like(at)
            # A link may open a row that is not on this page of the list.
            shown = found.rows if at in places else looked.row(at)
            rows = {one.place: one for one in _rows(looked, shown)}
            listed = [row for row in rows.values() if row.place[1]] if at in places else []
            opened_case.draw(looked, at, ways, menu, verdict, listed, rows.get((at.run, at.case, at.trial)))
    finally:
        with beside:
            table(looked, found, at, line)


def _rows(looked: Selection, rows: pd.DataFrame) -> list[ListRow]:
    """Return for each row what a reader came for: what was asked, the explanation under test, what was expected, what
    came, and why the row has its place in the list.
    """
    ranks = _ranking(looked)
    return [_row(row, ranks) for row in rows.to_dict("records")]


def _row(row: dict[Hashable, Any], ranks: Mapping[RowPlace, str]) -> ListRow:
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
    return ListRow((place.run, place.case, place.trial), tuple(lines))


RANKED = {"instructive": "Instructive", "meaning": "Likeness"}
"""The column that says why a row has its place, by the order of the list."""


INSTRUCTIVE = (
    "How many of these hold. *harm*: the explanation led to a wrong prediction and nothing makes that doubtful; "
    "*parsers*: both agree; *votes*: all of the predictor's votes agree; *gold*: the correct answer is known; "
    "*no copy*: it is no near copy of the row above."
)


def read(looked: Selection) -> Listed:
    """Return the page of the list that the address names."""
    ends = address.anchor("after"), address.anchor("before")
    if order := list(_ranking(looked)):
        return ranking.page(looked, order, *ends)
    # Nothing is compared by meaning before there is a text, and vectors.
    return looked.items("newest" if address.sort() in RANKED else address.sort(), *ends)


def _ranking(looked: Selection) -> dict[RowPlace, str]:
    """Return the places of an order that no column gives, each with why it is there; empty for other orders."""
    sort = address.sort()
    if sort not in RANKED:
        return {}
    like = address.like() if sort == "meaning" else ""
    return _ranked(sort, like, repr(looked.filter), looked.viewer, looked.store.writer.writes, looked)


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


def table(looked: Selection, found: Listed, at: RowPlace | None, line: DeltaGenerator) -> None:
    """Draw the rows, with the columns of people's own files last; a click anywhere on a row opens it."""
    rows = found.rows
    places = found.places()
    labs = entry.labs()
    narrow = at is not None
    shown = pd.DataFrame(
        {
            "": ["▶" if place == at else "" for place in places],
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
        labels = looked.own_labels(places)
        for one in labellers():
            values = [here.get((one.scheme, one.who), "") for here in labels]
            if any(values) and one.title not in shown:
                shown[one.title] = values
        shown = choose_columns(shown, line)
    # A new key per page, so that the selection of the previous page is forgotten.
    key = f"items-{crc32(repr((places, narrow)).encode())}"

    tables.table(
        shown,
        key,
        "Table of cases and trials: what was expected, what was said, and the outcome; a click opens one",
        **opened_case.clickable(
            key, len(shown), lambda row, _: places[row], opened_case.BESIDE if narrow else opened_case.HIGH
        ),
        column_config={
            "": st.column_config.TextColumn(width=24),
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
    return words("said", value) if isinstance(value, str) else "–"


def _outcome(outcome: str, reason: str, error: str, status: str) -> str:
    """Return the outcome in words; excluded, failed, not reached and not asked are distinguished."""
    if outcome and reason:
        return f"{words('outcome', outcome)}: {words('reason', reason)}"
    if outcome and outcome != "failed":
        return words("outcome", outcome)
    if error:
        return f"failed: {words('error', error)}"
    return {"running": "going on", "completed": "nothing"}.get(status, f"not reached: {status}")
