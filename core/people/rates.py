"""How fast things may come from one visitor or one address, counted in memory."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

_NAMES = 10_000
"""Names that are counted at once; of more, those that took something last."""


class RateLimit:
    """So many `a_second` by each name in the long run, and `at_once` after a rest. To be used from one thread."""

    def __init__(self, a_second: float, at_once: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._a_second, self._at_once, self._clock = a_second, at_once, clock
        self._paid_off: OrderedDict[str, float] = OrderedDict()
        """When what each name took will be paid off, if it takes no more."""

    def take(self, name: str, number: int = 1) -> bool:
        """Whether `number` more may come from that name now. If not, nothing is counted."""
        now = self._clock()
        due = max(self._paid_off.get(name, now), now) + number / self._a_second
        if due > now + self._at_once / self._a_second:
            return False
        self._paid_off[name] = due
        self._paid_off.move_to_end(name)
        if len(self._paid_off) > _NAMES:
            self._paid_off.popitem(last=False)
        return True
