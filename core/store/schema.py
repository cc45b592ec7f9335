"""The store's tables: numbered migrations for what every lab has, and one table a record type, made from its fields.

Columns bear the field names of the events. Times are naive UTC. There are primary keys and no other index: DuckDB scans
a million rows in milliseconds, and what has no index cannot have a broken one. `at`, `case` and `by` are words of SQL's
own: write `"at"`, or `calls.at`.

To change a table of every lab's: append one migration here, never change an old one. A record's table follows its type
by itself. After either every journal is read again, so that what is new fills itself.
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from core.by_rules import columns_of
from core.events import Frozen
from core.lab.lab import Lab
from core.transcript import name_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FIRST = 6
"""The number of the first migration here. A store of before is emptied: its tables were made lab by lab."""

MIGRATIONS = [
    # 6: a run, its cases and their trials, and what every lab has
    """
    create table runs (
        run varchar primary key,      -- the journal's name without .jsonl
        lab varchar,
        status varchar,               -- running | completed | cancelled | failed
        "at" timestamp,               -- started
        last_at timestamp,            -- its latest event
        finished_at timestamp,
        seconds double,               -- while it ran, without the pauses before it was resumed
        seed bigint,
        spec json,
        versions json,
        prompts json,
        app varchar,                  -- the program's version
        commit varchar,
        about varchar,                -- the run that a person speaks about; '' where it is a run itself
        reread_from varchar,          -- the run whose raw answers were read again
        title varchar,                -- of its spec, or of its first case
        model varchar,
        cases bigint,                 -- planned
        answered bigint,              -- calls
        failed bigint,                -- calls
        error varchar,                -- what stopped the run itself
        message varchar,
        hint varchar,
        journal varchar,              -- path of the file
        bytes bigint,                 -- indexed so far
        lines bigint,                 -- indexed so far
        modified bigint,              -- the file's time when it was indexed, nanoseconds since 1970
        head varchar                  -- sha256 of the first line
    );
    create table cases (
        run varchar, "case" varchar, lab varchar, number bigint, "of" bigint, title varchar, model varchar,
        explanation varchar, outcome_paper varchar, outcome_repaired varchar, verdict varchar,
        trials bigint, counted bigint,
        status varchar,               -- running | done
        "at" timestamp, ended_at timestamp,
        primary key (run, "case")
    );
    create table trials (             -- an expectation and what came of it; "paper" and "repaired" are two readings
        run varchar, "case" varchar, trial varchar, about varchar,
        expected_paper varchar, observed_paper varchar, outcome_paper varchar, counts_paper boolean,
        reason_paper varchar,
        expected_repaired varchar, observed_repaired varchar, outcome_repaired varchar, counts_repaired boolean,
        reason_repaired varchar,
        calls json, "at" timestamp,
        primary key (run, "case", trial)
    );
    create table calls (
        run varchar, call varchar, "case" varchar, item varchar, trial varchar, role varchar, model varchar,
        prompt varchar, messages json, sampling json, repeat bigint,
        tools json,                   -- what the model might ask to have called
        tool_calls json,              -- what it asked for
        text varchar, seconds double, first_token_seconds double, cached boolean, prompt_tokens bigint,
        completion_tokens bigint, finish_reason varchar, error varchar, message varchar, hint varchar, "at" timestamp,
        primary key (run, call)
    );
    create table scores (
        run varchar,
        "case" varchar,               -- '' for a figure of the whole run
        metric varchar, rules varchar, item varchar, value double, n bigint, "of" bigint, low double, high double,
        detail json, "at" timestamp,
        primary key (run, "case", metric, rules, item)
    );
    create table drops (
        run varchar, "case" varchar, trial varchar,
        item varchar,                 -- '' for the whole case
        reason varchar,
        rules varchar,                -- '' where the item counts under neither
        detail varchar, "at" timestamp,
        primary key (run, "case", item, reason, rules)
    );
    create table records (            -- of types that no lab declares
        run varchar, record varchar, "case" varchar, item varchar, trial varchar, "by" varchar, data json,
        "at" timestamp,
        primary key (run, record, "case", item, "by")
    );
    create table faults (             -- lines of a journal that hold no event
        run varchar, line bigint, reason varchar,
        primary key (run, line)
    );
    """,
    # 7: whose a run is, and what its owner said of who may see it
    """
    alter table runs add column owner varchar;
    alter table runs add column shared boolean;  -- of the run that this journal is about
    """,
    # 8: whether a run came with the app
    """
    alter table runs add column recording boolean default false;
    """,
    # 9: what a list of results has a row for (core/store/items.py makes both tables from the others)
    """
    create table items (
        run varchar, "case" varchar,  -- '' where a run has no case
        trial varchar,                -- '' where the row is the case's own
        lab varchar, number bigint,   -- of the case, in its run
        "at" timestamp,               -- the run's
        title varchar, about varchar, expected varchar, observed varchar, model varchar,
        outcome varchar, outcome_paper varchar, differ boolean,
        reason varchar,               -- why it does not count; '' where it does
        error varchar,                -- class of a call of it that failed; '' where none did
        how varchar, task varchar, dataset varchar, category varchar, difficulty varchar, wording varchar
    );
    create table roles (              -- which models a run asked, and as what
        run varchar, role varchar, model varchar
    );
    """,
    # 10: which study a run was made for
    """
    alter table runs add column study varchar;  -- '' where it was made for none
    """,
    # 11: what people say of a run, one row a word of theirs (core/store/items.py makes it), and what a run was made of
    """
    create table labels (
        run varchar,                  -- the journal
        about varchar, "case" varchar, -- '' for the run itself
        trial varchar,                -- '' for the case itself
        who varchar,
        kind varchar,                 -- verdict | should | tag | note; of a run title | hidden
        value varchar,                -- of a verdict, and of what should be: "what is judged: word"
        "at" timestamp
    );
    alter table runs add column forked_from varchar;  -- the run of which a person edited an answer
    """,
    # 12: what a comparison needs of a row, so that it reads no other table
    """
    alter table items add column counts boolean;  -- by repaired rules; a case's own row always does
    alter table items add column counts_paper boolean;
    alter table items add column observed_paper varchar;
    """,
    # 13: what counts and is no verdict all the same, and why (by repaired rules; '' or null where it is one)
    """
    alter table trials add column doubt_repaired varchar;
    alter table items add column doubt varchar;
    """,
]

GENERIC = (
    "migrations",
    "runs",
    "cases",
    "trials",
    "calls",
    "scores",
    "drops",
    "records",
    "faults",
    "items",
    "roles",
    "labels",
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
    fields: dict[str, dict[str, str]] = {}
    for lab in labs.values():
        for record in lab.records:
            columns = fields.setdefault(table_of(record), {})
            for name, annotation in columns_of(record).items():
                # Names in SQL differ by more than their capitals.
                if name in columns or name.lower() not in FIXED | {one.lower() for one in columns}:
                    kind = sql_type(annotation)
                    columns[name] = kind if columns.get(name, kind) == kind else "JSON"
    return {table: Table(_PLACED | columns | _REST, _KEY) for table, columns in fields.items()}


def sql_type(annotation: Any) -> str:
    """The type of the column that holds values of a field so annotated; None beside a type changes nothing."""
    if get_origin(annotation) is Annotated:
        return sql_type(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        kinds = {sql_type(one) for one in get_args(annotation) if one is not type(None)}
        if kinds == {"BIGINT", "DOUBLE"}:
            return "DOUBLE"
        return kinds.pop() if len(kinds) == 1 else "JSON"
    if get_origin(annotation) is Literal:
        kinds = {sql_type(type(value)) for value in get_args(annotation) if value is not None}
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
