"""How many calls one endpoint is sent at once: as many as it takes."""

from __future__ import annotations

import threading
import time

from core.runs.turns import Leave, Turns

LESS = 0.8


class Throttle:
    """`begin` calls at once, doubled whenever that many were answered while others waited, up to `most`. At a refusal
    (HTTP 429) four fifths of them, and from then on one more each time that many were answered. Other failures change
    nothing. While the server said to wait, nothing is sent.

    May be used from several event loops.
    """

    def __init__(self, begin: int, most: int) -> None:
        self.at_once = begin
        self.turns = Turns(begin)
        self._most = most
        self._refused = False
        self._answered = 0
        self._change = 0
        """How often the number changed: what was sent before the last change says nothing of it."""
        self._wait_until = 0.0
        self._lock = threading.Lock()

    @property
    def wait(self) -> float:
        """Seconds for which the server still wants nothing to be sent."""
        return max(0.0, self._wait_until - time.monotonic())

    async def open(self, leave: Leave) -> int:
        """Wait for as long as the server asked for; what to name when telling what came of the call sent next.

        Raises Withheld where `leave` lets none leave.
        """
        leave.check()
        while self.wait:
            await leave.rest(self.wait)
            leave.check()
        return self._change

    def answered(self, sent: int) -> None:
        """A call that was `sent` at that point was answered."""
        with self._lock:
            if sent != self._change or self.at_once >= self._most or not self.turns.all_taken:
                return
            self._answered += 1
            if self._answered >= self.at_once:
                self._set(min(self._most, self.at_once + 1 if self._refused else self.at_once * 2))

    def refused(self, sent: int, wait: float | None) -> None:
        """A call that was `sent` at that point was one too many; `wait` is how many seconds the server wants."""
        with self._lock:
            self._wait_until = max(self._wait_until, time.monotonic() + (wait or 0))
            self._refused = True
            # Calls that were sent together and refused together count as one refusal.
            if sent == self._change:
                self._set(max(1, int(self.at_once * LESS)))

    def _set(self, at_once: int) -> None:
        self.at_once = at_once
        self._answered = 0
        self._change += 1
        self.turns.resize(at_once)
