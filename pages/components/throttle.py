"""Drawing pages for many people: by turns, and less often, the longer it takes and the more of them watch."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from core import entry
from core.store.index_watcher import IndexWatcher
from core.store.store import StoreError
from pages.components.text import plain

SHARE = 0.5
"""Of one processor, which drawing may take for all who watch together."""

LONGEST = 8.0
"""Seconds between two looks, however many watch."""

_PASSED = 20.0
"""Seconds after which somebody who was not drawn for no longer watches."""


PATIENCE = 3.0
"""Seconds that a page waits for others, should one of them take that long."""

_turn = threading.Lock()
_mine = threading.local()


@contextmanager
def by_turns() -> Iterator[None]:
    """Draw a page, or a part of it, while no other is drawn. Thirty threads that all want the processor keep the server
    from answering anybody, and none is done sooner.
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
def aside() -> Iterator[None]:
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
    """Wait for something that may take long: after a moment the page says `words`, and lets others draw meanwhile."""
    with st.spinner(words), aside():
        yield


class Pace:
    """Keeps account of what was drawn for whom. May be used from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._drawn: dict[str, tuple[float, float]] = {}

    @contextmanager
    def drawing(self, whose: str) -> Iterator[None]:
        """Draw something that is drawn again and again for `whose`: by turns, and on this account."""
        began = time.thread_time()
        try:
            with by_turns():
                yield
        finally:
            with self._lock:
                self._drawn[whose] = (time.thread_time() - began, time.monotonic())

    def seconds(self, least: float) -> float:
        """How long to wait between two looks: `least`, or twice, four times, eight times … as long."""
        now = time.monotonic()
        with self._lock:
            self._drawn = {whose: drawn for whose, drawn in self._drawn.items() if now - drawn[1] < _PASSED}
            needed = sum(took for took, _ in self._drawn.values()) / SHARE
        doublings = max(0, math.ceil(math.log2(max(needed, least) / least)))
        return min(least * 2.0**doublings, max(least, LONGEST))


PACE = Pace()
"""The process's one."""


# The index of the runs, opened for a page.


def opened() -> IndexWatcher:
    """The list of runs, once it was read; a page that cannot have it says why, and ends here."""
    try:
        keeper = entry.keeper()
    except StoreError as error:
        st.error(plain(str(error)), title="The list of runs cannot be opened", icon=":material/error:")
        st.stop()
    with waits("Reading the journals …"):
        keeper.looked.wait(timeout=60)
    return keeper
