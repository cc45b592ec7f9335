"""The concurrency limit of one endpoint: as many calls at once as it takes."""

from __future__ import annotations

import threading
import time

from ..runs.fairness import Leave, Turns

LESS = 0.8


class Throttle:
    """The limit is `begin` calls at first, and doubles, up to `most`, whenever as many were answered while others
    waited. A refusal (HTTP 429) lowers it to four fifths; from then on it grows by one whenever as many were answered.
    Other failures change nothing. Nothing is sent before the time at which the server allows it.

    May be used from several event loops.
    """

    def __init__(self, begin: int, most: int) -> None:
        self.at_once = begin
        self.turns = Turns(begin)
        self._most = most
        self._refused = False
        self._answered = 0
        self._change = 0
        """How often the limit changed: calls sent before the last change do not change it again."""
        self._wait_until = 0.0
        self._lock = threading.Lock()

    @property
    def wait(self) -> float:
        """Seconds until the server allows the next call."""
        return max(0.0, self._wait_until - time.monotonic())

    async def open(self, leave: Leave) -> int:
        """Wait as long as the server asked for; the value to pass as `sent` when the next call has ended.

        Raises Withheld where `leave` allows no call.
        """
        leave.check()
        while self.wait:
            await leave.rest(self.wait)
            leave.check()
        return self._change

    def answered(self, sent: int) -> None:
        """Count an answer to a call; `sent` is what `open` gave."""
        with self._lock:
            if sent != self._change or self.at_once >= self._most or not self.turns.all_taken:
                return
            self._answered += 1
            if self._answered >= self.at_once:
                self._set(min(self._most, self.at_once + 1 if self._refused else self.at_once * 2))

    def refused(self, sent: int, wait: float | None) -> None:
        """Count a refusal of a call; `sent` is what `open` gave, `wait` the seconds that the server asks for."""
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
