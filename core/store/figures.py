"""Figures of many cases for pictures, of those that a filter leaves."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..labs.base.declared import FACETS, Cases
from .filters import Filter, condition
from .schema import named, table_of
from .store import Store

if TYPE_CHECKING:
    from pandas import DataFrame

EVERYTHING = Filter()


def of_cases(
    store: Store,
    lab: str,
    cases: Cases,
    wanted: Filter = EVERYTHING,
    viewer: str | None = None,
    stopped: Sequence[str] = (),
) -> DataFrame:
    """One row for each metric of each completed case of a lab, by repaired rules, newest run first. A case with a row
    that is `wanted` is there; `viewer` and `stopped` as in `core.store.filters.condition`. Recordings are left out
    unless they are wanted, for they were chosen to be shown; forks always, for a person edited one of their answers.

    run, case, at, title, model, lab, a column for each of `core.labs.base.FACETS` and those that `cases` adds; metric,
    value (null where it is undefined or the case has none), low, high, n, of (0 where it has none); found: how many
    cases there were before the limit `newest`.
    """
    import pandas as pd

    with_a_row, values = condition(wanted, viewer, stopped)
    added = "".join(f", {column}" for column in _added(store, cases))
    whole = [f"{named([name])} is not null" for name in cases.records] if cases.newest is not None else []
    frame = store.query(
        f"""
        with wanted as (
            select distinct items.run, items."case", items.lab, {named(FACETS)} from items
            where {with_a_row} and items.lab = ? and items."case" <> ''
        ), done as (
            select run, "case", runs."at", cases.number, cases.title, coalesce(cases.model, runs.model, '') as model,
                   wanted.* exclude (run, "case"){added},
                   -- The figures of a run's only case are those of the run.
                   if(coalesce(cases."of", 1) = 1, '', "case") as at_case
            from wanted join runs using (run) join cases using (run, "case")
            where cases.status = 'done' and coalesce(forked_from, '') = ''
        ), chosen as (
            select *, count(*) over () as found from done where {" and ".join(whole) or "true"}
            order by "at" desc, run, number, "case" limit ?
        )
        select chosen.* exclude (number, at_case), metrics.metric, value, low, high, coalesce(n, 0) as n,
               coalesce(scores."of", 0) as "of"
        from chosen cross join (select unnest(?::varchar[]) as metric) metrics
             left join scores on scores.run = chosen.run and scores."case" = at_case
             and scores.metric = metrics.metric and rules = 'repaired' and item = ''
        order by chosen."at" desc, chosen.run, number, chosen."case", metrics.metric
        """,  # noqa: S608  our own names
        [*values, lab, cases.newest, list(cases.metrics)],
    )
    as_json = [
        name
        for name, (record, field) in cases.records.items()
        if store.tables[table_of(record)].columns.get(field) == "JSON"
    ]
    for name in [*cases.fields, *as_json, *(["observed"] if cases.observed else [])]:
        values = [json.loads(text) if isinstance(text, str) else None for text in frame[name]]
        frame[name] = pd.Series(values, index=frame.index, dtype=object)
    return frame


def _added(store: Store, cases: Cases) -> Iterator[str]:
    """SQL of the columns that `cases` adds."""
    for field in cases.fields:
        yield f"json_extract(spec, '$.{named([field])}') as {named([field])}"
    for name, (record, field) in cases.records.items():
        value = f'arg_max({named([field])}, "at")' if field else "count(*)"
        rows = f'{named([table_of(record)])} r where r.run = wanted.run and r."case" = wanted."case"'
        yield f"(select {value} from {rows}) as {named([name])}"  # noqa: S608  our own names
    if cases.observed:
        rows = 'items i where i.run = wanted.run and i."case" = wanted."case" and i.counts'
        yield f"(select to_json(histogram(observed)) from {rows}) as observed"  # noqa: S608  our own names
    for journaled, field in cases.held:
        rows = f"{named([store.records[journaled]])} r where r.run = runs.run"
        yield f"(select bool_and({named([field])}) from {rows}) as {journaled}_{field}"  # noqa: S608  our own names


def unfinished(store: Store, wanted: Filter, viewer: str | None = None, stopped: Sequence[str] = ()) -> int:
    """How many of the wanted cases are not completed, and so not among `of_cases`."""
    with_a_row, values = condition(wanted, viewer, stopped)
    sql = f"""
        select count(*) from cases where status <> 'done'
        and (run, "case") in (select (items.run, items."case") from items where {with_a_row})
    """  # noqa: S608  our own names
    return int(store.rows(sql, values)[0][0])
