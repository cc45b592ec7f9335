"""The store's tables: those that every lab has (`tables.sql`), and one table for each record type, made from its
fields.

Columns have the field names of the events. Times are naive UTC. There are primary keys and no other index: DuckDB scans
a million rows in milliseconds, and an index that does not exist cannot break. `at`, `case` and `by` are SQL keywords:
write `"at"`, or `calls.at`.

A file with other tables than these is emptied, and every journal is read again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from ..events import Frozen
from ..rulesets import columns_of
from ..transcript import name_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from ..labs.base.lab import Lab

TABLES = Path(__file__).with_name("tables.sql").read_text(encoding="utf-8")
"""Makes the tables that every lab has."""

GENERIC = (
    *("version", "runs", "cases", "trials", "calls", "scores", "drops", "extra_columns", "records", "faults"),
    *("items", "roles", "labels", "vectors", "kinds"),
)
"""Tables that do not belong to a record type."""

_PLACED = dict.fromkeys(("run", "case", "item", "trial", "by"), "VARCHAR")
_REST = {"extra": "JSON", "at": "TIMESTAMP"}
_KEY = ("run", "case", "item", "by")

FIXED = frozenset(_PLACED | _REST)
"""Columns of every record's table, whatever its fields. A field with one of these names is stored in `extra`."""


class StoreTable(NamedTuple):
    """A table's columns (name -> SQL type, in order) and its primary key, () if it has none."""

    columns: dict[str, str]
    key: tuple[str, ...]


# One table for each record type


def table_of(record: type[Frozen]) -> str:
    """The name of a record type's table: SelfExplanation -> self_explanation."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", record.__name__)
    return words.lower()


def record_tables(labs: Mapping[str, Lab]) -> dict[str, str]:
    """The tables of the labs' record types, by the types' names in journals. Raises ValueError if a type has the name
    of a table that every lab has, or the name of another type, in any lab.
    """
    known: dict[str, tuple[str, type[Frozen]]] = {}
    for lab in labs.values():
        for record in lab.records:
            for name in (name_of(record), table_of(record)):
                title, other = known.setdefault(name, (lab.title, record))
                if other is not record:
                    raise ValueError(
                        f"The record {record.__name__} of the lab {lab.title} would share the name {name} with one of "
                        f"the lab {title}: rename its type, so that each has a table of its own."
                    )
    tables = {name_of(record): table_of(record) for _, record in known.values()}
    if taken := sorted(set(tables.values()) & set(GENERIC)):
        raise ValueError(f"A record's table cannot be called {', '.join(taken)}: rename its type.")
    return tables


def wanted_tables(labs: Mapping[str, Lab]) -> dict[str, StoreTable]:
    """The tables for the labs' record types: one for each type (`record_tables` checks this), with one column for each
    field.
    """
    wanted = {}
    for record in (record for lab in labs.values() for record in lab.records):
        columns: dict[str, str] = {}
        for name, annotation in columns_of(record).items():
            # SQL does not distinguish names by capitals alone.
            if name.lower() not in FIXED | {known.lower() for known in columns}:
                columns[name] = sql_type(annotation)
        wanted[table_of(record)] = StoreTable(_PLACED | columns | _REST, _KEY)
    return wanted


def sql_type(annotation: Any) -> str:
    """The type of the column for a field with this annotation. Whether None is allowed makes no difference."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return sql_type(parts[0])
    if origin in (Union, UnionType, Literal):
        kinds = {sql_type(type(part) if origin is Literal else part) for part in parts if part not in (None, NoneType)}
        if kinds == {"BIGINT", "DOUBLE"} and origin is not Literal:
            return "DOUBLE"
        return kinds.pop() if len(kinds) == 1 else "JSON"
    if not isinstance(annotation, type):
        return "JSON"
    by_type = ((bool, "BOOLEAN"), (int, "BIGINT"), (float, "DOUBLE"), (str, "VARCHAR"), (datetime, "TIMESTAMP"))
    return next((kind for one, kind in by_type if issubclass(annotation, one)), "JSON")


# Making tables


ROWS = 2
"""Raised when rows are made from events in another way, so that earlier indexes are made again."""


def create(connection: DuckDBPyConnection, wanted: Mapping[str, StoreTable]) -> dict[str, StoreTable]:
    """Make all tables, also those of records, in one transaction, and return them. Tables made by another version of
    the app, or for other records, are dropped first. Raises duckdb.Error for a broken file.
    """
    version = hashlib.sha256(f"{ROWS}{TABLES}{sorted(wanted.items())}".encode()).hexdigest()
    connection.execute("begin")
    known = connection.execute("select 1 from duckdb_tables() where table_name = 'version'").fetchall()
    if not known or connection.execute("select hash from version").fetchall() != [(version,)]:
        for (table,) in connection.execute("select table_name from duckdb_tables() where not internal").fetchall():
            connection.execute(f'drop table "{table}"')
        connection.execute(TABLES)
        for name, (columns, key) in wanted.items():
            lines = ", ".join(f'"{column}" {kind}' for column, kind in columns.items())
            connection.execute(f'create table "{name}" ({lines}, primary key ({quoted_names(key)}))')
        connection.execute("create table version as select ? as hash, false as stale", [version])
    connection.execute("commit")
    return tables(connection)


def tables(connection: DuckDBPyConnection) -> dict[str, StoreTable]:
    """Every table of the store, as it is in the file."""
    columns: dict[str, dict[str, str]] = {}
    for table, column, kind in connection.execute(
        "select table_name, column_name, data_type from duckdb_columns() where not internal order by column_index"
    ).fetchall():
        columns.setdefault(table, {})[column] = kind
    keys = dict(
        connection.execute(
            "select table_name, constraint_column_names from duckdb_constraints() where constraint_type = 'PRIMARY KEY'"
        ).fetchall()
    )
    return {table: StoreTable(held, tuple(keys.get(table, ()))) for table, held in columns.items()}


def quoted(*texts: str) -> str:
    """Texts as SQL literals, for texts that a lab declares."""
    return ", ".join("'" + text.replace("'", "''") + "'" for text in texts)


def quoted_names(columns: Iterable[str]) -> str:
    """Names quoted for SQL."""
    return ", ".join('"' + column.replace('"', '""') + '"' for column in columns)
