"""Two to five subjects (models, methods, runs, rules, filters) on the items that they share: which items those are,
what came of them, and by how much the subjects differ. `core.store.compared_in_words` says it in sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal, NamedTuple, cast, get_args
from urllib.parse import parse_qs

from core.events import Rules
from core.statistics import Pair
from core.statistics.subjects import MOST, compare_pairs
from core.store.filters import Filter, condition, from_query
from core.store.shared import ORDER, Asked, NotComparable, Subject, judged_of, rows, wide
from core.store.store import Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

By = Literal["model", "how", "wording", "owner", "run", "rules", "filter"]

RULE_NAMES: dict[str, Rules] = {"repaired rules": "repaired", "paper rules": "paper"}


@dataclass(frozen=True)
class Compared:
    """What was found. Every list has an entry for each subject of `asked`, in that order.

    - `pairs` hold places in that list; a subject without an item is in none.
    - `rows` as filtered; `unplaced`: those of them that are no item: nothing was put to the test in them, or their
      title names no one thing.
    - `items`: how many are "parted", "same" or "not shared". `shared`: those with a value for every subject; `true`:
      the sum of these values, `fixed`: what it would be at best for one fixed guess, None where nothing is guessed or
      shared. `averaged`: how often a subject has more than one result on an item. `keys` name the items for `matrix`,
      those on which subjects part first.
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
    keys: NDArray[np.uint64] = field(compare=False, repr=False)


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
        found |= {run: Line(*fields) for run, *fields in rows}
    return found


def labs(store: Store, subjects: Sequence[Subject], viewer: str | None, stopped: Sequence[str] = ()) -> dict[str, int]:
    """The labs whose rows can be compared, with how many rows the subjects have: those in which most have any first.
    The same rows, read by several rules, count once.
    """
    held: dict[str, list[int]] = {}
    with store.cursor() as cursor:
        for place, one in enumerate(subjects):
            if one.filter in [before.filter for before in subjects[:place]]:
                continue
            sql, values = condition(one.filter, viewer, stopped)
            found = cursor.execute(f"select lab, count(*) from items where {sql} group by lab", values)  # noqa: S608  our own names
            for lab, count in found.fetchall():
                if (known := store.labs.get(lab)) and known.judged:
                    held.setdefault(lab, []).append(int(count))
    return {lab: sum(held[lab]) for lab in sorted(held, key=lambda lab: (-len(held[lab]), -sum(held[lab]), lab))}


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
    places = range(len(asked.subjects))
    if not 2 <= len(places) <= MOST:
        raise NotComparable(f"Choose two to {MOST} to compare.")
    judged, (sql, values) = judged_of(store, asked.lab), rows(store, asked)
    columns = ", ".join(f"value_{i}, rows_{i}, times_{i}" for i in places)
    of_all = " and ".join(f"value_{i} is not null" for i in places)
    with store.limited() as cursor:
        cursor.execute(
            f"""
            create temp table placed as with rows as ({sql}), homes as (
                select home, row_number() over (order by home) as place from (select distinct home from rows)
            )
            select subject, key, place as home, value, observed from rows join homes using (home)
            """,  # noqa: S608  our own names
            values,
        )
        cursor.execute(f"create temp table wide as {wide(asked, 'placed')}")
        items = cursor.execute(f"select key, home, agree, {columns} from wide order by {ORDER}").df()  # noqa: S608  our own names
        tally = cursor.execute("select subject, count(*), count(*) - count(key) from placed group by 1").fetchall()
        guessed = cursor.execute(
            f"""
            select subject, max(got) from (
                select subject, sum(1.0 / [{", ".join(f"times_{i}" for i in places)}][subject + 1]) as got
                from placed join wide using (key) where value is not null and {of_all} group by subject, observed
            ) group by subject order by subject
            """  # noqa: S608  our own names
        ).fetchall()
    counted = {subject: (rows, unplaced) for subject, rows, unplaced in tally}
    some = [i for i in places if i in counted]
    has = items[[f"rows_{i}" for i in some]].set_axis(some, axis=1) > 0
    table = items[[f"value_{i}" for i in some]].set_axis(some, axis=1)
    there = items[[f"value_{i}" for i in places]].dropna()
    return Compared(
        asked,
        compare_pairs(table, has, items["home"]),
        tuple(counted.get(i, (0, 0))[0] for i in places),
        tuple(counted.get(i, (0, 0))[1] for i in places),
        {name: int((items["agree"] == name).sum()) for name in ("parted", "same", "not shared")},
        len(there),
        tuple(float(there[f"value_{i}"].sum()) for i in places),
        tuple(float(got) for _, got in guessed) if judged.guessed and guessed else None,
        int((items[[f"times_{i}" for i in places]] > 1).sum().sum()),
        items["key"].to_numpy(),
    )
