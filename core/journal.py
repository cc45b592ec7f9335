"""The events of one run on disk: one JSON object per line, appended as it happens. The journal is the source of truth.

A journal has one writer. A process that dies while writing leaves at most one incomplete last line; readers skip it,
and the next writer cuts it off first. Each line carries its number and a checksum, so that altered, lost, duplicated or
moved lines are detected.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import re
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from io import FileIO
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import ValidationError

from . import home
from .errors import ExplainError
from .events import SCHEMA, Event, Started, from_json, to_json
from .home import must_write
from .lease import Lease, LeaseHeldError, is_held

T = TypeVar("T")

_PAID_FOR = {"started", "resumed", "answered", "recorded", "dropped", "finished"}
"""Events that cost a call or a person's work."""

_SHORTLY = 0.002
"""Seconds that such an event may wait before it is forced to the disk, if nobody is waiting for it. Forcing it takes
about as long.
"""


class JournalInUseError(ExplainError):
    """Another process, or another job of this process, is writing this journal."""


class NewerSchemaError(ExplainError, ValueError):
    """A newer version of this app wrote the journal."""


class Fault(NamedTuple):
    """A line that holds no valid event, or is out of place; `line` counts from 1."""

    line: int
    reason: str


class JournalFullError(ExplainError):
    """The journal could not be written, because the disk is full or broken; the message can be shown to the user."""


class Contents(NamedTuple):
    """The events of a journal in order, and its faults: lines that are damaged, missing or moved."""

    events: list[Event]
    faults: list[Fault]


def find(run_id: str, *folders: Path | None) -> Path | None:
    """Return the run's journal from the first of the folders that has it, as a file or in its archives. None if no
    folder has it, if it `is_blank`, or if the name leads out of the folder.
    """
    for folder in filter(None, folders):
        path = path_for(folder, run_id)
        # Some names are invalid for the file system.
        with contextlib.suppress(OSError, ValueError):
            if path.parent == folder:
                if path.is_file() and not is_blank(path):
                    return path
                if (there := home.unpacked_folder(folder)) is not None and (there / path.name).is_file():
                    return there / path.name
    return None


def path_for(folder: Path, run_id: str) -> Path:
    """Return the path of the run's journal in the folder, whether it exists or not."""
    return folder / f"{run_id}.jsonl"


def list_journals(folder: Path, pattern: str = "*") -> list[Path]:
    """Return the journals of the folder whose names without suffix match `pattern`, sorted."""
    return sorted(folder.glob(f"{pattern}.jsonl"))


LONGEST_LINE = 32 * 1024 * 1024
"""Longest first line of a journal in bytes; it holds all settings of the run."""


def is_blank(path: Path) -> bool:
    """Whether the journal has no complete line and nobody is writing it: its writer was killed before the first line.
    Such a journal is ignored. Raises FileNotFoundError.
    """
    return not _has_line(path) and not is_written(path)


def remove_blank(folder: Path) -> None:
    """Remove the blank journals of the folder. Raises nothing: a journal that cannot be removed stays."""
    for path in folder.glob("*.jsonl"):
        with contextlib.suppress(OSError, JournalInUseError):
            if is_blank(path):
                with exclusive(path):
                    # A writer may have started in the meantime.
                    if not _has_line(path):
                        path.unlink()


def _has_line(path: Path) -> bool:
    with path.open("rb") as file:
        return file.readline(LONGEST_LINE).endswith(b"\n")


def read(path: Path) -> Contents:
    """Return all events of a journal in the order in which they were written, and the faults of its lines. Raises
    FileNotFoundError and NewerSchemaError.
    """
    found, faults = _scanned(path, from_line)
    return Contents([found[number] for number in sorted(found)], faults)


def first_event(path: Path) -> Started | None:
    """Return the journal's first event; None if its first line is lost or not yet written. Raises FileNotFoundError and
    NewerSchemaError.
    """
    with path.open("rb") as file:
        line = file.readline()
    if not line.endswith(b"\n"):
        return None
    first = next(iter(_events([line.rstrip(b"\n")]).events), None)
    return first if isinstance(first, Started) else None


def faults(path: Path) -> list[Fault]:
    """Return the same faults as `read` at a fraction of its cost: a line with a valid checksum is not parsed. Raises
    FileNotFoundError and NewerSchemaError.
    """

    def number_of(line: bytes) -> tuple[None, int]:
        number = _number(line)
        # The first line has the schema version, so it is parsed in any case.
        return None, number if number > 1 else from_line(line)[1]

    return _scanned(path, number_of)[1]


def _scanned(path: Path, reading: Callable[[bytes], tuple[T, int]]) -> tuple[dict[int, T], list[Fault]]:
    """Apply `reading` to each line. Returns the results by line number, and the faults."""
    found: dict[int, T] = {}
    faults: list[Fault] = []
    before = 0
    for place, line in enumerate(whole_lines(path.read_bytes()), start=1):
        try:
            made, number = reading(line)
        except NewerSchemaError:
            raise
        except ValueError as error:
            faults.append(Fault(place, _reason(error)))
            continue
        if number in found:
            faults.append(Fault(place, "it stands there twice"))
            continue
        if number < before:
            faults.append(Fault(place, "it stood in another place"))
        before = number
        found[number] = made
    known = {fault.line for fault in faults}
    if found:
        lost = (number for number in range(1, max(found)) if number not in found and number not in known)
        faults += [Fault(number, "it is missing") for number in islice(lost, MOST_MISSING)]
    return found, sorted(faults)


MOST_MISSING = 1_000
"""Most missing lines that are listed: in a journal from somebody else, a line number can be anything."""

_SEAL = re.compile(rb',"line":(\d{1,9}),"sum":"([0-9a-f]{8})"\}\Z')


_LONGEST_SEAL = len(b',"line":999999999,"sum":"01234567"}')


def to_line(event: Event, number: int) -> bytes:
    """Return `event` as the journal line with that number, which counts from 1, including the newline."""
    body = to_json(event).encode()[:-1] + b',"line":%d' % number
    return body + b',"sum":"%08x"}\n' % zlib.crc32(body)


def from_line(line: bytes) -> tuple[Event, int]:
    """Return the event of a line and the line's number. Raises ValueError if the line holds no event or was altered,
    NewerSchemaError if a newer version of this app began the journal.
    """
    number = _number(line)
    event = from_json(line)
    if isinstance(event, Started) and event.version > SCHEMA:
        raise NewerSchemaError(
            f"A newer version of this app wrote this run (schema {event.version}; this one knows {SCHEMA}). "
            "Update the app to read it."
        )
    if not number:
        raise ValueError("it was altered: its checksum is gone")
    return event, number


def _number(line: bytes) -> int:
    """Return the number in the line, 0 if it has none. Raises ValueError if its checksum does not match."""
    seal = _SEAL.search(line, max(0, len(line) - _LONGEST_SEAL))
    if seal and zlib.crc32(line[: seal.end(1)]) != int(seal[2], 16):
        raise ValueError("it was altered: its checksum does not fit")
    return int(seal[1]) if seal else 0


def _reason(error: ValueError) -> str:
    return str(error.errors()[0]["msg"]) if isinstance(error, ValidationError) else str(error)


def read_part(path: Path, places: Iterable[str]) -> Contents:
    """Return the events placed at any of `places` (cases, items that cases share, "" for the run itself), and for the
    rest only how the run and each case began and ended and what failed. Other lines are not parsed. What was read last
    is kept as long as the file does not change, because a reader opens one trial of a case after the other. Raises
    FileNotFoundError.
    """
    status = path.stat()
    return _read_part(path, (status.st_ino, status.st_size, status.st_mtime_ns), frozenset(places))


@lru_cache(maxsize=8)
def _read_part(path: Path, version: tuple[int, int, int], places: frozenset[str]) -> Contents:
    """Return the part of the journal's `version` (and what was appended since)."""
    data = path.read_bytes()
    data = data[: data.rfind(b"\n") + 1]
    named = b"|".join(re.escape(json.dumps(place, ensure_ascii=False).encode()) for place in {"", *places})
    of_run = rb'"kind":"(?:started|resumed|finished)"|"record":"(?:begun|result)"|"reason":"error"'
    # Going line by line would be slow for a thousand cases: search all bytes once, then take the lines around the
    # matches.
    wanted = re.compile(rb'"case":(?:' + named + rb")[,}]|" + of_run)
    starts: list[int] = []
    at = 0
    while match := wanted.search(data, at):
        start = data.rfind(b"\n", 0, match.start()) + 1
        starts.append(start)
        at = data.find(b"\n", match.end())
    return _events(data[start : data.find(b"\n", start)] for start in starts)


def _events(lines: Iterable[bytes]) -> Contents:
    events: list[Event] = []
    faults: list[Fault] = []
    for number, line in enumerate(lines, start=1):
        try:
            events.append(from_line(line)[0])
        except NewerSchemaError:
            raise
        except ValueError as error:
            faults.append(Fault(number, _reason(error)))
    return Contents(events, faults)


@contextlib.contextmanager
def without_collections() -> Iterator[None]:
    """Let no garbage be collected while many events or their rows are made: they have no cycles, and scanning all of
    them again and again takes a third of the time of indexing, and two thirds of that of reading a large run.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def whole_lines(data: bytes) -> Iterator[bytes]:
    """Return the complete lines of `data`, without their newlines."""
    return (line for line in data[: data.rfind(b"\n") + 1].split(b"\n") if line)


class Tail:
    """Reads what was added to a journal since the last call. If the journal has become shorter, it starts from the
    beginning.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._at = 0

    def news(self) -> Contents:
        """Return the events of the lines completed since the last call. Raises FileNotFoundError."""
        if self.path.stat().st_size < self._at:
            self._at = 0
        with self.path.open("rb") as file:
            file.seek(self._at)
            data = file.read()
        self._at += data.rfind(b"\n") + 1
        return _events(whole_lines(data))


def _lease(path: Path) -> Path:
    return path.parent / ".leases" / f"{path.stem}.json"


def _taken(path: Path) -> Lease:
    """Acquire the right to write this journal. Raises JournalInUseError."""
    try:
        return Lease(_lease(path))
    except LeaseHeldError as held:
        raise JournalInUseError(f"{path.name} is being written by a run that is still going on ({held.who})") from None


@contextlib.contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Keep others from writing this journal within the context. Raises JournalInUseError."""
    lease = _taken(path)
    try:
        yield
    finally:
        lease.release()


def write_atomic(path: Path, data: bytes) -> None:
    """Put a journal that was written elsewhere in place, either whole or not at all. Raises JournalInUseError and
    JournalFullError.
    """
    beside = path.with_name(f".{path.name}.new")
    with exclusive(path):
        try:
            with beside.open("wb") as file:
                file.write(data)
                os.fsync(file.fileno())
            beside.replace(path)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise _full(path, error) from None


def _full(path: Path, error: OSError) -> JournalFullError:
    return JournalFullError(
        f"{path.name} could not be written ({error.strerror or error}). What was answered before is kept. Free some "
        "room, then go on with the run."
    )


def is_written(path: Path) -> bool:
    """Whether anyone is writing this journal now, in any process on any machine."""
    return is_held(_lease(path))


def being_written(folder: Path) -> list[str]:
    """Return the names of the folder's runs whose journals are being written now, leaving out journals about other
    runs.
    """
    leases = _lease(folder / "any").parent.glob("[!.]*.json")
    return sorted(path.stem for path in leases if "~" not in path.stem and is_held(path))


class Journal:
    """Appends events to one file. A context manager with one writer at a time; several threads may call it.

    With `new`, the file must not exist (raises FileExistsError). Raises JournalInUseError if another writer holds it,
    DataDirError if its folder is not writable.
    """

    def __init__(self, path: Path, new: bool = False) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        must_write(path.parent)
        self.path = path
        self._lease = _taken(path)
        try:
            # Unbuffered: a buffer would keep retrying a line that found no room on the disk.
            self._file = path.open("xb" if new else "ab+", buffering=0)
            self._lines = 0 if new else _cut_after_whole_lines(self._file)
        except BaseException:
            self._lease.release()
            raise
        self._write = threading.Lock()
        self._closed = False

    @property
    def is_new(self) -> bool:
        """Whether the journal has no line yet."""
        return self._lines == 0

    def append(self, event: Event) -> bytes:
        """Write `event` to the file without waiting for the disk (`settle` does). Returns the line as written; empty
        for tokens, which are not stored. Raises JournalFullError, and JournalInUseError if another process took the
        journal over while this one was asleep.
        """
        if event.kind == "token":
            return b""
        with self._write:
            if self._lease.lost:
                raise JournalInUseError(f"{self.path.name} was taken over by another process while this one slept")
            line = to_line(event, self._lines + 1)
            left = memoryview(line)
            try:
                while left:
                    left = left[self._file.write(left) :]
            except OSError as error:
                # A full disk may have accepted part of the line; remove it so that the next line can be written.
                with contextlib.suppress(OSError):
                    on_disk = self._file.seek(0, os.SEEK_END)
                    os.ftruncate(self._file.fileno(), on_disk - (len(line) - len(left)))
                raise _full(self.path, error) from None
            self._lines += 1
        if event.kind in _PAID_FOR:
            _syncer().due(self)
        return line

    def sync(self) -> None:
        """Force everything appended to the disk."""
        with self._write:
            if self._closed:
                return
            descriptor = os.dup(self._file.fileno())
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def settle(self, then: Callable[[], None]) -> None:
        """Call `then` from another thread once everything appended so far is on the disk."""
        _syncer().due(self, then)

    async def settled(self) -> None:
        """Wait without blocking the event loop until everything appended so far is on the disk."""
        loop, on_disk = asyncio.get_running_loop(), asyncio.Event()

        def then() -> None:
            # The loop may have been stopped, and then nobody waits any more.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(on_disk.set)

        self.settle(then)
        await on_disk.wait()

    def close(self) -> None:
        """Force the rest to the disk and release the journal for other writers."""
        try:
            self.sync()
            with self._write:
                self._closed = True
                self._file.close()
        finally:
            self._lease.release()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Syncer:
    """Forces journals to the disk in its own thread, with one call per journal for all waiting events."""

    def __init__(self) -> None:
        self._due: dict[Journal, list[Callable[[], None]]] = {}
        self._turn = threading.Condition()
        threading.Thread(target=self._go, name="journals", daemon=True).start()

    def due(self, journal: Journal, then: Callable[[], None] | None = None) -> None:
        with self._turn:
            is_first = not self._due
            waiting = self._due.setdefault(journal, [])
            if then is not None:
                waiting.append(then)
            if is_first or then is not None:
                self._turn.notify()

    def _go(self) -> None:
        while True:
            with self._turn:
                while not self._due:
                    self._turn.wait()
                # Code that appends an answer waits for it immediately afterwards: one system call can serve both.
                self._turn.wait_for(lambda: any(self._due.values()), _SHORTLY)
                due, self._due = self._due, {}
            for journal, waiting in due.items():
                # A full disk is reported by the next append; callers must not wait for ever.
                with contextlib.suppress(OSError):
                    journal.sync()
                for then in waiting:
                    then()


@cache
def _syncer() -> _Syncer:
    return _Syncer()


def _cut_after_whole_lines(file: FileIO) -> int:
    """Cut off the incomplete last line that a killed writer may have left. Returns the number of the last remaining
    line.
    """
    file.seek(0)
    data = file.readall()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        file.truncate(whole)
    file.seek(0, os.SEEK_END)
    last = _SEAL.search(data[data.rfind(b"\n", 0, max(whole - 1, 0)) + 1 : max(whole - 1, 0)])
    return max(data.count(b"\n", 0, whole), int(last[1]) if last else 0)
