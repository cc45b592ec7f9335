"""Compares two to five subjects (models, methods, runs, rules, filters) on the items that they share: which items those
are, their outcomes, and by how much the subjects differ. `core.report.comparison_text` puts it into sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast, get_args
from urllib.parse import parse_qs

from ..charts.marks import EXTRA
from ..errors import ExplainError
from ..events import Rules
from ..labs.base.declared import FACETS, Comparability
from ..labs.base.lab import Lab
from ..models.ids import is_control
from ..rulesets import PARSER_NAMES, RULES
from ..statistics.comparisons import MOST, Pair, compare_cells, compare_pairs, corrected
from .filters import Filter, Values, condition, facet_of, from_query
from .listing import RowPlace, Selection, items_but
from .run_list import SEEN
from .schema import quoted
from .store import Store, used

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame


# Which rows of several runs are about the same thing: what they belong to, what was tested, and all else that must
# be equal. *Side by side* has its rows in memory while its runs go on (`match_tests`); *Compare* computes them in
# the database, with each subject's value (`rows`, `pivot`).


Match = Literal["exact", "whole"]


class TestedItem(NamedTuple):
    """What was tested: in which case, by its title and its id, and with which settings, as the store has them."""

    about: str = ""
    title: str = ""
    case: str = ""
    settings: Mapping[str, str] = {}


def home_in_sql(terms: Comparability) -> str:
    """SQL for `home`, except that a title that others cannot share stays as it is."""
    tail = quoted(terms.tail)
    split = f"array_to_string(string_split(title, {tail})[:-2], {tail})"
    return f"if(contains(title, {tail}), {split}, title)" if terms.tail else "title"


def home(title: str, terms: Comparability | None) -> str:
    """What a row of that title belongs to: the starter question, the paragraph, the function; '' if it is nothing that
    another row could share.
    """
    if terms is None or not terms.tail or terms.tail not in title:
        return "" if terms and title in terms.nameless else title
    return terms.tail.join(title.split(terms.tail)[:-1])


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


def match_tests(columns: Sequence[Sequence[TestedItem]], terms: Comparability | None) -> list[tuple[int | None, ...]]:
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
            key = (home(one.title, terms) or one.case, one.about, *(one.settings.get(name, "") for name in equal))
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
    but have no verdict, for example because the predictor failed its test, have a value too. `blind`: as in
    `Selection`.
    """

    subjects: tuple[Subject, ...]
    lab: str
    match: Match = "exact"
    viewer: str | None = None
    stopped: Sequence[str] = ()
    strata: tuple[str, ...] = ()
    doubtful: bool = False
    blind: Collection[tuple[str, str]] = ()

    @property
    def same_rows(self) -> bool:
        """Whether all subjects have the same rows, under different parsers."""
        return all(one.filter == self.subjects[0].filter for one in self.subjects)

    @property
    def by_whole(self) -> bool:
        """Whether an item is what rows belong to."""
        return self.match == "whole" and not self.same_rows


def comparability_of(store: Store, lab: str) -> Comparability:
    """How the rows of the lab are compared. Raises NotComparableError if they are not."""
    terms = store.labs[lab].listing.comparability if lab in store.labs else None
    if terms is None:
        raise NotComparableError(f"Results of {lab or 'no lab'} cannot be compared.")
    return terms


def of_each(store: Store, asked: ComparisonRequest, sql: str) -> list[tuple[Any, ...]]:
    """A row for each subject: the result of the SQL on its rows of the lab, which it calls `held`."""
    found = []
    for one in asked.subjects:
        rows = Selection(store, one.filter, asked.viewer, asked.stopped, asked.blind)
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
    terms, lab = comparability_of(store, asked.lab), store.labs[asked.lab]
    parts, values = [], Values({"viewer": asked.viewer, "stopped": list(asked.stopped), "lab": asked.lab})
    items = f"({items_but(asked.blind, values)}) items" if asked.blind else "items"
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
            from {items} where lab = $lab and {condition(one.filter, values)} and {one.filter.counted}
            """  # noqa: S608  our own names
        )
    home, placed = home_in_sql(terms), f"title <> '' and title not in ({quoted('', *terms.nameless)})"
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


By = Literal["model", "how", "wording", "owner", "run", "rules", "filter"]
"""What can be compared; also a column of a person's own file, as the facet "extra:<name>"."""


def most_shared(selected: Selection, by: str, among: Sequence[str]) -> list[str]:
    """The two values of the facet `by` with outcomes on the most items that both have, all else equal, of those
    `among` which to choose; robots only if there are no others. Empty if no two share an item.
    """
    pairs, counted = Counter[tuple[str, str]](), "true" if by == "model" else selected.filter.counted
    for name, lab in selected.store.labs.items():
        if (terms := lab.listing.comparability) is None:
            continue
        values = Values({"lab": name, "among": list(among)})
        facet = facet_of(by, values)
        assert facet is not None
        apart = ", ".join(f"coalesce({column(one)}, '')" for one in _settings(lab) if one != by)
        settled = quoted(*lab.that_mean("kept"), *lab.that_mean("broken"))
        found = selected.found(
            f"""
            , valued as (
                select {facet.value}::varchar as value, items.* from wanted items {facet.joined}
                where items.lab = $lab and counts and coalesce(doubt, '') = '' and outcome in ({settled}) and {counted}
            ), met as (
                select distinct value, {home_in_sql(terms)} as home, hash({apart}) as apart from valued items
                where list_contains($among, value) and title not in ({quoted("", *terms.nameless)})
            )
            select a.value, b.value, count(*) from met a join met b using (home, apart)
            where a.value < b.value group by 1, 2
            """,  # noqa: S608  our own names
            **values,
        )
        pairs.update({(first, second): n for first, second, n in found})
    robots = {pair: by == "model" and sum(map(is_control, pair)) for pair in pairs}
    best = min(pairs, key=lambda pair: (robots[pair], -pairs[pair], *map(among.index, pair)), default=())
    return sorted(best, key=among.index)


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
            if (known := store.labs.get(lab)) and known.listing.comparability:
                held.setdefault(lab, []).append(int(count))
    return {lab: sum(held[lab]) for lab in sorted(held, key=lambda lab: (-len(held[lab]), -sum(held[lab]), lab))}


def compare_query(
    store: Store,
    query: Mapping[str, Sequence[str]],
    viewer: str | None = None,
    stopped: Sequence[str] = (),
    blind: Collection[tuple[str, str]] = (),
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
    doubtful = list(query.get("doubtful", ())) == ["1"]
    asked = ComparisonRequest(chosen, lab, "exact", viewer, stopped, doubtful=doubtful, blind=blind)
    asked = replace(asked, strata=_strata(store, asked, by))
    terms, match = comparability_of(store, lab), (list(query.get("match", ())) or [""])[-1]
    if not terms.whole or asked.same_rows:
        return compare(store, asked)
    if match not in get_args(Match):
        match = "exact" if _is_given(store, asked, terms.given) else "whole"
    asked = replace(asked, match=cast(Match, match))
    compared = compare(store, asked)
    meet: dict[Match, int] = {
        one: compared.shared if one == match else _meeting(store, replace(asked, match=one)) for one in get_args(Match)
    }
    return replace(compared, meet=meet)


def _strata(store: Store, asked: ComparisonRequest, by: str) -> tuple[str, ...]:
    """What else must be equal for rows to match (`controlled`). For models, methods and wordings this is everything
    that was not chosen for comparison; otherwise the mean of one model would be compared with that of another.
    """
    names = [name for name in _settings(store.labs[asked.lab]) if name != by]
    columns = ", ".join(f"list(distinct coalesce({column(name)}, ''))" for name in names)
    # The columns that are looked up by run are computed only once for each run.
    of = f"(select distinct on (run, {', '.join(_PLAIN)}) * from held) items"  # noqa: S608  our own names
    held = of_each(store, asked, f"select {columns} from {of}")  # noqa: S608  our own names
    of_names = zip(*([set(values or ()) for values in row] for row in held), strict=True)
    return controlled(dict(zip(names, of_names, strict=True)), by in ("run", "filter", "rules"))


_PLAIN = ("model", *FACETS)


def _settings(lab: Lab) -> list[str]:
    """What may have to be equal: `_PLAIN`, and the model in each role whose judgements count."""
    return [*_PLAIN, *dict.fromkeys(f"as:{one.role}" for one in lab.listing.judgements if one.role)]


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
    terms, (sql, values) = comparability_of(store, asked.lab), rows(store, asked)
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
    doubtful = "select count(*) from held where counts and coalesce(doubt, '') <> ''"
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
        tuple(float(got) for _, got in guessed) if terms.guessed and guessed else None,
        int((items[[f"times_{i}" for i in places]] > 1).sum().sum()),
        items["key"].to_numpy(),
        cells=len(there),
        homes=int(there["home"].nunique()),
        robots=_robots(store, asked),
        doubtful=tuple(n for (n,) in of_each(store, asked, doubtful)),
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


def _robots(store: Store, asked: ComparisonRequest) -> int:
    """How many rows of robots are left out; the same rows under several parsers count once."""
    left = 0
    for subject in distinct_rows(asked.subjects):
        rows = Selection(store, subject.filter, asked.viewer, asked.stopped, asked.blind)
        count = f"select count(*) from wanted items where lab = $lab and not ({subject.filter.counted})"  # noqa: S608  our own names
        left += int(rows.found(count, lab=asked.lab)[0][0])
    return left
