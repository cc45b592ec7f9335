"""Journals of schema 1, as if they had been written today: with cases, trials and their results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from core.events import Answered, Asked, CallFailed, Dropped, Event, Failed, Finished, Recorded, Started
from core.lab.cases import Begun
from core.lab.lab import Lab
from core.runs.engine import result_of
from core.runs.run import recorded
from core.transcript import Transcript, ancestors

Labs = Mapping[str, Lab]


def upgraded(events: Iterable[Event], labs: Labs) -> list[Event]:
    """`events` of a whole journal with what schema 1 lacked; those of schema 2 as they are.

    The lab says where each event belongs. Of the cases that come of it, their begin is written before the first event
    that is theirs or that they share, and trials and results before the run's end.
    """
    events = list(events)
    started = next((event for event in events if isinstance(event, Started)), None)
    lab = labs.get(started.lab) if started else None
    if started is None or lab is None or started.version != 1:
        return events
    placed = [_placed(event, lab, started.spec) for event in events]
    titles = _titles(lab, started.spec, placed)
    begins: dict[str, list[str]] = {}
    for case in titles:
        for place in (*ancestors(case), case):
            begins.setdefault(place, []).append(case)
    numbers = {case: number for number, case in enumerate(titles, start=1)}
    upgraded: list[Event] = []
    state = Transcript()
    asked: dict[str, Asked] = {}

    def add(event: Event) -> None:
        upgraded.append(event)
        state.apply(event)

    for event in placed:
        if isinstance(event, Answered | Failed) and event.call in asked:
            event = event.model_copy(update={"case": asked[event.call].case, "trial": asked[event.call].trial})
        if isinstance(event, Asked):
            asked[event.call] = event
        if isinstance(event, Asked | Recorded | Dropped):
            for case in begins.pop(event.case, []):
                if case not in state.cases:
                    begun = Begun(title=titles[case], number=numbers[case], of=len(titles))
                    add(recorded(event.run, begun, "case", case=case).model_copy(update={"at": event.at}))
        if isinstance(event, Finished):
            # How the run ended is part of what there is to say of a case that never got anywhere.
            state.status = event.status
            for case in list(state.cases):
                view = lab.view(state.case(case))
                for record, item, trial in result_of(lab, view, str(started.spec.get("model") or "")):
                    add(recorded(event.run, record, item, case=case, trial=trial).model_copy(update={"at": event.at}))
        add(event)
    return upgraded


def _placed(event: Event, lab: Lab, spec: Mapping[str, Any]) -> Event:
    return lab.upgrade(event, spec) if isinstance(event, Asked | Recorded | Dropped) and not event.case else event


def _titles(lab: Lab, spec: Mapping[str, Any], placed: Iterable[Event]) -> dict[str, str]:
    """The cases of a run by id: as its specification names them, or where it cannot be read any more, or its data set
    is gone, as its events do.
    """
    try:
        return {case.id: case.title for case in lab.cases(lab.spec.model_validate(spec))}
    except (CallFailed, ValueError, OSError):
        places = dict.fromkeys(event.case for event in placed if isinstance(event, Recorded | Dropped) and event.case)
        shared = {place for case in places for place in ancestors(case)}
        return {place: place for place in places if place not in shared}
