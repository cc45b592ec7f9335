"""Drawing pages for many people: one at a time, and less often the longer drawing takes and the more people watch."""

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

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
