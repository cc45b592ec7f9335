"""The state of a run according to its events: what was asked and answered, recorded, dropped and scored, case by case.

Pure, independent of the lab, and incremental: a reader applies only new events.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import ValidationError

from . import events

# Differences between a call as it was requested and as it was sent and served.


_NAMES = {"max_tokens": ("max_tokens", "max_completion_tokens"), "repetition_penalty": ("_penalty",)}
"""Other names, or endings of names, under which a setting may be sent to a server."""

_VERSION = re.compile(r"[-@:](?:\d{3,4}|\d{6,8}|\d{4}-\d\d-\d\d|\d\d-\d{2,4}|v\d{1,3}|latest)(?:-preview)?")


class Difference(NamedTuple):
    """One difference, for the model that was asked."""

    model: str
    kind: Literal["not sent", "system text", "served"]
    """`not sent`: a setting was left out. `system text`: the system text was put before the first user turn. `served`:
    another model answered.
    """

    name: str = ""
    """The setting, or the name that the server gives for the model that answered."""


def differences(
    model: str, sampling: events.Sampling, sent: Mapping[str, Any], served: events.Served | None
) -> tuple[Difference, ...]:
    """Return all differences of one answered call. `sent` is empty for models that are not called over HTTP."""
    found = [Difference(model, "not sent", name) for name in not_sent(sampling, sent)]
    if "system_role" in sent:
        found.append(Difference(model, "system text"))
    if served and served.model and not _is_same(model, served.model):
        found.append(Difference(model, "served", served.model))
    return tuple(found)


def not_sent(sampling: events.Sampling, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the requested settings, by name, that are missing from `sent`. Stop sequences do not count: we apply them
    to the answer whether they are sent or not.
    """
    if not sent:
        return {}
    asked = sampling.model_dump(exclude={"stop"}, exclude_none=True).items()
    return {name: value for name, value in asked if not any(one.endswith(_NAMES.get(name, name)) for one in sent)}


def is_version(model: str, served: str) -> bool:
    """Whether the served model is a version of the requested one: the same name followed by a date or version
    number.
    """
    asked, answered = _plain(model), _plain(served)
    return answered.startswith(asked) and _VERSION.fullmatch(answered[len(asked) :]) is not None


def _is_same(model: str, served: str) -> bool:
    """Whether the server's name is that of the requested model. A dated version counts as different (`is_version`); the
    file of a local model has a longer name than the model.
    """
    asked, answered = _plain(model), _plain(served)
    return asked == answered or (model.startswith("local/") and answered.startswith(asked))


def _plain(model: str) -> str:
    """Return the name without folders and endings such as ":latest"."""
    name = model.replace("\\", "/").rstrip("/").rpartition("/")[2].lower()
    return name.removesuffix(".gguf").removesuffix(":latest").removesuffix("-latest")


Kind = TypeVar("Kind", bound=events.Frozen)


def name_of(record: type[events.Frozen]) -> str:
    """Return the name of a record type in a journal: its class name in lower case."""
    return record.__name__.lower()


@dataclass
class Call:
    """One call: what was asked, and what was answered. `partial` is the answer so far while it is being written.
    `number` is its place among all calls of the run, counted from 1.
    """

    asked: events.Asked
    number: int = 0
    answered: events.Answered | None = None
    failed: events.Failed | None = None
    partial: str = ""

    @property
    def text(self) -> str:
        """The answer, or as much of it as has arrived."""
        return self.answered.text if self.answered else self.partial


@dataclass
class Place:
    """The calls, records, drops and scores placed at one case, at one item whose cases share them, or at the
    whole run.
    """

    calls: dict[str, Call] = field(default_factory=dict)
    records: dict[tuple[str, str, str, str], events.Recorded] = field(default_factory=dict)
    drops: list[events.Dropped] = field(default_factory=list)
    scores: dict[tuple[str, str, str], events.Scored] = field(default_factory=dict)


class RecordReader:
    """Reads a journal's data as a lab's own types; `unread` counts the data that do not fit, as in a damaged
    journal.
    """

    def __init__(self) -> None:
        self.unread = 0

    def read(self, kind: type[Kind], data: dict[str, Any]) -> Kind | None:
        """Return `data` as a `kind`; None, counted in `unread`, if it does not fit."""
        try:
            return kind.model_validate(data)
        except ValidationError:
            self.unread += 1
            return None

    def all_of(self, kind: type[Kind], log: CaseLog) -> dict[str, Kind]:
        """Return the lab's own records of one type by item, in order of first appearance."""
        read = {item: self.read(kind, data) for item, data in log.of_type(name_of(kind)).items()}
        return {item: record for item, record in read.items() if record is not None}

    def one_of(self, kind: type[Kind], log: CaseLog) -> Kind | None:
        """Return the first record of the type that can be read; None if there is none."""
        return next(iter(self.all_of(kind, log).values()), None)


@dataclass(eq=False)
class CaseLog:
    """One case's share of a transcript: what is placed at the case itself, and what it shares with the other cases of
    its item. `started` is the run's first event, None if it is lost; `status` is the run's, None while it goes on.
    """

    case: str
    _places: list[Place]
    started: events.Started | None
    status: str | None
    _specs: dict[type, object]

    def spec_as(self, kind: type[Kind]) -> Kind | None:
        """Return the run's specification as its lab's own type, parsed once for all cases; None if it does not fit."""
        if kind not in self._specs:
            self._specs[kind] = RecordReader().read(kind, self.spec) if self.started else None
        spec = self._specs[kind]
        return spec if isinstance(spec, kind) else None

    @property
    def spec(self) -> dict[str, Any]:
        """The run's specification as journaled; empty before the run began."""
        return self.started.spec if self.started else {}

    @property
    def calls(self) -> dict[str, Call]:
        """The calls by id, in order."""
        return {name: call for place in self._places for name, call in place.calls.items()}

    @property
    def came_as_prose(self) -> int:
        """How many answers were requested as JSON fields but came as prose."""
        return sum(call.answered is not None and call.answered.as_prose for call in self.calls.values())

    @property
    def records(self) -> list[events.Recorded]:
        """The records of the case, and those it shares with its item, in order."""
        return [event for place in self._places for event in place.records.values()]

    @property
    def drops(self) -> list[events.Dropped]:
        """What is excluded, including the case itself (`item` empty)."""
        return [drop for place in self._places for drop in place.drops]

    def of_type(self, record: str) -> dict[str, dict[str, Any]]:
        """Return the data of the lab's own records of one type by item, in order of first appearance."""
        return {event.item: event.data for event in self.records if event.record == record and not event.by}

    def annotations(self, record: str) -> dict[tuple[str, str], dict[str, Any]]:
        """Return what people recorded of one type, by person and item."""
        return {(event.by, event.item): event.data for event in self.records if event.record == record and event.by}

    def score(self, metric: str, rules: events.Rules, item: str = "") -> events.Scored | None:
        """Return a figure of this case; None if it has no such figure."""
        for place in reversed(self._places):
            if score := place.scores.get((metric, rules, item)):
                return score
        return None

    @property
    def scores(self) -> list[events.Scored]:
        """The figures of the case, and those it shares with its item, in order."""
        return [score for place in self._places for score in place.scores.values()]


@dataclass
class CaseProgress:
    """How far a case has come: its number among how many, its title, and its outcome. `columns` are those of a person's
    own file that were kept with it. `result` is the result record as data, None until there is one. If the run was
    resumed because calls of the case had failed, `is_retry` is set and `result` is the earlier one.
    """

    title: str
    number: int
    of: int
    columns: dict[str, str] = field(default_factory=dict)
    result: dict[str, Any] | None = None
    is_retry: bool = False

    @property
    def outcome(self) -> str:
        """The outcome by the updated parser, in one of the lab's words; "waiting" without a result."""
        return str((self.result or {}).get("outcome_repaired") or "waiting")

    @property
    def is_over(self) -> bool:
        """Whether the result is final."""
        return self.result is not None and not self.is_retry


@dataclass
class Transcript:
    """The state of a run after its events. `status` is None while no `finished` event has come. `keep` selects the
    places whose events are stored, all by default; for other places only the progress of their cases is.
    """

    keep: Callable[[str], bool] = lambda case: True
    started: events.Started | None = None
    status: str | None = None
    places: dict[str, Place] = field(default_factory=dict)
    cases: dict[str, CaseProgress] = field(default_factory=dict)
    failures: list[events.Failed] = field(default_factory=list)
    asked: int = 0
    finished_calls: int = 0
    """Number of calls that were answered or failed."""
    cut: Counter[str] = field(default_factory=Counter)
    """Answers that a token limit cut short, by role, of all places."""
    cut_in_thought: int = 0
    """How many of these are from a model that thinks."""
    answers: Counter[str] = field(default_factory=Counter)
    """Number of answers by the model that was asked, of all places."""
    differences: Counter[Difference] = field(default_factory=Counter)
    """Differences between calls as requested and as sent and served, with the number of such answers, of all places."""
    _open: dict[str, events.Asked] = field(default_factory=dict)
    failed_items: set[tuple[str, str]] = field(default_factory=set)
    """Cases and items dropped because of an error."""
    seconds: float = 0.0
    loaded: dict[str, Any] | None = None
    """The record of what the run's data set held, as data; None if there is none."""
    _specs: dict[type, object] = field(default_factory=dict)

    def apply(self, event: events.Event) -> None:
        """Apply the next event. Later records and scores replace earlier ones with the same key."""
        if self.started:
            # The clock may have been set back.
            self.seconds = max(self.seconds, (event.at - self.started.at).total_seconds())
        match event:
            case events.Started():
                self.started = event
            case events.Resumed():
                self._resume()
            case events.Finished():
                self.status = event.status
            case events.Failed() if event.call is None:
                self.failures.append(event)
            case events.InRun():
                self._place(event)

    def _resume(self) -> None:
        self.status = None
        self.failures.clear()
        # Failed calls are made again; every other reason for dropping still holds.
        for case in {case for case, _ in self.failed_items} & self.cases.keys():
            self.cases[case].is_retry = True
        self.failed_items.clear()
        for place in self.places.values():
            place.drops = [drop for drop in place.drops if drop.reason != "error"]

    def _place(self, event: events.InRun) -> None:
        match event:
            case events.Asked():
                self.asked += 1
                self._open[event.call] = event
            case events.Answered() | events.Failed():
                self.finished_calls += 1
                asked = self._open.pop(event.call or "", None)
                if isinstance(event, events.Answered) and asked:
                    self.answers[asked.model] += 1
                    self.differences.update(differences(asked.model, asked.sampling, event.sent, event.served))
                if isinstance(event, events.Answered) and event.ended == "cut":
                    self.cut[event.role] += 1
                    self.cut_in_thought += event.thinking is not None
            case events.Recorded(record="begun"):
                number, of = (_count(event.data.get(name)) for name in ("number", "of"))
                columns = event.data.get("columns")
                columns = {name: str(value) for name, value in columns.items()} if isinstance(columns, dict) else {}
                self.cases.setdefault(event.case, CaseProgress(str(event.data.get("title", "")), number, of, columns))
            case events.Recorded(record="result") if event.case in self.cases:
                self.cases[event.case].result, self.cases[event.case].is_retry = event.data, False
            case events.Recorded(record="loaded") if not event.case:
                self.loaded = event.data
            case events.Dropped(reason="error"):
                self.failed_items.add((event.case, event.item))
        if not self.keep(event.case) and not (isinstance(event, events.Scored) and not event.case):
            return
        place = self.places.setdefault(event.case, Place())
        match event:
            case events.Asked():
                place.calls[event.call] = Call(event, number=self.asked)
            case events.Answered() if event.call in place.calls:
                place.calls[event.call].answered = event
            case events.Failed() if event.call in place.calls:
                place.calls[event.call].failed = event
            case events.Recorded():
                place.records[event.key] = event
            case events.Dropped():
                place.drops.append(event)
            case events.Scored():
                place.scores[event.metric, event.rules, event.item] = event

    def apply_annotation(self, event: events.Event) -> None:
        """Apply what a person said about the run, from that person's own journal."""
        if isinstance(event, events.Recorded):
            self._place(event)

    def set_partial(self, partial: Mapping[str, str]) -> None:
        """Set the unfinished answers, by call."""
        for place in self.places.values():
            for name in place.calls.keys() & partial.keys():
                place.calls[name].partial = partial[name]

    def case(self, case: str) -> CaseLog:
        """Return the case's share. In a run with one case, the run's figures belong to the case."""
        shared = [*ancestors(case), case]
        if len(self.cases) == 1 or case not in self.cases:
            shared.insert(0, "")
        places = [self.places[name] for name in shared if name in self.places]
        return CaseLog(case, places, self.started, self.status, self._specs)

    @property
    def only(self) -> str:
        """The first case's id; empty if there is none yet."""
        return next(iter(self.cases), "")

    @property
    def in_order(self) -> dict[str, CaseProgress]:
        """The cases by number, whichever began first."""
        return dict(sorted(self.cases.items(), key=lambda item: item[1].number))

    @property
    def outcomes(self) -> Counter[str]:
        """How many of the cases that have a result have each outcome, by the updated parser."""
        return Counter(one.outcome for one in self.cases.values() if one.result)

    @property
    def planned(self) -> int:
        """How many cases the run has; 0 while that is not known."""
        return max((progress.of for progress in self.cases.values()), default=0)

    @property
    def calls(self) -> dict[str, Call]:
        """All stored calls, in the order in which they were made."""
        calls = [item for place in self.places.values() for item in place.calls.items()]
        return dict(sorted(calls, key=lambda item: item[1].number))

    @property
    def drops(self) -> list[events.Dropped]:
        """Everything that is excluded, in the order in which it was recorded."""
        drops = [drop for place in self.places.values() for drop in place.drops]
        return sorted(drops, key=lambda drop: drop.at)

    @property
    def scores(self) -> list[events.Scored]:
        """All figures, those of the whole run first."""
        names = sorted(self.places, key=bool)
        return [score for name in names for score in self.places[name].scores.values()]

    def score(self, metric: str, rules: events.Rules, item: str = "") -> events.Scored | None:
        """Return a figure of the whole run; None if it has no such figure."""
        place = self.places.get("")
        return place.scores.get((metric, rules, item)) if place else None


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def ancestors(case: str) -> list[str]:
    """Return the places that a case shares, from the outermost: for "a/b/c", "a" and "a/b"."""
    return [case[:at] for at, letter in enumerate(case) if letter == "/"]


def shares(case: str, place: str) -> bool:
    """Whether the case is placed at `place` or shares what is placed there; "" is the whole run."""
    return not place or case == place or case.startswith(f"{place}/")


def transcript(journal: Iterable[events.Event]) -> Transcript:
    """Apply all events of a `journal` and return the resulting state."""
    state = Transcript()
    for event in journal:
        state.apply(event)
    return state
