"""What the host sees of all runs, and the host's message to everybody."""

from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from .. import home, journal
from ..journal import NewerSchemaError
from ..runs.library import RunNotFoundError
from ..text.display import one_line
from .jobs import JobRunner

LONGEST_LINE = 300
"""The most characters that the message may have."""

_ASKED = b'"kind":"asked"'
"""Appears in a journal's lines only for calls: within a text, quotes are escaped."""


class ActiveRun(NamedTuple):
    """A run that some process is writing now. `owner` is the owner's name, empty for a run of the command line or of a
    study. `is_here`: it runs in the app, which can stop it. `is_queued`: it waits in the queue.
    """

    run: str
    owner: str
    lab: str
    models: tuple[str, ...]
    study: str
    calls: int
    since: datetime | None
    is_here: bool
    is_queued: bool


def going_on(jobs: JobRunner) -> list[ActiveRun]:
    """The home's runs in progress, the oldest first."""
    found = [_seen(jobs, run) for run in journal.being_written(jobs.folder)]
    return sorted((one for one in found if one), key=lambda one: (one.since is None, one.since, one.run))


def _seen(jobs: JobRunner, run: str) -> ActiveRun | None:
    path = jobs.folder / f"{run}.jsonl"
    models: tuple[str, ...] = ()
    # Another process may end or delete the run meanwhile.
    try:
        begun = journal.first_event(path)
        calls = path.read_bytes().count(_ASKED)
        with suppress(RunNotFoundError):
            models = tuple(sorted(jobs.lab_and_spec(run, [begun])[1].models)) if begun else ()
    except (OSError, NewerSchemaError):
        return None
    return ActiveRun(
        run=run,
        owner=begun.owner if begun else "",
        lab=begun.lab if begun else "",
        models=models,
        study=begun.study if begun else "",
        calls=calls,
        since=begun.at if begun else None,
        is_here=jobs.here(run),
        is_queued=jobs.people_ahead_in_queue(run) is not None,
    )


def announcement() -> str:
    """The host's message to everybody; empty if there is none."""
    with suppress(OSError), _line().open("rb") as file:
        return one_line(file.read(4 * LONGEST_LINE).decode("utf-8", "ignore"), LONGEST_LINE)
    return ""


def set_announcement(words: str) -> None:
    """Show the message on every page from now on; empty `words` remove it. Raises DataDirError if the home cannot be
    written.
    """
    home.must_write(home.home())
    if not (kept := one_line(words, LONGEST_LINE)):
        _line().unlink(missing_ok=True)
        return
    home.write(_line(), kept.encode())


def _line() -> Path:
    return home.home() / "line.txt"
