"""Lists of results by the page or in groups, with how many there are and where in the list a row is.

A page begins after a row, not at a number: new rows shift nothing, and the millionth row is as quick to reach as the
first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..charts.marks import EXTRA
from ..labs.base.declared import FACETS, Cases
from ..labs.base.lab import Lab
from ..models.ids import CONTROL
from ..statistics.groups import grouped
from ..statistics.intervals import Interval, interval_of_trials
from .filters import OWN_LABELS, ROBOT, STATUS, Filter, Values, condition, facet_of, rows_in_calls
from .run_list import SEEN, versions
from .schema import quoted, quoted_names, table_of
from .store import SECONDS, Store

if TYPE_CHECKING:
    from pandas import DataFrame


EVERYTHING = Filter()


class Answers(NamedTuple):
    """The questions of a run, case by case: its title, and of each trial the question, what was expected, and the
    answer; and what other models answered, by model, title and question.
    """

    cases: list[tuple[str, list[tuple[str, str, str]]]]
    others: dict[str, dict[tuple[str, str], list[str]]]


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

RANKINGS = {"instructive": "Most instructive first", "meaning": "By meaning"}
"""The orders that `core.store.ranking` makes, by their word in an address."""

_WITHIN = ("number", '"case"', "trial")


class RowPlace(NamedTuple):
    """A row: run, case ('' for the run itself) and trial ('' for the case itself)."""

    run: str
    case: str = ""
    trial: str = ""


_Ends = tuple[RowPlace | None, RowPlace | None]
"""The row after which a page begins, or that before which it ends."""


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


_REPEATED = """
    select any_value(first.about) from drops join trials first using (run, "case")
    where drops.run = items.run and drops."case" = items."case" and drops.trial = items.trial and items.about = ''
          and drops.reason = 'duplicate' and first.trial = regexp_extract(drops.detail, '[^ ]+$')
"""
"""The question that an excluded trial repeats: of its own it has none."""

_SHOWN = f"""
    select items.* replace (coalesce(({_REPEATED}), items.about) as about), {STATUS} as status,
           left(explanation, 300) as explanation
    from items join runs using (run) left join cases on (cases.run, cases."case") = (items.run, items."case")
"""  # noqa: S608  our own names


BLIND = "hidden until you judge it in your blind audit"
"""The outcome of a row that the viewer has yet to judge."""

_HIDDEN = {
    **dict.fromkeys(("outcome", "outcome_paper"), quoted(BLIND)),
    **dict.fromkeys(("observed", "observed_paper"), "null"),
    **dict.fromkeys(("reason", "error", "doubt"), "''"),
    **dict.fromkeys(("differ", "counts", "counts_paper"), "false"),
}
"""What stands in place of what was parsed, in SQL, by column of `items`."""

_WITHOUT_BLIND = """
    trials as not materialized (
        select * from main.trials where (run, "case") not in (select (unnest({runs}), unnest({cases})))
    ), scores as not materialized (
        select * from main.scores where (run, "case") not in (select (unnest({runs}), unnest({cases})))
                                    and not ("case" = '' and run = any({runs}))
    ),
"""
"""Trials and figures without those of blind cases, and without the figures of the whole runs, from which the outcome of
a case may be inferred.
"""


def items_but(blind: Collection[tuple[str, str]], values: Values) -> str:
    """SQL for the rows of `items`, without what was parsed of the cases in `blind` (run and case). Its parameters are
    added to `values`.
    """
    replaced = ", ".join(f"if(hidden, {instead}, {column}) as {column}" for column, instead in _HIDDEN.items())
    runs, cases = _columns(blind, values)
    return f"""
        select items.* replace ({replaced}), items.rowid from main.items left join (
            select unnest({runs}) as run, unnest({cases}) as "case", true as hidden
        ) using (run, "case")
    """  # noqa: S608  our own names


def _columns(blind: Collection[tuple[str, str]], values: Values) -> list[str]:
    return [values(list(column)) for column in zip(*blind, strict=True)]


@dataclass(frozen=True)
class Selection:
    """The rows of `items` that a filter selects in the runs that `viewer` may see (None: all runs); recordings only if
    the filter wants them, since they were chosen for display. `stopped`: runs that are `running` according to their
    journals, but whose process is gone. `blind`: the run and case of answers that the viewer has yet to judge in a
    blind audit; what was parsed of them is hidden and counts nowhere, and neither do figures of their whole runs.
    """

    store: Store
    filter: Filter = EVERYTHING
    viewer: str | None = None
    stopped: Sequence[str] = ()
    blind: Collection[tuple[str, str]] = ()

    def by(self, filter: Filter) -> Selection:
        """The same with another filter."""
        return replace(self, filter=filter)

    def query(self, sql: str, **values: object) -> tuple[str, Values]:
        """The query `sql` over the selected rows, which it calls `wanted`, and the values of its parameters, with these
        `values` by name. If it has parts of its own (`with`), `sql` begins with a comma and the first of them.
        """
        given = Values({"viewer": self.viewer, "stopped": list(self.stopped), **values})
        wanted = condition(self.filter, given, lambda words: _in_calls(self.store, self.store.writer.writes, words))
        rows = f"select *, rowid from items where {wanted}"  # noqa: S608  our own names
        tables = ""
        if self.blind:
            runs, cases = _columns(self.blind, given)
            tables = f"items as not materialized ({items_but(self.blind, given)}), "
            tables += _WITHOUT_BLIND.format(runs=runs, cases=cases)
        return f"with {tables}wanted as not materialized ({rows}) {sql}", given

    def found(self, sql: str, **values: object) -> list[tuple[Any, ...]]:
        """The rows that the `query` finds."""
        return self.store.rows(*self.query(sql, **values))

    def frame(self, sql: str, seconds: float = SECONDS, **values: object) -> DataFrame:
        """The table that the `query` finds within `seconds`. Raises QueryRefusedError."""
        return self.store.query(*self.query(sql, **values), seconds)

    def count(self) -> int:
        """How many rows there are."""
        return int(self.found("select count(*) from wanted")[0][0])

    def kinds(self) -> dict[str, int]:
        """How many rows are a trial, a case, or a run without any case."""
        kind = "case when trial <> '' then 'trial' when \"case\" <> '' then 'case' else 'run' end"
        return dict(self.found(f"select {kind}, count(*) from wanted group by 1"))  # noqa: S608  our own names

    def facet(self, name: str) -> dict[str, int]:
        """The values of a facet with their numbers of rows, the most frequent first, under all filters but the facet's
        own. The value '' is left out, except for the outcome, where it means that there is none yet.
        """
        values = Values()
        facet = facet_of(name, values)
        assert facet is not None  # the names are our own
        if facet.key == "run":
            by_run = "(select run, count(*) as n from wanted group by run)"
            sql = f"select {facet.value}, sum(n) from {by_run} join {facet.source} using (run)"  # noqa: S608  our own names
        else:
            sql = f"select {facet.value}, count(*) from wanted items {facet.joined}"  # noqa: S608  our own names
        rows = self.by(self.filter.without(name)).found(f"{sql} group by 1 order by 2 desc, 1", **values)
        counts = {str(value or ""): int(count) for value, count in rows if value or name == "outcome"}
        return _with_kinds(counts) if name == "outcome" else counts

    def extra_columns(self) -> list[str]:
        """The columns of people's own files that the selected rows have, the most frequent first."""
        rows = self.found(
            """
            select name from extra_columns where (run, "case") in (select (run, "case") from wanted)
            group by name order by count(*) desc, name limit $limit
            """,
            limit=PAGE,
        )
        return [name for (name,) in rows]

    def extra_values(self, places: Sequence[RowPlace]) -> list[dict[str, str]]:
        """The columns of people's own files of the cases at these places, which were selected, by name."""
        return [dict(found) for found in self._by_case(places, 'select run, "case", name, value from extra_columns')]

    def own_labels(self, places: Sequence[RowPlace]) -> list[dict[tuple[str, str], str]]:
        """The labels of people's own schemes, and of judge models, of the cases at these places, which were selected:
        by scheme and labeller (`filters.label_facet`). Several labels of one person are joined by commas.
        """
        sql = f'select run, "case", scheme, who, labels from ({OWN_LABELS})'  # noqa: S608  our own names
        return [{(scheme, who): said for scheme, who, said in found} for found in self._by_case(places, sql)]

    def _by_case(self, places: Sequence[RowPlace], sql: str) -> list[list[Any]]:
        """For each place, what follows run and case in the SQL's rows about its case."""
        rows = self.store.rows(
            f'from ({sql}) where (run, "case") in (select (unnest($runs), unnest($cases)))',
            {"runs": [one.run for one in places], "cases": [one.case for one in places], "viewer": self.viewer},
        )
        found = grouped(((run, case), rest) for run, case, *rest in rows)
        return [found.get((place.run, place.case), []) for place in places]

    def items(
        self, sort: str = "newest", after: RowPlace | None = None, before: RowPlace | None = None, limit: int = PAGE
    ) -> Listed:
        """A page of cases and trials, with the columns of the table `items`, the run's `status`, and the beginning of
        the case's `explanation`: the rows after a row, or those just before one.
        """
        order, where = [*SORTS[sort][1], *_WITHIN], '(run, "case", trial) = ($run, $case, $trial)'
        shown = f"{_SHOWN} where items.rowid in (from page)"
        return self._page("wanted", "rowid", shown, order, where, (after, before), limit)

    def runs(
        self, oldest: bool = False, after: RowPlace | None = None, before: RowPlace | None = None, limit: int = PAGE
    ) -> Listed:
        """A page of the runs with a selected row: run, "at" and `found`, the number of its selected rows; the newest
        first, or the oldest.
        """
        order = SORTS["oldest" if oldest else "newest"][1]
        held = '(select run, any_value("at") as "at", count(*) as found from wanted group by run)'
        return self._page(held, "*", "select * from page items", order, "run = $run", (after, before), limit)

    def _page(self, of: str, key: str, shown: str, order: Sequence[str], where: str, ends: _Ends, limit: int) -> Listed:
        """At most `limit` rows of the SQL `of` in that order, after or before the row of the condition `where`. `shown`
        is the query that selects from `page`, which has the `key` of each row.
        """
        (after, before), there = ends, None
        anchor = after or before
        columns = ", ".join(map(_comparable, order))
        if anchor:
            here = f"select {columns} from items where {where} limit 1"  # noqa: S608  our own names
            there = next(iter(self.found(here, **anchor._asdict())), None)
        values = {f"there{place}": value for place, value in enumerate(there or ())}
        backwards = there is not None and not after
        beyond = _beyond(order, backwards) if there else "true"
        ahead = _beyond(order, True) if there else "false"
        rows = self.frame(
            f"""
            , page as (
                select {key} from {of} items where {beyond} order by {_by(order, backwards)} limit $limit
            ) {shown} order by {_by(order)}
            """,  # noqa: S608  our own names
            limit=limit,
            **values,
        )
        counted = f"select count(*), count(*) filter ({ahead}) from {of} items"  # noqa: S608  our own names
        ((total, number),) = self.found(counted, **values)
        first = 1 if there is None else number - len(rows) + 1 if backwards else number + 2
        return Listed(rows, first if len(rows) else 0, total, lost=anchor is not None and there is None)

    def row(self, place: RowPlace) -> DataFrame:
        """The row at that place with the columns of `items`, whether it is selected or not; empty if there is none or
        `viewer` may not see it.
        """
        return self.frame(
            f"""
            {_SHOWN} where (items.run, items."case", items.trial) = ($run, $case, $trial)
                     and items.run in (select run from runs where {SEEN})
            """,  # noqa: S608  our own names
            **place._asdict(),
        )

    def rows_at(self, places: Sequence[RowPlace]) -> DataFrame:
        """The rows at these places, which were selected, in their order, with the columns of `items`."""
        return self.frame(
            f"""
            , places as (
                select unnest($runs) as run, unnest($cases) as "case", unnest($trials) as trial,
                       unnest(range(len($runs))) as place
            )
            select shown.* from ({_SHOWN}) shown join places using (run, "case", trial)
            order by place
            """,  # noqa: S608  our own names
            runs=[place.run for place in places],
            cases=[place.case for place in places],
            trials=[place.trial for place in places],
        )

    def cases(self, limit: int) -> tuple[list[RowPlace], int]:
        """The first `limit` cases with a selected row, the newest run first, and how many there are."""
        rows = self.found(
            """
            select run, "case", count(*) over () from wanted where "case" <> ''
            group by run, "case" order by max("at") desc, run desc, min(number), "case" limit $limit
            """,
            limit=limit,
        )
        return [RowPlace(run, case) for run, case, _ in rows], int(rows[0][2]) if rows else 0

    def run_ids(self) -> list[str]:
        """All runs with a selected row, the newest first."""
        rows = self.found('select run from wanted group by run order by max("at") desc, run')
        return [run for (run,) in rows]

    def elsewhere(self, place: RowPlace, limit: int = PAGE) -> DataFrame:
        """Cases of other runs about the same question, the newest first, at most `limit`: run, case, lab, model, how,
        outcome, verdict. They need not be selected. Other versions of the same run are left out.
        """
        return self.by(EVERYTHING).frame(
            """
            , others as (select distinct run, "case", "at", how, outcome = $blind as hidden from wanted)
            select others.run, others."case", lab, model, how, if(hidden, $blind, outcome_repaired) as outcome,
                   if(hidden, null, verdict) as verdict
            from cases join others using (run, "case")
            where run <> all($same) and title in (select title from cases where run = $run and "case" = $case)
            order by others."at" desc, others.run, number, others."case" limit $limit
            """,
            same=[version.run for version in versions(self.store, place.run, self.viewer)] or [place.run],
            limit=limit,
            blind=BLIND,
            **place._asdict(),
        )

    def answers_of_others(self, run: str) -> Answers:
        """What the run's trials that count asked, led to expect and found, and what other models answered to the same
        questions in completed runs of its lab. Robots are left out unless a robot answered in this run, and so are
        forks, in which a person edited an answer. The run itself need not be selected.
        """
        own = self.store.rows(
            f"""
            select title, about, expected, observed, "case" from items
            where run in (select run from runs where run = $run and {SEEN}) and trial <> '' and about <> '' and counts
            order by number, "case", trial
            """,  # noqa: S608  our own names
            {"run": run, "viewer": self.viewer},
        )
        others = self.by(EVERYTHING).found(
            f"""
            , here as (select distinct lab, model, title, about from items where run = $run and trial <> '' and counts)
            select wanted.model, wanted.title, wanted.about, observed
            from wanted join here using (lab, title, about) join runs on runs.run = wanted.run
            where trial <> '' and observed is not null and wanted.counts and status = 'completed'
                and wanted.model <> here.model and coalesce(forked_from, '') = ''
                and (starts_with(here.model, '{CONTROL}') or not starts_with(wanted.model, '{CONTROL}'))
            order by wanted.run, wanted."case", trial
            """,  # noqa: S608  our own names
            run=run,
        )
        said: dict[str, dict[tuple[str, str], list[str]]] = {}
        for model, title, about, answer in others if own else ():
            said.setdefault(model, {}).setdefault((title, about), []).append(answer)
        cases: dict[str, tuple[str, list[tuple[str, str, str]]]] = {}
        for title, about, expected, observed, case in own:
            cases.setdefault(case, (title, []))[1].append((about, expected or "", observed or ""))
        return Answers(list(cases.values()), said)

    def unfinished(self) -> int:
        """How many cases with a selected row are not completed, and so are missing from `of_cases`."""
        sql = """
            select count(*) from cases where status <> 'done' and (run, "case") in (select (run, "case") from wanted)
        """
        return int(self.found(sql)[0][0])

    def of_cases(self, lab: str, cases: Cases, own: str = "") -> DataFrame:
        """Figures of many cases for pictures: one row for each metric of each completed case of a lab with a selected
        row, by the updated parser, the newest run first. Forks are left out, since a person edited one of their
        answers.

        run, case, at, title, model, lab, a column for each of `core.labs.base.declared.FACETS` and each that `cases`
        adds; "extra:<own>", the value of that column of a person's file, if `own` is given ('' where a case has none);
        metric, value (null if it is undefined or the case has none), low, high, n, of (0 if it has none); found:
        how many cases there were before the limit `newest`.
        """
        import pandas as pd

        store = self.store
        named: dict[str, Any] = {"own": own} if own else {}
        added = "".join(f", {column}" for column in [*_added(store, cases), *([_OWN_VALUE] if own else [])])
        whole = [f"{quoted_names([name])} is not null" for name in cases.records] if cases.newest is not None else []
        query = self.query(
            f"""
            , picked as (
                select distinct run, "case", lab, {quoted_names(FACETS)} from wanted
                where lab = $lab and "case" <> '' and outcome is distinct from $blind
            ), done as (
                select run, "case", runs."at", cases.number, cases.title,
                       coalesce(cases.model, runs.model, '') as model, picked.* exclude (run, "case"){added},
                       -- The figures of a run's only case are those of the run.
                       if(coalesce(cases."of", 1) = 1, '', "case") as at_case
                from picked join runs using (run) join cases using (run, "case")
                where cases.status = 'done' and coalesce(forked_from, '') = ''
            ), chosen as (
                select *, count(*) over () as found from done where {" and ".join(whole) or "true"}
                order by "at" desc, run, number, "case" limit $newest
            )
            select chosen.* exclude (number, at_case), metrics.metric, value, low, high, coalesce(n, 0) as n,
                   coalesce(scores."of", 0) as "of"
            from chosen cross join (select unnest($metrics::varchar[]) as metric) metrics
                 left join scores on scores.run = chosen.run and scores."case" = at_case
                 and scores.metric = metrics.metric and rules = 'repaired' and item = ''
            order by chosen."at" desc, chosen.run, number, chosen."case", metrics.metric
            """,  # noqa: S608  our own names
            lab=lab,
            blind=BLIND,
            newest=cases.newest,
            metrics=list(cases.metrics),
            **named,
        )
        frame: DataFrame = store.arrow(*query).to_pandas().rename(columns={"own_value": f"{EXTRA}{own}"})
        as_json = [
            name
            for name, (record, field) in cases.records.items()
            if store.tables[table_of(record)].columns.get(field) == "JSON"
        ]
        for name in [*cases.fields, *as_json, *(["observed"] if cases.observed else [])]:
            # A case has its texts once for each metric.
            texts = frame[name].astype(object).tolist()
            known = {text: json.loads(text) if isinstance(text, str) else None for text in set(texts)}
            frame[name] = pd.Series([known[text] for text in texts], index=frame.index, dtype=object)
        return frame


@lru_cache(maxsize=8)
def _in_calls(store: Store, writes: int, words: str) -> str:
    """The result of `rows_in_calls`, searched once after each write: a page asks a dozen questions about it."""
    ((last,),) = store.rows("select coalesce(max(rowid), 0) from items")
    found = str(store.rows(*rows_in_calls(words, last))[0][0] or "0")
    store.shrink()
    return found


_OWN_VALUE = """
    coalesce((
        select any_value(value) from extra_columns e
        where e.run = picked.run and e."case" = picked."case" and e.name = $own
    ), '') as own_value
"""


def _added(store: Store, cases: Cases) -> Iterator[str]:
    """SQL for the columns that `cases` adds."""
    for field in cases.fields:
        yield f"json_extract(spec, '$.{quoted_names([field])}') as {quoted_names([field])}"
    for name, (record, field) in cases.records.items():
        value = f'arg_max({quoted_names([field])}, "at")' if field else "count(*)"
        rows = f'{quoted_names([table_of(record)])} r where r.run = picked.run and r."case" = picked."case"'
        yield f"(select {value} from {rows}) as {quoted_names([name])}"  # noqa: S608  our own names
    if cases.observed:
        rows = 'items i where i.run = picked.run and i."case" = picked."case" and i.counts'
        yield f"(select to_json(histogram(observed)) from {rows}) as observed"  # noqa: S608  our own names
    for journaled, field in cases.held:
        rows = f"{quoted_names([store.records[journaled]])} r where r.run = runs.run"
        yield f"(select bool_and({quoted_names([field])}) from {rows}) as {journaled}_{field}"  # noqa: S608  our own names


def _beyond(order: Sequence[str], backwards: bool) -> str:
    """The condition for rows after (`backwards`: before) the row with the values $there0, $there1 …: in the first
    column that differs, they are greater, or smaller if the order is descending.
    """
    sql = "false"
    for place, column in reversed(list(enumerate(order))):
        sign = "<" if column.endswith(" desc") != backwards else ">"
        sql = f"({_comparable(column)} {sign} $there{place} or ({_comparable(column)} = $there{place} and {sql}))"
    return sql


def _comparable(column: str) -> str:
    return f"items.{column.removesuffix(' desc')}"


def _by(order: Sequence[str], turned: bool = False) -> str:
    return ", ".join(
        f"{_comparable(column)}{' desc' if column.endswith(' desc') != turned else ''}" for column in order
    )


def _with_kinds(counts: dict[str, int]) -> dict[str, int]:
    """`counts`, with an outcome such as *misled all* counted for *misled* too (`filters.KIND`); the most frequent
    first.
    """
    for value, count in list(counts.items()):
        if value.endswith(" all"):
            whole = value.removesuffix(" all")
            counts[whole] = counts.get(whole, 0) + count
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def roles(store: Store) -> list[str]:
    """All roles in which runs asked models."""
    return [role for (role,) in store.rows("select distinct role from roles order by role")]


def interrupted(store: Store, alive: Callable[[str], bool]) -> list[str]:
    """The runs that are `running` according to their journals, but are not `alive`."""
    running = store.rows("select run from runs where status = 'running' and about = ''")
    return [run for (run,) in running if not alive(run)]


# How often explanations hold, by group: the selected rows grouped by the values of a facet.


class Group(NamedTuple):
    """The rows with one value of the facet. `kept` is the share of the `counted` rows whose outcome means that the
    explanation holds, with the interval of their items; rows in doubt do not count.
    """

    value: str
    rows: int
    counted: int
    kept: Interval


def robots_and_models(selected: Selection) -> tuple[int, int]:
    """How many of the selected rows are a robot's, and how many are not."""
    ((robots, others),) = selected.found(
        f"select count(*) filter ({ROBOT}), count(*) filter (not coalesce({ROBOT}, false)) from wanted items"  # noqa: S608  our own names
    )
    return robots, others


def groups(selected: Selection, lab: Lab, name: str, limit: int = 1_000, robots: bool = True) -> list[Group]:
    """The largest groups of a lab's selected rows by the facet of that name, at most `limit`, with or without the rows
    of `robots`. Raises ValueError if there is no such facet.
    """
    values = Values()
    facet = facet_of(name, values)
    if facet is None:
        raise ValueError(f"Results cannot be grouped by {name!r}.")
    kept, broken = quoted(*lab.that_mean("kept")), quoted(*lab.that_mean("broken"))
    counts = "coalesce(items.counts, false) and coalesce(items.doubt, '') = ''"
    only = "true" if robots else f"not coalesce({ROBOT}, false)"
    rows = selected.found(
        f"""
        , grouped as (
            select coalesce({facet.value}::varchar, '') as value, items.title as item, count(*) as n,
                   count(*) filter ({counts} and items.outcome in ({kept})) as kept,
                   count(*) filter ({counts} and items.outcome in ({broken})) as broken
            from wanted items {facet.joined} where items.lab = {values(lab.name)} and {only} group by 1, 2
        ), largest as (
            select value, sum(n)::bigint as total from grouped group by value order by total desc, value limit {limit}
        )
        select value, total, list((item, kept, broken)) from grouped join largest using (value)
        group by value, total order by total desc, value
        """,  # noqa: S608  our own names
        **values,
    )
    return [_group(str(value), total, items) for value, total, items in rows]


def _group(value: str, rows: int, items: list[tuple[str, int, int]]) -> Group:
    trials = [trial for item, kept, broken in items for trial in [(1.0, item)] * kept + [(0.0, item)] * broken]
    return Group(value, rows, len(trials), interval_of_trials([one for one, _ in trials], [item for _, item in trials]))
