"""The queue in which runs wait for a place."""

from __future__ import annotations

import asyncio
import threading

from .quotas import Quotas, is_counted


class RunQueue:
    """Runs that wait on `loop`, by number (`Quotas.begin`); a run without a number needs no place."""

    def __init__(self, allowance: Quotas, loop: asyncio.AbstractEventLoop) -> None:
        self._allowance = allowance
        self._loop = loop
        self._turn = threading.Lock()
        self._waiting: dict[int, asyncio.Event] = {}

    async def wait(self, number: int | None) -> None:
        """Wait until the run has a place; to be called on the loop."""
        if number is None:
            return
        placed = asyncio.Event()
        with self._turn:
            self._waiting[number] = placed
        try:
            self._hand_out()
            await placed.wait()
        finally:
            with self._turn:
                del self._waiting[number]

    def leave(self, number: int | None) -> None:
        """Release the place of a run that is over, whether it ran or was still in the queue. May be called from any
        thread.
        """
        if number is not None:
            self._allowance.ledger.over(number)
            self._hand_out()

    def people_ahead(self, run: str) -> int | None:
        """How many other people come before the run; None if it is not in the queue. May be called from any thread."""
        return self._allowance.ledger.people_ahead(run) if is_counted() else None

    def _hand_out(self) -> None:
        """Assign the free places, and wake the runs that got one."""
        in_line = self._allowance.allocate_slots()
        with self._turn:
            for number in self._waiting.keys() - in_line:
                self._loop.call_soon_threadsafe(self._waiting[number].set)
