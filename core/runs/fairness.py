"""Taking turns fairly at what few can use at once: anyone who asks for much waits behind anyone who asks for little."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Protocol, TypeVar, runtime_checkable
from weakref import WeakSet

from ..events import Model

R = TypeVar("R")

WHOSE: ContextVar[str] = ContextVar("whose", default="")
"""For whom work is done: one name for all that one person has going on."""


_THREADS = ThreadPoolExecutor(256, thread_name_prefix="waiting for turns")
"""Those who wait are many and cost little. In the loop's own few threads they would keep everything else waiting, and
be taken in the order in which they came.
"""


async def beside(work: Callable[..., R], *args: object) -> R:
    """`work(*args)`, which waits long, in a thread that has nothing else to do. It knows for whom it works."""
    known = partial(copy_context().run, work, *args)
    return await asyncio.get_running_loop().run_in_executor(_THREADS, known)


class _Place:
    """A turn that somebody has or waits for; `wake` is called when it comes."""

    def __init__(self, wake: Callable[[], object]) -> None:
        self.whose = WHOSE.get()
        self.wake = wake
        self.granted = False


class FairSemaphore:
    """`places` turns at once. Those who wait are taken in the order of their owners, one of each in turn.

    May be used by threads and by tasks of any event loop.
    """

    def __init__(self, places: int) -> None:
        self._places = places
        self._free = places
        """Negative while more have a turn than there are places now."""
        self._lock = threading.Lock()
        self._waiting: OrderedDict[str, deque[_Place]] = OrderedDict()
        with _registry:
            _every.add(self)

    @contextmanager
    def take(self) -> Iterator[None]:
        """Wait for a turn in this thread, and have it for as long as the context lasts."""
        mine = threading.Event()
        place = self._queue(mine.set)
        mine.wait()
        try:
            yield
        finally:
            self._leave(place)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn in this task, and have it for as long as the context lasts."""
        loop, thread = asyncio.get_running_loop(), threading.get_ident()
        mine = asyncio.Event()

        def wake() -> None:
            # A loop that is closed has nobody left who waits.
            with suppress(RuntimeError):
                # To be woken from its own thread costs a loop nothing.
                mine.set() if threading.get_ident() == thread else loop.call_soon_threadsafe(mine.set)

        place = self._queue(wake)
        try:
            if not place.granted:
                await mine.wait()
            yield
        finally:
            self._leave(place)

    @property
    def all_taken(self) -> bool:
        """Whether a request has to wait now."""
        return self._free <= 0

    def resize(self, places: int) -> None:
        """Let so many have a turn from now on. Nobody loses the turn that they have."""
        with self._lock:
            self._free += places - self._places
            self._places = places
            self._hand_out()

    def before(self, whose: str) -> int | None:
        """How many others have their next turn before `whose` has; None where that person waits for none."""
        with self._lock:
            return next((place for place, owner in enumerate(self._waiting) if owner == whose), None)

    def _queue(self, wake: Callable[[], object]) -> _Place:
        place = _Place(wake)
        with self._lock:
            self._waiting.setdefault(place.whose, deque()).append(place)
            self._hand_out()
        return place

    def _leave(self, place: _Place) -> None:
        with self._lock:
            if not place.granted:
                mine = self._waiting[place.whose]
                mine.remove(place)
                if not mine:
                    del self._waiting[place.whose]
            else:
                self._free += 1
                self._hand_out()

    def _hand_out(self) -> None:
        """Give the free places to who waits: one of each owner in turn."""
        while self._free > 0 and self._waiting:
            self._free -= 1
            whose, waiting = self._waiting.popitem(last=False)
            place = waiting.popleft()
            place.granted = True
            place.wake()
            if waiting:
                self._waiting[whose] = waiting


_every: WeakSet[FairSemaphore] = WeakSet()
_registry = threading.Lock()


def before(whose: str) -> int | None:
    """How many others come first, wherever that person waits longest for a turn; None where they wait for none."""
    with _registry:
        every = list(_every)
    return max((n for turns in every if (n := turns.before(whose)) is not None), default=None)


class CallsPaused(Exception):
    """The call was not made: those who make calls together want no further one to leave."""


class Leave:
    """Whether calls may still leave, of all who make them together, such as the runs of a study: handed to each model
    that they ask (`Leaving`). Closed on the loop of those who rest.
    """

    def __init__(self) -> None:
        self._is_closed = False
        self._resting: WeakSet[asyncio.Event] = WeakSet()

    def close(self) -> None:
        """Let none leave any more; who rests between two tries is woken."""
        self._is_closed = True
        for woken in self._resting:
            woken.set()

    def check(self) -> None:
        """To be called just before each try of a call. Raises CallsPaused where none may leave."""
        if self._is_closed:
            raise CallsPaused

    async def rest(self, seconds: float) -> None:
        """Wait so long between two tries, unless no call may leave before that."""
        woken = asyncio.Event()
        self._resting.add(woken)
        with suppress(TimeoutError):
            async with asyncio.timeout(0 if self._is_closed else seconds):
                await woken.wait()


@runtime_checkable
class Leaving(Protocol):
    """A model whose calls leave this process, so that they can be withheld."""

    def under(self, leave: Leave) -> Model:
        """The same model; each of its calls asks `leave` just before it leaves."""


def under(model: Model, leave: Leave) -> Model:
    """`model`, whose calls ask `leave`; itself where none of them leaves this process."""
    return model.under(leave) if isinstance(model, Leaving) else model
