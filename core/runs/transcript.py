"""A run as far as its events tell it: what was asked and answered, found, dropped and scored. Pure; any lab's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import ValidationError

from core.events import (
    Answered,
    Asked,
    Dropped,
    Event,
    Failed,
    Finished,
    Frozen,
    Recorded,
    Resumed,
    Rules,
    Scored,
    Started,
)


@dataclass
class Call:
    """One call: what was asked, and what came of it. `partial` is the answer so far while it is being written."""

    asked: Asked
    answered: Answered | None = None
    failed: Failed | None = None
    partial: str = ""

    @property
    def text(self) -> str:
        return self.answered.text if self.answered else self.partial


@dataclass
class Transcript:
    """The state of a run after its events. `status` is None while no `finished` event has come."""

    started: Started | None = None
    status: str | None = None
    calls: dict[str, Call] = field(default_factory=dict)
    records: dict[tuple[str, str, str], Recorded] = field(default_factory=dict)
    drops: list[Dropped] = field(default_factory=list)
    scores: dict[tuple[str, str, str], Scored] = field(default_factory=dict)
    failures: list[Failed] = field(default_factory=list)
    seconds: float = 0.0

    def of(self, record: str) -> dict[str, dict[str, Any]]:
        """The records of one type by item, in the order in which they first came."""
        return {event.item: event.data for event in self.records.values() if event.record == record}

    def score(self, metric: str, rules: Rules, item: str = "") -> Scored | None:
        return self.scores.get((metric, rules, item))


Kind = TypeVar("Kind", bound=Frozen)


class Reader:
    """Reads a journal's data as a lab's own types; counts in `unread` what a damaged journal no longer holds."""

    def __init__(self) -> None:
        self.unread = 0

    def read(self, kind: type[Kind], data: dict[str, Any]) -> Kind | None:
        """`data` as a `kind`, or None where it is not one."""
        try:
            return kind.model_validate(data)
        except ValidationError:
            self.unread += 1
            return None


def transcript(events: Iterable[Event], partial: Mapping[str, str] | None = None) -> Transcript:
    """Fold `events` into the state they lead to. Later records and scores replace earlier ones of the same key."""
    told = Transcript()
    last: Event | None = None
    for event in events:
        last = event
        match event:
            case Started():
                told.started = event
            case Resumed():
                told.status = None
                told.failures.clear()
                # What failed is asked again; every other reason still holds.
                told.drops = [drop for drop in told.drops if drop.reason != "error"]
            case Asked():
                told.calls[event.call] = Call(event)
            case Answered() if event.call in told.calls:
                told.calls[event.call].answered = event
            case Failed():
                if event.call in told.calls:
                    told.calls[event.call].failed = event
                elif event.call is None:
                    told.failures.append(event)
            case Recorded():
                told.records[event.key] = event
            case Dropped():
                told.drops.append(event)
            case Scored():
                told.scores[(event.metric, event.rules, event.item)] = event
            case Finished():
                told.status = event.status
            case _:
                pass
    for call, text in (partial or {}).items():
        if call in told.calls:
            told.calls[call].partial = text
    if told.started and last:
        told.seconds = (last.at - told.started.at).total_seconds()
    return told
