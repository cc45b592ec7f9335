"""Pictures of the runs and cases that a filter leaves, as the labs declare them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import streamlit as st

from core import entry
from core.lab import Lab, Picture
from core.store import figures
from core.store.filters import MOST_VALUES, TITLES, Filter
from core.store.listing import Place
from pages import shell
from pages.parts.pictures import Saved, saved_as
from pages.parts.tables import as_csv
from pages.parts.text import plain
from pages.results import address
from pages.results.facets import Looked

if TYPE_CHECKING:
    from pandas import DataFrame


_COLUMNS = {
    "label": "group",
    "series": "what",
    "macro": "mean, each item alike",
    "micro": "mean, each trial alike",
    "low": "95 % from",
    "high": "95 % to",
    "how": "interval",
    "items_of": "of items",
    "undefined": "share undefined",
    "trials_of": "of trials",
    "dropped": "trials not counted",
    "first": "place at best",
    "last": "place at worst",
    "placed": "how many have a place",
    "shared": "items that all have",
}
"""What columns of tables are called on the screen; a file has their short names."""


def draw(looked: Looked, wanted: Filter) -> None:
    """Those for which there is something to draw."""
    every = [(lab, one) for lab in entry.labs().values() for one in lab.pictures]
    named = [(lab, one) for lab, one in every if f"{lab.path}-{one.name}" == address.picture()]
    if named:
        query = {**wanted.query(), "show": "pictures"}
        st.page_link(
            shell.PAGES / "results/browse.py", label="All pictures", icon=":material/arrow_back:", query_params=query
        )
    read = [(lab, one, frame(looked, wanted, lab, one)) for lab, one in named or every]
    drawn = [(lab, one, rows, tables) for lab, one, rows in read if (tables := first_table(one, rows))]
    if not drawn:
        st.info("There is nothing to draw: a picture takes runs that came to a figure.", icon=":material/insights:")
        return
    said = []
    if not wanted.is_everything:
        said.append("A picture shows the whole of each run and case that has a row as filtered.")
    if left := figures.unfinished(looked.store, wanted, looked.viewer, looked.stopped):
        said.append(f"{left:,} {'case has' if left == 1 else 'cases have'} not come to an end, and are in no picture.")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(" ".join([*said, "Repaired rules. A click on a mark leads to what is behind it."]))
        kind: Saved = st.segmented_control("Save as", ["PNG", "SVG"], default="PNG", required=True, key="saved-as")
    for lab, one, rows, tables in drawn:
        picture(lab, one, rows, tables, wanted, kind)


def frame(looked: Looked, wanted: Filter, lab: Lab, one: Picture) -> DataFrame:
    """What the picture is made of."""
    which = (looked.store, lab.name, one.metrics, wanted)
    if one.of == "runs":
        return figures.of_runs(*which, fields=one.fields, viewer=looked.viewer, stopped=looked.stopped, held=one.held)
    return figures.of_cases(
        *which, fields=one.fields, viewer=looked.viewer, stopped=looked.stopped, records=one.records, newest=one.newest
    )


def first_table(one: Picture, rows: DataFrame) -> dict[str, DataFrame]:
    """The tables by choice, up to the first that has rows; none where no choice has any."""
    tables = {}
    for choice in one.choices:
        tables[choice] = one.table(rows, choice)
        if len(tables[choice]):
            return tables
    return {}


@st.fragment
def picture(lab: Lab, one: Picture, rows: DataFrame, tables: dict[str, DataFrame], wanted: Filter, kind: Saved) -> None:
    """A picture with the sentence on it, its table, and what a click or a box leads to. `tables` keeps what was made of
    `rows` for each choice.
    """
    key = f"{lab.path}-{one.name}"
    with st.container(border=True, key=f"picture-{key}"):
        st.subheader(f"{lab.title}: {one.title[0].lower()}{one.title[1:]}", anchor=False)
        choice = address.choice(key, one.choices)
        published = False
        with st.container(horizontal=True, vertical_alignment="center"):
            if len(one.choices) > 1:
                st.session_state[f"{key}-choice"] = choice
                choice = st.segmented_control(
                    one.title, list(one.choices), required=True, key=f"{key}-choice", label_visibility="collapsed",
                    on_change=lambda: address.choose(key, st.session_state[f"{key}-choice"]),
                )  # fmt: skip
            theirs = one.published(choice)
            if theirs:
                published = st.toggle(
                    "The paper's figures too",
                    key=f"{key}-published",
                    help="; ".join(dict.fromkeys(one.source for one in theirs)),
                )
            if address.picture() != key:
                query = {**wanted.query(), "show": ["pictures"], "picture": [key], "choice": [f"{key}:{choice}"]}
                st.page_link(
                    shell.PAGES / "results/browse.py", label="By itself", icon=":material/link:", query_params=query,
                    help="This picture on this filter, at an address of its own.",
                )  # fmt: skip
        if choice not in tables:
            tables[choice] = one.table(rows, choice)
        table = tables[choice]
        if not len(table):
            st.caption(f"Nothing measured yet: {choice}.")
            return
        sentence = one.takeaway(table, choice)
        st.markdown(f"**{plain(sentence)}**")
        picked = st.plotly_chart(
            one.draw(table, choice, theirs if published else ()),
            key=f"{key}-{choice}",
            config=saved_as(kind, key, one.is_box),
            on_select="rerun",
            selection_mode=("points", "box") if one.is_box else "points",
            alt=f"{one.title}. {sentence}",
        )["selection"]
        st.caption(one.caption)
        _lead([parse_qs(point["customdata"][0]) for point in picked["points"] if "customdata" in point],
              bool(picked["box"]), wanted, key)  # fmt: skip
        with st.expander("Table", icon=":material/table:", key=f"{key}-table", on_change="rerun") as more:
            if more.open:
                shown = table.drop(columns="link", errors="ignore")
                st.dataframe(
                    shown,
                    hide_index=True,
                    key=f"{key}-rows",
                    alt=f"{one.title}, as a table",
                    column_config=_COLUMNS,
                )
                as_csv(shown, key)


def _lead(links: list[dict[str, list[str]]], is_box: bool, wanted: Filter, key: str) -> None:
    """To the runs that a box holds, or to what the clicked mark stands for: its run and case, or a filter."""
    if not links:
        return
    if is_box:
        runs = list(dict.fromkeys(one["run"][0] for one in links))
        some = f"the first {MOST_VALUES} of {len(runs)}" if len(runs) > MOST_VALUES else f"{len(runs)}"
        if st.button(
            f"List {some} chosen run{'s' if len(runs) > 1 else ''}", icon=":material/list:", key=f"{key}-list"
        ):
            address.go(show="runs", filter=replace(wanted, runs=tuple(runs[:MOST_VALUES])))
            st.rerun()
    elif "run" in links[0]:
        address.go(show="runs", at=Place(*(links[0].get(name, [""])[0] for name in Place._fields)))
        st.rerun()
    else:
        for name, values in links[0].items():
            if name in TITLES:
                wanted = wanted.choosing(name, values)
        address.go(show="cases", filter=wanted)
        st.rerun()
