"""The store's tables: numbered migrations (`migrations/*.sql`) for what every lab has, and one table a record type,
made from its fields.

Columns bear the field names of the events. Times are naive UTC. There are primary keys and no other index: DuckDB scans
a million rows in milliseconds, and what has no index cannot have a broken one. `at`, `case` and `by` are words of SQL's
own: write `"at"`, or `calls.at`.

To change a table of every lab's: add a migration, never change an old one. A record's table follows its type
by itself. After either every journal is read again, so that what is new fills itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from core.by_rules import columns_of
from core.events import Frozen
from core.lab.lab import Lab
from core.transcript import name_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FIRST = 6
"""The number of the first migration here. A store of before is emptied: its tables were made lab by lab."""

MIGRATIONS = [path.read_text(encoding="utf-8") for path in sorted(Path(__file__).with_name("migrations").glob("*.sql"))]
"""In the order of their numbers, which are their files' names."""

GENERIC = (
    *("migrations", "runs", "cases", "trials", "calls", "scores", "drops", "records", "faults"),
    *("items", "roles", "labels"),
)
"""Tables that are no record type's."""

_PLACED = dict.fromkeys(("run", "case", "item", "trial", "by"), "VARCHAR")
_REST = {"extra": "JSON", "at": "TIMESTAMP"}
_KEY = ("run", "case", "item", "by")

FIXED = frozenset(_PLACED | _REST)
"""Columns of every record's table, whatever its fields. A field of such a name is kept in `extra`."""


class NewerSchema(Exception):
    """The file was written by a later version."""


class Table(NamedTuple):
    """A table's columns (name -> SQL type, in order) and primary key, () where it has none."""

    columns: dict[str, str]
    key: tuple[str, ...]


# A table a record type


def table_of(record: type[Frozen]) -> str:
    """The name of a record type's table: SelfExplanation -> self_explanation."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", record.__name__)
    return words.lower()


def record_tables(labs: Mapping[str, Lab]) -> dict[str, str]:
    """The tables of the labs' record types, by the types' names in journals. Raises ValueError where a type takes the
    name of a table that every lab has, or that of another type, of the same lab or of another.
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


def wanted_tables(labs: Mapping[str, Lab]) -> dict[str, Table]:
    """What the labs' record types need: a table each (`record_tables` sees to that), with a column a field."""
    wanted = {}
    for record in (record for lab in labs.values() for record in lab.records):
        columns: dict[str, str] = {}
        for name, annotation in columns_of(record).items():
            # Names in SQL differ by more than their capitals.
            if name.lower() not in FIXED | {known.lower() for known in columns}:
                columns[name] = sql_type(annotation)
        wanted[table_of(record)] = Table(_PLACED | columns | _REST, _KEY)
    return wanted


def sql_type(annotation: Any) -> str:
    """The type of the column that holds values of a field so annotated; None beside a type changes nothing."""
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


# Making and changing tables


def migrate(connection: DuckDBPyConnection, wanted: Mapping[str, Table] | None = None) -> dict[str, Table]:
    """Bring the tables up to date, those of records too, in one transaction. Returns all there are.

    Raises NewerSchema, and duckdb.Error for a broken file.
    """
    connection.execute("begin")
    connection.execute("create table if not exists migrations (number integer primary key, applied timestamp)")
    done = _number(connection)
    newest = FIRST + len(MIGRATIONS) - 1
    if done > newest:
        connection.execute("rollback")
        raise NewerSchema(f"schema {done}; this version knows {newest}")
    if 0 < done < FIRST:
        drop_tables(connection, but="migrations")
    for number, statements in enumerate(MIGRATIONS, start=FIRST):
        if number > done:
            connection.execute(statements)
            connection.execute("insert into migrations values (?, now() at time zone 'utc')", [number])
    there = tables(connection)
    grown = _grow(connection, there, wanted or {})
    if done and (grown or done < newest):
        # The journals hold more than the old tables could: with no head, each is taken for a new one.
        connection.execute("update runs set head = '', modified = 0")
    connection.execute("commit")
    return there


def _number(connection: DuckDBPyConnection) -> int:
    row = connection.execute("select coalesce(max(number), 0) from migrations").fetchone()
    return int(row[0]) if row else 0


def _grow(connection: DuckDBPyConnection, there: dict[str, Table], wanted: Mapping[str, Table]) -> bool:
    """Make and extend the records' tables, in `there` too. Whether anything was to do. What nobody wants now stays."""
    grown = False
    for name, (columns, key) in wanted.items():
        has = there.get(name)
        if has is not None and (
            has.key != key or any(has.columns.get(column, kind) != kind for column, kind in columns.items())
        ):
            connection.execute(f'drop table "{name}"')
            has = None
        if has is None:
            lines = ", ".join(f'"{column}" {kind}' for column, kind in columns.items())
            keys = ", ".join(f'"{column}"' for column in key)
            connection.execute(f'create table "{name}" ({lines}, primary key ({keys}))')
            there[name] = Table(dict(columns), key)
            grown = True
            continue
        for column, kind in columns.items():
            if column not in has.columns:
                connection.execute(f'alter table "{name}" add column "{column}" {kind}')
                has.columns[column] = kind
                grown = True
    return grown


def drop_tables(connection: DuckDBPyConnection, but: str = "") -> None:
    """Every table away, except one; `migrate` makes them again."""
    for (table,) in connection.execute("select table_name from duckdb_tables() where not internal").fetchall():
        if table != but:
            connection.execute(f'drop table "{table}"')


def tables(connection: DuckDBPyConnection) -> dict[str, Table]:
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
    return {table: Table(held, tuple(keys.get(table, ()))) for table, held in columns.items()}


def named(columns: Iterable[str]) -> str:
    """Names as SQL takes them."""
    return ", ".join('"' + column.replace('"', '""') + '"' for column in columns)
