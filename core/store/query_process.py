"""Runs one query of a person's in a process of its own: `core.store.sql` starts it, and kills it when its time is up.

The query is limited by DuckDB (read-only, no files, no network, no extensions, settings locked) and by the system: some
functions exceed DuckDB's own memory limit, and cannot be interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..duckdb_worker import CONFIG, LOCKED, MB, serve
from ..statistics.groups import grouped

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyarrow import Table

_PRIVATE = {"journal", "owner", "head", "bytes", "lines", "modified"}
"""Columns of `runs` that say where a journal is and who owns the run; hidden from visitors."""


class QueryRequest(NamedTuple):
    """A query and its limits. With `viewer`, it finds only what that visitor may see; `seen` is the condition for that,
    by $viewer.
    """

    folder: str
    file: str
    sql: str
    rows: int
    result_mb: int
    memory_mb: int
    seconds: int
    viewer: str | None
    seen: str


def _connected(asked: QueryRequest) -> DuckDBPyConnection:
    """A connection to the store's file, read-only; for a visitor, to a database in memory with what they may see."""
    import duckdb

    config: dict[str, Any] = {**CONFIG, "memory_limit": f"{asked.memory_mb}MB"}
    # The file is opened by its name alone, so that no error reveals its folder.
    os.chdir(asked.folder)
    if asked.viewer is None:
        return duckdb.connect(asked.file, read_only=True, config={**config, **LOCKED})
    connection = duckdb.connect(":memory:", config=config)
    connection.execute(f"attach '{asked.file}' as store (read_only)")
    known = "select table_name, column_name from duckdb_columns() where database_name = 'store'"
    columns: dict[str, list[str]] = grouped(connection.execute(f"{known} order by column_index").fetchall())
    connection.execute("use store")
    mine = "create temp table seen as select run from runs where " + asked.seen  # noqa: S608  our own words
    connection.execute(mine, {"viewer": asked.viewer})
    for table, names in columns.items():
        if "run" in names:
            shown = ", ".join(f'"{name}"' for name in names if table != "runs" or name not in _PRIVATE)
            connection.execute(
                f'create table memory.main."{table}" as select {shown} from store."{table}" '  # noqa: S608  our own names
                "where run in (select run from temp.seen)"
            )
    connection.execute("use memory")
    connection.execute("detach store")
    connection.execute("drop table temp.seen")
    for name, value in LOCKED.items():
        connection.execute(f"set {name} = {value}")
    return connection


def _found(connection: DuckDBPyConnection, asked: QueryRequest) -> bytes:
    """The resulting table as an Arrow stream."""
    import pyarrow as pa

    try:
        table = _table(connection, asked)
        answer = pa.BufferOutputStream()
        with pa.ipc.new_stream(answer, table.schema) as stream:
            stream.write_table(table)
        return bytes(answer.getvalue().to_pybytes())
    except pa.ArrowException as error:
        raise ValueError(str(error)) from None


def _table(connection: DuckDBPyConnection, asked: QueryRequest) -> Table:
    """The first rows, as many as the limits allow. The table's metadata `cut` says which limit applied: rows, size, or
    empty.
    """
    import duckdb

    if any("\ud800" <= letter <= "\udfff" for letter in asked.sql):
        raise ValueError("The query contains half of a character (a lone surrogate). Type it again.")
    kinds = [statement.type for statement in connection.extract_statements(asked.sql)]
    if len(kinds) != 1 or kinds[0] not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
        raise ValueError("The store is read-only: write one SELECT, DESCRIBE, SHOW or EXPLAIN.")
    connection.execute("begin transaction read only")
    relation = connection.sql(asked.sql)
    table = relation.limit(asked.rows + 1).to_arrow_table()
    cut = "rows" if table.num_rows > asked.rows else ""
    table = table.slice(0, asked.rows)
    while table.nbytes > asked.result_mb * MB:
        table, cut = table.slice(0, table.num_rows // 2), "size"
    return table.replace_schema_metadata({"cut": cut})


def copy(source: Path, target: Path, environment: Mapping[str, str]) -> None:
    """Copy a file that this process has open in DuckDB, using another process: if a process closes a file, it loses all
    its locks on it. Raises OSError.
    """
    import subprocess

    code = "import shutil, sys; shutil.copyfile(*sys.argv[1:])"
    command = [sys.executable, "-I", "-c", code, str(source), str(target)]
    done = subprocess.run(command, env=dict(environment), capture_output=True, text=True, check=False)  # noqa: S603  our own words
    if done.returncode:
        raise OSError(done.stderr.strip().rpartition("\n")[2])


if __name__ == "__main__":
    serve(QueryRequest, _connected, _found)
