"""The rows of the store: those that events make, and those of lists of results, which are made from these.

If several events have the same primary key, the latest wins. A call's row is made by `asked` and completed by
`answered` or `failed`, a case's by its begin and its result; a run's row is updated by every event.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from pydantic_core import to_json

from .. import events
from ..datasets.own import title_without_folder
from ..journal import from_line
from ..labs.base.declared import FACETS
from ..labs.base.lab import Lab
from ..labs.base.report import Begun, Reading, Result, Trial
from ..rulesets import RULES
from ..runs.labels import JudgedCase, Kept, Label, Played, Sealing
from ..transcript import name_of
from .schema import StoreTable

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection


Row = dict[str, Any]

BEGUN, RESULT, TRIAL = name_of(Begun), name_of(Result), name_of(Trial)

_BIGINT = 2**63


class Rows:
    """Rows to be written, by table and primary key. `records` gives the tables of record types."""

    def __init__(self, tables: Mapping[str, StoreTable], records: Mapping[str, str]) -> None:
        self.tables = tables
        self.records = records
        self.by_table: dict[str, dict[tuple[Any, ...], Row]] = {}
        self.resumed: set[str] = set()
        """Resumed runs: their earlier drops for an error are to be deleted, since what failed is asked again."""

    def read(self, run: Row, lines: Iterable[bytes]) -> Iterator[events.Event]:
        """The events of `lines`, which follow what is known of `run`. A line that holds none is noted in `faults`."""
        for number, line in enumerate(lines, start=run["lines"] + 1):
            try:
                if line and not line.isspace():
                    event, _ = from_line(line.rstrip(b"\n"))
                    check(event)
                    yield event
            except ValidationError as error:
                self._fault(run, number, error.errors(include_url=False, include_input=False)[0]["msg"])
            except ValueError as error:
                self._fault(run, number, str(error))

    def _fault(self, run: Row, line: int, reason: str) -> None:
        self.put("faults", {"run": run["run"], "line": line, "reason": reason})

    def to_arrow(self) -> dict[str, pa.Table]:
        """The rows as Arrow tables, by table. They leave `by_table` one table after another, so that rows and Arrow
        tables are not all in memory together.
        """
        import pyarrow as pa

        kinds = {
            **{"VARCHAR": pa.string(), "JSON": pa.string(), "BIGINT": pa.int64(), "DOUBLE": pa.float64()},
            **{"BOOLEAN": pa.bool_(), "TIMESTAMP": pa.timestamp("us")},
        }
        made = {}
        for table in list(self.by_table):
            rows = list(self.by_table.pop(table).values())
            columns = self.tables[table].columns.items()
            made[table] = pa.table({name: pa.array([row.get(name) for row in rows], kinds[of]) for name, of in columns})
        return made

    def put(self, table: str, row: Row) -> None:
        """Store a row for `table`, replacing one with the same key."""
        key = tuple(row[column] for column in self.tables[table].key)
        self.by_table.setdefault(table, {})[key] = row

    def add(self, run: Row, event: events.Event) -> None:
        """Make the rows of one event that passed `check`, and update the run's row `run`."""
        name, at = run["run"], utc(event.at)
        _carry_on(run, event, at)
        match event:
            case events.Asked() | events.Answered() | events.Failed() if event.call is not None:
                self._call(name, event.call, at).update(_call_fields(event, at))
            case events.Resumed():
                drops = self.by_table.get("drops", {}).items()
                self.by_table["drops"] = {
                    key: row for key, row in drops if (row["run"], row["reason"]) != (name, "error")
                }
                self.resumed.add(name)
            case events.Recorded():
                self._record(run, event, at)
            case events.Dropped():
                self.put("drops", {**_picked(event, _DROPPED), "run": name, "rules": event.rules or "", "at": at})
            case events.Scored():
                ours = {**_picked(event, _SCORED), "detail": as_json(event.detail), "run": name, "at": at}
                self.put("scores", self._fitted("scores", ours, _picked(event, ("value", "low", "high"))))

    def _call(self, run: str, call: str, at: datetime) -> Row:
        rows = self.by_table.setdefault("calls", {})
        if (run, call) not in rows:
            rows[run, call] = {**dict.fromkeys(self.tables["calls"].columns), "run": run, "call": call, "at": at}
        return rows[run, call]

    def _record(self, run: Row, event: events.Recorded, at: datetime) -> None:
        name, case = run["run"], event.case
        table = self.records.get(event.record)
        if table is None and not event.by and event.record in (BEGUN, RESULT):
            self._case(run, event, at)
            columns = event.data.get("columns")
            for column, value in columns.items() if isinstance(columns, dict) else ():
                self.put("extra_columns", {"run": name, "case": case, "name": column, "value": str(value)})
        elif table is None and not event.by and event.record == TRIAL:
            both = [_reading(event.data.get(rules), rules) for rules in RULES]
            ours = {"run": name, "case": case, "trial": event.item, "at": at}
            self.put("trials", self._fitted("trials", ours, {**event.data, **both[0], **both[1]}))
        else:
            ours = {"run": name, "case": case, "item": event.item, "trial": event.trial, "by": event.by, "at": at}
            if table is None:
                self.put("records", {**ours, "record": event.record, "data": as_json(event.data)})
            else:
                self.put(table, self._fitted(table, ours, event.data))

    def _case(self, run: Row, event: events.Recorded, at: datetime) -> None:
        """Complete a case's row with what is known about it now."""
        columns = self.tables["cases"].columns
        name, case = run["run"], event.case
        row = self.by_table.setdefault("cases", {}).setdefault((name, case), dict.fromkeys(columns))
        row.update(dict.fromkeys(event.data.keys() & columns.keys()))
        now = {"status": "running", "at": at} if event.record == BEGUN else {"status": "done", "ended_at": at}
        ours = {"run": name, "case": case, "lab": run.get("lab"), "ended_at": row["ended_at"], "at": row["at"], **now}
        row.update(self._fitted("cases", ours, event.data))

    def _fitted(self, table: str, ours: Row, data: Mapping[str, Any]) -> Row:
        """One row of `table` from `ours` and `data`. A value without a column, of another type than its column, or with
        a name in `ours` goes into the column `extra`.
        """
        columns = self.tables[table].columns
        row = dict(ours)
        extra = {}
        for name, value in data.items():
            if value is None:
                continue
            kind = columns.get(name)
            if kind == "VARCHAR" and type(value) is str and name not in ours:
                row[name] = value
                continue
            if kind == "TIMESTAMP" and isinstance(value, str):
                value = _time(value)
            if kind is None or name in ours or name == "extra" or not fits(value, kind):
                extra[name] = value
            else:
                row[name] = as_json(value) if kind == "JSON" else value
        if extra and "extra" in columns:
            row["extra"] = as_json(extra)
        return row


_DROPPED = ("case", "trial", "item", "reason", "detail")
_SCORED = ("case", "metric", "rules", "item", "n", "of")


def new_run(name: str) -> Row:
    """The row of a run about which nothing is known yet."""
    row = {"run": name, "status": "running", "seconds": 0.0}
    row |= dict.fromkeys(("about", "reread_from", "predicted_from", "forked_from", "owner", "study"), "")
    return row | dict.fromkeys(("answered", "failed", "bytes", "lines"), 0)


def check(event: events.Event) -> None:
    """Check an event's numbers. Raises ValueError if one is too large to store."""
    match event:
        case events.Started():
            numbers: tuple[int | None, ...] = (event.seed,)
        case events.Asked():
            numbers = (event.repeat,)
        case events.Answered():
            thought = event.thinking.tokens if event.thinking else None
            numbers = (event.usage.prompt_tokens, event.usage.completion_tokens, thought)
        case events.Scored():
            numbers = (event.n, event.of)
        case _:
            return
    for number in numbers:
        if number is not None and not -_BIGINT <= number < _BIGINT:
            raise ValueError("a number too large to store")


def _carry_on(run: Row, event: events.Event, at: datetime) -> None:
    last = run.get("last_at") or at
    if run["status"] == "running" and not isinstance(event, events.Resumed):
        run["seconds"] += max(0.0, (at - last).total_seconds())
    run["last_at"] = max(last, at)
    if isinstance(event, events.Answered | events.Scored | events.Dropped):
        # The most frequent events change nothing else.
        return
    match event:
        case events.Started():
            run["at"] = at
            run.update(_picked(event, _STARTED))
            run["forked_from"] = event.forked_from.run if event.forked_from else ""
            run.update({name: as_json(getattr(event, name)) for name in ("spec", "versions", "prompts")})
            title, dataset = (_text(event.spec, name) or "" for name in ("title", "dataset"))
            run["title"] = title_without_folder(title, dataset) or None
            run["model"] = _text(event.spec, "model")
        case events.Resumed():
            run.update(status="running", finished_at=None, error=None, message=None, hint=None)
        case events.Shared():
            run["shared"] = event.shared
        case events.Asked() if not run.get("model"):
            run["model"] = event.model
        case events.Recorded() if event.record == BEGUN and not event.by:
            run["title"] = run.get("title") or _text(event.data, "title")
            of = event.data.get("of")
            run["cases"] = of if fits(of, "BIGINT") else None
        case events.Failed() if event.call is None:
            run.update(_picked(event, _NOTHING_WRONG))
        case events.Finished():
            run.update(status=event.status, finished_at=at)


_STARTED = ("lab", "seed", "app", "commit", "about", "reread_from", "predicted_from", "owner", "study")


def _text(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    return value if isinstance(value, str) and value else None


def _reading(reading: object, rules: events.Rules) -> Row:
    fields = reading if isinstance(reading, dict) else {}
    return {column: fields.get(name) for name, column in _READ[rules]}


_READ = {rules: [(name, f"{name}_{rules}") for name in Reading.model_fields] for rules in RULES}

_NOTHING_WRONG: Row = dict.fromkeys(("error", "message", "hint"))
_ANSWER = ("text", "seconds", "first_token_seconds", "cached", "finish_reason", "ended")
_THOUGHT = ("thinking", "thinking_tokens", "sent", "served_model", "served_fingerprint")
_UNANSWERED: Row = dict.fromkeys((*_ANSWER, "prompt_tokens", "completion_tokens", "tool_calls", *_THOUGHT))


def _call_fields(event: events.Asked | events.Answered | events.Failed, at: datetime) -> Row:
    who = _picked(event, ("role", "model"))
    if isinstance(event, events.Asked):
        asked = _picked(event, ("case", "item", "trial", "prompt", "repeat"))
        asked |= {name: as_json(value) for name, value in _picked(event, ("messages", "sampling", "tools")).items()}
        return {**_UNANSWERED, **_NOTHING_WRONG, **who, **asked, "at": at}
    # If the line with the request is lost, the answer still says where it belongs.
    where = {name: value for name, value in _picked(event, ("case", "trial")).items() if value}
    if isinstance(event, events.Answered):
        tokens = _picked(event.usage, ("prompt_tokens", "completion_tokens"))
        answer = {**_picked(event, _ANSWER), **tokens, "tool_calls": as_json(event.tool_calls)}
        thought, served = event.thinking, event.served
        answer |= {
            "thinking": thought.kind if thought else None,
            "thinking_tokens": thought.tokens if thought else None,
            "sent": as_json(event.sent) if event.sent else None,
            "served_model": served.model if served else None,
            "served_fingerprint": served.fingerprint if served else None,
        }
        return {**_NOTHING_WRONG, **who, **where, **answer}
    known = {name: value for name, value in who.items() if value is not None}
    return {**_UNANSWERED, **known, **where, **_picked(event, _NOTHING_WRONG)}


def _picked(of: object, names: Iterable[str]) -> Row:
    return {name: getattr(of, name) for name in names}


def fits(value: object, kind: str) -> bool:
    """Whether a column of the SQL type `kind` can hold `value` unchanged."""
    if value is None or kind == "JSON":
        return True
    if kind == "VARCHAR":
        return isinstance(value, str)
    if kind == "BOOLEAN":
        return isinstance(value, bool)
    if kind == "BIGINT":
        return isinstance(value, int) and not isinstance(value, bool) and -_BIGINT <= value < _BIGINT
    if kind == "DOUBLE":
        # An integer may be too large for a float; NaN is never smaller.
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
    return kind == "TIMESTAMP" and isinstance(value, datetime)


def _time(text: str) -> datetime | str:
    """The time in `text`; `text` itself if it is not a time."""
    try:
        return utc(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return text


def as_json(value: object) -> str:
    """JSON text; NaN and infinities, which JSON lacks, become null."""
    return to_json(value, inf_nan_mode="null").decode()


def utc(at: datetime) -> datetime:
    """`at` as a naive time in UTC, as a TIMESTAMP column needs it. A naive `at` is taken for UTC."""
    offset = at.utcoffset()
    return (at.astimezone(UTC) if offset else at).replace(tzinfo=None)


# The rows for lists of results, made from the other tables: for each lab a row is a case or a trial, as the lab
# declares; for a run without any case, the run. So nothing that was run is missing from the list.


SAID: dict[str, type[Label | Kept | Sealing]] = {name_of(kind): kind for kind in (Label, Kept, Sealing)}
PLAYED = name_of(Played)
OWN, JUDGE = "own", "judge"
"""The kinds of labels of a person's own scheme: by a person, and by a judge model."""


def _sql(name: str) -> str:
    return (Path(__file__).parent / "rows" / f"{name}.sql").read_text(encoding="utf-8")


BEGUN_ROWS = _sql("begun")
"""The cases of the runs, with what `_facets` says about each."""

TRIAL_ROWS = _sql("trials")
"""The rows of labs whose row is a trial."""

CASE_ROWS = _sql("cases")
"""The rows of labs whose row is a case, with the trial that represents it; and of cases without any trial."""

RUNS = f"""
    select run, '' as "case", '' as trial, coalesce(lab, '') as lab, 0 as number,
           coalesce("at", timestamp '1970-01-01') as "at", coalesce(title, '') as title, coalesce(model, '') as model,
           '' as about, '' as outcome, '' as outcome_paper, false as differ, '' as doubt, '' as reason,
           coalesce(error, '') as error, {", ".join(f"'' as {name}" for name in FACETS)}
    from runs where run = any($runs) and about = '' and run not in (select run from begun)
"""  # noqa: S608  our own names
"""The rows of runs without any case."""


def refresh(cursor: DuckDBPyConnection, labs: Mapping[str, Lab], runs: Sequence[str]) -> None:
    """Replace the derived rows of `runs` from the tables that the journals fill, within the transaction of `cursor`."""
    for table in ("items", "roles", "labels"):
        cursor.execute(f"delete from {table} where run = any(?)", [list(runs)])  # noqa: S608  our own names
    cursor.execute(
        """
        insert into roles select distinct run, role, model from calls
        where run = any(?) and role is not null and model is not null
        """,
        [list(runs)],
    )
    _labels(cursor, labs, runs)
    cursor.register("facets", _facets(cursor, labs, runs))
    cursor.execute(f"create or replace temp table begun as {BEGUN_ROWS}", {"runs": list(runs)})
    cursor.unregister("facets")
    for rows in (TRIAL_ROWS, CASE_ROWS, RUNS):
        cursor.execute(f"insert into items by name {rows}", {"runs": list(runs)})
    cursor.execute("drop table begun")


def _labels(cursor: DuckDBPyConnection, labs: Mapping[str, Lab], runs: Sequence[str]) -> None:
    """Insert what people say in the journals `runs`, one row for each word."""
    found = cursor.execute(
        """
        select run, about, lab, "case", item, trial, "by", record, data, records."at" from records join runs using (run)
        where run = any(?) and record = any(?) and about <> ''
        """,
        [list(runs), [*SAID, PLAYED]],
    ).fetchall()
    rows = []
    for run, about, name, case, item, trial, who, record, data, at in found:
        try:
            if record == PLAYED:
                played = Played.model_validate_json(data)
                # The guess is about the run of its trial; the journal is about a pack.
                row = trial if name in labs and labs[name].listing.row_unit == "trial" else ""
                rows.append((run, played.run, case, row, who, PLAYED, played.pack, at))
                continue
            said = list(_words(SAID[record].model_validate_json(data)))
        except ValidationError:
            continue
        rows += [(run, about, case, item, who, kind, value, at) for kind, value in said]
    if any(JudgedCase in lab.records for lab in labs.values()):
        judged = cursor.execute(
            f"""
            select run, target, target_case, '', run, '{JUDGE}', scheme || ': ' || label, "at" from judged_case
            where run = any(?) and label <> '' and not is_test
            """,  # noqa: S608  our own names
            [list(runs)],
        )
        rows += judged.fetchall()
    if rows:
        cursor.executemany("insert into labels values (?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _words(said: Label | Kept | Sealing) -> Iterator[tuple[str, str]]:
    if isinstance(said, Kept):
        words = [("title", said.title), ("hidden", "yes" if said.hidden else "")]
    elif isinstance(said, Sealing):
        words = [("sealed", "yes" if said.sealed else "")]
    else:
        words = [("verdict", f"{name}: {word}") for name, word in said.verdicts.items()]
        words += [("should", f"{name}: {word}") for name, word in said.should.items()]
        words += [*(("tag", tag) for tag in said.tags), ("note", said.note)]
        words += [(OWN, f"{scheme}: {label}") for scheme, labels in said.own.items() for label in labels]
    return ((kind, value) for kind, value in words if value)


def _facets(cursor: DuckDBPyConnection, labs: Mapping[str, Lab], runs: Sequence[str]) -> Any:
    """What the labs say about the cases, one row each, and whether their lab's row is a case or a trial."""
    import pyarrow as pa

    found = cursor.execute(
        'select run, "case", cases.lab, spec from cases join runs using (run) where run = any(?)', [list(runs)]
    ).fetchall()
    specs: dict[str, dict[str, Any]] = {}
    rows: list[dict[str, str]] = []
    for run, case, name, spec in found:
        lab = labs.get(name)
        if run not in specs:
            specs[run] = json.loads(spec or "{}")
        said = lab.facets(specs[run], case) if lab else {}
        unit, main = (lab.listing.row_unit, lab.listing.main_trial) if lab else ("case", "")
        facets = {facet: said.get(facet, "") for facet in FACETS}
        rows.append({"run": run, "case": case, "item": unit, "principal": main, **facets})
    names = ("run", "case", "item", "principal", *FACETS)
    return pa.Table.from_pylist(rows, pa.schema([(name, pa.string()) for name in names]))
