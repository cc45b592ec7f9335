"""Pictures of the filtered runs and cases, as the labs declare them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import parse_qs

import streamlit as st

from core import entry
from core.charts import labels
from core.charts.marks import EXTRA, PALETTE
from core.charts.printed import caption
from core.labs.base.declared import Picture
from core.labs.base.lab import Lab
from core.models.ids import is_control
from core.store.filters import TITLES, Filter
from core.store.listing import RowPlace, Selection
from pages import addresses
from pages.components.tables import as_csv, save_for_paper, saved_as
from pages.components.tables import table as draw_table
from pages.components.text import plain
from pages.components.widgets import choose_named, short
from pages.results import address

if TYPE_CHECKING:
    from pandas import DataFrame, Series

T = TypeVar("T")

_COLUMNS = {
    "label": "group",
    "series": "what",
    "macro": "mean over items",
    "micro": "mean over trials",
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
"""Titles of table columns on the screen; files use the short names."""


def draw(looked: Selection) -> None:
    """Draw the pictures for which there are data."""
    wanted = looked.filter
    every = [(lab, one) for lab in entry.labs().values() for one in lab.listing.pictures]
    named = [(lab, one) for lab, one in every if f"{lab.path}-{one.name}" == address.picture()]
    if named:
        query = {**wanted.query(), "show": "pictures"} | address.grouped()
        st.page_link(addresses.BROWSE, label="All pictures", icon=":material/arrow_back:", query_params=query)
    named_too = any(map(is_control, wanted.chosen.get("model", ())))
    data = PictureData(looked, _grouped_by(looked), with_robots=named_too or address.robots())
    chosen = named or every
    head = st.container(horizontal=True, vertical_alignment="center")
    found, apart = False, set[str]()
    # The browser loads what draws figures, some megabytes, while the first table is made.
    loads = st.empty()
    loads.plotly_chart({"data": [{"visible": False}]}, height=1, key="loads", config={"displayModeBar": False})
    # Each picture is drawn while the next one is read; more threads would wait for each other in Python.
    threads = ThreadPoolExecutor(1)
    try:
        for (lab, one), (tables, controls) in zip(chosen, threads.map(lambda of: data.first(*of), chosen), strict=True):
            apart |= set(controls)
            if tables:
                picture(lab, one, tables, data)
                found = True
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
    loads.empty()
    if not found:
        st.info("Nothing to draw yet: pictures need runs with a figure.", icon=":material/insights:")
        return
    said = []
    if not wanted.is_everything:
        said.append("A picture shows all of each run and case with a filtered row.")
    if left := looked.unfinished():
        said.append(f"{left:,} {'case has' if left == 1 else 'cases have'} not finished and are in no picture.")
    with head:
        st.caption(" ".join([*said, "Updated parser. Click a mark to see what is behind it."]))
        if apart and not named_too:
            help = "Robots are controls with known behaviour; they are drawn only if you choose to."
            address.robots_too(str(len(apart)), "robots-too", help)


def _grouped_by(looked: Selection) -> str:
    """Let the reader group the pictures by a column of their own file too; return its name, '' for none."""
    titles = {f"{EXTRA}{name}": name for name in looked.extra_columns()}
    if not titles:
        return ""
    named = {"": "No column", **titles}
    now = address.group(list(named), "")
    options = address.bound("pictures-group", now, lambda new: address.update(group=[new] if new else []))
    return titles.get(choose_named("Group by your column too", named, is_named=True, width=320, **options), "")


def without_robots(rows: DataFrame) -> DataFrame:
    """Return the rows of language models; all rows if there are none of these."""
    models = rows["model"].unique()
    controls = [model for model in models if isinstance(model, str) and is_control(model)]
    if not any(isinstance(model, str) and model and model not in controls for model in models):
        return rows
    return rows[~rows["model"].isin(controls)]


def robots(rows: DataFrame) -> list[str]:
    """Return the robots that `without_robots` removes."""
    return sorted({*rows["model"].dropna()} - {*without_robots(rows)["model"].dropna()})


def first_table(one: Picture, rows: DataFrame) -> dict[str, DataFrame]:
    """Return the tables by choice, up to the first that has rows; empty if none has."""
    tables = {}
    for choice in one.choices:
        tables[choice] = one.table(rows, choice)
        if len(tables[choice]):
            return tables
    return {}


@dataclass(frozen=True)
class PictureData:
    """The tables of pictures of the selected cases, grouped by their `own` column too if it is not ''. Tables are kept
    for the next drawing until the index is written, and for other readers of the same; the rows that they are made of
    take far more memory and are not.
    """

    looked: Selection
    own: str
    with_robots: bool

    @property
    def key(self) -> str:
        """All that the tables depend on beside the picture."""
        looked = self.looked
        asked = (looked.filter, looked.viewer, tuple(looked.stopped), sorted(looked.blind), self.own, self.with_robots)
        return repr((str(looked.store.path), looked.store.writer.writes, asked))

    def first(self, lab: Lab, one: Picture) -> tuple[dict[str, DataFrame], list[str]]:
        """Return the tables by choice, up to the first that has rows, and the robots among the models."""

        def made() -> tuple[dict[str, DataFrame], list[str]]:
            rows = self._rows(lab, one)
            return first_table(one, self._drawn(rows)), robots(rows)

        return _kept(repr((lab.name, one.name, self.key)), made)

    def table(self, lab: Lab, one: Picture, choice: str) -> DataFrame:
        """Return the table of any choice."""
        key = repr((lab.name, one.name, choice, self.key))
        return _kept(key, lambda: one.table(self._drawn(self._rows(lab, one)), choice))

    def _rows(self, lab: Lab, one: Picture) -> DataFrame:
        """Return what the picture is made of, robots included."""
        return self.looked.of_cases(lab.name, one.of, self.own)

    def _drawn(self, rows: DataFrame) -> DataFrame:
        return rows if self.with_robots else without_robots(rows)


KEPT = 48
"""How many pictures' tables are kept, in their first choice and in others: those of two selections."""


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _kept(key: str, _make: Callable[[], T]) -> T:
    return _make()


@st.fragment
def picture(lab: Lab, one: Picture, tables: dict[str, DataFrame], data: PictureData) -> None:
    """Draw a picture with its summary sentence and table, and follow clicks on its marks. `tables` are those by choice
    that are made already.
    """
    key, wanted = f"{lab.path}-{one.name}", data.looked.filter
    with st.container(border=True, key=f"picture-{key}"):
        st.subheader(f"{lab.title}: {one.title[0].lower()}{one.title[1:]}", anchor=False)
        choice = address.choice(key, one.choices)
        published = False
        with st.container(horizontal=True, vertical_alignment="center"):
            if len(one.choices) > 1:
                names, take = {name: name for name in one.choices}, partial(address.choose, key)
                choice = address.bound_one_of(one.title, names, f"{key}-choice", choice, take, is_named=False)
            theirs = one.published(choice)
            if theirs:
                published = st.toggle(
                    "The paper's figures too",
                    key=f"{key}-published",
                    help="; ".join(dict.fromkeys(one.source for one in theirs)),
                )
            if address.picture() != key:
                query = {**wanted.query(), "show": ["pictures"], "picture": [key], "choice": [f"{key}:{choice}"]}
                query |= address.grouped()
                help = "This picture with this filter, at its own address."
                st.page_link(
                    addresses.BROWSE, label="Open alone", icon=":material/link:", query_params=query, help=help
                )
        table = tables[choice] if choice in tables else data.table(lab, one, choice)
        if not len(table):
            st.caption(f"Nothing measured yet: {choice}.")
            return
        if "chosen" in table and len(table) > 1:
            table = table.assign(chosen=_in_colour(table, key))
        sentence = one.takeaway(table, choice)
        st.markdown(f"**{plain(sentence)}**")
        figure = one.draw(table, choice, theirs if published else ())
        picked = st.plotly_chart(
            figure,
            key=f"{key}-{choice}",
            config=saved_as(key),
            on_select="rerun",
            selection_mode="points",
            alt=f"{one.title}. {sentence}",
        )["selection"]
        if labels.is_labelled(figure):
            st.html(labels.style(figure, f".st-key-picture-{key}", f".st-key-names-{key}"))
            with st.container(key=f"names-{key}"):
                st.caption(plain("; ".join(labels.key(figure))))
        st.caption(caption(table, one.things, one.baselines.get(choice, "")))
        st.caption(one.caption)
        _lead([parse_qs(point["customdata"][0]) for point in picked["points"] if "customdata" in point], wanted)
        with st.expander("Table", icon=":material/table:", key=f"{key}-table", on_change="rerun") as more:
            if more.open:
                shown = table.drop(columns=["link", "chosen"], errors="ignore")
                draw_table(shown, f"{key}-rows", f"{one.title}, as a table", column_config=_COLUMNS)
                as_csv(shown, key)
        with st.expander("Save for a paper", icon=":material/print:", key=f"{key}-paper", on_change="rerun") as paper:
            if paper.open:
                save_for_paper(figure, key, f"{one.title}. {sentence}")
        code = st.expander("The code that draws it", icon=":material/code:", key=f"{key}-code", on_change="rerun")
        with code:
            if code.open:
                st.caption(f"Download the table as {key}.csv, then run this with pandas and plotly.")
                st.code(one.code(table, choice, f"{key}.csv"), language="python")


def _in_colour(table: DataFrame, key: str) -> Series[bool]:
    """Let the reader choose what is in colour; the default is the picture's own choice."""
    names = list(dict.fromkeys(table["label"]))
    # If a filter removes some of the chosen names, the others stay chosen.
    kept = [name for name in st.session_state.get(f"{key}-chosen", table[table["chosen"]]["label"]) if name in names]
    st.session_state[f"{key}-chosen"] = kept
    picked = st.multiselect("In colour", names, key=f"{key}-chosen", max_selections=len(PALETTE), format_func=short)
    return table["label"].isin(picked)


def _lead(links: list[dict[str, list[str]]], wanted: Filter) -> None:
    """Go to what the clicked mark stands for: its run and case, or a filtered list."""
    if not links:
        return
    link = links[0]
    if "run" in link:
        address.open_list(show="runs", at=RowPlace(*(link.get(name, [""])[0] for name in RowPlace._fields)))
    else:
        for name, values in link.items():
            if name in TITLES or name.startswith(EXTRA):
                wanted = wanted.choosing(name, values)
        address.open_list(show=link.get("show", ["cases"])[0], filter=wanted)
    st.rerun()
