"""The line in which runs of this process wait for a place, beside those of the home's other processes."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

from core.home import HomeUnusable
from core.people.allowance import Allowance, is_counted

_LOOK = 0.25
"""Seconds after which a run in line learns that another process gave a place back."""


class Line:
    """Runs that wait on `loop`, by their numbers (`Allowance.begin`); one without a number needs no place."""

    def __init__(self, allowance: Allowance, loop: asyncio.AbstractEventLoop) -> None:
        self._allowance = allowance
        self._loop = loop
        self._turn = threading.Lock()
        self._waiting: dict[int, asyncio.Event] = {}
        self._over: set[int] = set()
        self._next: asyncio.TimerHandle | None = None

    async def wait(self, number: int | None) -> None:
        """Wait until the run has a place; to be called on the loop."""
        if number is None:
            return
        placed = asyncio.Event()
        with self._turn:
            self._waiting[number] = placed
        try:
            self._go_on()
            await placed.wait()
        finally:
            with self._turn:
                del self._waiting[number]

    def leave(self, number: int | None) -> None:
        """Give back the place of a run that is over, in line or not. May be called from any thread."""
        if number is None:
            return
        with self._turn:
            self._over.add(number)
        self._look()
        self._loop.call_soon_threadsafe(self._go_on)

    def before(self, run: str) -> int | None:
        """How many other people come before the run, of whatever process it is; None where it is not in line. May be
        called from any thread.
        """
        # A home that can only be read has no line.
        with suppress(HomeUnusable):
            return self._allowance.today.counted.before(run) if is_counted() else None
        return None

    def _go_on(self) -> None:
        """Look now, and again as long as there is something to wait for."""
        self._look()
        if self._next is not None:
            self._next.cancel()
        self._next = self._loop.call_later(_LOOK, self._go_on) if self._waiting or self._over else None

    def _look(self) -> None:
        """Hand out the free places, and wake the runs of this process that are in line no more."""
        with self._turn:
            waiting, over = dict(self._waiting), set(self._over)
        if not waiting and not over:
            return
        # Where nothing can be counted just now, the next look may.
        with suppress(HomeUnusable):
            counted = self._allowance.today.counted
            with counted.at_once():
                for number in over:
                    counted.over(number)
                in_line = self._allowance.hand_out()
            with self._turn:
                self._over -= over
            for number in waiting.keys() - in_line:
                self._loop.call_soon_threadsafe(waiting[number].set)
