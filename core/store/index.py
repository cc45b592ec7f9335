"""Journals into the store: what is new in them, and nothing twice.

A journal's rows and the number of its bytes that they came from are written in one transaction, so they agree whatever
kills the process. A run is named after its file, not after what its events say: two files never fight over rows, and a
copy under another name is another run.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from core.events import Answered, Event, Failed, from_json
from core.store.rows import Row, Rows, new_run
from core.store.store import Store

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

log = logging.getLogger(__name__)

BLOCK = 20_000
"""Lines that are written in one transaction: bounds the memory, and a thousand small journals share one."""


def index(store: Store, journals: Path) -> list[str]:
    """Take up what the folder's journals (`*.jsonl`) hold beyond what the store knows.

    Returns the runs that changed, those included whose journal is gone and whose rows went with it. A torn last line is
    left until it is whole; a line that holds no event is noted in `faults` and passed over; a journal that shrank,
    moved, or begins otherwise than before is read afresh.
    """
    changed: set[str] = set()
    with store.writer:
        known = _known(store)
        files = {path.stem: path.resolve() for path in sorted(journals.glob("*.jsonl")) if path.is_file()}
        gone = {run for run, seen in known.items() if run not in files and not os.path.exists(seen.journal)}
        replaced = {run for run, path in files.items() if run in known and _is_another(path, known[run])}
        _forget(store, gone | replaced)
        batch = _Batch(store)
        for run, path in files.items():
            seen = known[run] if run in known and run not in replaced else _NOTHING
            try:
                if _take_up(batch, run, path, seen):
                    changed.add(run)
            except OSError as error:
                log.warning("%s cannot be read: %s", path.name, error)
        batch.write()
    return sorted(changed | gone | replaced)


def rebuild(store: Store, journals: Path) -> list[str]:
    """Forget everything and index the folder's journals from their beginning. Returns the runs."""
    with store.writer:
        store.empty()
        return index(store, journals)


class _Seen(NamedTuple):
    """How much of which file is indexed."""

    journal: str
    bytes: int
    modified: int
    head: str

    def is_up_to_date(self, file: os.stat_result) -> bool:
        return (file.st_size, file.st_mtime_ns) == (self.bytes, self.modified)


_NOTHING = _Seen("", 0, 0, "")


def _known(store: Store) -> dict[str, _Seen]:
    with store.cursor() as cursor:
        rows = cursor.execute("select run, journal, bytes, modified, head from runs").fetchall()
    return {run: _Seen(*seen) for run, *seen in rows}


def _is_another(path: Path, seen: _Seen) -> bool:
    """Whether the file is not the one that was indexed: elsewhere, shorter, or with another first line."""
    try:
        status = path.stat()
        if str(path) != seen.journal or status.st_size < seen.bytes:
            return True
        if seen.is_up_to_date(status):
            return False
        with path.open("rb") as file:
            return _digest(file.readline()) != seen.head
    except OSError:
        return False


def _forget(store: Store, runs: set[str]) -> None:
    if runs:
        with store.write() as cursor:
            for table in store.indexed:
                cursor.execute(f'delete from "{table}" where run = any(?)', [sorted(runs)])  # noqa: S608  our own names


def _digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()


def _take_up(batch: _Batch, run: str, path: Path, seen: _Seen) -> bool:
    """Put the file's whole lines that were not seen into the batch. Whether there were any."""
    if seen.is_up_to_date(path.stat()):
        return False
    with path.open("rb") as file:
        head = file.readline()
        file.seek(seen.bytes)
        row: Row | None = None
        for lines in _blocks(file):
            row = row or (batch.stored_run(run) if seen.bytes else new_run(run))
            row.update(journal=str(path), modified=os.fstat(file.fileno()).st_mtime_ns, head=_digest(head))
            batch.add(row, lines)
        return row is not None


def _blocks(file: Iterable[bytes]) -> Iterator[list[bytes]]:
    """The whole lines of `file`, at most BLOCK at a time."""
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


class _Batch:
    """Lines of one or more journals that are written in one transaction."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.rows = Rows(store.tables)
        self.lines = 0

    def stored_run(self, run: str) -> Row:
        return self._select("select * from runs where run = ?", [run])[0]

    def add(self, run: Row, lines: list[bytes]) -> None:
        """Make the rows of `lines`, which follow what is indexed of `run`. Writes when enough has come together."""
        numbered: list[tuple[int, Event]] = []
        for number, line in enumerate(lines, start=run["lines"] + 1):
            try:
                if not line.isspace():
                    numbered.append((number, from_json(line)))
            except ValidationError as error:
                self._fault(run, number, error.errors(include_url=False, include_input=False)[0]["msg"])
        if run["lines"]:
            self._recall(run["run"], [event for _, event in numbered])
        for number, event in numbered:
            try:
                self.rows.add(run, event)
            except ValueError as error:
                self._fault(run, number, str(error))
        run["bytes"] += sum(map(len, lines))
        run["lines"] += len(lines)
        self.rows.put("runs", run)
        self.lines += len(lines)
        if self.lines >= BLOCK:
            self.write()

    def write(self) -> None:
        """All rows and how far they go, in one transaction."""
        runs = self.rows.by_table.pop("runs", {})
        if not runs:
            return
        with self.store.write() as cursor:
            for run in self.rows.resumed:
                cursor.execute("delete from drops where run = ? and reason = 'error'", [run])
            for table, rows in self.rows.by_table.items():
                self._insert(cursor, table, rows.values())
            for name, answered, failed in cursor.execute(
                "select run, count(text), count(error) from calls where run = any(?) group by run",
                [[name for (name,) in runs]],
            ).fetchall():
                runs[(name,)].update(answered=answered, failed=failed)
            self._insert(cursor, "runs", runs.values())
        self.rows = Rows(self.store.tables)
        self.lines = 0

    def _fault(self, run: Row, line: int, reason: str) -> None:
        self.rows.put("faults", {"run": run["run"], "line": line, "reason": reason})

    def _recall(self, run: str, events: list[Event]) -> None:
        """Fetch the rows of calls that were asked in lines indexed before and get their answer now."""
        calls = {event.call for event in events if isinstance(event, Answered | Failed) and event.call is not None}
        for row in self._select("select * from calls where run = ? and call = any(?)", [run, sorted(calls)]):
            if (run, row["call"]) not in self.rows.by_table.get("calls", {}):
                self.rows.put("calls", row)

    def _select(self, sql: str, params: list[Any]) -> list[Row]:
        with self.store.cursor() as cursor:
            cursor.execute(sql, params)
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, values, strict=True)) for values in cursor.fetchall()]

    def _insert(self, cursor: DuckDBPyConnection, table: str, rows: Iterable[Row]) -> None:
        import pyarrow as pa

        columns = self.store.tables[table].columns
        kinds = {
            "VARCHAR": pa.string(),
            "JSON": pa.string(),
            "BIGINT": pa.int64(),
            "DOUBLE": pa.float64(),
            "BOOLEAN": pa.bool_(),
            "TIMESTAMP": pa.timestamp("us"),
        }
        schema = pa.schema([(name, kinds[kind]) for name, kind in columns.items()])
        held = list(rows)
        incoming = pa.table({name: [row.get(name) for row in held] for name in columns}, schema=schema)
        cursor.register("incoming", incoming)
        cursor.execute(f'insert or replace into "{table}" by name select * from incoming')  # noqa: S608  our own names
        cursor.unregister("incoming")
