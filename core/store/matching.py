"""Which rows of several runs are about the same thing: what they belong to, what was tested, and all else that must be
equal. *Side by side* has its rows in memory while its runs go on (`match_tests`); *Compare* computes them in the
database, with each subject's value (`rows`, `pivot`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..errors import ExplainError
from ..events import Rules
from ..labs.base.declared import FACETS, Judged
from .filters import Filter, Values, condition
from .listing import RowPlace, Selection
from .schema import quoted
from .store import Store

if TYPE_CHECKING:
    from pandas import DataFrame

Match = Literal["exact", "whole"]


class TestedItem(NamedTuple):
    """What was tested: in which case, by its title and its id, and with which settings, as the store has them."""

    about: str = ""
    title: str = ""
    case: str = ""
    settings: Mapping[str, str] = {}


def home_in_sql(judged: Judged) -> str:
    """SQL for `home`, except that a title that others cannot share stays as it is."""
    tail = quoted(judged.tail)
    split = f"array_to_string(string_split(title, {tail})[:-2], {tail})"
    return f"if(contains(title, {tail}), {split}, title)" if judged.tail else "title"


def home(title: str, judged: Judged | None) -> str:
    """What a row of that title belongs to: the starter question, the paragraph, the function; '' if it is nothing that
    another row could share.
    """
    if judged is None or not judged.tail or judged.tail not in title:
        return "" if judged and title in judged.nameless else title
    return judged.tail.join(title.split(judged.tail)[:-1])


def controlled(held: Mapping[str, Sequence[Set[str]]], are_named: bool) -> tuple[str, ...]:
    """The settings that must be equal for rows to match, given the values that each subject has for each of the
    settings `held`: those that are not the same everywhere. If the subjects were named as a whole (`are_named`),
    such as runs, a setting may differ between them if it is constant within each. A subject that asks no model at
    all, such as a baseline, matches any model.
    """
    equal = []
    for name, of_each in held.items():
        differs_as_named = are_named and all(len(values) < 2 for values in of_each)
        asks_none = (name == "model" or name.startswith("as:")) and not all(values - {""} for values in of_each)
        if not differs_as_named and not asks_none and len(set().union(*of_each)) > 1:
            equal.append(name)
    return tuple(equal)


def match_tests(columns: Sequence[Sequence[TestedItem]], judged: Judged | None) -> list[tuple[int | None, ...]]:
    """For each test, its positions in the columns, one column a run; None where a run lacks it. Tests that all runs
    have come first, in the order of the first run; a test that a run has twice is matched with the other's second.
    Without a name that others could share, cases are matched by their ids.
    """
    held = {name: [{one.settings.get(name, "") for one in run} for run in columns] for name in FACETS}
    equal = controlled(held, are_named=True)
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


class NotComparableError(ExplainError, ValueError):
    """These subjects cannot be compared; the message tells the person why."""


class Subject(NamedTuple):
    """One subject of a comparison: its name in the address, its rows, and the parser that it uses."""

    name: str
    filter: Filter
    rules: Rules = "repaired"


def distinct_rows(subjects: Sequence[Subject]) -> list[Subject]:
    """One subject for each set of rows: the same rows under several parsers appear once."""
    return [one for at, one in enumerate(subjects) if one.filter not in [before.filter for before in subjects[:at]]]


@dataclass(frozen=True)
class ComparisonRequest:
    """What is compared: `subjects` within the rows of `lab`, for this viewer.

    `match`: two rows are the same item if lab, title and what was tested are equal ("exact"), or if they belong to the
    same thing, such as the starter question ("whole": the mean of its rows is its value). Subjects with the same filter
    under several parsers are matched row by row. `strata` are what else must be equal for two rows to match: columns of
    the table `items`, and "as:<role>" for the model that their run asked in that role. `doubtful`: trials that count
    but have no verdict, for example because the predictor failed its test, have a value too.
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
        """Whether all subjects have the same rows, under different parsers."""
        return all(one.filter == self.subjects[0].filter for one in self.subjects)

    @property
    def by_whole(self) -> bool:
        """Whether an item is what rows belong to."""
        return self.match == "whole" and not self.same_rows


def judged_of(store: Store, lab: str) -> Judged:
    """How the rows of the lab are compared. Raises NotComparableError if they are not."""
    judged = store.labs[lab].listing.judged if lab in store.labs else None
    if judged is None:
        raise NotComparableError(f"Results of {lab or 'no lab'} cannot be compared.")
    return judged


def of_each(store: Store, asked: ComparisonRequest, sql: str) -> list[tuple[Any, ...]]:
    """A row for each subject: the result of the SQL on its rows of the lab, which it calls `held`."""
    found = []
    for one in asked.subjects:
        rows = Selection(store, one.filter, asked.viewer, asked.stopped)
        held = f", held as not materialized (select * from wanted items where lab = $lab and {one.filter.counted})"  # noqa: S608  our own names
        found += rows.found(f"{held} {sql}", lab=asked.lab)
    return found


NO_VERDICT = "no verdict"
"""How an outcome begins that counts but is in doubt; the reason follows."""

ITSELF = "the model itself"
"""The name for the measured model, if a run asked it in another role too."""


def column(stratum: str) -> str:
    """SQL for the value of a row of `items` that must be equal."""
    role = stratum.removeprefix("as:")
    if role == stratum:
        return f"items.{stratum}"
    asked = f"if(roles.model = items.model, {quoted(ITSELF)}, roles.model)"
    of_run = f"from roles where roles.run = items.run and role = {quoted(role)}"
    return f"(select string_agg({asked}, ', ' order by roles.model) {of_run})"


def matrix(store: Store, asked: ComparisonRequest, keys: Sequence[int] | None = None) -> DataFrame:
    """The items with the outcomes of each subject, selected by `keys` (`Compared.keys`) and in their order: `title`,
    `about`, `among` (what else is equal there, '' if nothing has to be) and `agree`; for each subject i `value_i`
    (the mean of its results), `times_i` (how many results have a value), `said_i` (all their outcomes), and
    `place_i`, the newest. Without `keys` it has all items, those on which subjects differ first. Items that no
    longer exist are left out.
    """
    sql, values = rows(store, asked)
    columns = ", ".join(f"value_{i}, times_{i}, said_{i}, place_{i}" for i in range(len(asked.subjects)))
    named = "" if keys is None else "where key in (select unnest($keys::ubigint[]))"
    asking = f"""
        with rows as ({sql}), wide as ({pivot(asked, f"(select * from rows {named})", _told(store, asked))})
        select key, title, about, among, agree, {columns} from wide order by {ORDER}
    """  # noqa: S608  our own names
    found = store.query(asking, {**values, "keys": keys if keys is None else list(map(int, keys))})
    for i in range(len(asked.subjects)):
        found[f"place_{i}"] = [RowPlace(**one) if isinstance(one, dict) else None for one in found[f"place_{i}"]]
    if keys is None:
        return found
    there = found.set_index("key")
    return there.loc[[key for key in map(int, keys) if key in there.index]]


AGREE = ("differ", "agree", "not shared")
"""What can be said of an item: its subjects differ, or agree, or fewer than two of them have a value."""

ORDER = "list_position(['differ', 'agree', 'not shared'], agree), valued desc, home, key"


def rows(store: Store, asked: ComparisonRequest) -> tuple[str, Values]:
    """SQL for the rows of all subjects, and its parameters. Columns: `subject`; `unit`, which identifies an item, and
    `key`, which identifies it together with all else that must be equal (null if the row is no item); `among`, what
    that is; the `home` that the item belongs to; its `value`; and columns of the table `items`.
    """
    judged, lab = judged_of(store, asked.lab), store.labs[asked.lab]
    parts, values = [], Values({"viewer": asked.viewer, "stopped": list(asked.stopped), "lab": asked.lab})
    in_doubt = "false" if asked.doubtful else "coalesce(doubt, '') <> ''"
    strata = [] if asked.same_rows else asked.strata
    among = ", ".join(f"nullif({column(one)}, '')" for one in strata) or "null"
    apart = ", ".join(f"coalesce({column(one)}, '')" for one in strata) or "''"
    for i, one in enumerate(asked.subjects):
        paper = "_paper" if one.rules == "paper" else ""
        parts.append(
            f"""
            select {i} as subject, run, "case", trial, "at", title, about, outcome{paper} as outcome,
                   observed{paper} as observed, counts{paper} as counts, {in_doubt} as in_doubt, doubt,
                   concat_ws(' · ', {among}) as among, hash({apart}) as apart
            from items where lab = $lab and {condition(one.filter, values)} and {one.filter.counted}
            """  # noqa: S608  our own names
        )
    home, placed = home_in_sql(judged), f"title <> '' and title not in ({quoted('', *judged.nameless)})"
    item = "title, about"
    if asked.same_rows:
        item, placed = 'run, "case", trial', "\"case\" <> ''"
    elif asked.by_whole:
        item = home
    elif lab.listing.row_unit == "trial":
        placed += " and about <> ''"
    else:
        item = "title"
    # Among a million items, the chance that two share a hash is 1 in 40 million; texts as keys take ten times as long.
    kept, broken = quoted(*lab.that_mean("kept")), quoted(*lab.that_mean("broken"))
    sql = f"""
        select * replace (if(in_doubt and counts, concat('{NO_VERDICT}: ', doubt), outcome) as outcome),
               if({placed}, hash({item}), null) as unit, {home} as home,
               if({placed}, hash({item}{", apart" if strata else ""}), null) as key,
               case when in_doubt or not coalesce(counts, false) then null when outcome in ({kept}) then 1.0
                    when outcome in ({broken}) then 0.0 end as value
        from ({" union all ".join(parts)})
    """  # noqa: S608  our own names
    return sql, values


def pivot(asked: ComparisonRequest, of: str, more: Sequence[str] = ()) -> str:
    """SQL that makes one row for each item from the rows `of`: `key`, `unit`, `home`, whether its subjects `agree` and
    how many are `valued`; for each subject `value_i`, `rows_i` and `times_i`; and the columns `more`.
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
    """The columns of an item that a reader is shown, for `pivot`."""
    has_about = store.labs[asked.lab].listing.row_unit == "trial" and not asked.by_whole
    columns = [f"any_value({'home' if asked.by_whole else 'title'}) as title"]
    columns.append(f"{'any_value(about)' if has_about else quoted('')} as about")
    columns.append("any_value(among) as among")
    for i in range(len(asked.subjects)):
        columns += [
            f"coalesce(list_sort(list(distinct outcome) filter (subject = {i})), []) as said_{i}",
            f"arg_max({{'run': run, 'case': \"case\", 'trial': trial}}, \"at\") filter (subject = {i}) as place_{i}",
        ]
    return columns
