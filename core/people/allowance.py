"""What runs may take where a host limits them (`core.policy`): calls, places, bytes; and which are kept no longer."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Protocol

from core import home, journal, packs, policy
from core.journal import FromTheFuture, JournalFull, JournalInUse
from core.lab.lab import Lab
from core.lab.spec import MOST_CASES, Spec
from core.people.about import is_shared
from core.runs import repack

log = logging.getLogger(__name__)

_ASKED = b'"kind":"asked"'
"""Stands in a journal's line for a call and nowhere else: within a text, quotes are escaped."""


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

    def __init__(self, folder: Path) -> None:
        self.today = CallsToday(folder)
        self._folder = folder

    def check(self, owner: str, calls: int, going_on: Sequence[GoingOn]) -> None:
        """Raises TooMuch where there is no room for another run of `owner`, of so many calls, beside those going on."""
        try:
            home.must_write(self._folder)
        except home.HomeUnusable as error:
            raise TooMuch(str(error)) from None
        mine = [run for run in going_on if run.owner == owner]
        for name, runs, whose in (("runs_at_once", mine, "you have"), ("runs_of_all", going_on, "people have")):
            most = policy.limit(name)
            if most is not None and len(runs) >= most:
                raise TooMuch(
                    f"As many runs as {whose} going on now ({len(runs)}) is as many as are allowed here. Wait until "
                    "one is over, or stop one."
                )
        for name, runs, of, whose in (
            ("calls_a_day", mine, owner, "you"),
            ("calls_of_all_a_day", going_on, None, "all people together"),
        ):
            most = policy.limit(name)
            if most is not None and (used := self.today.of(of) + sum(run.ahead for run in runs)) + max(calls, 1) > most:
                raise TooMuch(
                    f"Here {whose} may make {most:,} calls a day, and {used:,} are made or on their way. Choose a "
                    "smaller run, or come back tomorrow (the day begins at midnight UTC)."
                )
        most = policy.limit("stored_mb")
        if most is not None and stored(self._folder) >= most * 1_000_000:
            raise TooMuch(
                f"The {most:,} MB that this host has for runs are full. Nothing of what is there is lost; ask whoever "
                "runs it to make room."
            )


def stored(folder: Path) -> int:
    """How many bytes the files of the folder and the kept answers take, looked up once in ten seconds."""
    return _stored(folder, time.monotonic() // 10)


@lru_cache(maxsize=1)
def _stored(folder: Path, tens: float) -> int:
    answers = sum(path.stat().st_size for path in home.home().glob(f"{home.answers().name}*"))
    with os.scandir(folder) as entries:
        return answers + sum(entry.stat().st_size for entry in entries if entry.is_file(follow_symlinks=False))


class CallsToday:
    """How many calls the runs of `folder` have made since midnight (UTC), by the name of whose they are.

    What stands in journals is counted once; from then on `note` counts. May be used from any thread.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._looking = threading.Lock()
        self._day = ""
        self._calls: Counter[str] = Counter()

    def note(self, owner: str) -> None:
        """A call is being made."""
        with self._lock:
            if self._day == _today():
                # Before the first look the journals themselves keep count.
                self._calls[owner] += 1

    def of(self, owner: str | None) -> int:
        """Calls of that person's runs; of everybody's for None."""
        with self._looking:
            self._look(_today())
        with self._lock:
            return self._calls.total() if owner is None else self._calls[owner]

    def _look(self, day: str) -> None:
        with self._lock:
            if self._day == day:
                return
            self._day, self._calls = day, Counter()
        # Runs go on meanwhile: a call that is noted and read is counted twice rather than not at all.
        found = _counted(self._folder, day)
        with self._lock:
            self._calls.update(found)


def _today() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d}"


def _counted(folder: Path, day: str) -> Counter[str]:
    calls: Counter[str] = Counter()
    midnight = datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
    on_day = f'"at":"{day}T'.encode()
    for path in folder.glob("*.jsonl"):
        try:
            if path.stat().st_mtime < midnight:
                continue
            begun = journal.begun(path)
            owner = begun.owner if begun else ""
            with path.open("rb") as lines:
                calls[owner] += sum(_ASKED in line and on_day in line for line in lines)
        except (OSError, FromTheFuture):
            continue
    return calls


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
