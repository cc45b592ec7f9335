"""The events of one run, on disk: one JSON object a line, appended as it happens. The journal is the truth.

A journal has one writer. A process that dies while writing leaves at most one torn last line. Reading passes over it,
appending cuts it off first.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NamedTuple

from pydantic import ValidationError

from core.events import Event, from_json, to_json
from core.lease import Held, Lease, is_held

_PAID_FOR = {"started", "resumed", "answered", "recorded", "dropped", "finished"}
"""Events that cost a call or a person's work."""


class JournalInUse(Exception):
    """Another process, or another job of this one, is writing this journal."""


class Fault(NamedTuple):
    """A line that holds no event."""

    line: int
    reason: str


class Contents(NamedTuple):
    """The events of a journal in their order, and the faults: the lines that hold none."""

    events: list[Event]
    faults: list[Fault]


def read(path: Path) -> Contents:
    """All events of a journal, in order, and the lines that hold none. Raises FileNotFoundError."""
    return _events(whole_lines(path.read_bytes()))


def read_part(path: Path, places: Iterable[str]) -> Contents:
    """The events placed at any of `places` (cases, items that cases share, "" for the run itself), how the run and
    each case began and ended, what failed, and nothing else: the rest is not read as events. Raises FileNotFoundError.
    """
    data = path.read_bytes()
    data = data[: data.rfind(b"\n") + 1]
    named = b"|".join(re.escape(json.dumps(place, ensure_ascii=False).encode()) for place in {"", *places})
    of_run = rb'"kind":"(?:started|resumed|finished)"|"record":"(?:begun|result)"|"reason":"error"'
    # Line by line would be slow over a thousand cases: one search over all bytes, then the lines around its matches.
    wanted = re.compile(rb'"case":(?:' + named + rb")[,}]|" + of_run)
    starts: list[int] = []
    at = 0
    while match := wanted.search(data, at):
        start = data.rfind(b"\n", 0, match.start()) + 1
        starts.append(start)
        at = data.find(b"\n", match.end()) + 1
    return _events(data[start : data.find(b"\n", start)] for start in starts)


def _events(lines: Iterable[bytes]) -> Contents:
    events: list[Event] = []
    faults: list[Fault] = []
    for number, line in enumerate(lines, start=1):
        try:
            events.append(from_json(line))
        except ValidationError as error:
            faults.append(Fault(number, str(error.errors()[0]["msg"])))
    return Contents(events, faults)


def whole_lines(data: bytes) -> Iterator[bytes]:
    """The lines of `data` that were written to their end."""
    return (line for line in data[: data.rfind(b"\n") + 1].split(b"\n") if line)


class Tail:
    """Reads what a journal has gained since the last look. A journal that shrank is read from its beginning."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._at = 0

    def news(self) -> Contents:
        """The events of the lines that were finished since. Raises FileNotFoundError."""
        size = self.path.stat().st_size
        if size < self._at:
            self._at = 0
        if size == self._at:
            return Contents([], [])
        with self.path.open("rb") as file:
            file.seek(self._at)
            data = file.read()
        whole = data.rfind(b"\n") + 1
        self._at += whole
        return _events(line for line in data[:whole].split(b"\n") if line)


def _lease(path: Path) -> Path:
    return path.parent / ".leases" / f"{path.stem}.json"


def is_written(path: Path) -> bool:
    """Whether someone, in this process or another, here or on another machine, is writing this journal now."""
    return is_held(_lease(path))


class Journal:
    """Appends events to one file; one writer at a time, safe to call from several threads. A context manager.

    `new`: the file must not be there yet (raises FileExistsError). Raises JournalInUse where another writer holds it.
    """

    def __init__(self, path: Path, new: bool = False) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        try:
            self._lease = Lease(_lease(path))
        except Held as held:
            raise JournalInUse(f"{path.name} is being written by a run that is still going on ({held.who})") from None
        try:
            self._file = path.open("xb") if new else _open_after_whole_lines(path)
        except BaseException:
            self._lease.release()
            raise
        self._write = threading.Lock()
        self._closed = False

    def append(self, event: Event) -> None:
        """Write `event` and hand it to the operating system; `settle` waits until it is on the disk. Tokens are not
        kept. Raises JournalInUse where another process took the journal over while this one slept.
        """
        if event.kind == "token":
            return
        with self._write:
            if self._lease.lost:
                raise JournalInUse(f"{self.path.name} was taken over by another process while this one slept")
            self._file.write(to_json(event).encode() + b"\n")
            self._file.flush()
        if event.kind in _PAID_FOR:
            _syncer().due(self)

    def sync(self) -> None:
        """Force what was appended to the disk."""
        with self._write:
            if self._closed:
                return
            descriptor = os.dup(self._file.fileno())
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def settle(self, then: Callable[[], None]) -> None:
        """Call `then`, from another thread, once all that was appended so far is on the disk."""
        _syncer().due(self, then)

    async def settled(self) -> None:
        """Wait until what was appended so far is on the disk; the loop goes on meanwhile."""
        loop = asyncio.get_running_loop()
        settled: asyncio.Future[None] = loop.create_future()

        def now() -> None:
            if not settled.done():
                settled.set_result(None)

        def then() -> None:
            # A loop that has been stopped waits for nothing any more.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(now)

        self.settle(then)
        await settled

    def close(self) -> None:
        """Force what is left to the disk, and let others write."""
        try:
            self.sync()
            with self._write:
                self._closed = True
                self._file.close()
        finally:
            self._lease.release()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Syncer:
    """Forces journals to the disk in a thread of its own: however many events wait, one call for each journal."""

    def __init__(self) -> None:
        self._due: dict[Journal, list[Callable[[], None]]] = {}
        self._turn = threading.Condition()
        threading.Thread(target=self._go, name="journals", daemon=True).start()

    def due(self, journal: Journal, then: Callable[[], None] | None = None) -> None:
        with self._turn:
            waiting = self._due.setdefault(journal, [])
            if then is not None:
                waiting.append(then)
            self._turn.notify()

    def _go(self) -> None:
        while True:
            with self._turn:
                while not self._due:
                    self._turn.wait()
                due, self._due = self._due, {}
            for journal, waiting in due.items():
                # A full disk shows at the next append; who waits must not wait for ever.
                with contextlib.suppress(OSError):
                    journal.sync()
                for then in waiting:
                    then()


@cache
def _syncer() -> _Syncer:
    return _Syncer()


def _open_after_whole_lines(path: Path) -> BinaryIO:
    """`path` opened for appending, without the torn line that a killed writer may have left."""
    file = path.open("ab+")
    file.seek(0)
    data = file.read()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        file.truncate(whole)
    file.seek(0, os.SEEK_END)
    return file
