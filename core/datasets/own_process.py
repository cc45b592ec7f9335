"""A table of a person's own, read in a process of its own: `core.datasets.own` starts it, and ends it when it is late.

DuckDB reads that one file and no other, with locked settings; the system bounds what memory the process takes. Which
rows are drawn depends on what they hold and on the seed, never on where they stand.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MB = 1024 * 1024
LATE = 7
"""The exit code of a process whose time was up."""
REFUSED, FOUND = b"!", b"="
"""What an answer begins with: then follows why, or the result as JSON."""
MOST_COLUMNS = 2_000
LONGEST_LINE = 16 * MB
"""Bytes of one line of text."""


class Wanted(NamedTuple):
    """What is to be read of the file at `path`, whose `kind` is csv, jsonl or parquet.

    `columns`: for each role the columns that fill it; for an empty one the answer holds the columns' names and the
    first rows, as the file has them. `header` and `delimiter` are a CSV file's. `rows` are drawn by `seed`, in the
    file's order where it is None; of a cell `longest` characters are given. Roles among `optional` may have no column.
    """

    path: str
    kind: str
    columns: dict[str, list[str]]
    optional: list[str]
    header: list[str]
    delimiter: str
    rows: int
    seed: int | None
    longest: int
    told: int
    result_mb: int
    memory_mb: int
    seconds: int


def main() -> None:
    """Read what is wanted from standard input, write what was found to standard output."""
    import duckdb

    wanted = Wanted(**json.load(sys.stdin))
    try:
        connection = _connected(wanted)
        _bound(wanted)
        late = threading.Timer(wanted.seconds, os._exit, [LATE])
        late.daemon = True
        late.start()
        found = _drawn(connection, wanted) if wanted.columns else _looked_at(connection, wanted)
        sys.stdout.buffer.write(FOUND + _written(found, wanted))
    except (duckdb.Error, ValueError) as error:
        sys.stdout.buffer.write(REFUSED + str(error).encode("utf-8", "replace"))
    except MemoryError:
        sys.stdout.buffer.write(REFUSED + b"Out of Memory Error: the process may take no more.")
    sys.stdout.flush()
    # Without DuckDB's tidying up.
    os._exit(0)


def _written(found: dict[str, Any], wanted: Wanted) -> bytes:
    answer = json.dumps(found).encode()
    if len(answer) > wanted.result_mb * MB:
        raise ValueError(f"what is to be drawn holds more than {wanted.result_mb} MB; set a smaller limit")
    return answer


def _connected(wanted: Wanted) -> DuckDBPyConnection:
    import duckdb

    config: dict[str, Any] = {
        **{"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"},
        **{"python_enable_replacements": "false", "temp_directory": "", "threads": "1"},
        **{"memory_limit": f"{wanted.memory_mb}MB", "preserve_insertion_order": "true"},
    }
    connection = duckdb.connect(":memory:", config=config)
    connection.execute(f"set allowed_paths = [{_text(wanted.path)}]")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")
    return connection


def _bound(wanted: Wanted) -> None:
    """Let the system hold this process to what it may take."""
    with suppress(ImportError):
        # Not on Windows.
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        most = 2 * (wanted.memory_mb + wanted.result_mb) * MB + 256 * MB
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _source(wanted: Wanted) -> tuple[str, dict[str, str]]:
    """The table with a column `line_no`, and for each column of the file the expression of its text."""
    path = _text(wanted.path)
    # DuckDB's buffer has to hold several of the longest lines.
    bounds = f"max_line_size={LONGEST_LINE}, buffer_size={4 * LONGEST_LINE}, parallel=false"
    rejects = "store_rejects=true, auto_detect=false"
    if wanted.kind == "csv":
        names = [f"c{number}" for number in range(len(wanted.header))]
        types = ", ".join(f"{_text(name)}: 'VARCHAR'" for name in names)
        read = (
            f"read_csv({path}, columns={{{types}}}, header=true, delim={_text(wanted.delimiter)}, quote='\"', "
            f"escape='\"', {rejects}, {bounds})"
        )
        return f"(select *, row_number() over () as line_no from {read})", dict(zip(wanted.header, names, strict=True))  # noqa: S608  our own words
    if wanted.kind == "jsonl":
        # One column that nothing ends but the line: a character that JSON has to write in another way parts cells.
        read = (
            f"read_csv({path}, columns={{'raw': 'VARCHAR'}}, header=false, delim='\x1f', quote='', escape='', "
            f"{rejects}, {bounds})"
        )
        told = wanted.columns.values()
        keys = {column for columns in told for column in columns}
        pointers = {key: "/" + key.replace("~", "~0").replace("/", "~1") for key in keys}
        whole = "case when json_valid(raw) then case when json_type(raw) = 'OBJECT' then raw end end"
        return (
            f"(select raw, {whole} as line, row_number() over () as line_no from {read})",  # noqa: S608  our own words
            {key: f"(line ->> {_text(pointer)})" for key, pointer in pointers.items()},
        )
    read = f"read_parquet({path}, file_row_number=true)"
    return f"(select *, file_row_number + 1 as line_no from {read})", {}  # noqa: S608  our own words


def _columns(connection: DuckDBPyConnection, wanted: Wanted, source: str) -> list[str]:
    """The columns of the file, in its order; of lines of JSON those of the first thousand objects."""
    if wanted.kind == "csv":
        return wanted.header
    if wanted.kind == "jsonl":
        keys = (
            f"select unnest(json_keys(line)) as key, line_no from (select * from {source} limit 1000) "  # noqa: S608  our own words
            "where line is not null"
        )
        told = f"select key from ({keys}) group by key order by min(line_no) limit {MOST_COLUMNS + 1}"  # noqa: S608  our own words
        return [name for (name,) in connection.execute(told).fetchall()]
    names = connection.execute(f"select column_name from (describe select * from {source})").fetchall()  # noqa: S608  our own words
    return [name for (name,) in names if name not in ("file_row_number", "line_no")]


def _expressions(connection: DuckDBPyConnection, wanted: Wanted) -> tuple[str, dict[str, str], list[str]]:
    source, known = _source(wanted)
    columns = _columns(connection, wanted, source)
    if len(columns) > MOST_COLUMNS:
        raise ValueError(f"it has more than {MOST_COLUMNS:,} columns")
    if wanted.kind == "parquet":
        # Of what is no text, its JSON.
        known = {name: f"(to_json({_name(name)}) ->> '$')" for name in columns}
    return source, known, columns


def _looked_at(connection: DuckDBPyConnection, wanted: Wanted) -> dict[str, Any]:
    """The columns' names, and the first rows."""
    _, _, columns = _expressions(connection, wanted)
    source, known, _ = _expressions(connection, wanted._replace(columns={"": columns}))
    cells = ", ".join(f"left({known[name]}, {wanted.longest})" for name in columns)
    is_row = "line is not null" if wanted.kind == "jsonl" else "true"
    rows = connection.execute(f"select {cells or 'null'} from {source} where {is_row} limit {wanted.rows}").fetchall()  # noqa: S608  our own words
    return {"columns": columns, "rows": rows}


def _drawn(connection: DuckDBPyConnection, wanted: Wanted) -> dict[str, Any]:
    """`rows`: number, id, text of each role's columns; `columns`: the roles that have any; `of`: how many rows there
    are; `repeated`: rows with the id of another; `broken`: the first lines that are none, as (number, problem);
    `rejected`: what is wrong with the first lines that have no number; `lost`: how many there are of both.
    """
    source, known, there = _expressions(connection, wanted)
    roles = {role: names for role, names in wanted.columns.items() if role not in wanted.optional or names[0] in there}
    for name in (name for names in roles.values() for name in names):
        if there.count(name) != 1:
            fault = "more than one column" if name in there else "no column"
            raise ValueError(f"it has {fault} “{name}”; say which one holds that. There are: {', '.join(there[:20])}")
    cells = [known[name] for names in roles.values() for name in names]
    whole = "concat_ws(chr(31), " + ", ".join(f"coalesce({cell}, '')" for cell in cells) + ")"
    given = f"nullif(trim({known[roles['id'][0]]}), '')" if "id" in roles else "null"
    shown = ", ".join(f"left({cell}, {wanted.longest + 1}) as cell{n}" for n, cell in enumerate(cells))
    is_row = "line is not null" if wanted.kind == "jsonl" else "true"
    connection.execute(
        f"create temp table kept as select line_no, coalesce(left({given}, 200), left(md5({whole}), 16)) as id, "  # noqa: S608  our own words
        f"md5({whole}) as content from {source} where {is_row}"
    )
    order = "line_no" if wanted.seed is None else f"md5({_text(str(wanted.seed))} || ' ' || id)"
    once = "select line_no, id from kept qualify row_number() over (partition by id order by content, line_no) = 1"
    total, distinct = connection.execute("select count(*), count(distinct id) from kept").fetchone() or (0, 0)
    chosen = f"select line_no, id, row_number() over (order by {order}) as place from ({once})"  # noqa: S608  our own words
    chosen += f" order by place limit {wanted.rows}"
    rows = connection.execute(
        f"select s.line_no, id, {shown} from {source} s join ({chosen}) c on s.line_no = c.line_no order by place"  # noqa: S608  our own words
    ).fetchall()
    rejected, lost = _rejected(connection, wanted)
    none = f"from {source} where line is null and trim(coalesce(raw, '')) <> ''"
    broken = []
    if wanted.kind == "jsonl":
        told = f"select line_no {none} limit {wanted.told}"
        broken = [(number, "this line is no JSON object") for (number,) in connection.execute(told).fetchall()]
        (more,) = connection.execute(f"select count(*) {none}").fetchone() or (0,)
        lost += more
    return {
        **{"rows": rows, "columns": roles, "of": distinct, "repeated": total - distinct},
        **{"broken": broken, "rejected": rejected, "lost": lost},
    }


def _rejected(connection: DuckDBPyConnection, wanted: Wanted) -> tuple[list[str], int]:
    """What is wrong with the first lines that DuckDB could not split into cells, in their order; how many there are."""
    if wanted.kind == "parquet":
        return [], 0
    # Each time that the file is read, what is rejected is noted again.
    once = (
        "select line_byte_position as begins, case min(error_type) when 'INVALID ENCODING' then "
        "'this is not UTF-8 text' else min(error_message) end as problem from reject_errors group by 1"
    )
    told = connection.execute(f"select problem from ({once}) order by begins limit {wanted.told}").fetchall()  # noqa: S608  our own words
    (lost,) = connection.execute(f"select count(*) from ({once})").fetchone() or (0,)  # noqa: S608  our own words
    return [problem for (problem,) in told], lost


if __name__ == "__main__":
    main()
