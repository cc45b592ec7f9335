"""Compares two to five subjects (models, methods, runs, rules, filters) on the items that they share: which items those
are, their outcomes, and by how much the subjects differ. `core.report.comparison_text` puts it into sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple, cast, get_args
from urllib.parse import parse_qs

from ..charts.marks import EXTRA
from ..labs.base.declared import FACETS
from ..rulesets import PARSER_NAMES, RULES
from ..statistics import Pair
from ..statistics.comparisons import MOST, compare_cells, compare_pairs, corrected
from .filters import Filter, from_query
from .listing import Selection
from .matching import (
    AGREE,
    ORDER,
    ComparisonRequest,
    Match,
    NotComparableError,
    Subject,
    column,
    controlled,
    distinct_rows,
    judged_of,
    of_each,
    pivot,
    rows,
)
from .queries import SEEN
from .store import Store, used

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

By = Literal["model", "how", "wording", "owner", "run", "rules", "filter"]
"""What can be compared; also a column of a person's own file, as the facet "extra:<name>"."""


@dataclass(frozen=True)
class Compared:
    """The result of a comparison. Every list has an entry for each subject of `asked`, in that order.

    - `pairs` refer to subjects by their place in that list; a subject without an item is in none.
    - `rows` as filtered; `unplaced`: how many of them are no item, because nothing was tested in them or their
      title identifies nothing that others could share. `robots`: how many rows of robots were left out.
    - `items`: how many cells `differ`, `agree` or are `not shared`. A cell is an item with one combination of all else
      that must be equal (`strata`). `shared`: items that have a cell with a value for every subject; `cells`: the
      number of these cells; `homes`: how many things these items belong to. `true`: the sum over shared items of each
      subject's value, the mean over its cells; `fixed`: the best that one fixed guess could reach, None if nothing is
      guessed or shared. `averaged`: how often a subject has more than one result in a cell. `keys` name the cells for
      `matrix`, those on which subjects differ first.
    - `alone`: (values of `strata`, number of rows, subjects) for each combination that not all subjects have.
    - `meet`: how many items would be shared by each way to match.
    - `doubtful`: how many rows of each subject count but have no verdict.
    """

    asked: ComparisonRequest
    pairs: tuple[Pair, ...]
    rows: tuple[int, ...]
    unplaced: tuple[int, ...]
    items: dict[str, int]
    shared: int
    true: tuple[float, ...]
    fixed: tuple[float, ...] | None
    averaged: int
    keys: NDArray[np.uint64] = field(compare=False, repr=False)
    cells: int = 0
    homes: int = 0
    robots: int = 0
    alone: tuple[tuple[str, int, tuple[int, ...]], ...] = ()
    meet: dict[Match, int] = field(default_factory=dict)
    doubtful: tuple[int, ...] = ()


def subjects(store: Store, query: Mapping[str, Sequence[str]]) -> tuple[str, tuple[Subject, ...]]:
    """The subjects that an address asks to compare: `by` and each `of`, within the address's filter; or `runs`,
    separated by commas. Without `of` there are none, except for `by=rules`. Raises NotComparableError.
    """
    named = [one.strip() for text in query.get("runs", ()) for one in text.split(",") if one.strip()]
    by = "run" if named else (list(query.get("by", ())) or ["model"])[-1]
    if by not in get_args(By) and not by.startswith(EXTRA):
        ways = ", ".join(get_args(By))
        raise NotComparableError(
            f"Results cannot be compared by {by!r}. Choose {ways}, or {EXTRA}NAME for your own column."
        )
    wanted = from_query(query)
    if by == "rules":
        return by, tuple(Subject(f"the {PARSER_NAMES[rules]}", wanted, rules) for rules in reversed(RULES))
    names = list(dict.fromkeys(named or query.get("of", ())))
    if len(names) > MOST:
        raise NotComparableError(f"You named {len(names)}; at most {MOST} can be compared.")
    return by, tuple(Subject(name, filter_of(store, by, name, wanted)) for name in names)


def filter_of(store: Store, by: str, name: str, wanted: Filter) -> Filter:
    """The filter for the rows of the subject `name` among those `wanted`. A filter's name is an address's query."""
    if by == "filter":
        own = from_query(parse_qs(name))
        return replace(own, chosen={**wanted.chosen, **own.chosen})
    if by != "run":
        return wanted.choosing(by, [name])
    recordings = store.rows("select 1 from runs where run = ? and recording", [name])
    return replace(wanted, runs=(name,), recordings=bool(recordings))


class RunLine(NamedTuple):
    """What distinguishes a run from others."""

    title: str
    model: str
    how: str
    at: datetime


def runs(store: Store, ids: Sequence[str], viewer: str | None) -> dict[str, RunLine]:
    """What distinguishes these runs, for those that `viewer` may see."""
    columns = ", ".join(f"any_value({name})" for name in ("title", "model", "how", '"at"'))
    of = f"run in (select unnest($ids::varchar[])) and run in (select run from runs where about = '' and {SEEN})"  # noqa: S608  our own names
    sql = f"select run, {columns} from items where {of} group by run"  # noqa: S608  our own names
    return {run: RunLine(*fields) for run, *fields in store.rows(sql, {"ids": list(ids), "viewer": viewer})}


def labs(
    store: Store, subjects: Sequence[Subject], viewer: str | None, stopped: Sequence[str] = (), robots: bool = False
) -> dict[str, int]:
    """The labs whose rows can be compared, with the number of rows: first the labs in which the most subjects have
    rows. The same rows under several parsers count once. With `robots`, robots' rows always count.
    """
    held: dict[str, list[int]] = {}
    for subject in distinct_rows(subjects):
        rows = Selection(store, subject.filter, viewer, stopped)
        counted = "true" if robots else subject.filter.counted
        for lab, count in rows.found(f"select lab, count(*) from wanted items where {counted} group by lab"):  # noqa: S608  our own names
            if (known := store.labs.get(lab)) and known.listing.judged:
                held.setdefault(lab, []).append(int(count))
    return {lab: sum(held[lab]) for lab in sorted(held, key=lambda lab: (-len(held[lab]), -sum(held[lab]), lab))}


def compare_query(
    store: Store, query: Mapping[str, Sequence[str]], viewer: str | None = None, stopped: Sequence[str] = ()
) -> Compared:
    """The comparison that an address asks for, in the first of its `labs` if it names none. Without a chosen `match`,
    rows are matched by what they belong to, such as the starter question, unless there is nothing of this kind or
    one subject's tests were all given by a person. What happens to be shared does not influence this choice, so one
    more row changes nothing else. Raises NotComparableError.
    """
    by, chosen = subjects(store, query)
    if len(chosen) < 2:
        raise NotComparableError(f"Choose two to {MOST} to compare.")
    lab = next(iter(labs(store, chosen, viewer, stopped)), "")
    if not lab:
        if labs(store, chosen, viewer, stopped, robots=True):
            raise NotComparableError("Only robots have results here. To compare robots, choose them as models.")
        raise NotComparableError("None of them has a result to compare.")
    asked = ComparisonRequest(chosen, lab, "exact", viewer, stopped, doubtful=list(query.get("doubtful", ())) == ["1"])
    asked = replace(asked, strata=_strata(store, asked, by))
    judged, match = judged_of(store, lab), (list(query.get("match", ())) or [""])[-1]
    if not judged.whole or asked.same_rows:
        return compare(store, asked)
    if match not in get_args(Match):
        match = "exact" if _is_given(store, asked, judged.given) else "whole"
    asked = replace(asked, match=cast(Match, match))
    compared = compare(store, asked)
    meet: dict[Match, int] = {
        one: compared.shared if one == match else _meeting(store, replace(asked, match=one)) for one in get_args(Match)
    }
    return replace(compared, meet=meet)


def _strata(store: Store, asked: ComparisonRequest, by: str) -> tuple[str, ...]:
    """What else must be equal for rows to match (`else_equal`). For models, methods and wordings this is everything
    that was not chosen for comparison; otherwise the mean of one model would be compared with that of another.
    """
    names = [name for name in _PLAIN if name != by]
    names += [
        f"as:{role}" for role in dict.fromkeys(one.role for one in store.labs[asked.lab].listing.judgements if one.role)
    ]
    columns = ", ".join(f"list(distinct coalesce({column(name)}, ''))" for name in names)
    # The columns that are looked up by run are computed only once for each run.
    of = f"(select distinct on (run, {', '.join(_PLAIN)}) * from held) items"  # noqa: S608  our own names
    held = of_each(store, asked, f"select {columns} from {of}")  # noqa: S608  our own names
    of_names = zip(*([set(values or ()) for values in row] for row in held), strict=True)
    return controlled(dict(zip(names, of_names, strict=True)), by in ("run", "filter", "rules"))


_PLAIN = ("model", *FACETS)


def _is_given(store: Store, asked: ComparisonRequest, given: str) -> bool:
    """Whether, for one of the subjects, all rows are from runs whose tests a person gave."""
    others = f"""count(*) filter (coalesce(json_array_length(spec, '$."{given}"'), 0) = 0)"""
    asking = f"select {others}, count(*) from (select distinct run from held) join runs using (run)"  # noqa: S608  our own names
    return bool(given) and any(number and not others for others, number in of_each(store, asked, asking))


def _meeting(store: Store, asked: ComparisonRequest) -> int:
    """How many items have a value for every subject where all else is equal."""
    sql, values = rows(store, asked)
    count = f"select count(distinct unit) from ({pivot(asked, 'rows')}) where valued = {len(asked.subjects)}"  # noqa: S608  our own names
    return int(store.rows(f"with rows as ({sql}) {count}", values)[0][0])


def compare(store: Store, asked: ComparisonRequest) -> Compared:
    """Compare the subjects on the items that they share. Raises NotComparableError unless there are two to five
    subjects, and if the lab's rows cannot be compared.
    """
    places = range(len(asked.subjects))
    if not 2 <= len(places) <= MOST:
        raise NotComparableError(f"Choose two to {MOST} to compare.")
    judged, (sql, values) = judged_of(store, asked.lab), rows(store, asked)
    columns = ", ".join(f"value_{i}, rows_{i}, times_{i}" for i in places)
    with store.limited() as cursor:
        placed = f"""
            create temp table placed as with rows as ({sql}), homes as (
                select home, row_number() over (order by home) as place from (select distinct home from rows)
            )
            select subject, key, unit, among, place as home, value, observed from rows join homes using (home)
        """  # noqa: S608  our own names
        cursor.execute(placed, used(placed, values))
        cursor.execute(f"create temp table wide as {pivot(asked, 'placed')}")
        items = cursor.execute(f"select key, unit, home, agree, {columns} from wide order by {ORDER}").df()  # noqa: S608  our own names
        tally = cursor.execute("select subject, count(*), count(*) - count(key) from placed group by 1").fetchall()
        # A guess counts for an item as the item's values do: as the mean over the cells in which it is shared.
        guessed = cursor.execute(
            f"""
            with met as (select *, count(*) over (partition by unit) as cells from wide where valued = {len(places)})
            select subject, max(got) from (
                select subject, sum(1.0 / cells / [{", ".join(f"times_{i}" for i in places)}][subject + 1]) as got
                from placed join met using (key) where value is not null group by subject, observed
            ) group by subject order by subject
            """  # noqa: S608  our own names
        ).fetchall()
        alone = cursor.execute(
            """
            select among, count(*), list_sort(list(distinct subject)) as held from placed where key is not null
            group by among having len(held) < ? order by 2 desc, 1
            """,
            [len(places)],
        ).fetchall()
    counted = {subject: (rows, unplaced) for subject, rows, unplaced in tally}
    some = [i for i in places if i in counted]
    there = items[["unit", "home", *(f"value_{i}" for i in places)]].dropna()
    of_items = there.groupby("unit").mean()
    return Compared(
        asked,
        _pairs(items, some),
        tuple(counted.get(i, (0, 0))[0] for i in places),
        tuple(counted.get(i, (0, 0))[1] for i in places),
        {name: int((items["agree"] == name).sum()) for name in AGREE},
        len(of_items),
        tuple(float(of_items[f"value_{i}"].sum()) for i in places),
        tuple(float(got) for _, got in guessed) if judged.guessed and guessed else None,
        int((items[[f"times_{i}" for i in places]] > 1).sum().sum()),
        items["key"].to_numpy(),
        cells=len(there),
        homes=int(there["home"].nunique()),
        robots=_robots(store, asked),
        doubtful=_doubtful(store, asked),
        alone=tuple((among, int(n), tuple(held)) for among, n, held in alone) if asked.strata else (),
    )


def _pairs(items: DataFrame, some: Sequence[int]) -> tuple[Pair, ...]:
    """Compare each two subjects over the items that both have where all else is equal, each by its mean over these
    cells.
    """
    has = items[[f"rows_{i}" for i in some]].set_axis(some, axis=1) > 0
    table = items[[f"value_{i}" for i in some]].set_axis(some, axis=1)
    if items["unit"].is_unique:
        return compare_pairs(table, has, items["home"])
    return corrected([_pair(items, table[list(two)], has[list(two)]) for two in combinations(some, 2)])


def _pair(items: DataFrame, table: DataFrame, has: DataFrame) -> Pair:
    """Compare two subjects item by item. An item that both have, but nowhere with all else equal, counts for each as
    its own.
    """
    import pandas as pd

    unit, both = items["unit"], has.all(axis=1)
    meeting = pd.DataFrame(True, index=unit[both].unique(), columns=table.columns)
    apart = has.groupby(unit).any().drop(meeting.index)
    alone = [apart.loc[apart[name], [name]] for name in apart]
    of_items = pd.concat([meeting, *alone]).eq(True)
    return compare_cells(table[both], unit, of_items, items["home"].groupby(unit).first())


def _doubtful(store: Store, asked: ComparisonRequest) -> tuple[int, ...]:
    """For each subject, how many rows count but have no verdict."""
    count = "select count(*) from held where counts and coalesce(doubt, '') <> ''"
    return tuple(int(row[0]) for row in of_each(store, asked, count))


def _robots(store: Store, asked: ComparisonRequest) -> int:
    """How many rows of robots are left out; the same rows under several parsers count once."""
    left = 0
    for subject in distinct_rows(asked.subjects):
        rows = Selection(store, subject.filter, asked.viewer, asked.stopped)
        count = f"select count(*) from wanted items where lab = $lab and not ({subject.filter.counted})"  # noqa: S608  our own names
        left += int(rows.found(count, lab=asked.lab)[0][0])
    return left
