"""A run's events as a story is told: one thing after another, each expectation before its outcome.

A run does many things at once, and waits for models and for what takes long to start. None of that is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..events import Answered, Asked, Dropped, Event, Failed, Recorded


def story(events: Iterable[Event], order: Sequence[str]) -> list[list[Event]]:
    """The events of one case in steps: each ends with one finding, or one thing that was set aside.

    `order` names the types of records as a trial is told; a call comes with the record that it led to. One trial comes
    after another, in the order in which they began; what is placed at none stands before them all or after them all.
    """
    before: list[Event] = []
    after: list[Event] = []
    trials: dict[str, list[Event]] = {}
    for event in events:
        trial = getattr(event, "trial", "")
        if trial:
            trials.setdefault(trial, []).append(event)
        else:
            (after if trials else before).append(event)
    parts = [before, *(_told(trial, order) for trial in trials.values()), after]
    return [step for part in parts for step in _steps(part, order)]


def _told(trial: Sequence[Event], order: Sequence[str]) -> list[Event]:
    """The events of one trial, in the order of its records."""
    places = {name: place for place, name in enumerate(order)}
    of_call: dict[str, int] = {}
    for event in trial:
        if isinstance(event, Recorded) and event.record in places:
            for call in (event.data.get("call"), *(event.data.get("calls") or ())):
                of_call[str(call)] = places[event.record]

    def place(event: Event) -> tuple[int, bool]:
        if isinstance(event, Asked | Answered | Failed):
            return of_call.get(str(event.call), -1), False
        return places.get(event.record, len(order)) if isinstance(event, Recorded) else len(order), True

    return sorted(trial, key=place)


def _steps(events: Sequence[Event], order: Sequence[str]) -> Iterator[list[Event]]:
    """`events` cut after each that is told; what follows the last of them belongs to it."""
    ends = [
        number
        for number, event in enumerate(events, start=1)
        if isinstance(event, Dropped) or (isinstance(event, Recorded) and event.record in order)
    ]
    for begin, end in zip([0, *ends[:-1]], [*ends[:-1], len(events)], strict=True):
        if begin < end:
            yield list(events[begin:end])
