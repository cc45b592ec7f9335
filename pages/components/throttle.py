"""Drawing pages for many people: one at a time, and less often the longer drawing takes and the more people watch."""

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from core import entry
from core.store.index import IndexWatcher
from core.store.store import StoreError
from core.text.display import count_noun
from pages.components.text import plain

SHARE = 0.5
"""Share of one processor that drawing may use for all watchers together."""

LONGEST = 8.0
"""Most seconds between two drawings, however many people watch."""

_PASSED = 20.0
"""Seconds without a drawing after which somebody counts as no longer watching."""


PATIENCE = 3.0
"""Seconds that a page waits for its turn before it is drawn anyway."""

_turn = threading.Lock()
_mine = threading.local()


@contextmanager
def by_turns() -> Iterator[None]:
    """Draw a page, or a part of it, while no other is drawn. Thirty threads that compete for the processor would keep
    the server from answering anybody, and none would be done sooner.
    """
    if getattr(_mine, "drawing", False) or not _turn.acquire(timeout=PATIENCE):
        yield
        return
    _mine.drawing = True
    try:
        yield
    finally:
        if _mine.drawing:
            _mine.drawing = False
            _turn.release()


@contextmanager
def let_others_draw() -> Iterator[None]:
    """Let others draw while this page waits for something."""
    if not getattr(_mine, "drawing", False):
        yield
        return
    _turn.release()
    _mine.drawing = False
    try:
        yield
    finally:
        _mine.drawing = _turn.acquire(timeout=PATIENCE)


@contextmanager
def waits(words: str) -> Iterator[None]:
    """Wait for something that may take long: after a moment the page shows `words`, and others can draw in the
    meantime.
    """
    with st.spinner(words), let_others_draw():
        yield


class Pace:
    """Keeps track of the time that drawing takes for each watcher. May be used from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._drawn: dict[str, tuple[float, float]] = {}

    @contextmanager
    def drawing(self, whose: str) -> Iterator[None]:
        """Draw something that is drawn repeatedly for `whose`, taking turns with others, and record the time."""
        began = time.thread_time()
        try:
            with by_turns():
                yield
        finally:
            with self._lock:
                self._drawn[whose] = (time.thread_time() - began, time.monotonic())

    def seconds(self, least: float) -> float:
        """Return the seconds to wait between two drawings: `least` times 1, 2, 4, 8 …, up to LONGEST."""
        now = time.monotonic()
        with self._lock:
            self._drawn = {whose: drawn for whose, drawn in self._drawn.items() if now - drawn[1] < _PASSED}
            needed = sum(took for took, _ in self._drawn.values()) / SHARE
        doublings = max(0, math.ceil(math.log2(max(needed, least) / least)))
        return min(least * 2.0**doublings, max(least, LONGEST))


PACE = Pace()
"""The instance of this process."""


# The index of the runs, opened for a page.

COUNTED = 0.5
"""Seconds between two counts of the runs that were read."""

LATEST = 3.0
"""Most seconds that a page which somebody has just opened waits for runs that ended a moment ago."""


def open_index(may_stop: bool) -> IndexWatcher:
    """Return the index of runs once it was read, or once somebody who `may_stop` the reading did so. If it cannot be
    opened, the page says why and ends here.
    """
    try:
        keeper = entry.keeper()
    except StoreError as error:
        st.error(plain(str(error)), title="The list of runs cannot be opened", icon=":material/error:")
        st.stop()
    if not keeper.looked.is_set():
        _count(keeper, may_stop)
    elif "caught-up" not in st.session_state:
        # Later the page says that there are new results, and changes only when the reader asks for it.
        with let_others_draw():
            keeper.catch_up(LATEST)
    st.session_state["caught-up"] = True
    _offer_rest(keeper, may_stop)
    return keeper


def _count(keeper: IndexWatcher, may_stop: bool) -> None:
    """Show how many runs have been read until all are, or until somebody stops the reading."""
    with waits("Reading the journals …"):
        line, stop = st.empty(), st.empty()
        is_offered = not may_stop
        while not keeper.looked.wait(COUNTED):
            done, of = keeper.progress
            if not of:
                continue
            line.caption(f"{done:,} of {of:,} runs")
            if not is_offered:
                is_offered = True
                stop.button(
                    "Stop, and show these",
                    icon=":material/stop:",
                    key="stop-index",
                    help="The others are read when you ask for it, or when the app starts again.",
                    on_click=keeper.stop,
                )
        line.empty()
        stop.empty()


def _offer_rest(keeper: IndexWatcher, may_read: bool) -> None:
    """Say how many journals are missing because somebody stopped the reading, and offer to read them."""
    if not (left := keeper.postponed):
        return
    with st.container(horizontal=True, vertical_alignment="center", key="index-rest"):
        st.caption(f"{count_noun(left, 'journal')} not read yet: their runs are in no list, figure or file.")
        if may_read:
            st.button(
                "Read the rest", icon=":material/play_arrow:", type="tertiary", key="read-rest", on_click=keeper.resume
            )
