"""Which rows of several runs are the same: what they belong to, what was put to the test, and all else that must be
equal. *Side by side* has its rows at hand, as its runs go on (`met`); *Compare* has them made in the database, with
each subject's value on them (`rows`, `wide`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..events import Rules
from ..labs.base.declared import FACETS, Judged
from ..models.ids import CONTROL
from .filters import Filter, Where, condition
from .listing import RowPlace
from .store import Store

if TYPE_CHECKING:
    from pandas import DataFrame

Match = Literal["exact", "whole"]


class TestedItem(NamedTuple):
    """What was put to the test: in which case, by its title and its id, and of what settings; as the store has it."""

    about: str = ""
    title: str = ""
    case: str = ""
    settings: Mapping[str, str] = {}


def home_in_sql(judged: Judged) -> str:
    """SQL of `home`, save that what no other could share has its title there."""
    tail = _texts(judged.tail)
    split = f"array_to_string(string_split(title, {tail})[:-2], {tail})"
    return f"if(contains(title, {tail}), {split}, title)" if judged.tail else "title"


def home(title: str, judged: Judged | None) -> str:
    """What a row of that title belongs to: the starter question, the paragraph, the function; '' where that is no one
    thing that another could share.
    """
    if judged is None or not judged.tail or judged.tail not in title:
        return "" if judged and title in judged.nameless else title
    return judged.tail.join(title.split(judged.tail)[:-1])


def else_equal(held: Mapping[str, Sequence[Set[str]]], are_named: bool) -> tuple[str, ...]:
    """The settings, of those `held` with the values that each subject has of them, which must be equal where rows meet:
    those that are not the same everywhere. What somebody named as a whole, such as a run, may differ as a whole; in it,
    what varies must be equal. Where one of the subjects asks no model at all, as a baseline does, it meets any.
    """
    equal = []
    for name, of_each in held.items():
        differs_as_named = are_named and all(len(values) < 2 for values in of_each)
        asks_none = (name == "model" or name.startswith("as:")) and not all(values - {""} for values in of_each)
        if not differs_as_named and not asks_none and len(set().union(*of_each)) > 1:
            equal.append(name)
    return tuple(equal)


def met(columns: Sequence[Sequence[TestedItem]], judged: Judged | None) -> list[tuple[int | None, ...]]:
    """Of each test the places that it has in the columns, which are a run each; None where it is not in one. What all
    have comes first, in the order of the first run; what a run has twice meets the other's second. What has no name
    that another could share meets the case of the same id.
    """
    held = {name: [{one.settings.get(name, "") for one in run} for run in columns] for name in FACETS}
    equal = else_equal(held, are_named=True)
    keyed: list[dict[Hashable, int]] = []
    for run in columns:
        seen, places = Counter[Hashable](), dict[Hashable, int]()
        for place, one in enumerate(run):
            key = (home(one.title, judged) or one.case, one.about, *(one.settings.get(name, "") for name in equal))
            seen[key] += 1
            places[key, seen[key]] = place
        keyed.append(places)
    rows = [tuple(places.get(key) for places in keyed) for key in dict.fromkeys(key for run in keyed for key in run)]
    return sorted(rows, key=lambda row: None in row)


class NotComparable(ValueError):
    """These cannot be compared, in words for the person."""


class Subject(NamedTuple):
    """One of those that are compared: its name in the address, the rows it has, and the rules they are read by."""

    name: str
    filter: Filter
    rules: Rules = "repaired"

    @property
    def has_robots(self) -> bool:
        """Whether robots are compared too: where models or runs are named. Else a mean over models would be of them."""
        return bool(self.filter.chosen.get("model") or self.filter.runs)


def apart(subjects: Sequence[Subject]) -> list[Subject]:
    """One of those that have the same rows, read by several rules."""
    return [one for at, one in enumerate(subjects) if one.filter not in [before.filter for before in subjects[:at]]]


@dataclass(frozen=True)
class ComparisonRequest:
    """What is compared: `subjects` within the rows of `lab`, for the viewer that lists are made for.

    `match`: two rows are one item where the lab, the title and what was put to the test are the same ("exact"), or
    where what they belong to is, such as the starter question ("whole": the mean of its rows is its value). Subjects
    that are one filter read by several rules meet row by row. `strata` are what else must be equal where two rows
    meet: columns of the table `items`, and "as:<role>" for whom their run asked as that. `doubtful`: what counts but
    is no verdict, as where the predictor failed its test, has a value too.
    """

    subjects: tuple[Subject, ...]
    lab: str
    match: Match = "exact"
    viewer: str | None = None
    stopped: Sequence[str] = ()
    strata: tuple[str, ...] = ()
    doubtful: bool = False

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
    return (sql if subject.has_robots else f"{sql} and not {ROBOT}"), values


def of_each(store: Store, asked: ComparisonRequest, asking: str) -> list[tuple[Any, ...]]:
    """A row for each subject: what the SQL `asking` gives of its rows of the lab, which it calls `held`."""
    found = []
    for subject in asked.subjects:
        sql, values = where(subject, asked.viewer, asked.stopped)
        held = f"with held as not materialized (select * from items where lab = ? and {sql})"  # noqa: S608  our own names
        found += store.rows(f"{held} {asking}", [asked.lab, *values])
    return found


NO_VERDICT = "no verdict"
"""What an outcome begins with that counts and is in doubt; why follows."""

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


def matrix(store: Store, asked: ComparisonRequest, keys: Sequence[int] | None = None) -> DataFrame:
    """Outcomeems, named by `keys` (`Compared.keys`) and in their order: `title`, `about`, `among` (what else is
    equal there, '' where nothing need be) and `agree`; of each subject i `value_i` (the mean of its results), `times_i`
    (how many have a value), `said_i` (the outcomes of all of them), and `place_i`, the newest. Without `keys` all,
    those on which subjects differ first. What is gone is left out.
    """
    sql, values = rows(store, asked)
    columns = ", ".join(f"value_{i}, times_{i}, said_{i}, place_{i}" for i in range(len(asked.subjects)))
    named = "" if keys is None else "where key in (select unnest(?::ubigint[]))"
    asking = f"""
        with rows as ({sql}), wide as ({wide(asked, f"(select * from rows {named})", _told(store, asked))})
        select key, title, about, among, agree, {columns} from wide order by {ORDER}
    """  # noqa: S608  our own names
    found = store.query(asking, [*values, *([] if keys is None else [list(map(int, keys))])])
    for i in range(len(asked.subjects)):
        found[f"place_{i}"] = [RowPlace(**one) if isinstance(one, dict) else None for one in found[f"place_{i}"]]
    if keys is None:
        return found
    there = found.set_index("key")
    return there.loc[[key for key in map(int, keys) if key in there.index]]


AGREE = ("differ", "agree", "not shared")
"""What can be said of an item: its subjects differ, or agree, or fewer than two of them have a value."""

ORDER = "list_position(['differ', 'agree', 'not shared'], agree), valued desc, home, key"


def rows(store: Store, asked: ComparisonRequest) -> tuple[str, list[object]]:
    """SQL of the rows of all subjects, and its values: `subject`, the `unit` that is one item and its `key` among those
    of which all else is equal too (null where the row is no item), what that is (`among`), the `home` that it belongs
    to, its `value`, and what the table `items` says of it.
    """
    judged, lab = judged_of(store, asked.lab), store.labs[asked.lab]
    parts, values = [], list[object]()
    in_doubt = "false" if asked.doubtful else "coalesce(doubt, '') <> ''"
    strata = [] if asked.same_rows else asked.strata
    among = ", ".join(f"nullif({column(one)}, '')" for one in strata) or "null"
    apart = ", ".join(f"coalesce({column(one)}, '')" for one in strata) or "''"
    for i, one in enumerate(asked.subjects):
        wanted, given = where(one, asked.viewer, asked.stopped)
        paper = "_paper" if one.rules == "paper" else ""
        parts.append(
            f"""
            select {i} as subject, run, "case", trial, "at", title, about, outcome{paper} as outcome,
                   observed{paper} as observed, counts{paper} as counts, {in_doubt} as in_doubt, doubt,
                   concat_ws(' · ', {among}) as among, hash({apart}) as apart
            from items where lab = ? and {wanted}
            """  # noqa: S608  our own names
        )
        values += [asked.lab, *given]
    home, placed = home_in_sql(judged), f"title <> '' and title not in ({_texts('', *judged.nameless)})"
    item = "title, about"
    if asked.same_rows:
        item, placed = 'run, "case", trial', "\"case\" <> ''"
    elif asked.by_whole:
        item = home
    elif lab.item == "trial":
        placed += " and about <> ''"
    else:
        item = "title"
    # Of a million items two have one hash by a chance of 1 in 40 million; texts as keys take ten times as long.
    kept, broken = _texts(*lab.that_mean("kept")), _texts(*lab.that_mean("broken"))
    sql = f"""
        select * replace (if(in_doubt and counts, concat('{NO_VERDICT}: ', doubt), outcome) as outcome),
               if({placed}, hash({item}), null) as unit, {home} as home,
               if({placed}, hash({item}{", apart" if strata else ""}), null) as key,
               case when in_doubt or not coalesce(counts, false) then null when outcome in ({kept}) then 1.0
                    when outcome in ({broken}) then 0.0 end as value
        from ({" union all ".join(parts)})
    """  # noqa: S608  our own names
    return sql, values


def wide(asked: ComparisonRequest, of: str, more: Sequence[str] = ()) -> str:
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
                       when greatest({all_values}) - least({all_values}) > 1e-12 then 'differ'
                       else 'agree' end as agree
        from (
            select {", ".join(["key", "any_value(unit) as unit", "any_value(home) as home", each, *more])}
            from {of} where key is not null group by key
        )
    """  # noqa: S608  our own names


def _told(store: Store, asked: ComparisonRequest) -> list[str]:
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
