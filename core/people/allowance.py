"""What runs may take where a host limits them (`core.policy`): calls, tokens, money, places, bytes; and which are kept
no longer.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple, Protocol

from core import home, journal, packs, policy
from core.events import Answered, Asked, CallFailed, Event, Failed, OutOfReach
from core.journal import FromTheFuture, JournalFull, JournalInUse
from core.lab.lab import Lab
from core.lab.spec import MOST_CASES, Spec
from core.people import roles
from core.people.about import is_shared
from core.runs import repack

log = logging.getLogger(__name__)

_OF_CALLS = (b'"kind":"asked"', b'"kind":"answered"', b'"kind":"failed"')
"""These stand in a journal's lines for calls and nowhere else: within a text, quotes are escaped."""

Charge = Callable[[str, int, int], float | None]
"""US dollars for so many tokens of a prompt, and of an answer, of a model; None where nothing of it counts."""


def free_of_charge(model: str, prompt: int, completion: int) -> float:
    """The `Charge` where nobody pays: calls and tokens count."""
    return 0.0


class TooMuch(Exception):
    """More than is allowed here; the message says what, and what to do instead."""


class GoingOn(Protocol):
    """A run that goes on, for its owner; `ahead` is how many calls it may still make, as far as that was known."""

    owner: str
    ahead: int


def planned_calls(lab: Lab, spec: Spec) -> int:
    """How many calls a run makes at most; 0 where nothing limits them or the lab cannot tell. Raises TooMuch."""
    limits = ("calls_a_run", "calls_a_day", "calls_of_all_a_day")
    if lab.calls is None or all(policy.limit(name) is None for name in limits):
        return 0
    calls = lab.calls(spec, sum(1 for _ in islice(lab.cases(spec), MOST_CASES)))
    most = policy.limit("calls_a_run")
    if most is not None and calls > most:
        raise TooMuch(
            f"This run would make {calls:,} calls, and here one may make {most:,}. Choose fewer cases or fewer "
            "trials, or make several runs."
        )
    return calls


class Allowance:
    """What the runs of `folder` have taken, and whether there is room for one more. May be used from any thread."""

    def __init__(self, folder: Path, charge: Charge = free_of_charge) -> None:
        self.today = CallsToday(folder, charge)
        self._folder = folder

    def check_room(self, owner: str, going_on: Sequence[GoingOn]) -> None:
        """Raises TooMuch where there is no room for another run of `owner` beside those that go on or wait in line."""
        try:
            home.must_write(self._folder)
        except home.HomeUnusable as error:
            raise TooMuch(str(error)) from None
        mine = [run for run in going_on if run.owner == owner]
        most = roles.limit("runs_at_once", owner)
        if most is not None and len(mine) >= most:
            raise TooMuch(
                f"As many runs as you have going on now ({len(mine)}) is as many as are allowed here. Wait until "
                "one is over, or stop one."
            )
        places, waiting = policy.limit("runs_of_all"), policy.limit("runs_in_line")
        if places is not None and waiting is not None and len(going_on) >= places + waiting:
            raise TooMuch(
                f"As many runs as people have going on now or waiting in line ({len(going_on)}) is as many as are "
                "allowed here. Come back a little later."
            )
        most = policy.limit("stored_mb")
        if most is not None and stored(self._folder) >= most * 1_000_000:
            raise TooMuch(
                f"The {most:,} MB that this host has for runs are full. Nothing of what is there is lost; ask whoever "
                "runs it to make room."
            )

    def check_day(self, owner: str, calls: int, going_on: Sequence[GoingOn]) -> None:
        """Raises TooMuch where the day has no room for so many calls of `owner` beside those that are on their way."""
        mine = [run for run in going_on if run.owner == owner]
        for name, runs, of, whose in (
            ("calls_a_day", mine, owner, "you"),
            ("calls_of_all_a_day", going_on, None, "all people together"),
        ):
            most = policy.limit(name) if of is None else roles.limit(name, of)
            if most is not None and (used := self.today.of(of) + sum(run.ahead for run in runs)) + max(calls, 1) > most:
                raise TooMuch(
                    f"Here {whose} may make {most:,} calls a day, and {used:,} are made or on their way. Choose a "
                    "smaller run, or come back tomorrow (the day begins at midnight UTC)."
                )
        if words := self._spent(owner):
            raise TooMuch(words)

    def admit(self, owner: str, event: Event) -> None:
        """To be called with each event before it is kept. Raises OutOfReach, which ends the run, for a call that the
        day has no tokens or no money left for.
        """
        if isinstance(event, Asked) and self.today.counts(event.model) and (words := self._spent(owner)):
            raise OutOfReach(CallFailed(words, "What was answered is kept, and the run can go on from here tomorrow."))

    def _spent(self, owner: str) -> str:
        """Why the day has no further call of `owner`; empty where it has."""
        for of, whose, names in (
            (owner, "you", ("tokens_a_day", "cents_a_day")),
            (None, "all people together", ("tokens_of_all_a_day", "cents_of_all_a_day")),
        ):
            limits = [policy.limit(name) if of is None else roles.limit(name, of) for name in names]
            if limits == [None, None]:
                continue
            taken = self.today.taken(of)
            for most, used, what in zip(limits, taken, ("tokens", "US cents"), strict=True):
                if most is not None and used >= most:
                    return (
                        f"Here {whose} may use {most:,} {what} a day, and they are used up, or kept for calls on their "
                        "way. Robots and recordings cost nothing; for other models come back tomorrow (the day begins "
                        "at midnight UTC)."
                    )
        return ""


def stored(folder: Path) -> int:
    """How many bytes the files of the folder and the kept answers take, looked up once in ten seconds."""
    return _stored(folder, time.monotonic() // 10)


@lru_cache(maxsize=1)
def _stored(folder: Path, tens: float) -> int:
    answers = sum(path.stat().st_size for path in home.home().glob(f"{home.answers().name}*"))
    with os.scandir(folder) as entries:
        return answers + sum(entry.stat().st_size for entry in entries if entry.is_file(follow_symlinks=False))


class Taken(NamedTuple):
    """Tokens, and US cents."""

    tokens: int
    cents: float


class Spent(NamedTuple):
    """What somebody's runs took on a day: calls, tokens, US cents."""

    calls: int
    tokens: int
    cents: float


class _Tally:
    """Calls, tokens and US dollars, by the name of whose they are. A call takes what it may take at most until its
    answer says what it took; one whose answer never says has taken that. What came from a cache took nothing.
    """

    def __init__(self, charge: Charge) -> None:
        self.calls: Counter[str] = Counter()
        self.tokens: Counter[str] = Counter()
        self.dollars: defaultdict[str, float] = defaultdict(float)
        self._charge = charge
        self._under_way: dict[tuple[str, str], tuple[int, int]] = {}

    def add(self, owner: str, event: Event) -> None:
        """Count what an event says of a call."""
        if not isinstance(event, Asked | Answered | Failed) or event.model is None or event.call is None:
            return
        call = event.run, event.call
        if isinstance(event, Failed):
            self._under_way.pop(call, None)
            return
        if self._charge(event.model, 0, 0) is None:
            return
        if isinstance(event, Asked):
            self.calls[owner] += 1
            most = self._under_way[call] = _at_most(event)
            self._take(owner, event.model, most, 1)
            return
        most = self._under_way.pop(call, (0, 0))
        self._take(owner, event.model, most, -1)
        if not event.cached:
            said = event.usage.prompt_tokens, event.usage.completion_tokens
            prompt, completion = (one if now is None else max(now, 0) for now, one in zip(said, most, strict=True))
            self._take(owner, event.model, (prompt, completion), 1)

    def update(self, other: _Tally) -> None:
        """Add what another one counted."""
        self.calls.update(other.calls)
        self.tokens.update(other.tokens)
        for owner, dollars in other.dollars.items():
            self.dollars[owner] += dollars
        self._under_way.update(other._under_way)

    def _take(self, owner: str, model: str, tokens: tuple[int, int], sign: int) -> None:
        self.tokens[owner] += sign * sum(tokens)
        self.dollars[owner] += sign * (self._charge(model, *tokens) or 0.0)


def _at_most(asked: Asked) -> tuple[int, int]:
    """Tokens of a prompt, three bytes each, where most take four; and of the longest answer."""
    return sum(len(turn.content.encode("utf-8", "replace")) for turn in asked.messages) // 3, asked.sampling.max_tokens


class CallsToday:
    """What calls the runs of `folder` have made since midnight (UTC), and what these took, by the name of whose they
    are.

    What stands in journals is counted once; from then on `note` counts. May be used from any thread.
    """

    def __init__(self, folder: Path, charge: Charge = free_of_charge) -> None:
        self._folder = folder
        self._charge = charge
        self._lock = threading.Lock()
        self._looking = threading.Lock()
        self._day = ""
        self._tally = _Tally(charge)

    def counts(self, model: str) -> bool:
        """Whether calls of that model count."""
        return self._charge(model, 0, 0) is not None

    def note(self, owner: str, event: Event) -> None:
        """That has happened in a run of `owner`."""
        with self._lock:
            if self._day == _today():
                # Before the first look the journals themselves keep count.
                self._tally.add(owner, event)

    def taken(self, owner: str | None) -> Taken:
        """Tokens and US cents that the calls of that person's runs took; of everybody's for None."""
        self._looked()
        with self._lock:
            tokens, dollars = self._tally.tokens, self._tally.dollars
            if owner is None:
                return Taken(tokens.total(), 100 * sum(dollars.values()))
            return Taken(tokens[owner], 100 * dollars.get(owner, 0.0))

    def each(self) -> dict[str, Spent]:
        """What everybody's calls took, by the name of whose runs made them."""
        self._looked()
        with self._lock:
            tally = self._tally
            return {
                owner: Spent(calls, tally.tokens[owner], 100 * tally.dollars.get(owner, 0.0))
                for owner, calls in tally.calls.items()
            }

    def of(self, owner: str | None) -> int:
        """Calls of that person's runs; of everybody's for None."""
        self._looked()
        with self._lock:
            return self._tally.calls.total() if owner is None else self._tally.calls[owner]

    def _looked(self) -> None:
        with self._looking:
            self._look(_today())

    def _look(self, day: str) -> None:
        with self._lock:
            if self._day == day:
                return
            self._day, self._tally = day, _Tally(self._charge)
        # Runs go on meanwhile: a call that is noted and read is counted twice rather than not at all.
        found = _counted(self._folder, day, self._charge)
        with self._lock:
            self._tally.update(found)


def _today() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d}"


def _counted(folder: Path, day: str, charge: Charge) -> _Tally:
    tally = _Tally(charge)
    midnight = datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
    on_day = f'"at":"{day}T'.encode()
    for path in folder.glob("*.jsonl"):
        try:
            if path.stat().st_mtime < midnight:
                continue
            begun = journal.begun(path)
            owner = begun.owner if begun else ""
            with path.open("rb") as lines:
                for line in lines:
                    if on_day in line and any(kind in line for kind in _OF_CALLS):
                        # A damaged line tells of no call.
                        with suppress(ValueError):
                            tally.add(owner, journal.from_line(line)[0])
        except (OSError, FromTheFuture):
            continue
    return tally


def forget(folder: Path, days: int) -> list[str]:
    """Delete visitors' runs that nothing was added to for so many days, in packs too, with what people said about them;
    not those that are shared, nor those of the command line. And what visitors said so long ago of runs that are not
    here, as recordings are not. Returns the runs.
    """
    oldest = time.time() - days * 24 * 3600
    forgotten = []
    packed: defaultdict[Path, dict[str, list[Path]]] = defaultdict(dict)
    for path in journal.listed(folder):
        said = list(folder.glob(f"{path.stem}~*.jsonl"))
        with _else_kept(path):
            if "~" in path.stem or max(map(_changed, (path, *said))) >= oldest or journal.is_written(path):
                continue
            if not _is_visitors(path) or is_shared(folder / path.name):
                continue
            if isinstance(path, packs.Packed):
                packed[Path(path.parent)][path.stem] = said
                continue
            for file in (*said, path):
                file.unlink()
            forgotten.append(path.stem)
    for pack, runs in packed.items():
        with _else_kept(pack):
            repack.without(pack, runs, folder)
            for file in chain.from_iterable(runs.values()):
                file.unlink()
            forgotten += runs
    for path in sorted(folder.glob("*~*.jsonl")):
        with _else_kept(path):
            is_homeless = journal.found(path.stem.partition("~")[0], folder) is None
            if is_homeless and path.stat().st_mtime < oldest and _is_visitors(path):
                path.unlink()
    return forgotten


@contextmanager
def _else_kept(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, FromTheFuture, JournalFull, JournalInUse) as error:
        log.warning("%s is kept: %s", path, error)


def _is_visitors(path: Path) -> bool:
    begun = journal.begun(path)
    return begun is not None and bool(begun.owner)


def _changed(path: Path) -> float:
    """When something was added to a journal last, in seconds of the epoch; in a pack its last line tells."""
    if not isinstance(path, packs.Packed):
        return path.stat().st_mtime
    last = list(journal.whole_lines(path.read_bytes()))[-1:]
    try:
        return journal.from_line(last[0])[0].at.timestamp()
    except (IndexError, ValueError):
        return path.stat().st_mtime
