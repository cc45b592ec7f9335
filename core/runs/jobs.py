"""What keeps runs going while pages come and go: one asyncio loop in a daemon thread, and a registry of runs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from core import journal
from core.events import Event, Finished, Frozen, Started, Token
from core.journal import Journal
from core.runs.run import Lab, Resolve, Spec, execute, new_id, recorded


class NoSuchRun(LookupError):
    """No journal of that name."""


class Job:
    """One run going on in this process. `events` only grows; `partial` holds the unfinished answers by call."""

    def __init__(self, run_id: str, journal: Journal, events: Iterable[Event] = ()) -> None:
        self.id = run_id
        self.journal = journal
        self.events: list[Event] = list(events)
        self.partial: dict[str, str] = {}
        self.task: asyncio.Task[None] | None = None
        self.over = threading.Event()

    def publish(self, event: Event) -> None:
        if isinstance(event, Token):
            self.partial[event.call] = self.partial.get(event.call, "") + event.text
            return
        self.journal.append(event)
        self.events.append(event)
        if event.kind in ("answered", "failed"):
            self.partial.pop(getattr(event, "call", None) or "", None)


class Jobs:
    """Starts, cancels, resumes and shows runs. One for the whole process; every method may be called from any thread.

    `ended(run_id)` is called, on the loop's thread, after a run's last event is on disk.
    """

    def __init__(
        self,
        folder: Path,
        labs: Mapping[str, Lab],
        resolve: Resolve,
        ended: Callable[[str], None] = lambda run_id: None,
    ) -> None:
        self._folder = folder
        self._labs = labs
        self._resolve = resolve
        self._ended = ended
        self._jobs: dict[str, Job] = {}
        self._registry = threading.Lock()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="runs", daemon=True).start()

    def start(self, lab: str, spec: Spec, resolve: Resolve | None = None) -> str:
        """Begin a run and return its id at once. `resolve` finds this run's models, where they are not everyone's."""
        run_id = new_id(lab)
        self._go(run_id, self._labs[lab], spec, resolve)
        return run_id

    def resume(self, run_id: str, resolve: Resolve | None = None) -> None:
        """Go on with a run that stopped: answered calls are not asked again.

        Raises NoSuchRun, and JournalInUse where it is still going on.
        """
        events, _ = self.events(run_id)
        started = next((event for event in events if isinstance(event, Started)), None)
        if started is None or started.lab not in self._labs:
            raise NoSuchRun(f"{run_id} holds no run that this app can go on with")
        lab = self._labs[started.lab]
        self._go(run_id, lab, lab.spec.model_validate(started.spec), resolve, history=events)

    def cancel(self, run_id: str) -> None:
        """Stop a run. No call leaves after this returns; what was answered stays."""
        with self._registry:
            job = self._jobs.get(run_id)
        if job is not None:
            self._loop.call_soon_threadsafe(lambda: job.task and job.task.cancel())
            job.over.wait(timeout=5)

    def wait(self, run_id: str, seconds: float | None = None) -> bool:
        """Wait until a run of this process is over; False where the time ran out first."""
        with self._registry:
            job = self._jobs.get(run_id)
        return job is None or job.over.wait(seconds)

    def events(self, run_id: str) -> tuple[list[Event], dict[str, str]]:
        """What has happened in a run so far, and the unfinished answers by call. Raises NoSuchRun."""
        with self._registry:
            job = self._jobs.get(run_id)
        if job is not None:
            return list(job.events), dict(job.partial)
        return journal.read(self._path(run_id)).events, {}

    def faults(self, run_id: str) -> int:
        """How many lines of the run's journal hold no event. Raises NoSuchRun."""
        return len(journal.read(self._path(run_id)).faults)

    def active(self, run_id: str) -> bool:
        """Whether the run goes on now, here or in another process. Raises NoSuchRun."""
        with self._registry:
            if run_id in self._jobs:
                return True
        return journal.is_written(self._path(run_id))

    def here(self, run_id: str) -> bool:
        """Whether the run goes on in this process, which alone can cancel it."""
        with self._registry:
            return run_id in self._jobs

    def note(self, run_id: str, record: Frozen, item: str) -> None:
        """Keep what the reader said about a run (a guess, a counterfactual of their own).

        Raises NoSuchRun, and JournalInUse while the run goes on in another process.
        """
        event = recorded(run_id, record, item)
        with self._registry:
            job = self._jobs.get(run_id)
            if job is not None:
                job.publish(event)
                return
        with Journal(self._path(run_id)) as written:
            written.append(event)
        self._ended(run_id)

    def _path(self, run_id: str) -> Path:
        path = self._folder / f"{run_id}.jsonl"
        try:
            if path.parent == self._folder and path.is_file():
                return path
        except OSError:
            # No file system takes a name like that.
            pass
        raise NoSuchRun(f"There is no run named {run_id!r} in {self._folder}.")

    def _go(self, run_id: str, lab: Lab, spec: Spec, resolve: Resolve | None, history: Iterable[Event] = ()) -> None:
        job = Job(run_id, Journal(self._folder / f"{run_id}.jsonl"), history)
        past = list(job.events)
        with self._registry:
            self._jobs[job.id] = job

        def over(task: asyncio.Task[None]) -> None:
            try:
                with self._registry:
                    del self._jobs[job.id]
                    job.journal.close()
                self._ended(job.id)
            finally:
                job.over.set()

        def begin() -> None:
            # A callback and not a `finally`: a task cancelled before its first step never enters its body.
            job.task = self._loop.create_task(
                execute(lab, spec, job.id, resolve=resolve or self._resolve, publish=job.publish, history=past)
            )
            job.task.add_done_callback(over)

        self._loop.call_soon_threadsafe(begin)


def status(events: Iterable[Event], active: bool) -> str:
    """running, completed, cancelled, failed, or interrupted (its process died)."""
    if active:
        return "running"
    last: str = "interrupted"
    for event in events:
        if isinstance(event, Finished):
            last = event.status
        elif event.kind == "resumed":
            last = "interrupted"
    return last
