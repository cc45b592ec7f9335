"""Taking fair turns at what few can use at the same time: a person who asks for much waits behind those who ask for
little.
"""

import asyncio
import threading
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import partial
from typing import TypeVar
from weakref import WeakSet

R = TypeVar("R")

WHOSE: ContextVar[str] = ContextVar("whose", default="")
"""For whom work is done: one name for everything that one person has in progress."""


_THREADS = ThreadPoolExecutor(256, thread_name_prefix="waiting for turns")
"""Many threads that only wait and cost little. In the event loop's few threads they would hold up everything else, and
be served first come, first served.
"""


async def run_in_thread(work: Callable[..., R], *args: object) -> R:
    """Run `work(*args)`, which waits for long, in a thread of its own. The thread knows for whom it works (`WHOSE`)."""
    known = partial(copy_context().run, work, *args)
    return await asyncio.get_running_loop().run_in_executor(_THREADS, known)


class _Place:
    """A turn that somebody has or waits for; `wake` is called when it is granted."""

    def __init__(self, wake: Callable[[], object]) -> None:
        self.whose = WHOSE.get()
        self.wake = wake
        self.granted = False


class FairSemaphore:
    """A semaphore for `places` turns at a time. Owners are served in order, one waiting turn of each at a time.

    May be used by threads and by tasks of any event loop.
    """

    def __init__(self, places: int) -> None:
        self._places = places
        self._free = places
        """Negative while more turns are taken than there are places now."""
        self._lock = threading.Lock()
        self._waiting: OrderedDict[str, deque[_Place]] = OrderedDict()
        with _registry:
            _every.add(self)

    @contextmanager
    def acquire(self) -> Iterator[None]:
        """Wait for a turn in this thread, and hold it for as long as the context lasts."""
        mine = threading.Event()
        place = self._queue(mine.set)
        mine.wait()
        try:
            yield
        finally:
            self._leave(place)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn in this task, and hold it for as long as the context lasts."""
        loop, thread = asyncio.get_running_loop(), threading.get_ident()
        mine = asyncio.Event()

        def wake() -> None:
            # Nobody waits in a loop that is closed.
            with suppress(RuntimeError):
                # Setting the event from the loop's own thread is cheaper.
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
        """Whether a new request would have to wait."""
        return self._free <= 0

    def resize(self, places: int) -> None:
        """Change the number of places. No turn that is held is lost."""
        with self._lock:
            self._free += places - self._places
            self._places = places
            self._hand_out()

    def people_ahead(self, whose: str) -> int | None:
        """How many others have their next turn before `whose`; None if that person waits for none."""
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
        """Give free turns to those who wait: one of each owner in turn."""
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


def people_ahead(whose: str) -> int | None:
    """How many others come before that person at the semaphore with the longest wait; None if they wait at none."""
    with _registry:
        every = list(_every)
    return max((n for turns in every if (n := turns.people_ahead(whose)) is not None), default=None)


class CallsPausedError(Exception):
    """The call was not made, because this group of calls was stopped."""


class Leave:
    """Whether calls of one group, such as the runs of a study, may still be sent; models whose calls leave this process
    check that of the task that asks (`LEAVE`). To be closed on the event loop of those who rest.
    """

    def __init__(self) -> None:
        self._is_closed = False
        self._resting: WeakSet[asyncio.Event] = WeakSet()

    def close(self) -> None:
        """Let no call be sent any more; those who rest between two tries are woken."""
        self._is_closed = True
        for woken in self._resting:
            woken.set()

    def check(self) -> None:
        """Check before each try of a call. Raises CallsPausedError if no call may be sent."""
        if self._is_closed:
            raise CallsPausedError

    async def sleep(self, seconds: float) -> None:
        """Wait `seconds` between two tries, or until calls are stopped."""
        woken = asyncio.Event()
        self._resting.add(woken)
        with suppress(TimeoutError):
            async with asyncio.timeout(0 if self._is_closed else seconds):
                await woken.wait()


LEAVE: ContextVar[Leave | None] = ContextVar("leave", default=None)
"""The leave of the group for which a call is made; None if nobody withholds it."""


def current_leave() -> Leave:
    """The leave of this task; one that stays open if it has none."""
    return LEAVE.get() or Leave()
