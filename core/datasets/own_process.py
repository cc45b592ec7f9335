"""Read a person's own table in a separate process, which `core.datasets.own` starts, and ends if it takes too long.

DuckDB reads only this one file, with locked settings, and the operating system limits the memory of the process. Which
rows are drawn depends on their content and the seed, never on their position.
"""

# ruff: noqa: S608  every word of SQL is ours, and names and paths in it are quoted

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..duckdb_worker import CONFIG, LOCKED, MB, serve

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

BESIDE = ("answer", "id")
"""Roles of columns that are not part of the question and that a file need not have."""
MOST_COLUMNS = 2_000
OPEN_QUOTE = "a quotation mark is never closed, and takes the lines that follow with it"
LONGEST_LINE = 16 * MB
"""Maximum length of one line of text in bytes."""
LONGEST_EXTRA = 300
"""Maximum number of characters that are kept of a cell in a column that has no role."""
LONGEST_OBJECT = 2_000
"""The same for a JSON object, whose members are kept separately."""


class ReadRequest(NamedTuple):
    """What to read from the file at `path`, whose `kind` is csv, jsonl or parquet.

    `columns` maps each role to its columns; if it is empty, the answer contains the column names and the first rows of
    the file. Roles in `optional` may have no column. `header` and `delimiter` describe a CSV file, and `open_quote`
    says whether one of its quotation marks is never closed. After skipping `skip` rows, `rows` are drawn by `seed`, or
    in file order if it is None. Cells are cut after `longest` characters.

    `keep` names the columns without a role that are returned too (all of them if it is empty), at most `extra`. Of two
    rows with the same id, one that has all cells of the roles `needed`, and one of `answers` if any are given, is
    preferred.
    """

    path: str
    kind: str
    columns: dict[str, list[str]]
    header: list[str]
    delimiter: str
    open_quote: bool
    rows: int
    seed: int | None
    longest: int
    named: int
    memory_mb: int
    seconds: int
    skip: int = 0
    optional: Sequence[str] = ()
    needed: Sequence[str] = ()
    answers: Sequence[str] = ()
    keep: Sequence[str] = ()
    extra: int = 0
    result_mb: int = 100


def _found(connection: DuckDBPyConnection, wanted: ReadRequest) -> bytes:
    """Return what was asked for, as JSON."""
    answer = json.dumps(_drawn(connection, wanted) if wanted.columns else _looked_at(connection, wanted)).encode()
    if len(answer) > wanted.result_mb * MB:
        raise ValueError(f"what is to be drawn holds more than {wanted.result_mb} MB; set a smaller limit")
    return answer


def _connected(wanted: ReadRequest) -> DuckDBPyConnection:
    import duckdb

    config: dict[str, Any] = {**CONFIG, "memory_limit": f"{wanted.memory_mb}MB", "preserve_insertion_order": "true"}
    connection = duckdb.connect(":memory:", config=config)
    connection.execute(f"set allowed_paths = [{_text(wanted.path)}]")
    for name, value in LOCKED.items():
        connection.execute(f"set {name} = {value}")
    return connection


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _source(wanted: ReadRequest) -> tuple[str, dict[str, str]]:
    """Return SQL for the table, in which each row has its number `_line_no` and its `_fault` (null if it is fine), and
    for each column of the file an expression for its text.
    """
    path = _text(wanted.path)
    # DuckDB's buffer must hold several of the longest lines.
    bounds = f"max_line_size={LONGEST_LINE}, buffer_size={4 * LONGEST_LINE}, parallel=false"
    rejects = "store_rejects=true, auto_detect=false"
    if wanted.kind == "csv":
        # An extra column reveals rows that are too long. Missing cells are null, which no real cell is.
        names = [f"c{number}" for number in range(len(wanted.header) + 1)]
        types = ", ".join(f"{_text(name)}: 'VARCHAR'" for name in names)
        read = (
            f"read_csv({path}, columns={{{types}}}, header=true, delim={_text(wanted.delimiter)}, quote='\"', "
            f"escape='\"', null_padding=true, strict_mode=false, nullstr='\x1d\x1e\x1d', {rejects}, {bounds})"
        )
        last, more = names[-2:]
        lines = " + ".join(f"length({name}) - length(replace({name}, chr(10), ''))" for name in names[:-1])
        open_quote = f"when _line_no = max(_line_no) over () and {lines} > 0 then '{OPEN_QUOTE}'"
        fault = (
            f"case when {more} is not null then 'more cells than the header has' "
            f"when {last} is null then 'fewer cells than the header has' "
            f"{open_quote if wanted.open_quote else ''} end"
        )
        numbered = f"(select *, row_number() over () as _line_no from {read})"
        return f"(select *, {fault} as _fault from {numbered})", dict(zip(wanted.header, names, strict=False))
    if wanted.kind == "jsonl":
        # Each line is read as a single column: the delimiter is a character that JSON must escape.
        read = (
            f"read_csv({path}, columns={{'raw': 'VARCHAR'}}, header=false, delim='\x1f', quote='', escape='', "
            f"{rejects}, {bounds})"
        )
        pointers = {
            key: "/" + key.replace("~", "~0").replace("/", "~1") for names in wanted.columns.values() for key in names
        }
        whole = "case when json_valid(raw) then case when json_type(raw) = 'OBJECT' then raw end end"
        numbered = f"(select raw, {whole} as line, row_number() over () as _line_no from {read})"
        return (
            f"(select *, case when line is null then 'this line is no JSON object' end as _fault from {numbered} "
            "where trim(coalesce(raw, '')) <> '')",
            {key: f"(line ->> {_text(pointer)})" for key, pointer in pointers.items()},
        )
    return (
        f"(select *, file_row_number + 1 as _line_no, null as _fault from read_parquet({path}, file_row_number=true))",
        {},
    )


def _columns(connection: DuckDBPyConnection, wanted: ReadRequest, source: str) -> list[str]:
    """Return the columns of the file, in order; for JSON lines, those of the first thousand objects."""
    if wanted.kind == "csv":
        return wanted.header
    if wanted.kind == "jsonl":
        keys = (
            f"select unnest(json_keys(line)) as key, _line_no from (select * from {source} limit 1000) "
            "where _fault is null"
        )
        keys_found = f"select key from ({keys}) group by key order by min(_line_no) limit {MOST_COLUMNS + 1}"
        return [name for (name,) in connection.execute(keys_found).fetchall()]
    names = connection.execute(f"select column_name from (describe select * from {source})").fetchall()
    return [name for (name,) in names if name not in ("file_row_number", "_line_no", "_fault")]


def _expressions(connection: DuckDBPyConnection, wanted: ReadRequest) -> tuple[str, dict[str, str], list[str]]:
    source, known = _source(wanted)
    columns = _columns(connection, wanted, source)
    if len(columns) > MOST_COLUMNS:
        raise ValueError(f"it has more than {MOST_COLUMNS:,} columns")
    if wanted.kind == "parquet":
        # Values that are not text are given as JSON.
        known = {name: f"(to_json({_name(name)}) ->> '$')" for name in columns}
    return source, known, columns


def _looked_at(connection: DuckDBPyConnection, wanted: ReadRequest) -> dict[str, Any]:
    """Return the column names and the first rows."""
    _, _, columns = _expressions(connection, wanted)
    source, known, _ = _expressions(connection, wanted._replace(columns={"": columns}))
    cells = ", ".join(f"left({known[name]}, {wanted.longest})" for name in columns)
    rows = connection.execute(
        f"select {cells or 'null'} from {source} where _fault is null limit {wanted.rows}"
    ).fetchall()
    return {"columns": columns, "rows": rows}


def _drawn(connection: DuckDBPyConnection, wanted: ReadRequest) -> dict[str, Any]:
    """Return a dict: `rows` (number, id, texts of each role's columns, then of the others); `columns` (the roles that
    have any); `extra` (the columns without a role), `dropped` (how many more there are); `of` (number of rows);
    `repeated` (number of rows with the id of another); `broken` (the first broken lines, as (number, problem));
    `rejected` (the problems of the first lines without a number); `lost` (the number of both).
    """
    source, known, there = _expressions(connection, wanted)
    roles = {role: names for role, names in wanted.columns.items() if role not in wanted.optional or names[0] in there}
    for name in (name for names in roles.values() for name in names):
        if there.count(name) != 1:
            fault = "more than one column" if name in there else "no column"
            raise ValueError(f"it has {fault} “{name}”; say which one holds that. There are: {', '.join(there[:20])}")
    extra, dropped = _without_role(wanted, there, {name for names in roles.values() for name in names})
    if wanted.kind == "jsonl":
        known |= _source(wanted._replace(columns={"": extra}))[1]
    cells = [known[name] for names in roles.values() for name in names]
    asked = [known[name] for role, names in roles.items() if role not in BESIDE for name in names]
    given = f"nullif(trim(left({known[roles['id'][0]]}, 200)), '')" if "id" in roles else "null"
    if "source" in roles:
        # Several explanations of one question, from different sources, are different items.
        given = f"{given} || '~' || trim(left(coalesce({known[roles['source'][0]]}, ''), 100))"
    connection.execute(
        f"create temp table kept as select _line_no, _fault, coalesce({given}, left({_hash(asked)}, 16)) as id, "
        f"{_hash(cells)} as content, {_is_incomplete(wanted, roles, known)} as incomplete from {source}"
    )
    order = "_line_no" if wanted.seed is None else f"md5({_text(str(wanted.seed))} || ' ' || id)"
    once = "row_number() over (partition by id order by incomplete, content, _line_no) = 1"
    connection.execute(
        f"create temp table chosen as select _line_no, id, row_number() over (order by {order}) as place from "
        f"(select * from kept where _fault is null qualify {once}) order by place "
        f"limit {wanted.rows} offset {wanted.skip}"
    )
    shown = ", ".join(
        [f"left({cell}, {wanted.longest + 1})" for cell in cells]
        + [
            f"left({cell}, if({cell} like '{{%', {LONGEST_OBJECT}, {LONGEST_EXTRA + 1}))"
            for cell in map(known.get, extra)
        ]
    )
    rows = connection.execute(
        f"select chosen._line_no, id, {shown} from {source} s join chosen using (_line_no) order by place"
    ).fetchall()
    counts = "count(*) filter (_fault is null), count(distinct id) filter (_fault is null), count(_fault)"
    good, distinct, faulty = connection.execute(f"select {counts} from kept").fetchone() or (0, 0, 0)
    broken = connection.execute(
        f"select _line_no, _fault from kept where _fault is not null order by 1 limit {wanted.named}"
    ).fetchall()
    rejected, lost = _rejected(connection, wanted)
    return {
        **{"rows": rows, "columns": roles, "of": distinct, "repeated": good - distinct},
        **{"extra": extra, "dropped": dropped},
        **{"broken": broken, "rejected": rejected, "lost": lost + faulty},
    }


def _without_role(wanted: ReadRequest, there: list[str], used: set[str]) -> tuple[list[str], int]:
    """Return the columns without a role that are kept, in the file's order, and how many more there are. Raises
    ValueError if one that was named does not exist.
    """
    for name in wanted.keep:
        if name not in there:
            raise ValueError(f"it has no column “{name}” to keep. There are: {', '.join(there[:20])}")
    unique = [name for name in there if name.strip() and name not in used and there.count(name) == 1]
    found = [name for name in unique if name in wanted.keep] if wanted.keep else unique
    return found[: wanted.extra], len(found[wanted.extra :])


def _is_incomplete(wanted: ReadRequest, roles: dict[str, list[str]], known: dict[str, str]) -> str:
    """Return SQL for whether a row certainly becomes no item."""
    faults = [f"trim(coalesce({known[name]}, '')) = ''" for role in wanted.needed for name in roles.get(role, ())]
    if wanted.answers and "answer" in roles:
        known_answers = ", ".join(map(_text, ["", *wanted.answers]))
        faults.append(f"lower(trim(coalesce({known[roles['answer'][0]]}, ''))) not in ({known_answers})")
    return " or ".join(faults) or "false"


def _hash(cells: list[str]) -> str:
    return "md5(concat_ws(chr(31), " + ", ".join(f"coalesce({cell}, '')" for cell in cells) + "))"


def _rejected(connection: DuckDBPyConnection, wanted: ReadRequest) -> tuple[list[str], int]:
    """Return the problems of the first lines that DuckDB could not split into cells, in order, and the number of such
    lines.
    """
    if wanted.kind == "parquet":
        return [], 0
    # Every reading of the file records the rejected lines again.
    once = (
        "select line_byte_position as begins, case min(error_type) when 'INVALID ENCODING' then "
        "'this is not UTF-8 text' else min(error_message) end as problem from reject_errors group by 1"
    )
    problems = connection.execute(f"select problem from ({once}) order by begins limit {wanted.named}").fetchall()
    (lost,) = connection.execute(f"select count(*) from ({once})").fetchone() or (0,)
    return [problem for (problem,) in problems], lost


if __name__ == "__main__":
    serve(ReadRequest, _connected, _found)
