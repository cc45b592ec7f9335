"""The rows of Browse in groups: how many each group has, and how often explanations hold in it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import pandas as pd
import streamlit as st

from core import entry
from core.charts.marks import EXTRA
from core.labs.base.lab import Lab
from core.store.filters import KIND, TITLES
from core.store.groups import groups, robots_and_models
from core.store.listing import Selection
from core.text.display import count_noun
from pages.components import labels, tables
from pages.components.text import plain
from pages.results import address, kinds_list
from pages.results.facets import words

ALIKE = ("lab", "outcome", "reason", "error", "doubt")
"""Facets that say how a row came out, or which table it is in, so that the share of a group tells nothing."""


def draw(looked: Selection) -> None:
    """Draw the choice of groups, and a table for each lab with selected rows."""
    titles = {name: title for name, title in TITLES.items() if name not in ALIKE}
    titles |= {f"{EXTRA}{column}": column for column in looked.extra_columns()}
    titles |= {one.facet: one.title for one in labels.labellers()}
    titles[KIND] = "Kind, by meaning"
    facet = st.query_params.get("group", "")
    st.session_state["group"] = by = KIND if facet.startswith(KIND) else address.group(list(titles))
    st.selectbox(
        "Group by",
        list(titles),
        format_func=titles.__getitem__,
        key="group",
        width=320,
        on_change=lambda: address.update(group=[st.session_state["group"]]),
    )
    if by == KIND:
        kinds_list.draw(looked, facet.removeprefix(KIND), partial(_tables, looked))
    else:
        _tables(looked, by, titles[by], {})


def _tables(looked: Selection, by: str, title: str, named: Mapping[str, str]) -> None:
    present = looked.facet("lab")
    robots, models = (0, 0) if looked.filter.chosen.get("model") or looked.filter.runs else robots_and_models(looked)
    is_mixed = bool(robots and models)
    if is_mixed:
        st.toggle(
            f"Robots too ({count_noun(robots, 'row')})",
            help="Robots are controls with known behaviour. They are no results, so they count only if you choose to.",
            **address.bound("groups-robots", address.robots(), address.show_robots),
        )
    for name in present:
        if (lab := entry.labs().get(name)) is not None and lab.listing.judged is not None:
            if len(present) > 1:
                st.subheader(lab.title, anchor=False)
            _table(looked, lab, by, title, named, not is_mixed or address.robots())


def _table(looked: Selection, lab: Lab, by: str, title: str, named: Mapping[str, str], robots: bool) -> None:
    """Draw the groups of a lab's rows, with or without those of `robots`; `named` has the names that a model gave to
    some of the groups.
    """
    assert lab.listing.judged is not None
    found = groups(looked, lab, by, robots=robots)
    if by.startswith(KIND):
        found = sorted(found, key=lambda one: not one.value)
    key = f"groups-{lab.name}-{by}"
    intervals = [one.kept for one in found]
    shown = pd.DataFrame(
        {
            title: [words(by, one.value) or "–" for one in found],
            **({"Named by a model": [named.get(one.value, "") for one in found]} if named else {}),
            "Rows": [one.rows for one in found],
            "Counted": [one.counted for one in found],
            "Share": [one.value for one in intervals],
            "95 % interval": [
                "" if one.low is None or one.high is None else f"{one.low:.2f} to {one.high:.2f}" for one in intervals
            ],
        }
    )

    def take() -> None:
        if rows := st.session_state[key]["selection"]["rows"]:
            address.open_list(show="cases", filter=looked.filter.choosing(by, [found[rows[0]].value]))

    st.caption(
        f"Share: how often {plain(lab.listing.judged.means)}, of the rows that count. "
        "A click on a group lists its rows."
    )
    share = st.column_config.ProgressColumn(min_value=0, max_value=1, format="%.2f")
    tables.table(
        shown,
        key,
        f"Groups by {title}",
        column_config={"Share": share},
        on_select=take,
        selection_mode="single-row",
    )
    tables.as_csv(shown, f"groups-{lab.title.lower()}")
