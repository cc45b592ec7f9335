"""The items that two to five subjects share, made in the database: which rows are one item, and each subject's value
on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from core.events import Rules
from core.lab import Judged
from core.models.ids import CONTROL
from core.store.filters import Filter, Where, condition
from core.store.listing import Place
from core.store.store import Store

if TYPE_CHECKING:
    from pandas import DataFrame

Match = Literal["exact", "whole"]


class NotComparable(ValueError):
    """These cannot be compared, in words for the person."""


class Subject(NamedTuple):
    """One of those that are compared: its name in the address, the rows it has, and the rules they are read by.
    `robots`: whether rows of robots are among them.
    """

    name: str
    filter: Filter
    rules: Rules = "repaired"
    robots: bool = True


@dataclass(frozen=True)
class Asked:
    """What is compared: `subjects` within the rows of `lab`, for the viewer that lists are made for.

    `match`: two rows are one item where the lab, the title and what was put to the test are the same ("exact"), or
    where what they belong to is, such as the starter question ("whole": the mean of its rows is its value). Subjects
    that are one filter read by several rules meet row by row. `strata` are what else must be equal where two rows
    meet: columns of the table `items`, and "as:<role>" for whom their run asked as that.
    """

    subjects: tuple[Subject, ...]
    lab: str
    match: Match = "exact"
    viewer: str | None = None
    stopped: Sequence[str] = ()
    strata: tuple[str, ...] = ()

    @property
    def same_rows(self) -> bool:
        """Whether all subjects have the same rows, read otherwise."""
        return all(one.filter == self.subjects[0].filter for one in self.subjects)

    @property
    def by_whole(self) -> bool:
        """Whether an item is what rows belong to."""
        return self.match == "whole" and not self.same_rows


def judged_of(store: Store, lab: str) -> Judged:
    """How the rows of the lab are compared. Raises NotComparable where they are not."""
    judged = store.labs[lab].judged if lab in store.labs else None
    if judged is None:
        raise NotComparable(f"Results of {lab or 'no lab'} cannot be compared.")
    return judged


def where(subject: Subject, viewer: str | None, stopped: Sequence[str] = ()) -> Where:
    """Which rows of `items` the subject has, as `condition` says it."""
    sql, values = condition(subject.filter, viewer, stopped)
    return (sql if subject.robots else f"{sql} and not {ROBOT}"), values


ROBOT = f"starts_with(items.model, '{CONTROL}')"

ITSELF = "the model itself"
"""Whom a run asked where it asked the model that is measured."""


def column(stratum: str) -> str:
    """SQL of what of a row of `items` must be equal."""
    role = stratum.removeprefix("as:")
    if role == stratum:
        return f"items.{stratum}"
    asked = f"if(roles.model = items.model, {_texts(ITSELF)}, roles.model)"
    of_run = f"from roles where roles.run = items.run and role = {_texts(role)}"
    return f"(select string_agg({asked}, ', ' order by roles.model) {of_run})"


def matrix(store: Store, asked: Asked, keys: Sequence[int] | None = None) -> DataFrame:
    """What came of items, named by `keys` (`Compared.keys`) and in their order: `title`, `about`, `among` (what else is
    equal there, '' where nothing need be) and `agree`; of each subject i `value_i` (the mean of its results), `times_i`
    (how many have a value), `said_i` (the outcomes of all of them), and `place_i`, the newest. Without `keys` all,
    those on which subjects part first. What is gone is left out.
    """
    sql, values = rows(store, asked)
    columns = ", ".join(f"value_{i}, times_{i}, said_{i}, place_{i}" for i in range(len(asked.subjects)))
    named = "" if keys is None else "where key in (select unnest(?::ubigint[]))"
    asking = f"""
        with rows as ({sql}), wide as ({wide(asked, f"(select * from rows {named})", _told(store, asked))})
        select key, title, about, among, agree, {columns} from wide order by {ORDER}
    """  # noqa: S608  our own names
    found = store.query(asking, [*values, *([] if keys is None else [list(map(int, keys))])], rows=None)
    for i in range(len(asked.subjects)):
        found[f"place_{i}"] = [Place(**one) if isinstance(one, dict) else None for one in found[f"place_{i}"]]
    if keys is None:
        return found
    there = found.set_index("key")
    return there.loc[[key for key in map(int, keys) if key in there.index]]


ORDER = "case agree when 'parted' then 0 when 'same' then 1 else 2 end, valued desc, home, key"


def rows(store: Store, asked: Asked) -> tuple[str, list[object]]:
    """SQL of the rows of all subjects, and its values: `subject`, the `unit` that is one item and its `key` among those
    of which all else is equal too (null where the row is no item), what that is (`among`), the `home` that it belongs
    to, its `value`, and what the table `items` says of it.
    """
    judged = judged_of(store, asked.lab)
    parts, values = [], list[object]()
    strata = [] if asked.same_rows else asked.strata
    among = ", ".join(f"nullif({column(one)}, '')" for one in strata) or "null"
    apart = ", ".join(f"coalesce({column(one)}, '')" for one in strata) or "''"
    for i, one in enumerate(asked.subjects):
        wanted, given = where(one, asked.viewer, asked.stopped)
        paper = "_paper" if one.rules == "paper" else ""
        parts.append(
            f"""
            select {i} as subject, run, "case", trial, "at", title, about, outcome{paper} as outcome,
                   observed{paper} as observed, counts{paper} as counts,
                   concat_ws(' · ', {among}) as among, hash({apart}) as apart
            from items where lab = ? and {wanted}
            """  # noqa: S608  our own names
        )
        values += [asked.lab, *given]
    home, placed = "title", f"title <> '' and title not in ({_texts('', *judged.nameless)})"
    if judged.tail:
        tail = _texts(judged.tail)
        home = f"if(contains(title, {tail}), array_to_string(string_split(title, {tail})[:-2], {tail}), title)"
    item = "title, about"
    if asked.same_rows:
        item, placed = 'run, "case", trial', "\"case\" <> ''"
    elif asked.by_whole:
        item = home
    elif store.labs[asked.lab].item == "trial":
        placed += " and about <> ''"
    else:
        item = "title"
    # Of a million items two have one hash by a chance of 1 in 40 million; texts as keys take ten times as long.
    sql = f"""
        select *, if({placed}, hash({item}), null) as unit, {home} as home,
               if({placed}, hash({item}{", apart" if strata else ""}), null) as key,
               case when not coalesce(counts, false) then null when outcome in ({_texts(*judged.good)}) then 1.0
                    when outcome in ({_texts(*judged.bad)}) then 0.0 end as value
        from ({" union all ".join(parts)})
    """  # noqa: S608  our own names
    return sql, values


def wide(asked: Asked, of: str, more: Sequence[str] = ()) -> str:
    """SQL of a row an item, from `of` such rows: `key`, `unit`, `home`, whether its subjects `agree` and how many are
    `valued`; of each subject `value_i`, `rows_i` and `times_i`; and what `more` asks.
    """
    places = range(len(asked.subjects))
    each = ", ".join(
        f"avg(value) filter (subject = {i}) as value_{i}, count(*) filter (subject = {i}) as rows_{i}, "
        f"count(value) filter (subject = {i}) as times_{i}"
        for i in places
    )
    valued = " + ".join(f"(value_{i} is not null)::int" for i in places)
    all_values = ", ".join(f"value_{i}" for i in places)
    return f"""
        select *, {valued} as valued, case when {valued} < 2 then 'not shared'
                       when greatest({all_values}) - least({all_values}) > 1e-12 then 'parted'
                       else 'same' end as agree
        from (
            select {", ".join(["key", "any_value(unit) as unit", "any_value(home) as home", each, *more])}
            from {of} where key is not null group by key
        )
    """  # noqa: S608  our own names


def _told(store: Store, asked: Asked) -> list[str]:
    """What a reader is shown of an item, as `wide` asks it."""
    has_about = store.labs[asked.lab].item == "trial" and not asked.by_whole
    columns = [f"any_value({'home' if asked.by_whole else 'title'}) as title"]
    columns.append(f"{'any_value(about)' if has_about else _texts('')} as about")
    columns.append("any_value(among) as among")
    for i in range(len(asked.subjects)):
        columns += [
            f"coalesce(list_sort(list(distinct outcome) filter (subject = {i})), []) as said_{i}",
            f"arg_max({{'run': run, 'case': \"case\", 'trial': trial}}, \"at\") filter (subject = {i}) as place_{i}",
        ]
    return columns


def _texts(*texts: str) -> str:
    """Texts that a lab declares, as SQL has them."""
    return ", ".join("'" + text.replace("'", "''") + "'" for text in texts)
