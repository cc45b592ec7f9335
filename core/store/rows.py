"""The rows that events make. Nothing here touches a file or a database.

Of several events with the same primary key the latest wins. A call's row is made by `asked` and completed by `answered`
or `failed`; a run's row is carried from event to event.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

from pydantic_core import to_json

from core.events import Answered, Asked, Dropped, Event, Failed, Finished, Recorded, Resumed, Scored, Started
from core.store.schema import TABLE_OF_RECORD, TITLE_FIELDS, Table

Row = dict[str, Any]

_BIGINT = 2**63


class Rows:
    """Rows to be written, by table and primary key."""

    def __init__(self, tables: dict[str, Table]) -> None:
        self.tables = tables
        self.by_table: dict[str, dict[tuple[Any, ...], Row]] = {}
        self.resumed: set[str] = set()
        """Runs whose drops of before for an error are to be deleted: what failed is asked again."""

    def put(self, table: str, row: Row) -> None:
        key = tuple(row[column] for column in self.tables[table].key)
        self.by_table.setdefault(table, {})[key] = row

    def add(self, run: Row, event: Event) -> None:
        """Make the rows of one event, and carry the row `run` on. Raises ValueError for numbers too large to keep."""
        name, at = run["run"], utc(event.at)
        _carry_on(run, event, at)
        match event:
            case Asked() | Answered():
                self._call(name, event.call, at).update(_call_fields(event, at))
            case Failed() if event.call is not None:
                self._call(name, event.call, at).update(_call_fields(event, at))
            case Resumed():
                drops = self.by_table.get("drops", {}).items()
                self.by_table["drops"] = {
                    key: row for key, row in drops if (row["run"], row["reason"]) != (name, "error")
                }
                self.resumed.add(name)
            case Recorded():
                self._record(name, event, at)
            case Dropped():
                fields = {
                    "item": event.item,
                    "reason": event.reason,
                    "rules": event.rules or "",
                    "detail": event.detail,
                }
                self.put("drops", {"run": name, **fields, "at": at})
            case Scored():
                fields = event.model_dump(include={"metric", "rules", "item", "value", "low", "high", "detail"})
                counts = {"n": whole(event.n), "of": whole(event.of)}
                self.put("scores", self._fitted("scores", {"run": name, **fields, **counts, "at": at}))
            case _:
                pass

    def _call(self, run: str, call: str, at: datetime) -> Row:
        rows = self.by_table.setdefault("calls", {})
        if (run, call) not in rows:
            rows[run, call] = {**dict.fromkeys(self.tables["calls"].columns), "run": run, "call": call, "at": at}
        return rows[run, call]

    def _record(self, run: str, event: Recorded, at: datetime) -> None:
        table = TABLE_OF_RECORD.get(event.record)
        if table is None:
            fields = {"record": event.record, "item": event.item, "data": as_json(event.data)}
            self.put("records", {"run": run, **fields, "at": at})
        else:
            self.put(table, self._fitted(table, {**event.data, "run": run, "item": event.item, "at": at}))

    def _fitted(self, table: str, values: Row) -> Row:
        """One row of `table`; what has no column, or not the column's type, goes into its column `extra`."""
        columns = self.tables[table].columns
        row: Row = {}
        for column, kind in columns.items():
            if column != "extra" and column in values and fits(values[column], kind):
                value = values.pop(column)
                row[column] = as_json(value) if kind == "JSON" and value is not None else value
        for column in self.tables[table].key:
            row[column] = row.get(column) or ""
        extra = {name: value for name, value in values.items() if value is not None}
        return row | ({"extra": as_json(extra) if extra else None} if "extra" in columns else {})


def new_run(name: str) -> Row:
    """The row of a run of which nothing is known yet."""
    return {"run": name, "status": "running", "seconds": 0.0, "answered": 0, "failed": 0, "bytes": 0, "lines": 0}


def _carry_on(run: Row, event: Event, at: datetime) -> None:
    last = run.get("last_at") or at
    if run["status"] == "running" and not isinstance(event, Resumed):
        run["seconds"] += max(0.0, (at - last).total_seconds())
    run["last_at"] = max(last, at)
    match event:
        case Started():
            run["at"], run["lab"], run["seed"] = at, event.lab, whole(event.seed)
            run.update({name: as_json(getattr(event, name)) for name in ("spec", "versions", "prompts")})
            run["title"] = _title(event.spec)
            model = event.spec.get("model")
            run["model"] = model if isinstance(model, str) else None
        case Resumed():
            run.update(status="running", finished_at=None, error=None, message=None, hint=None)
        case Asked() if not run.get("model"):
            run["model"] = event.model
        case Recorded() if not run.get("title"):
            run["title"] = _title(event.data)
        case Failed() if event.call is None:
            run.update(error=event.error, message=event.message, hint=event.hint)
        case Finished():
            run.update(status=event.status, finished_at=at)
        case _:
            pass


def _title(fields: dict[str, Any]) -> str | None:
    return next((fields[name] for name in TITLE_FIELDS if isinstance(fields.get(name), str) and fields[name]), None)


def _call_fields(event: Asked | Answered | Failed, at: datetime) -> Row:
    who = {"role": event.role, "model": event.model}
    unanswered: Row = dict.fromkeys(
        (
            "text",
            "seconds",
            "first_token_seconds",
            "cached",
            "prompt_tokens",
            "completion_tokens",
            "finish_reason",
            "tool_calls",
        )
    )
    nothing_wrong: Row = dict.fromkeys(("error", "message", "hint"))
    if isinstance(event, Asked):
        asked = {"item": event.item, "prompt": event.prompt, "repeat": whole(event.repeat), "at": at}
        return {
            **unanswered,
            **nothing_wrong,
            **who,
            **asked,
            "messages": as_json(event.messages),
            "sampling": as_json(event.sampling),
            "tools": as_json(event.tools),
        }
    if isinstance(event, Answered):
        usage = {name: whole(count) for name, count in event.usage.model_dump().items()}
        fields = ("text", "seconds", "first_token_seconds", "cached", "finish_reason")
        plain = {name: getattr(event, name) for name in fields}
        return {**nothing_wrong, **who, **usage, **plain, "tool_calls": as_json(event.tool_calls)}
    known = {name: value for name, value in who.items() if value is not None}
    return {**unanswered, **known, "error": event.error, "message": event.message, "hint": event.hint}


def fits(value: object, kind: str) -> bool:
    """Whether a column of the SQL type `kind` can hold `value` as it is."""
    if value is None or kind == "JSON":
        return True
    if kind == "VARCHAR":
        return isinstance(value, str)
    if kind == "BOOLEAN":
        return isinstance(value, bool)
    if kind == "BIGINT":
        return isinstance(value, int) and not isinstance(value, bool) and -_BIGINT <= value < _BIGINT
    if kind == "DOUBLE":
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return kind == "TIMESTAMP" and isinstance(value, datetime)


def whole(number: int | None) -> int | None:
    """`number`, if a column can hold it. Raises ValueError."""
    if not fits(number, "BIGINT"):
        raise ValueError("a number too large to keep")
    return number


def as_json(value: object) -> str:
    """JSON text; NaN and infinities, which JSON has not, become null."""
    return to_json(value, inf_nan_mode="null").decode()


def utc(at: datetime) -> datetime:
    """`at` in UTC, without saying so: what a TIMESTAMP holds. A time without a zone is taken for UTC."""
    return at.astimezone(UTC).replace(tzinfo=None) if at.tzinfo else at
