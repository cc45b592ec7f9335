"""What keeps runs going while pages come and go: one asyncio loop in a daemon thread, and a registry of runs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from pathlib import Path

from core import journal
from core.events import Event, Finished, Frozen, Recorded, Started, Token
from core.journal import Journal
from core.runs.run import Lab, Resolve, Spec, execute, new_id


class NoSuchRun(LookupError):
    """No journal of that name."""


class Job:
    """One run of this process. `events` only grows; `partial` holds the unfinished answers by call."""

    def __init__(self, run_id: str, events: Iterable[Event] = ()) -> None:
        self.id = run_id
        self.events: list[Event] = list(events)
        self.partial: dict[str, str] = {}
        self.future: Future[None] | None = None
        self.journal: Journal | None = None

    @property
    def active(self) -> bool:
        return self.future is not None and not self.future.done()

    def publish(self, event: Event) -> None:
        if isinstance(event, Token):
            self.partial[event.call] = self.partial.get(event.call, "") + event.text
            return
        if self.journal is not None:
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
        self._go(Job(run_id), self._labs[lab], spec, resolve)
        return run_id

    def resume(self, run_id: str, resolve: Resolve | None = None) -> None:
        """Go on with a run that stopped: answered calls are not asked again.

        Raises NoSuchRun, and JournalInUse where it is still going on.
        """
        job = self._job(run_id)
        started = next((event for event in job.events if isinstance(event, Started)), None)
        if started is None or started.lab not in self._labs:
            raise NoSuchRun(f"{run_id} holds no run that this app can go on with")
        lab = self._labs[started.lab]
        self._go(job, lab, lab.spec.model_validate(started.spec), resolve)

    def cancel(self, run_id: str) -> None:
        """Stop a run. No call leaves after this returns; what was answered stays."""
        with self._registry:
            job = self._jobs.get(run_id)
        if job is None or job.future is None or not job.active:
            return
        job.future.cancel()
        # The loop's thread delivers the cancellation; an empty round trip through it makes sure that it has.
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self._loop).result(timeout=5)

    def events(self, run_id: str) -> tuple[list[Event], dict[str, str]]:
        """What has happened in a run so far, and the unfinished answers by call. Raises NoSuchRun."""
        job = self._job(run_id)
        return list(job.events), dict(job.partial)

    def active(self, run_id: str) -> bool:
        """Whether the run goes on now, here or in another process."""
        with self._registry:
            job = self._jobs.get(run_id)
        if job is not None and job.active:
            return True
        path = self._path(run_id)
        return path.exists() and journal.is_written(path)

    def note(self, run_id: str, record: Frozen, item: str) -> None:
        """Keep what the reader said about a run (a guess, a counterfactual of their own). Raises NoSuchRun."""
        job = self._job(run_id)
        event = Recorded(
            run=run_id, record=type(record).__name__.lower(), item=item, data=record.model_dump(mode="json")
        )
        if job.active:
            job.publish(event)
        else:
            with Journal(self._path(run_id)) as written:
                written.append(event)
            job.events.append(event)
            self._ended(run_id)

    def _path(self, run_id: str) -> Path:
        return self._folder / f"{run_id}.jsonl"

    def _job(self, run_id: str) -> Job:
        """The job of this process; for any other run a fresh look at its journal."""
        with self._registry:
            job = self._jobs.get(run_id)
        if job is not None:
            return job
        path = self._path(run_id)
        if Path(run_id).name != run_id or not path.exists():
            raise NoSuchRun(f"There is no run named {run_id!r} in {self._folder}.")
        return Job(run_id, journal.read(path).events)

    def _go(self, job: Job, lab: Lab, spec: Spec, resolve: Resolve | None) -> None:
        written = Journal(self._path(job.id))
        history = list(job.events)
        job.journal = written

        async def run() -> None:
            try:
                await execute(lab, spec, job.id, resolve=resolve or self._resolve, publish=job.publish, history=history)
            finally:
                job.partial.clear()
                job.journal = None
                written.close()
                self._ended(job.id)

        with self._registry:
            self._jobs[job.id] = job
            job.future = asyncio.run_coroutine_threadsafe(run(), self._loop)


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
