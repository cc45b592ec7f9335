"""One case beside the list: its outcome, the case as its lab's page draws it, and the same question in other runs."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core import entry
from core.runs.library import RunNotFoundError
from core.store.listing import EVERYTHING, RowPlace, Selection
from pages.components import labels, run_view
from pages.components.run import actions, damage, go_on
from pages.components.text import plain, shortened
from pages.components.widgets import short
from pages.results import address, meaning
from pages.results.facets import words
from pages.viewer.component import ListRow, Where, stage

HIGH, BESIDE = 560, 300
"""Height in pixels of a list with many rows, alone and above the verdict on a row."""

WIDTHS = (2, 3)
"""Relative widths of a list and the case beside it."""

ELSEWHERE = 20
"""Most cases of the same question that are listed."""


def height(rows: int, most: int = HIGH) -> int | Literal["auto"]:
    """Return the height of a list with that many rows, at most `most`."""
    return most if 36 * (rows + 1) > most else "auto"


def clickable(key: str, rows: int, place: Callable[[int, str], RowPlace | None], most: int = HIGH) -> dict[str, Any]:
    """Return the arguments of a list with that key and number of rows, at most `most` pixels high: a click on a cell
    opens the `place` of its row and column.
    """

    def take() -> None:
        for row, column in st.session_state[key]["selection"]["cells"]:
            # The browser may have opened it, for a finger (live.js).
            if (found := place(row, column)) and found != address.open_row():
                address.open_at(found)

    return {"on_select": take, "selection_mode": "single-cell", "height": height(rows, most)}


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
        for label, icon, place in (
            ("Previous", ":material/arrow_upward:", before),
            ("Next", ":material/arrow_downward:", after),
        ):
            st.button(
                label,
                icon=icon,
                key=f"to-{label.lower()}",
                disabled=place is None,
                on_click=address.open_at,
                args=(place,),
            )
        close()
        menu = st.container(width="content")
    return {"next": after, "previous": before}, menu


def close() -> None:
    """Draw the button back to the list alone."""
    st.button("Close", icon=":material/close:", type="tertiary", key="close", on_click=address.open_at, args=(None,))


def wait_for_row(listed: Sequence[ListRow]) -> None:
    """Draw what an opened case needs, beside a list from which none is open: it is hidden until the browser draws one
    of the rows `listed` there. The page, which hears of the click later, then draws the same case in the same place.
    """
    _, menu = step([], RowPlace(""))
    menu.popover("More", icon=":material/more_horiz:", type="tertiary", disabled=True)
    with st.container():
        meaning.more_like(RowPlace(""))
    st.container()
    went = stage("read", [], run_view.STAGE_OF_LIST, where=Where(steps=True, listed=listed))
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


def draw(
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
        st.button(
            plain(shortened(" · ".join(filter(None, said)))),
            key=f"elsewhere-{number}",
            type="tertiary",
            icon=":material/arrow_forward:",
            on_click=address.open_at,
            args=(RowPlace(row.run, row.case),),
        )
    if len(others) == ELSEWHERE:
        st.caption(f"The newest {ELSEWHERE}.")
