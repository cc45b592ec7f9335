"""Taking turns fairly at what few can use at once: whoever asks for much waits behind whoever asks for little."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

WHOSE: ContextVar[str] = ContextVar("whose", default="")
"""For whom work is done: one name for all that one person has going on. Threads of `asyncio.to_thread` know it too."""


class Turns:
    """`places` turns at once. Those who wait are taken in the order of their owners, one of each in turn."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._lock = threading.Lock()
        self._waiting: OrderedDict[str, deque[threading.Event]] = OrderedDict()

    @contextmanager
    def take(self) -> Iterator[None]:
        """Wait for a turn, and have it for as long as the context lasts."""
        mine = threading.Event()
        with self._lock:
            if self._free:
                self._free -= 1
                mine.set()
            else:
                self._waiting.setdefault(WHOSE.get(), deque()).append(mine)
        mine.wait()
        try:
            yield
        finally:
            self._pass_on()

    def _pass_on(self) -> None:
        with self._lock:
            if not self._waiting:
                self._free += 1
                return
            whose, waiting = self._waiting.popitem(last=False)
            waiting.popleft().set()
            if waiting:
                self._waiting[whose] = waiting
