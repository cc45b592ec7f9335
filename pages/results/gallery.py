"""Pictures of all runs of each lab."""

from __future__ import annotations

import streamlit as st

from core import entry
from core.lab import Lab, Picture
from core.store import queries
from core.store.filters import Filter
from pages.parts.pictures import PLAIN
from pages.results.facets import Looked
from pages.results.runs_list import open_run


def draw(looked: Looked, wanted: Filter) -> None:
    """Those for which there is something to draw."""
    drawn = [picture(looked, lab, one) for lab in entry.labs().values() for one in lab.pictures]
    if not any(drawn):
        st.info("There is nothing to draw yet: a picture takes runs that came to a figure.", icon=":material/insights:")


def picture(looked: Looked, lab: Lab, one: Picture) -> bool:
    """A picture of all runs of a lab, where there is something to draw; a click on a point opens its run."""
    query = queries.figure_groups if one.grouped else queries.figures
    frame = query(looked.store, lab.name, one.metrics, spec=one.fields, viewer=looked.viewer, held=one.held)
    if frame.empty or not frame[one.metrics[0]].notna().any():
        return False
    st.subheader(one.title, anchor=False)
    st.caption(one.caption)
    key = f"{lab.path}-{one.metrics[0]}"
    choice: str | None = one.choices[0]
    if len(one.choices) > 1:
        choice = st.segmented_control(
            one.title, list(one.choices), default=one.choices[0], required=True, key=f"{key}-choice",
            label_visibility="collapsed",
        )  # fmt: skip
    picked = st.plotly_chart(
        one.draw(frame, choice or one.choices[0]),
        key=key,
        config=PLAIN,
        on_select="rerun",
        selection_mode="points",
        alt=one.alt,
    )
    if points := picked["selection"]["points"]:
        open_run(str(points[0]["customdata"][0]))
    return True
