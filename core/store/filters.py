"""One set of filters for cases, runs and counts, which an address can hold as its query.

Unknown parameters of an address are ignored, so that old links still work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import NamedTuple

from ..charts.marks import EXTRA
from ..labs.base.declared import FACETS
from ..models.ids import CONTROL
from ..runs.library import IMPORTED
from .run_list import REPLACED, SEEN

TITLES = {
    "lab": "Lab",
    "model": "Model",
    "outcome": "Outcome",
    **FACETS,
    "reason": "Excluded, because",
    "error": "A call failed",
    "status": "Run",
    "doubt": "In doubt",
    "differs": "Original and updated parser",
    "label": "Labelled",
    "tag": "Tag",
    "played": "Played, in the pack",
    "owner": "Made by",
    "study": "Study",
}
"""The facets that are filtered by values, in the order on the screen."""

KIND = "kind:"
"""Begins the facet of rows grouped by meaning (core/store/kinds.py)."""

LABEL = "label:"
"""Begins the facet of a label scheme by one labeller: `label:<scheme>@<who>`. `who` is the name under which a person's
labels are stored, or the run of a judge model.
"""


OWN_LABELS = f"""
    select run, "case", who, scheme, kind, string_agg(distinct label, ', ' order by label) as labels from (
        select about as run, "case", who, kind, split_part(value, ': ', 1) as scheme,
               substr(value, length(split_part(value, ': ', 1)) + 3) as label
        from labels where trial = ''
             and (kind = 'own' or (kind = 'judge' and who in (select run from runs where {SEEN})))
    ) group by all
"""  # noqa: S608  our own names
"""People's own labels of cases, and those of the judge models whose runs $viewer may see; several of one labeller are
joined by commas.
"""


def label_facet(scheme: str, who: str) -> str:
    """The name of the facet of that labeller's labels under a scheme."""
    return f"{LABEL}{scheme}@{who}"


FLAGS = ("deep", "recordings", "hidden", "older")
"""Boolean fields of a filter; an address has them as 1 if they are set."""

MOST_VALUES, LONGEST = 50, 500
"""The most values of one facet, and the most characters of a value, that an address may hold."""


ROBOT = f"starts_with(items.model, '{CONTROL}')"


class Range(NamedTuple):
    """Bounds for a figure's value by the updated parser: from `low` to `high`; None is no bound."""

    metric: str
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Filter:
    """Selects rows of `items`.

    - `chosen`: for each facet (one of TITLES, "as:<role>" for the model that a run asked in that role,
      "extra:<name>" for a column of a person's own file, "kind:<id>" for rows grouped by meaning, or a `label_facet`)
      the values of which a row must have one.
    - `text`: words that must all appear in question, prediction, answer or explanation, and with `deep` also in any
      prompt or raw answer; words in double quotes must appear together.
    - `since`, `until`: the first and the last day; None is no bound.
    - `ranges`: bounds for figures of the case, or of its run if the case has none of its own.
    - `runs`: only these runs, if it is not empty.
    - `recordings`: the runs that came with the app, instead of all others.
    - `hidden`: the runs that their owners hid, instead of all others.
    - `older`: the runs that were parsed again later, instead of all others, so that a run counts once. Runs selected by
      `runs` or by a study are never left out for this.
    """

    chosen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    text: str = ""
    deep: bool = False
    since: date | None = None
    until: date | None = None
    ranges: tuple[Range, ...] = ()
    runs: tuple[str, ...] = ()
    recordings: bool = False
    hidden: bool = False
    older: bool = False

    @property
    def is_everything(self) -> bool:
        """Whether nothing is filtered out."""
        return self == Filter(recordings=self.recordings, hidden=self.hidden, older=self.older)

    @property
    def counted(self) -> str:
        """SQL for the rows of `items` that count in a comparison or an audit: robots' rows only if models or runs are
        chosen. Otherwise a mean over models would include robots.
        """
        return "true" if self.chosen.get("model") or self.runs else f"not {ROBOT}"

    def without(self, facet: str) -> Filter:
        """A copy that does not filter by the facet."""
        return replace(self, chosen={name: values for name, values in self.chosen.items() if name != facet})

    def choosing(self, facet: str, values: Sequence[str]) -> Filter:
        """A copy with these values of the facet; without any, it does not filter by the facet."""
        rest = self.without(facet)
        return replace(rest, chosen={**rest.chosen, facet: tuple(values)}) if values else rest

    def query(self) -> dict[str, list[str]]:
        """The parameters of an address for this filter, without those that filter nothing."""
        address = {name: list(values) for name, values in self.chosen.items() if values}
        texts = {
            "text": self.text,
            "since": self.since and self.since.isoformat(),
            "until": self.until and self.until.isoformat(),
            **{flag: "1" if getattr(self, flag) else "" for flag in FLAGS},
        }
        address |= {name: [text] for name, text in texts.items() if text}
        if self.ranges:
            address["score"] = [f"{score.metric}:{_number(score.low)}:{_number(score.high)}" for score in self.ranges]
        if self.runs:
            address["only"] = list(self.runs)
        return address


def from_query(query: Mapping[str, Sequence[str]]) -> Filter:
    """The filter that an address asks for; see `Filter.query`."""
    chosen = {
        name: tuple(value for value in dict.fromkeys(values) if len(value) <= LONGEST)[:MOST_VALUES]
        for name, values in query.items()
        if (name in TITLES or name.startswith(("as:", EXTRA, KIND, LABEL))) and len(name) <= LONGEST and values
    }
    return Filter(
        chosen=chosen,
        text=_last(query, "text")[:LONGEST],
        since=_day(_last(query, "since")),
        until=_day(_last(query, "until")),
        ranges=tuple(_ranges(query.get("score", ()))),
        runs=tuple(run for run in query.get("only", ()) if len(run) <= LONGEST)[:MOST_VALUES],
        **{flag: _last(query, flag) == "1" for flag in FLAGS},
    )


class Values(dict[str, object]):
    """The values of the named parameters of a query."""

    def __call__(self, value: object) -> str:
        """Add a value, and return the parameter that stands for it in SQL."""
        name = f"v{len(self)}"
        self[name] = value
        return f"${name}"


class Facet(NamedTuple):
    """Where the values of a facet are: the SQL `value`, of the rows of `source`. They belong to the rows of `items`
    with the same `key` (columns); without a key, they are values of `items` itself.
    """

    value: str
    source: str = "items"
    key: str = ""

    @property
    def joined(self) -> str:
        """The `join` of `items` with the source."""
        return f"join {self.source} using ({self.key})" if self.key else ""

    def is_any(self, given: str) -> str:
        """The condition for rows of `items` with one of the `given` values (a parameter)."""
        if not self.key:
            return f"{self.value} = any({given})"
        ours = ", ".join(f"items.{column}" for column in self.key.split(", "))
        return f"({ours}) in (select ({self.key}) from {self.source} where {self.value} = any({given}))"  # noqa: S608  our own names


def facet_of(name: str, values: Values) -> Facet | None:
    """Where the values of the facet of that name are; None if there is none. Its parameters are added to `values`."""
    if name in _OF_ITEMS:
        return Facet(_OF_ITEMS[name])
    if name in _OF_RUNS:
        return Facet(_OF_RUNS[name], "runs", "run")
    if name in _SAID:
        given = f"""select distinct about as run, "case", trial, value from labels where kind = '{_SAID[name]}'"""  # noqa: S608  our own names
        return Facet("value", f"({given}) given", 'run, "case", trial')
    if name.startswith("as:"):
        return Facet("model", f"(select * from roles where role = {values(name[3:])}) roles", "run")  # noqa: S608  our own names
    if name.startswith(EXTRA):
        given = f"select * from extra_columns where name = {values(name.removeprefix(EXTRA))}"  # noqa: S608  our own names
        return Facet("value", f"({given}) extra_columns", 'run, "case"')
    if name.startswith(KIND):
        given = f"select * from kinds where clustering = {values(name.removeprefix(KIND))}"  # noqa: S608  our own names
        return Facet("kind", f"({given}) kinds", 'run, "case", trial')
    if name.startswith(LABEL):
        scheme, _, who = name.removeprefix(LABEL).rpartition("@")
        given = f"""
            select distinct about as run, "case", substr(value, length({values(scheme)}) + 3) as value from labels
            where kind in ('own', 'judge') and trial = '' and who = {values(who)}
                  and starts_with(value, {values(scheme)} || ': ')
        """  # noqa: S608  our own names
        return Facet("value", f"({given}) own_labels", 'run, "case"')
    return None


def condition(wanted: Filter, values: Values, in_calls: Callable[[str], str] | None = None) -> str:
    """The condition for the wanted rows of `items` (under that name), in runs that $viewer may see (null: all runs).
    $stopped: runs that are `running` according to their journals, but whose process is gone. Further parameters are
    added to `values`. `in_calls` gives the `rows_in_calls` of a phrase, if they were searched before.
    """
    runs = [f"about = '' and recording = {values(wanted.recordings)} and {SEEN}"]
    runs.append(f"run {'in' if wanted.hidden else 'not in'} ({HIDDEN})")
    if wanted.older or not (wanted.runs or "study" in wanted.chosen):
        runs.append(f"run {'in' if wanted.older else 'not in'} ({REPLACED})")
    here = [f"items.run in (select run from runs where {' and '.join(runs)})"]  # noqa: S608  our own names
    for name, chosen in wanted.chosen.items():
        given = values(list(chosen))
        if name == "outcome":
            here.append(f"(items.outcome = any({given}) or {_KIND} = any({given}))")
        elif facet := facet_of(name, values):
            here.append(facet.is_any(given))
    if wanted.since:
        here.append(f'items."at" >= {values(wanted.since)}')
    if wanted.until:
        here.append(f'items."at" < {values(wanted.until)}::date + 1')
    if wanted.runs:
        here.append(f"items.run = any({values(list(wanted.runs))})")
    here += [_in_range(bounds, values) for bounds in wanted.ranges]
    for words in phrases(wanted.text):
        given, deeper = values(words), ""
        if wanted.deep and in_calls:
            # The last place stands for rows that came after the search.
            found = f"{values(in_calls(words))}::bit"
            deeper = f"get_bit({found}, least(items.rowid, length({found}) - 1)::int) = 1"
        elif wanted.deep:
            deeper = f"items.rowid in ({_deep(words, given)})"
        here.append(_holding(given, deeper))
    return " and ".join(here)


def rows_in_calls(words: str, last: int) -> tuple[str, Values]:
    """SQL for one text that says of each row of `items`, by rowid up to `last`, whether its calls have these words in
    their prompts or answers: 1 or 0, and a 0 at the end. Null if none has.
    """
    values = Values()
    sql = f"""
        select bitstring_agg(rowid::int, 0, {last + 1})::varchar from items
        where rowid in ({_deep(words, values(words))})
    """  # noqa: S608  our own names
    return sql, values


_KIND = "regexp_replace(items.outcome, ' all$', '')"
"""The outcome without *all*: the filter *misled* includes *misled all*."""

HIDDEN = "select about from labels where kind = 'hidden'"

STATUS = "if(runs.status = 'running' and runs.run = any($stopped), 'interrupted', runs.status)"
"""A run's status; $stopped are the runs whose process is gone."""

_MADE_BY = f"""coalesce((
    select min(json_extract_string(data, '$.sender')) from records join runs imported using (run)
    where record = '{IMPORTED}' and imported.about = runs.run
), runs.owner)"""  # noqa: S608  our own names
"""Who made a run: the sender of an imported run, else its owner."""

_OF_ITEMS = {
    **{name: f"items.{name}" for name in ("lab", "model", "outcome", "reason", "error", *FACETS)},
    # Whether a trial that counts is in doubt.
    "doubt": "if(coalesce(items.doubt, '') <> '', 'doubt', if(items.counts and items.trial <> '', 'sure', ''))",
    "differs": "if(items.differ, 'differ', 'agree')",
}
_OF_RUNS = {"status": STATUS, "owner": _MADE_BY, "study": "runs.study"}
_SAID = {"label": "verdict", "tag": "tag", "played": "played"}
"""What people say, with its `kind` in the table `labels`."""


def phrases(text: str) -> list[str]:
    """The phrases that a text must contain: single words, and words in double quotes as one phrase."""
    parts: list[str] = []
    for number, part in enumerate(text.split('"')):
        parts += [part.strip()] if number % 2 else part.split()
    return [part for part in parts if part]


def _holding(words: str, deeper: str) -> str:
    columns = ("items.title", "items.about", "items.expected", "items.observed")
    here = " or ".join(f"contains(lower({column}), lower({words}))" for column in columns)
    explained = f"""select (run, "case") from cases where contains(lower(explanation), lower({words}))"""  # noqa: S608  our own names
    return f'({here} or (items.run, items."case") in ({explained}){f" or {deeper}" if deeper else ""})'


def _deep(words: str, given: str) -> str:
    """SQL for the rowids of `items` whose calls have the words `given` as a parameter. Prompts are a hundred times as
    much text as the rest: a regular expression finds ASCII words in them in less than half of the time, others in
    twice the time.
    """
    sought = f"contains(lower(messages::varchar), lower({given}))"
    if words.isascii() and words.isprintable():
        sought = f"regexp_matches(messages::varchar, regexp_escape({given}), 'i')"
    return _IN_CALLS.format(f"contains(lower(text), lower({given})) or {sought}")


# A call shared by an item's cases matches that item, and a call of a case matches the case, above its trials.
_IN_CALLS = """
    with hits as materialized (
        select distinct run, "case", coalesce(trial, '') as trial from calls where {0}
    )
    select i.rowid from items i join hits h on i.run = h.run and i."case" = h."case" and i.trial = h.trial
    union all
    select i.rowid from items i join hits h on i.run = h.run and i."case" = h."case" where '' in (i.trial, h.trial)
    union all
    select i.rowid from items i join hits h on i.run = h.run and split_part(i."case", '/', 1) = h."case"
    where h.trial = '' and contains(i."case", '/')
"""


def _in_range(wanted: Range, values: Values) -> str:
    low = -1e308 if wanted.low is None else wanted.low
    high = 1e308 if wanted.high is None else wanted.high
    # The case's own figure, else its run's.
    own, whole = (
        f"""(select value from scores s where s.run = items.run and {case}
             and s.item = '' and metric = {values(wanted.metric)} and rules = 'repaired')"""  # noqa: S608  our own names
        for case in ('s."case" = items."case" and s."case" <> \'\'', "s.\"case\" = ''")
    )
    return f"coalesce({own}, {whole}) between {values(low)} and {values(high)}"


def _last(query: Mapping[str, Sequence[str]], name: str) -> str:
    values = query.get(name, ())
    return str(values[-1]) if values else ""


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _ranges(texts: Sequence[str]) -> Iterator[Range]:
    for text in texts[:10]:
        metric, *bounds = text.split(":")
        try:
            low, high = (float(bound) if bound else None for bound in bounds)
        except ValueError:
            continue
        yield Range(metric, low, high)
