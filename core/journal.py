"""The events of one run, on disk: one JSON object a line, appended as it happens. The journal is the truth.

A process that dies while writing leaves at most one torn last line. Reading passes over it, appending
cuts it off first.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NamedTuple

from filelock import FileLock, Timeout
from pydantic import ValidationError

from core.events import Event, from_json, to_json

_FORCED_TO_DISK = {"started", "resumed", "answered", "recorded", "dropped", "finished"}


class JournalInUse(Exception):
    """Another process, or another job of this one, is writing this journal."""


class Fault(NamedTuple):
    """A line that holds no event."""

    line: int
    reason: str


class Contents(NamedTuple):
    events: list[Event]
    faults: list[Fault]


def read(path: Path) -> Contents:
    """All events of a journal, in order, and the lines that hold none. Raises FileNotFoundError."""
    events: list[Event] = []
    faults: list[Fault] = []
    for number, line in enumerate(whole_lines(path.read_bytes()), start=1):
        try:
            events.append(from_json(line))
        except ValidationError as error:
            faults.append(Fault(number, str(error.errors()[0]["msg"])))
    return Contents(events, faults)


def whole_lines(data: bytes) -> Iterator[bytes]:
    """The lines of `data` that were written to their end."""
    return (line for line in data[: data.rfind(b"\n") + 1].split(b"\n") if line)


def _lock(path: Path) -> FileLock:
    folder = path.parent / ".locks"
    folder.mkdir(parents=True, exist_ok=True)
    return FileLock(folder / f"{path.stem}.lock", thread_local=False)


def is_written(path: Path) -> bool:
    """Whether someone, in this process or another, is writing this journal now. The lock dies with its process."""
    lock = _lock(path)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return True
    lock.release()
    return False


class Journal:
    """Appends events to one file; one writer at a time, safe to call from several threads. A context manager.

    Raises JournalInUse where another writer holds it.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._held = _lock(path)
        try:
            self._held.acquire(timeout=1)
        except Timeout:
            raise JournalInUse(f"{path.name} is being written by a run that is still going on") from None
        self._file = _open_after_whole_lines(path)
        self._write = threading.Lock()

    def append(self, event: Event) -> None:
        """Write `event` and flush; what cost a call or a person's work is forced to the disk. Tokens are not kept."""
        if event.kind == "token":
            return
        with self._write:
            self._file.write(to_json(event).encode() + b"\n")
            self._file.flush()
            if event.kind in _FORCED_TO_DISK:
                os.fsync(self._file.fileno())

    def close(self) -> None:
        try:
            self._file.close()
        finally:
            self._held.release()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


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
