"""Read-only SQL over the store, written by users.

The app has the store's file open for writing, so a query reads a copy, which is replaced after something new was
indexed, in a separate process (`query_process`) with a time limit. So no query can change a run, reach another file, or
use the app's own memory and time.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import threading
import time
import tomllib
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import duckdb_worker, policy
from ..package_data import DATA
from ..runs.fairness import WHOSE, FairSemaphore
from . import query_process
from .query_process import QueryRequest
from .run_list import SEEN
from .schema import GENERIC
from .store import QueryRefusedError, Store

if TYPE_CHECKING:
    from pandas import DataFrame
    from pyarrow import DataType, Table

RESULT_MB = 32
"""The largest result in megabytes; rows beyond that are left out, and `QueryResult.cut` says so."""

LONGEST = 100_000
"""The most characters of a query."""

_turns = FairSemaphore(2)
_copying = threading.Lock()
_copies: dict[Path, int] = {}
"""The store's write count when its copy was made, by the copy's path."""


class QueryResult(NamedTuple):
    """What a query found, in `seconds`. `cut`: why rows are missing, as a sentence; empty if none are."""

    table: Table
    cut: str
    seconds: float

    def frame(self) -> DataFrame:
        """The table for pandas: integers stay integers even if some are missing; lists and other nested values become
        JSON.
        """
        import pandas as pd
        import pyarrow as pa

        table = self.table
        for place, field in enumerate(table.schema):
            column = table.column(place)
            if pa.types.is_decimal(field.type):
                whole = all(value is None or value == int(value) for value in column.to_pylist())
                kind = pa.int64() if whole and _fits(column) else pa.float64()
                table = table.set_column(place, field.name, column.cast(kind))
            elif not _is_plain(field.type):
                texts = [None if value is None else json.dumps(json_value(value)) for value in column.to_pylist()]
                table = table.set_column(place, field.name, pa.array(texts, pa.string()))
        kinds = {pa.int64(): pd.Int64Dtype(), pa.int32(): pd.Int32Dtype(), pa.bool_(): pd.BooleanDtype()}
        return table.to_pandas(types_mapper=kinds.get, timestamp_as_object=False)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One dict for each row, with values that JSON has."""
        for batch in self.table.to_batches(1_000):
            yield from (json_value(row) for row in batch.to_pylist())


class Example(NamedTuple):
    """An example query."""

    title: str
    sql: str


def ask(store: Store, sql: str, viewer: str | None = None) -> QueryResult:
    """Run a query on the store that this process has open; with `viewer`, on what that visitor may see.

    Raises QueryRefusedError for SQL that is wrong, would do more than read, or exceeds the limits (`core.policy`).
    """
    owner = WHOSE.set(viewer or WHOSE.get())
    try:
        with _turns.acquire():
            return ask_file(copied(store), sql, viewer)
    finally:
        WHOSE.reset(owner)


def ask_file(path: Path, sql: str, viewer: str | None = None, whole: bool = False) -> QueryResult:
    """Run a query on a store that no process has open. `whole`: for a file, without the limits on the size of the
    result. Raises QueryRefusedError.
    """
    if len(sql) > LONGEST:
        raise QueryRefusedError(f"The query is longer than {LONGEST:,} characters.")
    seconds = policy_limit("query_seconds")
    asked = QueryRequest(
        folder=str(path.parent),
        file=path.name,
        sql=sql,
        rows=2**31 if whole else policy_limit("query_rows"),
        result_mb=2**31 if whole else RESULT_MB,
        memory_mb=policy_limit("query_mb"),
        seconds=seconds,
        viewer=viewer,
        seen=SEEN,
    )
    began = time.monotonic()
    try:
        answer = duckdb_worker.run_worker(query_process.__name__, asked)
    except duckdb_worker.WorkerRefusedError as error:
        raise QueryRefusedError(_kind(str(error))) from None
    except duckdb_worker.WorkerTimeoutError:
        words = f"Stopped after {seconds} seconds (EXPLAIN_QUERY_SECONDS). Ask for less, or add a LIMIT."
        raise QueryRefusedError(words) from None
    except duckdb_worker.WorkerMemoryError:
        raise QueryRefusedError("Stopped: it needed more memory than EXPLAIN_QUERY_MB allows. Ask for less.") from None
    import pyarrow as pa

    table = pa.ipc.open_stream(answer).read_all()
    cut = {
        "": "",
        "rows": f"Only the first {table.num_rows:,} rows are shown, the limit of a query (EXPLAIN_QUERY_ROWS).",
        "size": f"Only the first {table.num_rows:,} rows are shown: a result is limited to {RESULT_MB} MB.",
    }[table.schema.metadata[b"cut"].decode()]
    return QueryResult(_dates_as_text(table), cut, time.monotonic() - began)


def _dates_as_text(table: Table) -> Table:
    """The table, with a column as text if it holds a date beyond Python's years 1 to 9999, also within lists."""
    for place, field in enumerate(table.schema):
        column, as_text = table.column(place), _without_dates(field.type)
        if as_text != field.type:
            try:
                column.to_pylist()
            except (OverflowError, ValueError):
                table = table.set_column(place, field.name, column.cast(as_text))
    return table


def _without_dates(kind: DataType) -> DataType:
    """The Arrow type, with text in place of each date and time stamp in it."""
    import pyarrow as pa

    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(_without_dates(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, _without_dates(field.type)) for field in kind])
    return kind


def policy_limit(name: str) -> int:
    """A limit of `core.policy` that always has a value."""
    return policy.limit(name) or 0


@cache
def examples() -> tuple[Example, ...]:
    """Example queries, one of each kind: `data/queries.toml`."""
    return tuple(Example(**example) for example in _described()["example"])


def schema(store: Store) -> dict[str, tuple[str, dict[str, str]]]:
    """The tables that a query may read: table -> (what it holds, column -> its type and, if the name does not say it,
    what it is).
    """
    described, records = _described(), {}
    for lab in store.labs.values():
        for record in lab.records:
            doc = (record.__doc__ or "").strip().split("\n\n")[0]
            records[store.records[record.__name__.lower()]] = f"{lab.title}: {' '.join(doc.split())}"
    shown = {}
    for table in (*GENERIC, *sorted(store.tables.keys() - set(GENERIC))):
        notes = described["column"] | described["table"].get(table, {})
        columns = store.tables[table].columns.items()
        if "run" in store.tables[table].columns:
            shown[table] = (
                str(notes.get("holds") or records.get(table, "")),
                {name: f"{kind.lower()} · {notes[name]}" if name in notes else kind.lower() for name, kind in columns},
            )
    return shown


def json_value(value: Any) -> Any:
    """`value` for JSON: times become text, whole decimals integers, NaN and infinities null."""
    if isinstance(value, dict):
        return {str(name): json_value(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(part) for part in value]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int | bool) else str(value)


@cache
def _described() -> dict[str, Any]:
    path = DATA / "queries.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _kind(error: str) -> str:
    """DuckDB's message, with an explanation if it needs one."""
    if "Out of Memory" in error or "bad_alloc" in error:
        limit, first = f"{policy_limit('query_mb')} MB, EXPLAIN_QUERY_MB", error.splitlines()[0]
        return f"The query needs more memory than it may use ({limit}). DuckDB says: {first}"
    if error.startswith(("Permission Error", "Cannot execute", "Invalid Input Error: Cannot")):
        return f"A query may only read the store. DuckDB says: {error}"
    return error


def copied(store: Store) -> Path:
    """The path of an up-to-date, read-only copy of the store. Raises QueryRefusedError if it cannot be made."""
    path = store.snapshot_path
    with _copying, store.writer.lock:
        if _copies.get(path) == store.writer.writes and path.exists():
            return path
        with store.cursor() as cursor:
            cursor.execute("checkpoint")
        fresh = path.with_suffix(".new")
        try:
            query_process.copy(store.path, fresh, policy.child_environment())
            os.replace(fresh, path)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            raise QueryRefusedError(f"A query reads a copy of the store, which could not be made ({error}).") from None
        if path not in _copies:
            atexit.register(path.unlink, missing_ok=True)
        _copies[path] = store.writer.writes
    return path


def _is_plain(kind: Any) -> bool:
    import pyarrow.types as is_

    simple = (is_.is_boolean, is_.is_integer, is_.is_floating, is_.is_string, is_.is_large_string, is_.is_timestamp)
    return any(test(kind) for test in simple)


def _fits(column: Any) -> bool:
    return all(value is None or abs(value) < 2**63 for value in column.to_pylist())
