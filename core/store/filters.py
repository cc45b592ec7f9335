"""One set of filters for cases, runs and counts, which an address can hold as its query.

Unknown parameters of an address are ignored, so that old links still work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import NamedTuple

from ..labs.base.declared import FACETS
from ..runs.bundle import IMPORTED
from .queries import SEEN
from .rereadings import REPLACED

TITLES = {
    "lab": "Lab",
    "model": "Model",
    "outcome": "Outcome",
    **FACETS,
    "reason": "Set aside, because",
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

FLAGS = ("deep", "recordings", "hidden", "older")
"""Boolean fields of a filter; an address has them as 1 if they are set."""

MOST_VALUES, LONGEST = 50, 500
"""The most values of one facet, and the most characters of a value, that an address may hold."""

Where = tuple[str, list[object]]
"""A condition in SQL, and its parameters."""


class Range(NamedTuple):
    """Bounds for a figure's value by the updated parser: from `low` to `high`; None is no bound."""

    metric: str
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Filter:
    """Selects rows of `items`.

    - `chosen`: for each facet (one of TITLES, or "as:<role>" for the model that a run asked in that role) the values of
      which a row must have one.
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
        if (name in TITLES or name.startswith("as:")) and values
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


def condition(wanted: Filter, viewer: str | None, stopped: Sequence[str] = ()) -> Where:
    """The condition for the wanted rows of `items` (under that name), in runs that `viewer` may see (None: all runs).
    `stopped`: runs that are `running` according to their journals, but whose process is gone.
    """
    runs: list[Where] = [(f"about = '' and recording = ? and {SEEN}", [wanted.recordings, viewer, viewer])]
    runs.append((f"run {'in' if wanted.hidden else 'not in'} ({HIDDEN})", []))
    if wanted.older or not (wanted.runs or "study" in wanted.chosen):
        runs.append((f"run {'in' if wanted.older else 'not in'} ({REPLACED})", [viewer, viewer]))
    here: list[Where] = []
    for facet, values in wanted.chosen.items():
        given: list[object] = [list(values)]
        if facet == "outcome":
            here.append((f"(items.outcome = any(?) or {KIND} = any(?))", given * 2))
        elif facet in OF_ITEMS:
            here.append((f"{OF_ITEMS[facet]} = any(?)", given))
        elif facet in OF_RUNS:
            runs.append((f"{OF_RUNS[facet]} = any(?)", [list(stopped), *given] if facet == "status" else given))
        elif facet in SAID:
            here.append((_SAID, [SAID[facet], *given]))
        elif facet.startswith("as:"):
            runs.append(("run in (select run from roles where role = ? and model = any(?))", [facet[3:], *given]))
    if wanted.since:
        here.append(('items."at" >= ?', [wanted.since]))
    if wanted.until:
        here.append(('items."at" < ?::date + 1', [wanted.until]))
    if wanted.runs:
        here.append(("items.run = any(?)", [list(wanted.runs)]))
    here += [_in_range(bounds) for bounds in wanted.ranges]
    here += [_holding(words, wanted.deep) for words in phrases(wanted.text)]
    sql, values_of_runs = _all(runs)
    return _all([(f"items.run in (select run from runs where {sql})", values_of_runs), *here])  # noqa: S608  our own names


KIND = "regexp_replace(items.outcome, ' all$', '')"
"""The outcome without *all*: the filter *misled* includes *misled all*."""

DOUBT = "if(coalesce(items.doubt, '') <> '', 'doubt', if(items.counts and items.trial <> '', 'sure', ''))"
"""Whether a trial that counts is in doubt."""

HIDDEN = "select about from labels where kind = 'hidden'"

SAID = {"label": "verdict", "tag": "tag", "played": "played"}
"""Facets of what people say, with the `kind` that they have in the table `labels`."""

_SAID = """
    (items.run, items."case", items.trial) in
    (select (about, "case", trial) from labels where kind = ? and value = any(?))
"""

STATUS = "if(runs.status = 'running' and runs.run = any(?), 'interrupted', runs.status)"
"""A run's status; the parameter is the list of runs whose process is gone."""

MADE_BY = f"""coalesce((
    select min(json_extract_string(data, '$.sender')) from records join runs imported using (run)
    where record = '{IMPORTED}' and imported.about = runs.run
), runs.owner)"""  # noqa: S608  our own names
"""Who made a run: the sender of an imported run, else its owner."""


OF_ITEMS = {
    **{name: f"items.{name}" for name in ("lab", "model", "outcome", "reason", "error", *FACETS)},
    "doubt": DOUBT,
    "differs": "if(items.differ, 'differ', 'agree')",
}
"""SQL for the facets that are columns of `items`."""

OF_RUNS = {"status": STATUS, "owner": MADE_BY, "study": "runs.study"}
"""SQL for the facets that are columns of `runs`."""


def phrases(text: str) -> list[str]:
    """The phrases that a text must contain: single words, and words in double quotes as one phrase."""
    parts: list[str] = []
    for number, part in enumerate(text.split('"')):
        parts += [part.strip()] if number % 2 else part.split()
    return [part for part in parts if part]


def _holding(words: str, deep: bool) -> Where:
    columns = ("title", "about", "expected", "observed")
    here = " or ".join(f"contains(lower(items.{column}), lower(?))" for column in columns)
    explained = (
        '(items.run, items."case") in (select (run, "case") from cases where contains(lower(explanation), lower(?)))'
    )
    sql, values = f"{here} or {explained}", [words] * (len(columns) + 1)
    if deep:
        sql += f" or items.rowid in ({_DEEP})"
        values += [words, words]
    return f"({sql})", list(values)


# A call shared by an item's cases matches that item, and a call of a case matches the case, above its trials.
_DEEP = """
    with hits as materialized (
        select distinct run, "case", coalesce(trial, '') as trial from calls
        where contains(lower(text), lower(?)) or contains(lower(messages::varchar), lower(?))
    )
    select i.rowid from items i join hits h on i.run = h.run and i."case" = h."case" and i.trial = h.trial
    union all
    select i.rowid from items i join hits h on i.run = h.run and i."case" = h."case" where '' in (i.trial, h.trial)
    union all
    select i.rowid from items i join hits h on i.run = h.run and split_part(i."case", '/', 1) = h."case"
    where h.trial = '' and contains(i."case", '/')
"""


def _in_range(wanted: Range) -> Where:
    low = -1e308 if wanted.low is None else wanted.low
    high = 1e308 if wanted.high is None else wanted.high
    return (
        """coalesce(
            (select value from scores s where s.run = items.run and s."case" = items."case" and s."case" <> ''
             and s.item = '' and metric = ? and rules = 'repaired'),
            (select value from scores s where s.run = items.run and s."case" = ''
             and s.item = '' and metric = ? and rules = 'repaired')
        ) between ? and ?""",
        [wanted.metric, wanted.metric, low, high],
    )


def _all(conditions: Sequence[Where]) -> Where:
    return " and ".join(sql for sql, _ in conditions) or "true", [value for _, values in conditions for value in values]


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
