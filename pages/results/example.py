"""The example study that comes with the app: Browse, Compare and Query open on it until there are runs of one's own."""

from pathlib import Path
from typing import Literal

import streamlit as st

from core import home
from core.runs.library import EXAMPLE_STUDY
from core.store.filters import Filter
from core.store.listing import Selection
from pages import addresses
from pages.components import session
from pages.components.tables import button

EXAMPLE = Filter(chosen={"study": (EXAMPLE_STUDY,)}, recordings=True)
"""The runs of the example study."""

ABOUT = "Recorded runs of a small code model. They never count as yours."

State = Literal["open", "away", "over"]
"""Whether pages open on the example study, the visitor put it away, or there are other runs that they may see."""


def state(looked: Selection) -> State:
    """Return whether pages open on the example study for this visitor."""
    if any(_any(looked, Filter(hidden=hidden)) for hidden in (False, True)):
        return "over"
    return "open" if _any(looked, EXAMPLE) and not _mark(looked).exists() else "away"


def is_example(wanted: Filter) -> bool:
    """Whether the filter selects runs of the example study only."""
    return wanted.recordings and wanted.chosen.get("study") == EXAMPLE.chosen["study"]


def draw(looked: Selection, now: State) -> None:
    """Mark results of the example study as such, with a button that puts it away or, in the same place, brings it
    back.
    """
    if not (is_example(looked.filter) or now == "away"):
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="example"):
        if is_example(looked.filter):
            st.markdown(f":material/school: **Example study.** {ABOUT}")
        if now != "over" and session.visitor().takes_part:
            label, icon = ("Put it away", "archive") if now == "open" else ("Bring back the example study", "school")
            button(label, icon, "put-example", _put, looked, now == "open")


def link(looked: Selection) -> None:
    """Draw a link to the example study."""
    if _any(looked, EXAMPLE):
        query = EXAMPLE.query()
        st.page_link(addresses.BROWSE, label="Example study", icon=":material/school:", query_params=query)


def _any(looked: Selection, wanted: Filter) -> bool:
    return looked.by(wanted).count() > 0


def _put(looked: Selection, away: bool) -> None:
    if away:
        home.write(_mark(looked), b"")
    else:
        _mark(looked).unlink(missing_ok=True)
    st.query_params.clear()


def _mark(looked: Selection) -> Path:
    """The file whose existence says that the visitor put the example study away; those who see all runs share one."""
    return home.index("example-away") / (looked.viewer or "all")
