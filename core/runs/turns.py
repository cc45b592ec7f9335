"""Taking turns fairly at what few can use at once: whoever asks for much waits behind whoever asks for little."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from typing import TypeVar

R = TypeVar("R")

WHOSE: ContextVar[str] = ContextVar("whose", default="")
"""For whom work is done: one name for all that one person has going on."""


_THREADS = ThreadPoolExecutor(256, thread_name_prefix="waiting for turns")
"""Those who wait are many and cost little. In the loop's own few threads they would keep everything else waiting, and
be taken in the order in which they came.
"""


async def beside(work: Callable[..., R], *args: object) -> R:
    """`work(*args)`, which takes turns, in a thread that has nothing else to do. It knows for whom it works."""
    known = partial(copy_context().run, work, *args)
    return await asyncio.get_running_loop().run_in_executor(_THREADS, known)


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
