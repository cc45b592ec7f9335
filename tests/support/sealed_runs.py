"""Runs of all labs in which each answer contains a word that occurs nowhere else, to test who can see it."""

from functools import cache
from pathlib import Path

from core import home, journal
from core.events import Answered, Event, Started
from core.journal import Journal

CANARY = "quetzalcoatlus"
LABS = ("simulatability", "consistency", "find", "plant")


@cache
def events_of(lab: str) -> tuple[Event, ...]:
    """The events of a run that comes with the app, with that word in each raw answer."""
    path = next(iter(sorted(home.recordings().glob(f"*-{lab}-*.jsonl"))))
    return tuple(
        event.model_copy(update={"text": f"{event.text} {CANARY}"}) if isinstance(event, Answered) else event
        for event in journal.read(path).events
    )


def laid(folder: Path, lab: str, owner: str) -> str:
    """Write the run into the folder for this owner, and return its name."""
    run = f"20261124-000000-{lab}-{'5' * 16}"
    folder.mkdir(parents=True, exist_ok=True)
    with Journal(folder / f"{run}.jsonl") as written:
        for event in events_of(lab):
            owned = {"owner": owner} if isinstance(event, Started) else {}
            written.append(event.model_copy(update={"run": run, **owned}))
    return run
