"""The DuckDB file: opening it, one writer, readers with limits.

The file is only an index of the journals: it can be deleted at any time and rebuilt from them. Only one process can
have it open; within that process every call gets a cursor of its own, since threads cannot share one.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..errors import ExplainError
from ..package_data import COMMAND
from . import schema

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, Statement
    from pandas import DataFrame
    from pyarrow import Table

    from ..labs.base.lab import Lab

T = TypeVar("T")

SECONDS = 10.0
"""Seconds that `query` may take unless its caller sets another limit."""

MEMORY = "2GB"
"""The memory that DuckDB may use; a query that needs more is refused."""

SMALL = "300MB"
"""The memory that DuckDB may use while very many rows are written."""

LOG, LONG_LOG = "16MiB", "256MiB"
"""How much DuckDB writes to its log before it moves that into the tables: usually, and while very many rows are added.
"""

CACHE = "100MB"
"""The memory that DuckDB keeps after `Store.shrink`."""

_ROWS = 10_000
"""How many rows are copied at a time."""

LONGEST_ENCODED = 2_000
"""Characters of a text that sentence vectors are made of; the encoders cut at fewer."""

_QUIET = 2.0
"""How many seconds `rewrite` waits for readers to finish."""

KEPT, LARGEST, LONGEST_KEPT = 128, 2_000, 100_000
"""How many results of reading the store keeps until the next write, and the most cells, and characters of all texts, of
each.
"""

CLOSING = 300
"""How often, every tenth of a second, a store tries to close while a query is still being interrupted."""

# With these settings no query reaches another file or loads an extension, and no statement can undo that. They are not
# locked, because `Store.shrink` changes the memory limit; `Store.query` accepts only a select or its plan.
_CONFIG: dict[str, str] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "enable_external_access": "false",
    "threads": "2",
}

_REBUILD = f"It is only an index of the journals: delete it, and it is built again from them ({COMMAND} store rebuild)."


Params = Sequence[object] | Mapping[str, object]
"""The values of a query's parameters, in order or by name."""


class StoreError(ExplainError):
    """A problem with the store that the person can solve; the message says how."""


class StoreBusyError(StoreError):
    """Another process has the file open. `pid` is its number, None if DuckDB does not say."""

    def __init__(self, message: str, pid: int | None) -> None:
        super().__init__(message)
        self.pid = pid


class StoreUnusableError(StoreError):
    """The file is broken, or not a store."""


class StoreFullError(StoreError):
    """The file could not be written, though the person's data are safe."""


class QueryRefusedError(StoreError):
    """SQL that is wrong, that would write, or that takes too long."""


@dataclass
class Writer:
    """The right to write a file: `lock`, for one thread at a time. `writes` counts the writes."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    writes: int = 0


_writers: dict[Path, Writer] = {}
_writers_lock = threading.Lock()


class Store:
    """The store at `path`, made if it does not exist, with a table for each record type of `labs`. A context manager.

    Several stores of one process may open the same path: they share the database and its one writer.

    Raises StoreBusyError if another process has it open, StoreUnusableError if the file cannot be read.
    """

    def __init__(self, path: Path, labs: Mapping[str, Lab]) -> None:
        self.path = path.resolve()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.labs = labs
        self.records = schema.record_tables(labs)
        """The tables of record types, by the types' names in journals."""
        with _writers_lock:
            self.writer = _writers.setdefault(self.path, Writer())
        with self.writer.lock:
            self._connection, self.tables, self.stale = _open(self.path, schema.wanted_tables(labs))
            self.writer.writes += 1
        self._reading = threading.Condition()
        self._cursors = 0
        self._is_large = False
        self._kept: dict[bytes, Any] = {}
        """Results read since the write of number `_kept_at`, the one used last at the end."""
        self._kept_at = 0
        self._keeping = threading.Lock()

    @property
    def indexed(self) -> list[str]:
        """The tables that are filled from the journals."""
        return [name for name, table in self.tables.items() if "run" in table.columns]

    @property
    def snapshot_path(self) -> Path:
        """The path of the copy that people's queries read, if it exists."""
        return self.path.with_name(f"{self.path.stem}.copy{self.path.suffix}")

    def close(self) -> None:
        """Close the file. Running queries are interrupted; on a busy machine that takes a moment."""
        import duckdb

        for _ in range(CLOSING):
            try:
                return self._connection.close()
            except duckdb.ResourceInUseException:
                # The call that kept it busy may have closed it meanwhile.
                with suppress(duckdb.ConnectionException):
                    self._connection.interrupt()
                time.sleep(0.1)
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @contextmanager
    def write(self) -> Iterator[DuckDBPyConnection]:
        """A cursor within a transaction: committed at the end, undone by an exception. One writer at a time.

        Raises StoreUnusableError if the file turns out to be broken, StoreFullError if it cannot be written.
        """
        import duckdb

        with self.writer.lock, self.cursor() as cursor:
            cursor.execute("begin")
            try:
                yield cursor
                cursor.execute("commit")
                self.writer.writes += 1
            except BaseException as error:
                with suppress(duckdb.Error):
                    cursor.execute("rollback")
                if _is_broken(error):
                    raise _explained(self.path, str(error)) from None
                if isinstance(error, duckdb.Error) and "Could not write file" in str(error):
                    raise StoreFullError(
                        f"The index {self.path} could not be written; perhaps the disk is full. No run is lost: the "
                        "journals have them, and they are indexed once there is room."
                    ) from None
                raise

    def clear(self) -> None:
        """Delete all rows. The next indexing reads all journals from their beginning."""
        with self.write() as cursor:
            for table in self.indexed:
                cursor.execute(f'delete from "{table}"')  # noqa: S608  our own names

    def erase_runs(self, runs: Sequence[str]) -> None:
        """Delete all rows of these runs. Their text stays in the file's freed blocks until `rewrite`."""
        with self.write() as cursor:
            for table in self.indexed:
                cursor.execute(f'delete from "{table}" where run = any(?)', [runs])  # noqa: S608  our own names
            cursor.execute("update version set stale = true")
        self.stale = True

    def rewrite(self) -> None:
        """Copy all rows into a new file, so that nothing is left of deleted ones, and delete the copies of the old
        file. If somebody reads all the time, the store stays `stale` for the next call.

        Raises duckdb.Error and OSError if there is no room for the new file.
        """
        import duckdb

        fresh = self.path.with_suffix(".new")
        with self.writer.lock:
            try:
                with self.frugal(CACHE):
                    self._copy(fresh, SMALL)
            except duckdb.Error:
                # The index of a table with a million rows may need more.
                self._copy(fresh, MEMORY)
            with self._reading:
                if not self._reading.wait_for(lambda: not self._cursors, _QUIET):
                    return fresh.unlink()
                self._connection.close()
                try:
                    os.replace(fresh, self.path)
                finally:
                    self._connection, self.tables, self.stale = _open(self.path, schema.wanted_tables(self.labs))
            self.writer.writes += 1
        for other in (
            self.snapshot_path,
            *self.path.parent.glob("store*.duckdb"),
            *self.path.parent.glob("store*.broken"),
        ):
            if other != self.path:
                _remove(other)

    def _copy(self, fresh: Path, memory: str) -> None:
        """Copy all rows into the new file `fresh`, whose DuckDB may use so much memory."""
        fresh.unlink(missing_ok=True)
        connection, _, _ = _open(fresh, schema.wanted_tables(self.labs), memory)
        with closing(connection), self.cursor() as cursor:
            for table in self.indexed:
                rows = cursor.sql(f'from "{table}"').to_arrow_reader(_ROWS)
                insert(connection, rows, f'insert into "{table}" by name from incoming')
            _copy_vectors(cursor, connection)

    def shrink(self) -> None:
        """Free most of the memory in which DuckDB holds the file, as soon as nobody reads. DuckDB keeps whatever was
        read, and a search through all prompts and answers reads most of the file.
        """
        self._is_large = True
        with self.cursor():
            # It is freed when the last cursor closes.
            pass

    def _free(self) -> None:
        self._is_large = False
        self._set("memory_limit", CACHE)
        self._set("memory_limit", MEMORY)

    @contextmanager
    def frugal(self, memory: str) -> Iterator[None]:
        """Let DuckDB use less memory in the meantime, and free most of it at the end. Inserting many rows is hardly
        slower, since what is written need not be kept. They go into the file's tables less often, because each time
        costs more the larger the tables are.
        """
        self._set("memory_limit", memory)
        self._set("checkpoint_threshold", LONG_LOG)
        try:
            yield
        finally:
            self._set("checkpoint_threshold", LOG)
            self._set("memory_limit", MEMORY)
            self.shrink()

    def _set(self, name: str, value: str) -> None:
        import duckdb

        # A connection that was closed meanwhile holds nothing. More memory than the limit may be in use just now.
        with suppress(duckdb.ConnectionException, duckdb.OutOfMemoryException):
            self._connection.execute(f"set {name} = '{value}'")

    def rows(self, sql: str, params: Params = ()) -> list[tuple[Any, ...]]:
        """The rows that our own SQL finds, with the limits of `query`."""
        given = used(sql, params)
        return [*self._read_once(("rows", sql, given), SECONDS, lambda cursor: cursor.execute(sql, given).fetchall())]

    def query(self, sql: str, params: Params = (), seconds: float = SECONDS) -> DataFrame:
        """The result of our own SQL; each `?` in it is replaced by one of `params`, or each `$name` by the one of that
        name. SQL written by a person goes through `core.store.sql`.

        Raises QueryRefusedError for SQL that is wrong or would write, and after `seconds`; StoreUnusableError for a
        broken file.
        """
        given = used(sql, params)

        def read(cursor: DuckDBPyConnection) -> DataFrame:
            return cursor.execute(_select(cursor, sql), given).df()

        # The caller may change its copy: pandas then copies the data that both share.
        return self._read_once(("query", sql, given), seconds, read).copy(deep=False)

    def arrow(self, sql: str, params: Params = (), seconds: float = SECONDS) -> Table:
        """The result of `query` as a table of Arrow, which takes a third of the time where there are very many rows.
        Nothing is kept; the sum of whole numbers is a decimal number in it.
        """
        with self.limited(seconds) as cursor:
            cursor.execute("begin transaction read only")
            return cursor.sql(_select(cursor, sql), params=used(sql, params)).to_arrow_table()

    def _read_once(self, asked: tuple[object, ...], seconds: float, read: Callable[[DuckDBPyConnection], T]) -> T:
        """What `read` returns, or returned when the same was `asked` since the last write: a page that is drawn again
        asks the same dozen questions. Nothing kept is ever out of date, because a write is counted once it is made:
        what was read under one count is at least as new as that count.
        """
        key, writes = hashlib.sha256(repr(asked).encode()).digest(), self.writer.writes
        with self._keeping:
            if self._kept_at != writes:
                self._kept_at, self._kept = writes, {}
            if key in self._kept:
                # The one used last goes last.
                self._kept[key] = self._kept.pop(key)
                return cast("T", self._kept[key])
        with self.limited(seconds) as cursor:
            cursor.execute("begin transaction read only")
            found = read(cursor)
        if _is_small(found):
            with self._keeping:
                if self._kept_at == writes:
                    self._kept[key] = found
                    if len(self._kept) > KEPT:
                        del self._kept[next(iter(self._kept))]
        return found

    @contextmanager
    def limited(self, seconds: float = SECONDS) -> Iterator[DuckDBPyConnection]:
        """A cursor whose work is interrupted after `seconds`.

        Raises QueryRefusedError for SQL that is wrong, and after `seconds`; StoreUnusableError for a broken file.
        """
        import duckdb

        with self.cursor() as cursor:
            stop = threading.Timer(seconds, cursor.interrupt)
            stop.daemon = True
            stop.start()
            try:
                yield cursor
            except duckdb.InterruptException:
                raise QueryRefusedError(f"Stopped after {seconds:g} seconds. Ask for less, or add a LIMIT.") from None
            except duckdb.Error as error:
                if _is_broken(error):
                    raise _explained(self.path, str(error)) from None
                raise QueryRefusedError(str(error)) from None
            finally:
                stop.cancel()

    @contextmanager
    def cursor(self) -> Iterator[DuckDBPyConnection]:
        """A separate cursor, for reading; each thread needs its own."""
        with self._reading:
            cursor = self._connection.cursor()
            self._cursors += 1
        try:
            yield cursor
        finally:
            cursor.close()
            with self._reading:
                self._cursors -= 1
                if self._is_large and not self._cursors:
                    self._free()
                self._reading.notify_all()


def _select(cursor: DuckDBPyConnection, sql: str) -> Statement:
    """Return the only statement in `sql`. Raises QueryRefusedError if there are several, or if it is neither a `select`
    nor an `explain`: it might change a setting. `explain analyze` might too, because it runs what it explains.
    """
    from duckdb import StatementType

    statements = cursor.extract_statements(sql)
    allowed = {StatementType.SELECT} if "analy" in sql.casefold() else {StatementType.SELECT, StatementType.EXPLAIN}
    if len(statements) != 1 or statements[0].type not in allowed:
        raise QueryRefusedError("Only one select statement can be run.")
    return statements[0]


def _is_small(found: Any) -> bool:
    """Whether a list of rows, or a table, may be kept: it has few cells, and few characters in all its texts."""
    if not isinstance(found, list):
        return found.size <= LARGEST and _is_small([*found.itertuples(index=False)])
    sized = (len(cell) for row in found for cell in row if isinstance(cell, Sized))
    return len(found) * len(found[0] if found else ()) <= LARGEST and sum(sized) <= LONGEST_KEPT


def used(sql: str, params: Params) -> list[object] | dict[str, object]:
    """The values of the parameters that the SQL has, since DuckDB refuses others."""
    if not isinstance(params, Mapping):
        return list(params)
    named = set(re.findall(r"\$(\w+)", sql))
    return {name: value for name, value in params.items() if name in named}


def insert(cursor: DuckDBPyConnection, incoming: Any, sql: str, params: Params = ()) -> None:
    """Execute an insertion from a table of Arrow, or a reader of its rows, which the SQL calls `incoming`."""
    cursor.register("incoming", incoming)
    cursor.execute(sql, params)
    cursor.unregister("incoming")


def _copy_vectors(old: DuckDBPyConnection, new: DuckDBPyConnection) -> None:
    """Copy the vectors of texts that rows still have. Their table has no run, since texts are shared."""
    insert(
        new,
        old.sql("from vectors").to_arrow_reader(_ROWS),
        f"""
        insert into vectors by name select * from incoming where digest in (
            select sha256(left(text, {LONGEST_ENCODED})) from (
                select title as text from items union select about from items union select explanation from cases
            ) where text is not null
        )
        """,  # noqa: S608  our own number
    )


def _open(
    path: Path, wanted: Mapping[str, schema.StoreTable], memory: str = ""
) -> tuple[DuckDBPyConnection, dict[str, schema.StoreTable], bool]:
    """A connection, the tables, and whether text of deleted rows may be in the file. Raises StoreError."""
    import duckdb

    connection: DuckDBPyConnection | None = None
    config: dict[str, Any] = {**_CONFIG, "memory_limit": memory or MEMORY}
    try:
        connection = duckdb.connect(str(path), config=config)
        tables = schema.create(connection, wanted)
        return connection, tables, connection.execute("select stale from version").fetchall() == [(True,)]
    except duckdb.Error as error:
        trouble = _explained(path, str(error))
    if connection is not None:
        connection.close()
    raise trouble


def _remove(path: Path) -> None:
    """Delete an index, unless somebody has it open: it can always be rebuilt."""
    import duckdb

    with suppress(duckdb.Error, OSError):
        if path.suffix == ".duckdb":
            duckdb.connect(str(path), config={**_CONFIG}).close()
        path.unlink()


def _is_broken(error: BaseException) -> bool:
    """Whether DuckDB found the file damaged (every block has a checksum), or gave up on it."""
    import duckdb

    return isinstance(error, duckdb.FatalException) or (isinstance(error, duckdb.Error) and "Corrupt" in str(error))


def _explained(path: Path, error: str) -> StoreError:
    if "Conflicting lock" in error:
        holder = re.search(r"PID (\d+)", error)
        who = f"process {holder[1]}" if holder else "another process"
        return StoreBusyError(
            f"{path} is open in {who}. If that is another copy of this app, use that one: "
            "it indexes new journals by itself.",
            int(holder[1]) if holder else None,
        )
    if "Permission denied" in error:
        return StoreUnusableError(f"You may not read and write {path}. Change its permissions, or set EXPLAIN_HOME.")
    return StoreUnusableError(f"{path} cannot be used ({error.splitlines()[0]}). {_REBUILD}")
