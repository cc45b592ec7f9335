"""Two to five subjects (models, methods, runs, rules, filters) on the items that they share: which items those are,
what came of them, and by how much the subjects differ. `core.store.telling` says it in sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal, NamedTuple, cast, get_args
from urllib.parse import parse_qs

from core.events import Rules
from core.lab import Judged
from core.statistics import Pair, compare_subjects
from core.statistics.subjects import MOST
from core.store.filters import Filter, condition, from_query
from core.store.listing import PAGE, Place
from core.store.store import Store

if TYPE_CHECKING:
    from pandas import DataFrame

By = Literal["model", "how", "wording", "owner", "run", "rules", "filter"]

Match = Literal["exact", "whole"]

RULE_NAMES: dict[str, Rules] = {"repaired rules": "repaired", "paper rules": "paper"}


class NotComparable(ValueError):
    """These cannot be compared, in words for the person."""


class Subject(NamedTuple):
    """One of those that are compared: its name in the address, the rows it has, and the rules they are read by."""

    name: str
    filter: Filter
    rules: Rules = "repaired"


@dataclass(frozen=True)
class Asked:
    """What is compared: `subjects` within the rows of `lab`, for the viewer that lists are made for.

    `match`: two rows are one item where the lab, the title and what was put to the test are the same ("exact"), or
    where what they belong to is, such as the starter question ("whole": the mean of its rows is its value). Subjects
    that are one filter read by several rules meet row by row.
    """

    subjects: tuple[Subject, ...]
    lab: str
    match: Match = "exact"
    viewer: str | None = None
    stopped: Sequence[str] = ()

    @property
    def same_rows(self) -> bool:
        """Whether all subjects have the same rows, read otherwise."""
        return all(one.filter == self.subjects[0].filter for one in self.subjects)


@dataclass(frozen=True)
class Compared:
    """What was found. Every list has an entry for each subject of `asked`, in that order.

    - `pairs` hold places in that list; a subject without an item is in none.
    - `rows` as filtered; `unplaced`: those of them that are no item: nothing was put to the test in them, or their
      title names no one thing.
    - `items`: how many are "parted", "same" or "not shared". `shared`: those with a value for every subject; `true`:
      the sum of these values, `fixed`: what it would be at best for one fixed guess, None where nothing is guessed or
      shared. `averaged`: how often a subject has more than one result on an item.
    """

    asked: Asked
    pairs: tuple[Pair, ...]
    rows: tuple[int, ...]
    unplaced: tuple[int, ...]
    items: dict[str, int]
    shared: int
    true: tuple[float, ...]
    fixed: tuple[float, ...] | None
    averaged: int


def subjects(store: Store, query: Mapping[str, Sequence[str]]) -> tuple[By, tuple[Subject, ...]]:
    """What an address asks to be compared: `by` and each `of` it, within the filter that stands there too; or `runs`,
    parted by commas. Without `of` there are none, unless it is rules. Raises NotComparable.
    """
    named = [one.strip() for text in query.get("runs", ()) for one in text.split(",") if one.strip()]
    by = "run" if named else (list(query.get("by", ())) or ["model"])[-1]
    if by not in get_args(By):
        raise NotComparable(f"One cannot compare by {by!r}, but by {', '.join(get_args(By))}.")
    known = cast(By, by)
    if known == "rules":
        wanted = from_query(query)
        return known, tuple(Subject(name, wanted, rules) for name, rules in RULE_NAMES.items())
    names = list(dict.fromkeys(named or query.get("of", ())))
    if len(names) > MOST:
        raise NotComparable(f"{len(names)} are named; {MOST} can be compared at most.")
    return known, tuple(Subject(name, filter_of(store, known, name, from_query(query))) for name in names)


def filter_of(store: Store, by: By, name: str, wanted: Filter) -> Filter:
    """The rows of the subject `name` among those `wanted`. A filter is written as an address's query."""
    if by == "filter":
        own = from_query(parse_qs(name))
        return replace(own, chosen={**wanted.chosen, **own.chosen})
    if by != "run":
        return wanted.choosing(by, [name])
    with store.cursor() as cursor:
        row = cursor.execute("select coalesce(recording, false) from runs where run = ?", [name]).fetchone()
    return replace(wanted, runs=(name,), recordings=bool(row and row[0]))


class Line(NamedTuple):
    """What tells a run from others."""

    title: str
    model: str
    how: str
    at: datetime


def runs(store: Store, ids: Sequence[str], viewer: str | None) -> dict[str, Line]:
    """What tells these runs apart, of those that `viewer` may see."""
    found: dict[str, Line] = {}
    for recordings in (False, True):
        sql, values = condition(Filter(runs=tuple(ids) or ("",), recordings=recordings), viewer)
        columns = ", ".join(f"any_value({name})" for name in ("title", "model", "how", '"at"'))
        with store.cursor() as cursor:
            rows = cursor.execute(f"select run, {columns} from items where {sql} group by run", values).fetchall()  # noqa: S608  our own names
        found |= {run: Line(*told) for run, *told in rows}
    return found


def labs(store: Store, subjects: Sequence[Subject], viewer: str | None, stopped: Sequence[str] = ()) -> dict[str, int]:
    """The labs whose rows can be compared, with how many rows the subjects have: those in which most have any first."""
    held: dict[str, list[int]] = {}
    with store.cursor() as cursor:
        for one in subjects:
            sql, values = condition(one.filter, viewer, stopped)
            found = cursor.execute(f"select lab, count(*) from items where {sql} group by lab", values)  # noqa: S608  our own names
            for lab, count in found.fetchall():
                if (known := store.labs.get(lab)) and known.judged:
                    held.setdefault(lab, []).append(int(count))
    return {lab: sum(held[lab]) for lab in sorted(held, key=lambda lab: (-len(held[lab]), -sum(held[lab]), lab))}


def judged_of(store: Store, lab: str) -> Judged:
    """How the rows of the lab are compared. Raises NotComparable where they are not."""
    judged = store.labs[lab].judged if lab in store.labs else None
    if judged is None:
        raise NotComparable(f"Results of {lab or 'no lab'} cannot be compared.")
    return judged


def found(
    store: Store, query: Mapping[str, Sequence[str]], viewer: str | None = None, stopped: Sequence[str] = ()
) -> Compared:
    """What an address asks to be compared, in the first of its `labs` where it names none. Where `match` is not chosen
    and nothing is shared exactly, items are what the rows belong to. Raises NotComparable.
    """
    _, chosen = subjects(store, query)
    if len(chosen) < 2:
        raise NotComparable(f"Choose two to {MOST} to compare.")
    lab = next(iter(labs(store, chosen, viewer, stopped)), "")
    if not lab:
        raise NotComparable("None of them has a result that could be compared.")
    asked = Asked(chosen, lab, "exact", viewer, stopped)
    match, whole = (list(query.get("match", ())) or [""])[-1], judged_of(store, lab).whole
    if match != "whole" or not whole:
        compared = compare(store, asked)
        if match == "exact" or not whole or any(pair.n for pair in compared.pairs):
            return compared
    return compare(store, replace(asked, match="whole"))


def compare(store: Store, asked: Asked) -> Compared:
    """The subjects on the items that they share. Raises NotComparable for another number of subjects than two to five,
    and where the lab's rows cannot be compared.
    """
    import pandas as pd

    places = range(len(asked.subjects))
    if not 2 <= len(places) <= MOST:
        raise NotComparable(f"Choose two to {MOST} to compare.")
    sql, values = _items(store, asked)
    columns = ", ".join(f"value_{i}, rows_{i}, times_{i}" for i in places)
    wide = store.query(
        f"{sql} select dense_rank() over (order by home) as home, agree, {columns} from wide order by {_ORDER}",  # noqa: S608  our own names
        values,
        rows=None,
    )
    long = pd.concat(
        [
            wide.loc[wide[f"rows_{i}"] > 0, ["home"]]
            .assign(subject=i, value=wide[f"value_{i}"])
            .reset_index(names="item")
            for i in places
        ],
        ignore_index=True,
    )
    found = compare_subjects(long, "subject", cluster="home").pairs if long["subject"].nunique() > 1 else ()
    pairs = tuple(replace(pair, first=int(str(pair.first)), second=int(str(pair.second))) for pair in found)
    of_all = wide[[f"value_{i}" for i in places]].dropna()
    with store.cursor() as cursor:
        asking = f"{sql} select subject, count(*), count(*) filter (not placed) from rows group by 1"  # noqa: S608  our own names
        tally = cursor.execute(asking, values)
        counted = {subject: (rows, unplaced) for subject, rows, unplaced in tally.fetchall()}
    return Compared(
        asked,
        pairs,
        tuple(counted.get(i, (0, 0))[0] for i in places),
        tuple(counted.get(i, (0, 0))[1] for i in places),
        {name: int((wide["agree"] == name).sum()) for name in ("parted", "same", "not shared")},
        len(of_all),
        tuple(float(of_all[f"value_{i}"].sum()) for i in places),
        _fixed(store, asked, sql, values) if len(of_all) else None,
        int((wide[[f"times_{i}" for i in places]] > 1).sum().sum()),
    )


def matrix(store: Store, asked: Asked, page: int = 1, limit: int | None = PAGE) -> DataFrame:
    """A page of the items, from 1, those on which subjects part first: `title`, `about` and `agree`; of each subject i
    `value_i` (the mean of its results), `times_i` (how many have a value), `said_i` (the outcomes of all of them), and
    `place_i`, the newest. With no limit every item.
    """
    sql, values = _items(store, asked)
    columns = ", ".join(f"value_{i}, times_{i}, said_{i}, place_{i}" for i in range(len(asked.subjects)))
    paged = f"limit {limit:d} offset {(page - 1) * limit:d}" if limit is not None else ""
    asking = f"{sql} select title, about, agree, {columns} from wide order by {_ORDER} {paged}"  # noqa: S608  our own names
    found = store.query(asking, values, rows=None)
    for i in range(len(asked.subjects)):
        found[f"place_{i}"] = [Place(**one) if isinstance(one, dict) else None for one in found[f"place_{i}"]]
    return found


_KEY = "title, about, at_run, at_case, at_trial"
_ORDER = f"case agree when 'parted' then 0 when 'same' then 1 else 2 end, valued desc, {_KEY}"


def _items(store: Store, asked: Asked) -> tuple[str, list[object]]:
    """SQL that begins a query: `rows`, those of all subjects, and `wide`, one for each item; and its values."""
    judged = judged_of(store, asked.lab)
    parts, values = [], list[object]()
    for i, one in enumerate(asked.subjects):
        where, given = condition(one.filter, asked.viewer, asked.stopped)
        paper = "_paper" if one.rules == "paper" else ""
        parts.append(
            f"""
            select {i} as subject, items.run, items."case", items.trial, items."at", items.title, items.about,
                   items.outcome{paper} as outcome, trials.observed_{one.rules} as observed,
                   items.trial = '' or trials.counts_{one.rules} as counts
            from items left join trials on (trials.run, trials."case", trials.trial)
                 = (items.run, items."case", items.trial) and items.trial <> ''
            where items.lab = ? and {where}
            """  # noqa: S608  our own names
        )
        values += [asked.lab, *given]
    places = range(len(asked.subjects))
    each = ", ".join(
        f"""
        avg(value) filter (subject = {i}) as value_{i}, count(*) filter (subject = {i}) as rows_{i},
        count(value) filter (subject = {i}) as times_{i},
        coalesce(list_sort(list(distinct outcome) filter (subject = {i})), []) as said_{i},
        arg_max({{'run': run, 'case': "case", 'trial': trial}}, "at") filter (subject = {i}) as place_{i}
        """
        for i in places
    )
    valued = " + ".join(f"(value_{i} is not null)::int" for i in places)
    all_values = ", ".join(f"value_{i}" for i in places)
    home, placed = "title", f"title <> '' and title not in ({_texts('', *judged.nameless)})"
    if judged.tail:
        tail = _texts(judged.tail)
        home = f"if(contains(title, {tail}), array_to_string(string_split(title, {tail})[:-2], {tail}), title)"
    whole, is_trial = asked.match == "whole" and not asked.same_rows, store.labs[asked.lab].item == "trial"
    row = ("run", '"case"', "trial") if asked.same_rows else ("''", "''", "''")
    if asked.same_rows:
        placed = "\"case\" <> ''"
    elif is_trial and not whole:
        placed += " and about <> ''"
    sql = f"""
        with rows as (
            select *, {home} as home, {placed} as placed,
                   case when not coalesce(counts, false) then null when outcome in ({_texts(*judged.good)}) then 1.0
                        when outcome in ({_texts(*judged.bad)}) then 0.0 end as value
            from ({" union all ".join(parts)})
        ),
        keyed as (
            select * replace ({"home" if whole else "title"} as title,
                              {"about" if is_trial and not whole else "''"} as about),
                   {row[0]} as at_run, {row[1]} as at_case, {row[2]} as at_trial
            from rows where placed
        ),
        each_item as (
            select {_KEY}, any_value(home) as home, {each} from keyed group by {_KEY}
        ),
        wide as (
            select *, {valued} as valued, case when {valued} < 2 then 'not shared'
                           when greatest({all_values}) - least({all_values}) > 1e-12 then 'parted'
                           else 'same' end as agree
            from each_item
        )
    """  # noqa: S608  our own names
    return sql, values


def _fixed(store: Store, asked: Asked, sql: str, values: list[object]) -> tuple[float, ...] | None:
    """Of the items with a value for all: how many the best fixed guess would have got of each subject."""
    if not judged_of(store, asked.lab).guessed:
        return None
    places = range(len(asked.subjects))
    there = " and ".join(f"value_{i} is not null" for i in places)
    found = f"""
        {sql}, observations as (
            select subject, observed, 1.0 / count(*) over (partition by subject, {_KEY}) as share
            from keyed where value is not null and ({_KEY}) in (select ({_KEY}) from wide where {there})
        )
        select subject, max(got) from (select subject, sum(share) as got from observations group by subject, observed)
        group by subject
    """  # noqa: S608  our own names
    with store.cursor() as cursor:
        got = dict(cursor.execute(found, values).fetchall())
    return tuple(float(got[i]) for i in places)


def _texts(*texts: str) -> str:
    """Texts that a lab declares, as SQL has them."""
    return ", ".join("'" + text.replace("'", "''") + "'" for text in texts)
