"""A run's events in the order of a story: one thing after another, each prediction before its outcome.

A real run does many things at the same time, and waits for models and slow starts. The story shows none of that.
"""

from collections.abc import Iterable, Iterator, Sequence

from ..events import Answered, Asked, Dropped, Event, Failed, Recorded


def story(events: Iterable[Event], order: Sequence[str]) -> list[list[Event]]:
    """The events of one case in steps, each ending with one finding or one exclusion.

    `order` names the types of records in the order in which a trial is told; a call belongs to the record that it led
    to. Trials follow one another in the order in which they began; events of no trial come before or after all trials.
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
    """`events` split after each record or exclusion; what follows the last one belongs to it."""
    ends = [
        number
        for number, event in enumerate(events, start=1)
        if isinstance(event, Dropped) or (isinstance(event, Recorded) and event.record in order)
    ]
    for begin, end in zip([0, *ends[:-1]], [*ends[:-1], len(events)], strict=True):
        if begin < end:
            yield list(events[begin:end])
