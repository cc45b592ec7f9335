"""The items that two to five subjects share, made in the database: which rows are one item, and each subject's value
on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from core.events import Rules
from core.lab import Judged
from core.store.filters import Filter, condition
from core.store.listing import PAGE, Place
from core.store.store import Store

if TYPE_CHECKING:
    from pandas import DataFrame

Match = Literal["exact", "whole"]


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


def judged_of(store: Store, lab: str) -> Judged:
    """How the rows of the lab are compared. Raises NotComparable where they are not."""
    judged = store.labs[lab].judged if lab in store.labs else None
    if judged is None:
        raise NotComparable(f"Results of {lab or 'no lab'} cannot be compared.")
    return judged


def matrix(store: Store, asked: Asked, page: int = 1, limit: int | None = PAGE) -> DataFrame:
    """A page of the items, from 1, those on which subjects part first: `title`, `about` and `agree`; of each subject i
    `value_i` (the mean of its results), `times_i` (how many have a value), `said_i` (the outcomes of all of them), and
    `place_i`, the newest. With no limit every item.
    """
    sql, values = items(store, asked)
    columns = ", ".join(f"value_{i}, times_{i}, said_{i}, place_{i}" for i in range(len(asked.subjects)))
    paged = f"limit {limit:d} offset {(page - 1) * limit:d}" if limit is not None else ""
    asking = f"{sql} select title, about, agree, {columns} from wide order by {ORDER} {paged}"  # noqa: S608  our own names
    found = store.query(asking, values, rows=None)
    for i in range(len(asked.subjects)):
        found[f"place_{i}"] = [Place(**one) if isinstance(one, dict) else None for one in found[f"place_{i}"]]
    return found


_KEY = "title, about, at_run, at_case, at_trial"
ORDER = f"case agree when 'parted' then 0 when 'same' then 1 else 2 end, valued desc, {_KEY}"


def items(store: Store, asked: Asked) -> tuple[str, list[object]]:
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


def fixed_guess(store: Store, asked: Asked, sql: str, values: list[object]) -> tuple[float, ...] | None:
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
