"""Figures of many runs or cases for pictures and tables, of those that a filter leaves. Each gives a DataFrame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from core.events import Frozen, Rules
from core.lab.shown import FACETS
from core.store.filters import Filter, condition
from core.store.queries import decoded, pivot
from core.store.schema import named, table_of
from core.store.store import Store

if TYPE_CHECKING:
    from pandas import DataFrame

EVERYTHING = Filter()


def of_runs(
    store: Store,
    lab: str,
    metrics: Sequence[str],
    wanted: Filter = EVERYTHING,
    rules: Rules = "repaired",
    fields: Sequence[str] = (),
    viewer: str | None = None,
    stopped: Sequence[str] = (),
    held: Sequence[tuple[str, str]] = (),
) -> DataFrame:
    """One row a run of a lab that has the first of `metrics`, newest first: chosen figures beside chosen settings. A
    run with a row that is `wanted` is there, with the figures of the whole run; `viewer` and `stopped` as in
    `core.store.filters.condition`. Recordings are left out unless they are wanted, for they were chosen to be shown;
    forks always, for a person edited one of their answers.

    run, at, title, model, rules; each of `fields` of the run's specification, as a Python value; the value of each of
    `metrics` under its name, null where undefined; low, high, n, of: those of the first. For each of `held`, (record,
    field), the column record_field: whether the field is true wherever the run recorded it, null where it never did.
    """
    left, values = condition(wanted, viewer, stopped)
    first = metrics[0]
    parts = ", ".join(f"max({column}) filter (metric = ?) as {column}" for column in ("low", "high", "n", '"of"'))
    frame = store.query(
        f"""
        with by_run as (
            select run, {parts}{pivot(metrics)}
            from scores where "case" = '' and item = '' and rules = ? group by run
        )
        select run, runs.at, title, model{_chosen(fields)}{_held(store, held)}, by_run.* exclude (run), ? as rules
        from by_run join runs using (run)
        where lab = ? and by_run.n is not null and coalesce(forked_from, '') = ''
              and run in (select items.run from items where {left})
        order by runs.at desc, run
        """,  # noqa: S608  our own names
        [*[first] * 4, *metrics, rules, *_paths(fields), rules, lab, *values],
        rows=None,
    )
    return decoded(frame, dict.fromkeys(fields, "null"))


def of_cases(
    store: Store,
    lab: str,
    metrics: Sequence[str],
    wanted: Filter = EVERYTHING,
    rules: Rules = "repaired",
    fields: Sequence[str] = (),
    viewer: str | None = None,
    stopped: Sequence[str] = (),
    records: Mapping[str, tuple[type[Frozen], str]] | None = None,
    newest: int | None = None,
    held: Sequence[tuple[str, str]] = (),
) -> DataFrame:
    """One row for each of `metrics` of each completed case of a lab, newest run first; else as `of_runs`.

    run, case, at, title, model, lab, a column for each of `core.lab.FACETS` and of `fields`; metric, value (null where
    it is undefined or the case has none), low, high, n, of (0 where it has none). Each of `records` is a column:
    the field in the case's latest record of that type (JSON as a Python value), or, where the field is '', how many
    records there are. `newest` limits the cases, and leaves out those without one of `records`; `found` is how many
    there were before that limit.
    """
    left, values = condition(wanted, viewer, stopped)
    records = records or {}
    is_whole = " and ".join(f"{named([name])} is not null" for name in records) if newest is not None else ""
    facets = ", ".join(f"any_value({name}) as {name}" for name in FACETS)
    frame = store.query(
        f"""
        with wanted as (
            select items.run, items."case", any_value(lab) as lab, {facets} from items
            where {left} and lab = ? and "case" <> '' group by items.run, items."case"
        ), done as (
            select run, "case", runs."at", cases.number, cases.title, coalesce(cases.model, runs.model, '') as model,
                   wanted.* exclude (run, "case"){_chosen(fields)}{_recorded(records)}{_held(store, held)},
                   -- The figures of a run's only case are those of the run.
                   if(coalesce(cases."of", 1) = 1, '', "case") as at_case
            from wanted join runs using (run) join cases using (run, "case")
            where cases.status = 'done' and coalesce(forked_from, '') = ''
        ), chosen as (
            select *, count(*) over () as found from done where {is_whole or "true"}
            order by "at" desc, run, number, "case" limit ?
        )
        select chosen.* exclude (number, at_case), metrics.metric, value, low, high, coalesce(n, 0) as n,
               coalesce(scores."of", 0) as "of"
        from chosen cross join (select unnest(?::varchar[]) as metric) metrics
             left join scores on scores.run = chosen.run and scores."case" = at_case
             and scores.metric = metrics.metric and rules = ? and item = ''
        order by chosen."at" desc, chosen.run, number, chosen."case", metrics.metric
        """,  # noqa: S608  our own names
        [*values, lab, *_paths(fields), newest, list(metrics), rules],
        rows=None,
    )
    kinds = {name: store.tables[table_of(record)].columns.get(field) for name, (record, field) in records.items()}
    return decoded(frame, dict.fromkeys([*fields, *(name for name, kind in kinds.items() if kind == "JSON")], "null"))


def unfinished(store: Store, wanted: Filter, viewer: str | None = None, stopped: Sequence[str] = ()) -> int:
    """How many of the wanted cases are not completed, and so not among `of_cases`."""
    left, values = condition(wanted, viewer, stopped)
    with store.cursor() as cursor:
        row = cursor.execute(
            f"""
            select count(*) from cases where status <> 'done'
            and (run, "case") in (select (items.run, items."case") from items where {left})
            """,  # noqa: S608  our own names
            values,
        ).fetchone()
    return int(row[0]) if row else 0


def _recorded(records: Mapping[str, tuple[type[Frozen], str]]) -> str:
    """A column for each of `records`: the field in the case's latest record of that type, or how many there are."""
    columns = ""
    for name, (record, field) in records.items():
        value = f'arg_max({named([field])}, "at")' if field else "count(*)"
        rows = f'{named([table_of(record)])} r where r.run = wanted.run and r."case" = wanted."case"'
        columns += f", (select {value} from {rows}) as {named([name])}"  # noqa: S608  our own names
    return columns


def _held(store: Store, held: Sequence[tuple[str, str]]) -> str:
    """A column for each (record, field): whether the field is true wherever the run recorded it."""
    return "".join(
        f', (select bool_and("{field}") from "{store.records[record]}" r'  # noqa: S608  our own names
        f" where r.run = runs.run) as {record}_{field}"
        for record, field in held
    )


def _chosen(fields: Sequence[str]) -> str:
    return "".join(f", json_extract(spec, ?) as {named([field])}" for field in fields)


def _paths(fields: Sequence[str]) -> list[str]:
    return [f'$."{field}"' for field in fields]
