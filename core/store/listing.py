"""Lists of results by the page, with how many there are and where in the list a row is.

A page begins after a row, not at a number: new rows shift nothing, and the millionth row is as quick to reach as the
first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ..labs.base.declared import FACETS, Cases
from .filters import OF_ITEMS, OF_RUNS, SAID, STATUS, Filter, Where, condition
from .queries import SEEN
from .rereadings import versions
from .schema import quoted_names, table_of
from .store import Store

if TYPE_CHECKING:
    from pandas import DataFrame

# Figures of many cases for pictures, from the cases that a filter selects.


EVERYTHING = Filter()


def of_cases(
    store: Store,
    lab: str,
    cases: Cases,
    wanted: Filter = EVERYTHING,
    viewer: str | None = None,
    stopped: Sequence[str] = (),
) -> DataFrame:
    """One row for each metric of each completed case of a lab, by the updated parser, the newest run first. A case is
    included if one of its rows is `wanted`; `viewer` and `stopped` as in `core.store.filters.condition`. Recordings
    are left out unless they are wanted, since they were chosen for display; forks always, since a person edited one
    of their answers.

    run, case, at, title, model, lab, a column for each of `core.labs.base.declared.FACETS` and each that `cases` adds;
    metric, value (null if it is undefined or the case has none), low, high, n, of (0 if it has none); found: how many
    cases there were before the limit `newest`.
    """
    import pandas as pd

    with_a_row, values = condition(wanted, viewer, stopped)
    added = "".join(f", {column}" for column in _added(store, cases))
    whole = [f"{quoted_names([name])} is not null" for name in cases.records] if cases.newest is not None else []
    frame = store.query(
        f"""
        with wanted as (
            select distinct items.run, items."case", items.lab, {quoted_names(FACETS)} from items
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
    """SQL for the columns that `cases` adds."""
    for field in cases.fields:
        yield f"json_extract(spec, '$.{quoted_names([field])}') as {quoted_names([field])}"
    for name, (record, field) in cases.records.items():
        value = f'arg_max({quoted_names([field])}, "at")' if field else "count(*)"
        rows = f'{quoted_names([table_of(record)])} r where r.run = wanted.run and r."case" = wanted."case"'
        yield f"(select {value} from {rows}) as {quoted_names([name])}"  # noqa: S608  our own names
    if cases.observed:
        rows = 'items i where i.run = wanted.run and i."case" = wanted."case" and i.counts'
        yield f"(select to_json(histogram(observed)) from {rows}) as observed"  # noqa: S608  our own names
    for journaled, field in cases.held:
        rows = f"{quoted_names([store.records[journaled]])} r where r.run = runs.run"
        yield f"(select bool_and({quoted_names([field])}) from {rows}) as {journaled}_{field}"  # noqa: S608  our own names


def unfinished(store: Store, wanted: Filter, viewer: str | None = None, stopped: Sequence[str] = ()) -> int:
    """How many of the wanted cases are not completed, and so are missing from `of_cases`."""
    with_a_row, values = condition(wanted, viewer, stopped)
    sql = f"""
        select count(*) from cases where status <> 'done'
        and (run, "case") in (select (items.run, items."case") from items where {with_a_row})
    """  # noqa: S608  our own names
    return int(store.rows(sql, values)[0][0])


PAGE = 50
"""Rows on a page."""

SORTS = {
    "newest": ("Newest first", ('"at" desc', "run desc")),
    "oldest": ("Oldest first", ('"at"', "run")),
    "question": ("By question", ("title", "about", '"at" desc', "run desc")),
    "outcome": ("By outcome", ("outcome", '"at" desc', "run desc")),
    "model": ("By model", ("model", '"at" desc', "run desc")),
}
"""The orders of a list, by their word in an address; the rows of one run keep the run's own order."""

_WITHIN = ("number", '"case"', "trial")


class RowPlace(NamedTuple):
    """A row: run, case ('' for the run itself) and trial ('' for the case itself)."""

    run: str
    case: str = ""
    trial: str = ""


@dataclass(frozen=True)
class Listed:
    """A page of a list. `first` is the number of its first row, from 1; `total` is the number of all rows; `lost` says
    that the row that the page was to follow no longer exists, so that this is the first page.
    """

    rows: DataFrame
    first: int
    total: int
    lost: bool = False

    @property
    def is_last(self) -> bool:
        """Whether no row follows."""
        return self.first + len(self.rows) > self.total

    def places(self) -> list[RowPlace]:
        """The rows' places, in order."""
        return [RowPlace(*row) for row in self.rows[["run", "case", "trial"]].itertuples(index=False)]


def items(
    store: Store,
    wanted: Filter,
    sort: str = "newest",
    after: RowPlace | None = None,
    before: RowPlace | None = None,
    viewer: str | None = None,
    stopped: Sequence[str] = (),
    limit: int = PAGE,
) -> Listed:
    """A page of cases and trials, with the columns of the table `items`, the run's `status`, and the beginning of the
    case's `explanation`: the rows after a row, or those just before one.
    """
    sql, values = condition(wanted, viewer, stopped)
    order, anchor = [*SORTS[sort][1], *_WITHIN], after or before
    there = _values(store, order, '(run, "case", trial) = (?, ?, ?)', anchor) if anchor else None
    page = _Page(f"items where {sql}", values, order, there, limit, is_before=not after)
    return page.listed(store, "rowid", f"{_SHOWN} where items.rowid in (from page)", [list(stopped)], anchor)


_SHOWN = f"""
    select items.*, {STATUS} as status, left(explanation, 300) as explanation
    from items join runs using (run) left join cases on (cases.run, cases."case") = (items.run, items."case")
"""  # noqa: S608  our own names


def row(store: Store, place: RowPlace, viewer: str | None = None, stopped: Sequence[str] = ()) -> DataFrame:
    """The row at that place with the columns of `items`; empty if there is none or `viewer` may not see it."""
    return store.query(
        f"""
        {_SHOWN} where (items.run, items."case", items.trial) = (?, ?, ?)
                 and items.run in (select run from runs where {SEEN})
        """,  # noqa: S608  our own names
        [list(stopped), *place, viewer, viewer],
    )


def runs(
    store: Store,
    wanted: Filter,
    after: str = "",
    before: str = "",
    oldest: bool = False,
    viewer: str | None = None,
    stopped: Sequence[str] = (),
    limit: int = PAGE,
) -> Listed:
    """A page of the runs with a wanted row: run, "at" and `found`, the number of its wanted rows; the newest first, or
    the oldest.
    """
    sql, values = condition(wanted, viewer, stopped)
    order, anchor = SORTS["oldest" if oldest else "newest"][1], after or before
    there = _values(store, order, "run = ?", [anchor]) if anchor else None
    held = f'(select run, any_value("at") as "at", count(*) as found from items where {sql} group by run) items'  # noqa: S608  our own names
    page = _Page(f"{held} where true", values, order, there, limit, is_before=not after)
    return page.listed(store, "*", "select * from page items", [], anchor)


@dataclass(frozen=True)
class _Page:
    """At most `limit` of the rows `of` a condition, in this `order`: after or before the row with the values
    `there`.
    """

    of: str
    values: list[object]
    order: Sequence[str]
    there: Sequence[object] | None
    limit: int
    is_before: bool

    def listed(self, store: Store, key: str, shown: str, more: list[object], anchor: object) -> Listed:
        """The page. `shown` is the query that selects from `page`, which has the `key` of each row; `more` are its
        parameters.
        """
        backwards = self.there is not None and self.is_before
        beyond, past = self._beyond(backwards) if self.there else ("true", [])
        ahead, before = self._beyond(backwards=True) if self.there else ("false", [])
        rows = store.query(
            f"""
            with page as (select {key} from {self.of} and {beyond} order by {_by(self.order, backwards)} limit ?)
            {shown} order by {_by(self.order)}
            """,  # noqa: S608  our own names
            [*self.values, *past, self.limit, *more],
        )
        ((total, number),) = store.rows(
            f"select count(*), count(*) filter ({ahead}) from {self.of}",  # noqa: S608  our own names
            [*before, *self.values],
        )
        first = 1 if self.there is None else number - len(rows) + 1 if backwards else number + 2
        return Listed(rows, first if len(rows) else 0, total, lost=bool(anchor) and self.there is None)

    def _beyond(self, backwards: bool) -> Where:
        """The condition for rows after (`backwards`: before) the row with the values `there`: in the first column that
        differs, they are greater, or smaller if the order is descending.
        """
        sql, values = "false", list[object]()
        for column, value in reversed(list(zip(self.order, self.there or (), strict=True))):
            name = _comparable(column)
            sign = "<" if column.endswith(" desc") != backwards else ">"
            sql = f"({name} {sign} ? or ({name} = ? and {sql}))"
            values = [value, value, *values]
        return sql, values


def cases(
    store: Store, wanted: Filter, limit: int, viewer: str | None = None, stopped: Sequence[str] = ()
) -> tuple[list[RowPlace], int]:
    """The first `limit` cases with a wanted row, the newest run first, and how many there are."""
    sql, values = condition(wanted, viewer, stopped)
    rows = store.rows(
        f"""
        select run, "case", count(*) over () from items where {sql} and "case" <> ''
        group by run, "case" order by max("at") desc, run desc, min(number), "case" limit ?
        """,  # noqa: S608  our own names
        [*values, limit],
    )
    return [RowPlace(run, case) for run, case, _ in rows], int(rows[0][2]) if rows else 0


def runs_of(store: Store, wanted: Filter, viewer: str | None = None, stopped: Sequence[str] = ()) -> list[str]:
    """All runs with a wanted row, the newest first."""
    sql, values = condition(wanted, viewer, stopped)
    rows = store.rows(f'select run from items where {sql} group by run order by max("at") desc, run', values)  # noqa: S608  our own names
    return [run for (run,) in rows]


def elsewhere(store: Store, place: RowPlace, viewer: str | None = None, limit: int = PAGE) -> DataFrame:
    """Cases of other runs about the same question, the newest first, at most `limit`: run, case, lab, model, how,
    outcome, verdict. Other versions of the same run are left out.
    """
    sql, values = condition(Filter(), viewer)
    same = [version.run for version in versions(store, place.run, viewer)] or [place.run]
    return store.query(
        f"""
        with others as (select distinct items.run, items."case", items."at", items.how from items where {sql})
        select others.run, others."case", lab, model, how, outcome_repaired as outcome, verdict
        from cases join others using (run, "case")
        where run <> all(?) and title in (select title from cases where run = ? and "case" = ?)
        order by others."at" desc, others.run, number limit ?
        """,  # noqa: S608  our own names
        [*values, same, place.run, place.case, limit],
    )


def _values(store: Store, order: Sequence[str], where: str, values: Sequence[object]) -> tuple[object, ...] | None:
    """The values of the row of that condition in the columns of `order`; None if there is no such row."""
    columns = ", ".join(map(_comparable, order))
    return next(iter(store.rows(f"select {columns} from items where {where} limit 1", values)), None)  # noqa: S608  our own names


def _comparable(column: str) -> str:
    return f"items.{column.removesuffix(' desc')}"


def _by(order: Sequence[str], turned: bool = False) -> str:
    return ", ".join(
        f"{_comparable(column)}{' desc' if column.endswith(' desc') != turned else ''}" for column in order
    )


def facet(
    store: Store, wanted: Filter, name: str, viewer: str | None = None, stopped: Sequence[str] = ()
) -> dict[str, int]:
    """The values of a facet with their numbers of rows, the most frequent first, under all filters but the facet's own.
    The value '' is left out, except for the outcome, where it means that there is none yet.
    """
    sql, values = condition(wanted.without(name), viewer, stopped)
    by_run = f"(select run, count(*) as n from items where {sql} group by run) join"  # noqa: S608  our own names
    if name.startswith("as:"):
        columns = f"model, sum(n) from {by_run} roles using (run) where role = ?"
        values = [*values, name.removeprefix("as:")]
    elif name in OF_RUNS:
        columns = f"{OF_RUNS[name]}, sum(n) from {by_run} runs using (run)"
        values = [list(stopped), *values] if name == "status" else values
    elif name in SAID:
        labels = '(select distinct about as run, "case", trial, value from labels where kind = ?)'
        columns = f'value, count(*) from {labels} given join items using (run, "case", trial) where {sql}'
        values = [SAID[name], *values]
    else:
        columns = f"{OF_ITEMS[name]}, count(*) from items where {sql}"
    rows = store.rows(f"select {columns} group by 1 order by 2 desc, 1", values)
    counts = {str(value or ""): int(count) for value, count in rows if value or name == "outcome"}
    return _with_kinds(counts) if name == "outcome" else counts


def _with_kinds(counts: dict[str, int]) -> dict[str, int]:
    """`counts`, with an outcome such as *misled all* counted for *misled* too (`filters.KIND`); the most frequent
    first.
    """
    for value, count in list(counts.items()):
        if value.endswith(" all"):
            whole = value.removesuffix(" all")
            counts[whole] = counts.get(whole, 0) + count
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def count(store: Store, wanted: Filter, viewer: str | None = None, stopped: Sequence[str] = ()) -> int:
    """How many wanted rows there are."""
    sql, values = condition(wanted, viewer, stopped)
    return int(store.rows(f"select count(*) from items where {sql}", values)[0][0])  # noqa: S608  our own names


def kinds(store: Store, wanted: Filter, viewer: str | None = None, stopped: Sequence[str] = ()) -> dict[str, int]:
    """How many rows are a trial, a case, or a run without any case."""
    sql, values = condition(wanted, viewer, stopped)
    kind = "case when trial <> '' then 'trial' when \"case\" <> '' then 'case' else 'run' end"
    return dict(store.rows(f"select {kind}, count(*) from items where {sql} group by 1", values))  # noqa: S608  our own names


def roles(store: Store) -> list[str]:
    """All roles in which runs asked models."""
    return [role for (role,) in store.rows("select distinct role from roles order by role")]


def interrupted(store: Store, alive: Callable[[str], bool]) -> list[str]:
    """The runs that are `running` according to their journals, but are not `alive`."""
    running = store.rows("select run from runs where status = 'running' and about = ''")
    return [run for (run,) in running if not alive(run)]
