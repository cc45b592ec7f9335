"""Indexes journals into the store, once or for as long as the process lives: reads what is new in them, and nothing
twice.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import home, journal
from ..events import Answered, Event, Failed, Recorded
from . import index_workers
from .event_rows import BEGUN, RESULT, Row, Rows, new_run, refresh
from .index_workers import ReadJournals
from .store import Store, insert

if TYPE_CHECKING:
    import pyarrow as pa


log = logging.getLogger(__name__)

BLOCK = 20_000
"""How many lines are written in one transaction: this limits memory, and a thousand small journals share one."""

LARGE = 50_000
"""The same for rows from worker processes, which take less memory: DuckDB then writes each page of a table once."""

INSERTING = "200MB"
"""The memory that DuckDB may use while rows from worker processes are inserted."""

_ENDING = ".jsonl"


def index(store: Store, journals: Path, recordings: bool = False) -> list[str]:
    """Read once what the folder's journals hold beyond what the store knows; for repeated use, keep an `Index`. With
    `recordings`, which come with the app, journals in archives are included. Returns the runs that changed.
    """
    changed = Index(store, journals, recordings).update()
    if recordings and (archived := home.unpacked_folder(journals)) is not None:
        changed = sorted({*changed, *Index(store, archived, recordings).update()})
    return changed


def rebuild(store: Store, journals: Path) -> list[str]:
    """Delete all rows and index the folder's journals from their beginning. Returns the runs."""
    with store.writer.lock:
        store.clear()
        return index(store, journals)


class _Seen(NamedTuple):
    """How much of which file is indexed."""

    journal: str
    bytes: int
    modified: int
    head: str


_NOTHING = _Seen("", 0, 0, "")


class _File(NamedTuple):
    """A journal's file in the folder."""

    run: str
    path: str
    bytes: int
    modified: int

    def is_as(self, seen: _Seen) -> bool:
        return (self.path, self.bytes, self.modified) == (seen.journal, seen.bytes, seen.modified)


class Index:
    """A folder's journals (`*.jsonl`), read again and again. Their sizes and times are remembered, so that a look at
    thousands of unchanged journals takes milliseconds. `recordings`: whether they are runs that came with the app.
    """

    def __init__(self, store: Store, journals: Path, recordings: bool = False) -> None:
        self.store = store
        self._recordings = recordings
        self._folder = os.path.realpath(journals)
        self._known: dict[str, _Seen] = {}
        self._still: dict[str, tuple[int, int]] = {}
        """Files, by name, that have nothing new as long as they have this size and time."""
        self._here: set[str] = set()
        """The names of the files that the store knows in this folder."""
        self._others: dict[str, str] = {}
        """The journals of the other runs that it knows, by run."""
        self._writes = -1
        self._stopping = threading.Event()
        self._postponed: dict[str, tuple[int, int]] = {}
        """Files, by name, that were not read because somebody stopped the reading, with their size and time then."""
        self.progress = (0, 0)
        """How many of how many changed journals the current `update` has read, or the last one."""

    def update(self) -> list[str]:
        """Read what the journals hold beyond what the store knows.

        Returns the runs that changed, including those whose journal is gone and whose rows were deleted. An incomplete
        last line is left until it is complete; a line that holds no event is noted in `faults` and skipped; a journal
        that shrank, moved, or begins differently is read again from its start.
        """
        with self.store.writer.lock:
            self._stopping.clear()
            if self._writes != self.store.writer.writes:
                self._learn()
            try:
                news, there = self._scan()
            except OSError as error:
                log.warning("%s cannot be read: %s", self._folder, error)
                return []
            gone = {name.removesuffix(_ENDING) for name in self._here - there}
            gone |= {run for run, path in self._others.items() if not os.path.exists(path)}
            changed = self._take_up(news, gone) if news or gone else set()
            if self.store.stale:
                self.store.rewrite()
            self._writes = self.store.writer.writes
        return sorted(changed)

    @property
    def postponed(self) -> int:
        """How many changed journals were not read, because of `stop`."""
        return len(self._postponed)

    def stop(self) -> None:
        """End the current `update` with the journals that it has read. The others are postponed until `resume`, or
        until they change.
        """
        self._stopping.set()

    def resume(self) -> None:
        """Let the next `update` read the postponed journals too."""
        with self.store.writer.lock:
            for name in self._postponed:
                self._still.pop(name, None)
            self._postponed = {}

    def _learn(self) -> None:
        """Load what the store knows: somebody else wrote to it, or nothing is loaded yet."""
        with self.store.cursor() as cursor:
            rows = cursor.execute("select run, journal, bytes, modified, head from runs").fetchall()
        self._still = dict(self._postponed)
        self._keep({run: _Seen(*seen) for run, *seen in rows})

    def _keep(self, known: dict[str, _Seen]) -> None:
        self._known = known
        self._others = {run: one.journal for run, one in known.items() if os.path.dirname(one.journal) != self._folder}
        self._here = {run + _ENDING for run in known.keys() - self._others.keys()}

    def _scan(self) -> tuple[list[_File], set[str]]:
        """The changed files, and the names of all files."""
        news: list[_File] = []
        there: set[str] = set()
        try:
            entries = os.scandir(self._folder)
        except (FileNotFoundError, NotADirectoryError):
            return news, there
        with entries:
            for entry in entries:
                name = entry.name
                was = self._still.get(name)
                if was is None and not name.endswith(_ENDING):
                    continue
                try:
                    status = entry.stat()
                except OSError:
                    # The file was deleted meanwhile, or is a broken link.
                    continue
                there.add(name)
                if was != (status.st_size, status.st_mtime_ns) and stat.S_ISREG(status.st_mode):
                    path = os.path.join(self._folder, name)
                    news.append(_File(name.removesuffix(_ENDING), path, status.st_size, status.st_mtime_ns))
        return sorted(news), there

    def _take_up(self, news: list[_File], gone: set[str]) -> set[str]:
        files = [file for file in news if file.run not in self._known or not file.is_as(self._known[file.run])]
        replaced = {file.run for file in files if file.run in self._known and _is_another(file, self._known[file.run])}
        self._forget(gone | replaced)
        changed = gone | replaced
        batch = _Batch(self.store, self._recordings)
        # Sizes and times from before the files were read: anything added since then is found at the next look.
        still = {file.run + _ENDING: (file.bytes, file.modified) for file in news}
        self.progress = (0, len(files))
        unreadable, tried = self._read_by_workers(batch, files)
        for file in files:
            if file.run in tried:
                continue
            if self._stopping.is_set():
                break
            self.progress = (len(tried), len(files))
            tried.add(file.run)
            try:
                _read(batch, file, self._known.get(file.run, _NOTHING))
            except OSError as error:
                unreadable[file.run] = str(error)
        batch.write()
        for run, reason in unreadable.items():
            log.warning("the journal %s cannot be read: %s", run, reason)
            still.pop(run + _ENDING, None)
        self.progress = (len(files), len(files))
        self._still.update(still)
        self._postponed = {
            file.run + _ENDING: (file.bytes, file.modified) for file in files if file.run not in tried
        } | {name: seen for name, seen in self._postponed.items() if name not in still}
        self._keep(self._known | batch.seen)
        return changed | batch.seen.keys()

    def _read_by_workers(self, batch: _Batch, files: list[_File]) -> tuple[dict[str, str], set[str]]:
        """Let worker processes read the new journals, if there are many. Returns why some could not be read, and all
        that were read or tried. The caller reads the others, also those of a worker that ended early.
        """
        new = [file[:3] for file in files if file.run not in self._known and file.bytes <= index_workers.LONGEST]
        unreadable: dict[str, str] = {}
        tried: set[str] = set()
        if not index_workers.are_worth([size for _, _, size in new]):
            return unreadable, tried
        with self.store.frugal(INSERTING), closing(index_workers.read_all(self.store, new, self._recordings)) as read:
            for one in read:
                batch.add_tables(one)
                unreadable |= one.unreadable
                tried.update(one.runs)
                self.progress = (len(tried), len(files))
                if self._stopping.is_set():
                    break
            batch.write()
        if len(tried) < len(new) and not self._stopping.is_set():
            log.warning("%d of %d journals are read by the app's own process", len(new) - len(tried), len(new))
        return unreadable, tried

    def _forget(self, runs: set[str]) -> None:
        if runs:
            self.store.erase_runs(sorted(runs))
            for run in runs:
                self._known.pop(run, None)
                self._still.pop(run + _ENDING, None)


def _is_another(file: _File, seen: _Seen) -> bool:
    """Whether the changed file must be read from its start: it moved, is shorter, or begins differently."""
    if file.path != seen.journal or file.bytes < seen.bytes:
        return True
    try:
        with open(file.path, "rb") as opened:
            return _digest(opened.readline()) != seen.head
    except OSError:
        return False


def _digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()


def _read(batch: _Batch, file: _File, seen: _Seen) -> None:
    """Add the file's new complete lines to the batch."""
    with open(file.path, "rb") as opened:
        head = opened.readline()
        opened.seek(seen.bytes)
        row: Row | None = None
        for lines in _blocks(opened):
            row = row or (batch.stored_run(file.run) if seen.bytes else new_run(file.run))
            modified = os.fstat(opened.fileno()).st_mtime_ns
            row.update(journal=file.path, modified=modified, head=_digest(head), recording=batch.recordings)
            batch.add(row, lines)


def _blocks(file: Iterable[bytes]) -> Iterator[list[bytes]]:
    """The complete lines of `file`, at most BLOCK at a time."""
    lines: list[bytes] = []
    for line in file:
        if not line.endswith(b"\n"):
            break
        lines.append(line)
        if len(lines) == BLOCK:
            yield lines
            lines = []
    if lines:
        yield lines


_COUNTED = """
    select incoming.* replace (coalesce(counts.answered, 0) as answered, coalesce(counts.failed, 0) as failed)
    from incoming left join (
        select run, count(text) as answered, count(error) as failed from calls
        where run in (select run from incoming) group by run
    ) counts using (run)
"""


class _Batch:
    """Lines of one or more journals that are written in one transaction. `seen`: how much of each journal has been
    written.
    """

    def __init__(self, store: Store, recordings: bool) -> None:
        self.store = store
        self.recordings = recordings
        self.seen: dict[str, _Seen] = {}
        self._begin()

    def _begin(self) -> None:
        self.rows = Rows(self.store.tables, self.store.records)
        self._tables: dict[str, list[pa.Table]] = {}
        """Rows that worker processes made, by table."""
        self.lines = 0
        self._all_new = True
        """Whether the store has no row of these runs: a plain insert takes a third of the time of one that may replace.
        """

    def stored_run(self, run: str) -> Row:
        return self._select("select * from runs where run = ?", [run])[0]

    def add(self, run: Row, lines: list[bytes]) -> None:
        """Make the rows of `lines`, which follow what is indexed of `run`. Writes the batch when it is large enough."""
        with journal.without_collections():
            self._make_rows(run, lines)
        if self.lines >= BLOCK:
            self.write()

    def add_tables(self, read: ReadJournals) -> None:
        """Add the rows of whole journals, of which the store has none. Writes the batch when it is large enough."""
        for name, table in read.tables.items():
            self._tables.setdefault(name, []).append(table)
        self.lines += read.lines
        if self.lines >= LARGE:
            self.write()

    def _make_rows(self, run: Row, lines: list[bytes]) -> None:
        events = list(self.rows.read(run, lines))
        if run["lines"]:
            self._recall(run["run"], events)
        self._all_new &= not run["lines"]
        for event in events:
            self.rows.add(run, event)
        run["bytes"] += sum(map(len, lines))
        run["lines"] += len(lines)
        self.rows.put("runs", run)
        self.lines += len(lines)

    def write(self) -> None:
        """Write all rows, and how much of each journal they cover, in one transaction."""
        import pyarrow as pa

        for name, made in self.rows.to_arrow().items():
            self._tables.setdefault(name, []).append(made)
        tables = {name: pa.concat_tables(made) for name, made in self._tables.items()}
        runs = tables.pop("runs", None)
        if runs is None:
            return
        names = runs["run"].to_pylist()
        with self.store.write() as cursor:
            for run in self.rows.resumed:
                cursor.execute("delete from drops where run = ? and reason = 'error'", [run])
            how = "insert" if self._all_new else "insert or replace"
            for table, rows in tables.items():
                insert(cursor, rows, f'{how} into "{table}" by name from incoming')
            insert(cursor, runs, f"{how} into runs by name {_COUNTED}")
            refresh(cursor, self.store.labs, names)
        written = runs.select(_Seen._fields).to_pylist()
        self.seen.update({name: _Seen(**seen) for name, seen in zip(names, written, strict=True)})
        self._begin()

    def _recall(self, run: str, events: list[Event]) -> None:
        """Load the rows of calls and cases that were begun in lines indexed earlier and are completed now."""
        calls = {event.call for event in events if isinstance(event, Answered | Failed) and event.call is not None}
        cases = {event.case for event in events if isinstance(event, Recorded) and event.record in (BEGUN, RESULT)}
        for table, column, names in (("calls", "call", calls), ("cases", "case", cases)):
            if not names:
                continue
            rows = self._select(f'select * from {table} where run = ? and "{column}" = any(?)', [run, sorted(names)])  # noqa: S608  our own names
            for row in rows:
                if (run, row[column]) not in self.rows.by_table.get(table, {}):
                    self.rows.put(table, row)

    def _select(self, sql: str, params: list[Any]) -> list[Row]:
        with self.store.cursor() as cursor:
            cursor.execute(sql, params)
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, values, strict=True)) for values in cursor.fetchall()]


# Keeps the store up to date with the journals, no matter who writes them, as long as the process lives.


_SHARE = 20
"""While nothing is new, looking takes at most one second of processor time in every _SHARE seconds."""


def pause(every: float, took: float) -> float:
    """Seconds until the next look, after one that took `took` seconds of processor time and found nothing."""
    return max(every, _SHARE * took)


class IndexWatcher:
    """Indexes the folder's journals every few seconds (less often if there are so many that a look takes long) and
    immediately after `wake`. `changes` counts the looks that found something new.

    The folder `recordings` never changes, and is indexed only once.
    """

    def __init__(self, store: Store, journals: Path, every: float = 2.0, recordings: Path | None = None) -> None:
        self.store = store
        self.changes = 0
        self.looked = threading.Event()
        """Set once everything that was there at the start is indexed."""
        self._journals = journals
        self._recordings = recordings
        self.index = Index(store, journals)
        """Says how far it is, and may be stopped."""
        self._every = every
        self._woken = threading.Event()
        self._waiting: list[threading.Event] = []
        """Set once a look that began after they were added is over."""
        self._closed = False
        self._thread = threading.Thread(target=self._keep, name="store", daemon=True)
        self._thread.start()

    def resume(self) -> None:
        """Read the journals that `Index.stop` postponed. `looked` is set again once that is done."""
        self.index.resume()
        self.looked.clear()
        self.wake()

    def wake(self) -> None:
        """Make the thread look now, for example because a run has ended."""
        self._woken.set()

    def catch_up(self, seconds: float) -> None:
        """Make the thread look now, and wait for it at most so many `seconds`."""
        looked = threading.Event()
        self._waiting.append(looked)
        self.wake()
        looked.wait(seconds)

    def close(self) -> None:
        """End the thread, waiting for it 5 seconds at most, and close the store."""
        self._closed = True
        self._woken.set()
        self._thread.join(timeout=5)
        self.store.close()

    def _keep(self) -> None:
        if self._recordings is not None:
            with self._reported(self._recordings):
                index(self.store, self._recordings, recordings=True)
        while not self._closed:
            rest = self._every
            waiting, self._waiting = self._waiting, []
            with self._reported(self._journals):
                began = time.thread_time()
                if self.index.update():
                    self.changes += 1
                else:
                    rest = pause(self._every, time.thread_time() - began)
            for looked in (self.looked, *waiting):
                looked.set()
            self._woken.wait(rest)
            self._woken.clear()

    @contextmanager
    def _reported(self, folder: Path) -> Iterator[None]:
        """Log any error: the journals are the source and stay untouched, and the next look may succeed."""
        try:
            yield
        except Exception:
            log.exception("indexing %s", folder)
