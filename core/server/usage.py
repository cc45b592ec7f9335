"""What the app counts while it runs: what a day's calls took, runs and their places, wrong codes, tabs.

One app serves a home, so all of it is in memory. What a day's calls took is read from the journals at the start.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import NamedTuple

from .. import home

_FREE, _LONGEST = 5, 900.0
"""Wrong codes that cost one address nothing; from then on each doubles the wait, from 1 second to so many."""

_FREE_OF_ALL, _LONGEST_OF_ALL = 100, 15.0
"""The same for all addresses together: short, since anyone who guesses keeps everybody waiting."""

_FORGOTTEN = 3600.0
"""Seconds after the last wrong code in which they are forgotten."""

_ALL = "*"
"""Whose counts are those of all together."""


class CallUsage(NamedTuple):
    """Calls, and the US cents that they cost."""

    calls: int = 0
    cents: float = 0.0


class OpenRuns(NamedTuple):
    """How many runs go on or wait in line, and how many calls they may still make, as far as that was known."""

    runs: int
    ahead: int


class UsageTally:
    """What the calls of a day took, by the owner of their run; and of those under way, by run and call, the most tokens
    of a prompt and of an answer that they may take. To be used by one thread at a time.
    """

    def __init__(self) -> None:
        self.of: dict[str, CallUsage] = {}
        self.under_way: dict[tuple[str, str], tuple[int, int]] = {}

    def most(self, call: tuple[str, str]) -> tuple[int, int]:
        """What a call that is under way may take; nothing where it is not."""
        return self.under_way.get(call, (0, 0))

    def taken(self, owner: str | None) -> CallUsage:
        """What the calls of that person's runs took; of everybody's for None."""
        if owner is not None:
            return self.of.get(owner, CallUsage())
        return CallUsage(sum(one.calls for one in self.of.values()), sum(one.cents for one in self.of.values()))

    def take(self, owner: str, call: tuple[str, str], taken: CallUsage, most: tuple[int, int] | None) -> None:
        """Add what a call of the owner's took. It is under way, and may take so much at `most`; None: it is not."""
        calls, cents = self.of.get(owner, CallUsage())
        self.of[owner] = CallUsage(calls + taken.calls, cents + taken.cents)
        if most is None:
            self.under_way.pop(call, None)
        else:
            self.under_way[call] = most


@dataclass
class _Run:
    """A run that goes on or waits. `whose`: its owner, else the run itself. `ahead`: calls it may still make."""

    run: str
    owner: str
    whose: str
    ahead: int
    has_place: bool = False


class UsageLedger:
    """The counts of one app. May be used from any thread."""

    def __init__(self) -> None:
        self.turn = threading.RLock()
        """Held while something is looked up and counted in one step."""

        self.day = ""
        self.tally = UsageTally()
        """What the calls of `day` took; to be used with `turn`."""

        self._numbers = count(1)
        self._runs: dict[int, _Run] = {}
        self._line: list[int] = []
        """The numbers of the runs without a place, in the order in which they come next."""
        self._wrong: dict[str, tuple[int, float]] = {}
        """How many wrong codes, and when the last one, by address."""
        self._tabs: dict[str, list[str]] = {}

    def going_on(self, owner: str | None) -> OpenRuns:
        """That person's runs; everybody's for None."""
        with self.turn:
            runs = [one for one in self._runs.values() if owner is None or one.owner == owner]
            return OpenRuns(len(runs), sum(one.ahead for one in runs))

    def begin(self, run: str, owner: str, calls: int) -> int:
        """Put a run, which may make so many calls, at the end of the line. Its number."""
        with self.turn:
            number = next(self._numbers)
            self._runs[number] = _Run(run, owner, owner or run, calls)
            self._line.append(number)
            return number

    def asked(self, number: int) -> None:
        """One of the calls that the run may make is made."""
        with self.turn:
            if one := self._runs.get(number):
                one.ahead = max(one.ahead - 1, 0)

    def over(self, number: int) -> None:
        """The run goes on no more, and gives its place back."""
        with self.turn:
            self._runs.pop(number, None)
            if number in self._line:
                self._line.remove(number)

    def hand_out(self, places: int | None) -> set[int]:
        """Let so many runs have a place, any number for None: of those in line one of each owner in turn. Nobody loses
        theirs. The numbers of the runs that are still in line.
        """
        with self.turn:
            free = len(self._line) if places is None else places - (len(self._runs) - len(self._line))
            while self._line and free > 0:
                first = self._runs[self._line.pop(0)]
                first.has_place = True
                # The others of its owner go to the end, in their order.
                self._line.sort(key=lambda number: self._runs[number].whose == first.whose)
                free -= 1
            return set(self._line)

    def before(self, run: str) -> int | None:
        """How many other people come before the run; None where it is not in line."""
        with self.turn:
            line = list(dict.fromkeys(self._runs[number].whose for number in self._line))
            waiting = (self._runs[number] for number in self._line)
            one = next((one for one in waiting if one.run == run), None)
            return line.index(one.whose) if one else None

    def wrong(self, who: str) -> float:
        """Count a wrong code of `who`, a network address. Seconds until a code of theirs is looked at again: where it
        is more than 0 this one was not looked at, and does not count.
        """
        with self.turn:
            if seconds := self.wait(who):
                return seconds
            for one in (who, _ALL):
                self._wrong[one] = self._wrong.get(one, (0, 0.0))[0] + 1, time.time()
            return 0.0

    def right(self, who: str) -> float:
        """Forget the wrong codes of `who`, who typed a right one. The seconds are those of `wrong`: where they are more
        than 0 it was not looked at. What all addresses typed stands, so that no right code helps to guess another.
        """
        with self.turn:
            if seconds := self.wait(who):
                return seconds
            self._wrong.pop(who, None)
            return 0.0

    def wait(self, who: str) -> float:
        """Seconds until a code of `who` is looked at; 0 where it is now."""
        with self.turn:
            now = time.time()
            # The clock was set back: they are of this moment, so that no wait is longer than it can be.
            known = {one: (times, min(at, now)) for one, (times, at) in self._wrong.items()}
            self._wrong = {one: (times, at) for one, (times, at) in known.items() if at > now - _FORGOTTEN}
            mine = ((one, *self._wrong[one]) for one in (who, _ALL) if one in self._wrong)
            return float(max((max(_wait(one, times) - (now - at), 0) for one, times, at in mine), default=0))

    def tab_opened(self, visitor: str, tab: str) -> int:
        """Count a tab of the visitor's; one that is known is counted once. Which of their open tabs it is, in the order
        in which they were opened, from 1.
        """
        with self.turn:
            tabs = self._tabs.setdefault(visitor, [])
            if tab not in tabs:
                tabs.append(tab)
            return tabs.index(tab) + 1

    def tab_closed(self, visitor: str, tab: str) -> None:
        """Count it no more; nothing where it is not known."""
        with self.turn:
            left = [one for one in self._tabs.pop(visitor, []) if one != tab]
            if left:
                self._tabs[visitor] = left

    def tabs(self, visitor: str) -> int:
        """How many tabs the visitor has open."""
        with self.turn:
            return len(self._tabs.get(visitor, ()))


@cache
def _counted(path: Path) -> UsageLedger:
    return UsageLedger()


def of_home() -> UsageLedger:
    """The counts of the app on this home. Raises DataDirError."""
    return _counted(home.home())


def _wait(who: str, times: int) -> float:
    """Seconds for which so many wrong codes keep `who` waiting."""
    free, longest = (_FREE_OF_ALL, _LONGEST_OF_ALL) if who == _ALL else (_FREE, _LONGEST)
    return min(2.0 ** min(times - free, 30), longest) if times >= free else 0.0
