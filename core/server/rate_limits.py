"""Limits on what many people want at the same time, and on how fast they may take it: counted by network, in memory.

A school is one network, so one network may have all places that nobody else wants. But a single machine cannot keep
others out: when all places are taken, a network that holds more than half of them gives one up to a newcomer from
another network.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network

from ..errors import ExplainError


class NoFreePlaceError(ExplainError):
    """All places are taken; the message says so."""

    def __init__(self, words: str = "Too many people are using this app right now. Try again in a minute.") -> None:
        super().__init__(words)


def network_of(address: str) -> str:
    """What counts as one network: an IPv4 address, or the /64 of an IPv6 address, which one household has to itself."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    # A server that listens on `::` sees IPv4 visitors under these addresses.
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ip_network((int(found), 64), strict=False))


@dataclass(eq=False)
class _Place:
    network: str
    size: int
    end: Callable[[], None]
    is_reserved: Callable[[], bool]


class Places:
    """At most as many places as `most` returns; None for no limit. To be used on one thread."""

    def __init__(self, most: Callable[[], int | None]) -> None:
        self._most = most
        self._held: dict[str, dict[_Place, None]] = {}
        """The places by network, in the order in which they were taken."""

        self._taken = Counter[str]()
        """How many places each network has taken."""

    @property
    def in_use(self) -> int:
        """How many places are taken."""
        return self._taken.total()

    @contextmanager
    def reserve(
        self,
        address: str,
        end: Callable[[], None] = lambda: None,
        is_reserved: Callable[[], bool] = lambda: False,
        size: int = 1,
    ) -> Iterator[None]:
        """Hold `size` places for that network address. `end` is called if the places are given to somebody else, and
        has to end what holds them. A caller for which `is_reserved` is true always gets places and never loses them;
        `is_reserved` is called only when all places are taken. Raises NoFreePlaceError.
        """
        place = _Place(network_of(address), size, end, is_reserved)
        most = self._most()
        if most is not None and self.in_use + size > most and not is_reserved():
            self._make_room(place, most)
        self._held.setdefault(place.network, {})[place] = None
        self._taken[place.network] += size
        try:
            yield
        finally:
            self._free(place)

    def _make_room(self, newcomer: _Place, most: int) -> None:
        """Take places from the network that has more than half of them, the latest taken first. Raises NoFreePlaceError
        if it cannot.
        """
        while self.in_use + newcomer.size > most:
            # A newcomer that had as many afterwards would lose them again.
            allowed = max(most / 2, self._taken[newcomer.network] + newcomer.size)
            largest = max(self._taken, key=lambda one: self._taken[one], default="")
            others = (place for place in reversed([*self._held.get(largest, ())]) if not place.is_reserved())
            if self._taken[largest] <= allowed or (last := next(others, None)) is None:
                raise NoFreePlaceError
            self._free(last)
            last.end()

    def _free(self, place: _Place) -> None:
        places = self._held.get(place.network, {})
        if place in places:
            del places[place]
            self._taken[place.network] -= place.size
            if not places:
                del self._held[place.network], self._taken[place.network]


MOST_KNOWN = 10_000
"""The most networks or visitors that a `Rate` remembers; the least recent are forgotten."""


class Rate:
    """At most `burst` of something in one moment and `per_second` after that, for each network or visitor. To be used
    on one thread.
    """

    def __init__(self, burst: int, per_second: float) -> None:
        self._burst, self._per_second = burst, per_second
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """By network: how many were left, and at what time in seconds, the latest last. A network not listed has all
        left.
        """

    def take(self, address: str, number: int = 1) -> bool:
        """Take `number` for a network address or a visitor's name, if that many are left. Returns whether they were."""
        now = time.monotonic()
        network = network_of(address)
        left, then = self._left.get(network, (self._burst, now))
        left = min(self._burst, left + (now - then) * self._per_second)
        self._left[network] = left - number if left >= number else left, now
        self._left.move_to_end(network)
        full = now - self._burst / self._per_second
        while next(iter(self._left.values()))[1] < full or len(self._left) > MOST_KNOWN:
            self._left.popitem(last=False)
        return left >= number
