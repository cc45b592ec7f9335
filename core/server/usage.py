"""What the app counts while it runs, and limits on how much and how fast: each day's calls, runs and their places,
wrong codes, and open tabs.

Only one app serves a home, so all counts are in memory. The day's calls are read from the journals at the start.
"""

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from ipaddress import IPv6Address, ip_address, ip_network
from itertools import count
from pathlib import Path
from typing import NamedTuple

from .. import home
from ..errors import ExplainError

_FREE, _LONGEST = 5, 900.0
"""How many wrong codes an address may type without a wait, and the longest wait in seconds. Each further wrong code
doubles the wait, which begins at 1 second.
"""

_FREE_OF_ALL, _LONGEST_OF_ALL = 100, 15.0
"""The same for all addresses together. The wait is short, since anyone who guesses keeps everybody waiting."""

_FORGOTTEN = 3600.0
"""Seconds after the last wrong code until wrong codes are forgotten."""

_ALL = "*"
"""The key for the wrong codes of all addresses together."""


class CallUsage(NamedTuple):
    """Calls, and their price in US cents."""

    calls: int = 0
    cents: float = 0.0


class OpenRuns(NamedTuple):
    """How many runs are in progress or in the queue, and how many calls they may still make, as far as is known."""

    runs: int
    ahead: int


class UsageTally:
    """What a day's calls used, by the owner of their run; and for calls in progress, by run and call, the most tokens
    of a prompt and of an answer that they may use. To be used by one thread at a time.
    """

    def __init__(self) -> None:
        self.of: dict[str, CallUsage] = {}
        self.under_way: dict[tuple[str, str], tuple[int, int]] = {}

    def usage_of(self, owner: str | None) -> CallUsage:
        """What the calls of that person's runs used; with None, what everybody's used."""
        if owner is not None:
            return self.of.get(owner, CallUsage())
        return CallUsage(sum(one.calls for one in self.of.values()), sum(one.cents for one in self.of.values()))

    def add(self, owner: str, call: tuple[str, str], taken: CallUsage, most: tuple[int, int] | None) -> None:
        """Add what a call of the owner's used. `most` is what a call in progress may use at most; None if the call is
        over.
        """
        calls, cents = self.of.get(owner, CallUsage())
        self.of[owner] = CallUsage(calls + taken.calls, cents + taken.cents)
        if most is None:
            self.under_way.pop(call, None)
        else:
            self.under_way[call] = most


@dataclass
class _Run:
    """A run in progress or in the queue. `whose`: its owner, or the run itself if it has none. `ahead`: calls it may
    still make. `place` is done when it has a place.
    """

    run: str
    owner: str
    whose: str
    ahead: int
    place: Future[None] = field(default_factory=Future)


class UsageLedger:
    """The usage counts of one app. May be used from any thread."""

    def __init__(self) -> None:
        self.turn = threading.RLock()
        """The lock to hold while something is read and counted in one step."""

        self.day = ""
        self.tally = UsageTally()
        """What the calls of `day` used; to be used with `turn` held."""

        self._numbers = count(1)
        self._runs: dict[int, _Run] = {}
        self._line: list[int] = []
        """The numbers of the runs without a place, in the order in which they get one."""
        self._wrong: dict[str, tuple[int, float]] = {}
        """How many wrong codes each address typed, and the time of the last one."""
        self._tabs: dict[str, list[str]] = {}

    def going_on(self, owner: str | None) -> OpenRuns:
        """How many runs that person has open; with None, everybody's."""
        with self.turn:
            runs = [one for one in self._runs.values() if owner is None or one.owner == owner]
            return OpenRuns(len(runs), sum(one.ahead for one in runs))

    def begin(self, run: str, owner: str, calls: int) -> int:
        """Put a run, which may make `calls` calls, at the end of the queue. Returns its number."""
        with self.turn:
            number = next(self._numbers)
            self._runs[number] = _Run(run, owner, owner or run, calls)
            self._line.append(number)
            return number

    def place_of(self, number: int) -> Future[None]:
        """What is done as soon as the run has a place."""
        with self.turn:
            return self._runs[number].place

    def count_call(self, number: int) -> None:
        """Count one of the run's calls as made."""
        with self.turn:
            if one := self._runs.get(number):
                one.ahead = max(one.ahead - 1, 0)

    def over(self, number: int) -> None:
        """Remove a run that is over, which frees its place."""
        with self.turn:
            self._runs.pop(number, None)
            if number in self._line:
                self._line.remove(number)

    def allocate_slots(self, places: int | None) -> set[int]:
        """Give free places to runs in the queue, one of each owner in turn. `places` is the number of all places; None
        for any number. No run loses its place. Returns the numbers of the runs that are still in the queue.
        """
        with self.turn:
            free = len(self._line) if places is None else places - (len(self._runs) - len(self._line))
            while self._line and free > 0:
                first = self._runs[self._line.pop(0)]
                first.place.set_result(None)
                # The other runs of its owner go to the end, in their order.
                self._line.sort(key=lambda number: self._runs[number].whose == first.whose)
                free -= 1
            return set(self._line)

    def people_ahead(self, run: str) -> int | None:
        """How many other people come before the run; None if it is not in the queue."""
        with self.turn:
            line = list(dict.fromkeys(self._runs[number].whose for number in self._line))
            waiting = (self._runs[number] for number in self._line)
            one = next((one for one in waiting if one.run == run), None)
            return line.index(one.whose) if one else None

    def code_typed(self, who: str, is_right: bool) -> float:
        """Count a wrong code of `who`, a network address, or forget their wrong ones after a right one. The count of
        all addresses stays then, so that a right code does not help to guess another one. Returns the seconds until a
        code of theirs is checked again; if that is more than 0, this code was not checked and does not count.
        """
        with self.turn:
            if seconds := self.wait(who):
                return seconds
            if is_right:
                self._wrong.pop(who, None)
            else:
                for one in (who, _ALL):
                    self._wrong[one] = self._wrong.get(one, (0, 0.0))[0] + 1, time.time()
            return 0.0

    def wait(self, who: str) -> float:
        """Seconds until a code of `who` is checked; 0 if it is checked now."""
        with self.turn:
            now = time.time()
            # If the clock was set back, times in the future count as now, so that no wait exceeds its limit.
            known = {one: (times, min(at, now)) for one, (times, at) in self._wrong.items()}
            self._wrong = {one: (times, at) for one, (times, at) in known.items() if at > now - _FORGOTTEN}
            mine = ((one, *self._wrong[one]) for one in (who, _ALL) if one in self._wrong)
            return float(max((max(_wait(one, times) - (now - at), 0) for one, times, at in mine), default=0))

    def tab_opened(self, visitor: str, tab: str) -> int:
        """Count an open tab of the visitor's; one that is known is counted once. Returns its place among their open
        tabs in the order in which they were opened, from 1.
        """
        with self.turn:
            tabs = self._tabs.setdefault(visitor, [])
            if tab not in tabs:
                tabs.append(tab)
            return tabs.index(tab) + 1

    def tab_closed(self, visitor: str, tab: str) -> None:
        """Stop counting the tab, if it is known."""
        with self.turn:
            left = [one for one in self._tabs.pop(visitor, []) if one != tab]
            if left:
                self._tabs[visitor] = left


@cache
def _counted(path: Path) -> UsageLedger:
    return UsageLedger()


def of_home() -> UsageLedger:
    """The usage counts of the app that serves this home. Raises DataDirError."""
    return _counted(home.home())


def _wait(who: str, times: int) -> float:
    """Seconds for which `times` wrong codes keep `who` waiting."""
    free, longest = (_FREE_OF_ALL, _LONGEST_OF_ALL) if who == _ALL else (_FREE, _LONGEST)
    return min(2.0 ** min(times - free, 30), longest) if times >= free else 0.0


# Limits on what many people want at the same time, and on how fast they may take it: counted by network, in memory.
#
# A school is one network, so one network may have all places that nobody else wants. But a single machine cannot
# keep others out: when all places are taken, a network that holds more than half of them gives one up to a newcomer
# from another network.


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
