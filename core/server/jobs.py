"""What keeps runs going while pages come and go: one asyncio loop in a daemon thread, and a registry of runs."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .. import journal, policy
from ..events import Event, Fork, Frozen, Model, Token
from ..journal import Journal, JournalFull, JournalInUse, NewerSchemaError
from ..labs.base.lab import Lab, Prerequisite, Reads
from ..labs.base.spec import Spec
from ..runs import fairness, prerequisites
from ..runs.context import Resolve
from ..runs.driver import Driver, new_reading
from ..runs.engine import RunRequest, UserInput, new_id
from ..runs.fairness import WHOSE
from ..runs.fork import ForkPlan, fork_of, forked, inputs, narrowed, planned
from ..runs.library import RunLibrary, RunNotFound, Watch, of_today
from ..transcript import Transcript
from .annotations import Annotations
from .quotas import Charge, Quotas, free_of_charge, planned_calls
from .run_queue import RunQueue
from .usage import CallUsage

Replaying = Callable[[str, Iterable[Event]], Model]
"""A model that answers what a run's journal holds, and nothing else; by the run's id and events."""


@contextmanager
def _in_the_run() -> Iterator[None]:
    try:
        yield
    except LookupError as error:
        raise RunNotFound(str(error)) from None


def _run_and_close(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()


def _stop_idle(loop: asyncio.AbstractEventLoop) -> None:
    """Stop the loop unless tasks go on there. May be called from any thread."""

    def stop() -> None:
        if not asyncio.all_tasks(loop):
            # In the next turn: what is to be done after the last task comes first.
            loop.call_soon(loop.stop)

    loop.call_soon_threadsafe(stop)


@dataclass(eq=False)
class Job:
    """One run going on in this process, for its owner. `partial` holds the unfinished answers by call, `prior` the run
    that is made first, while it goes on. `number` is that under which it is counted; None
    where it does not.
    """

    id: str
    journal: Journal
    owner: str
    number: int | None
    allowance: Quotas
    partial: dict[str, str] = field(default_factory=dict)
    prior: str = ""
    task: asyncio.Task[None] | None = None
    over: threading.Event = field(default_factory=threading.Event)

    def publish(self, event: Event) -> None:
        """Journal an event; a token is only kept for the page until its call ends. Raises OutOfReach for a call that
        the day has nothing left for.
        """
        if isinstance(event, Token):
            self.partial[event.call] = self.partial.get(event.call, "") + event.text
            return
        self.allowance.admit(self.owner, event, self.number)
        self.journal.append(event)
        if event.kind in ("answered", "failed"):
            self.partial.pop(getattr(event, "call", None) or "", None)


class JobRunner(RunLibrary):
    """The runs of a folder as they go on: starts, resumes, cancels and shows them. One for the whole process; every
    method may be called from any thread.

    `ended(run_id)` is called, on the loop's thread, after a run's last event is on disk; `forget` as of `Annotations`.
    """

    def __init__(
        self,
        folder: Path,
        labs: Mapping[str, Lab],
        resolve: Resolve,
        ended: Callable[[str], None] = lambda run_id: None,
        recordings: Path | None = None,
        charge: Charge = free_of_charge,
        forget: Callable[[Iterable[Event]], None] = lambda events: None,
    ) -> None:
        super().__init__(folder, labs, recordings)
        self._driver = Driver(labs, resolve, folder)
        self._ended = ended
        self.keeping = Annotations(self, ended, forget)
        self._jobs: dict[str, Job] = {}
        self._troubles: dict[str, str] = {}
        self._allowance = Quotas(folder, charge)
        self._registry = threading.Lock()
        self._loop = asyncio.new_event_loop()
        self._line = RunQueue(self._allowance, self._loop)
        threading.Thread(target=_run_and_close, args=[self._loop], name="runs", daemon=True).start()
        self._stop = weakref.finalize(self, _stop_idle, self._loop)
        # Runs that go on at the end of the process end with it.
        self._stop.atexit = False

    def close(self) -> None:
        """End the loop and its thread, unless something goes on there: that ends with the process, and a run can go on
        from there later. Nothing can be started any more.
        """
        self._stop()

    def start(self, lab: str, spec: Spec, resolve: Resolve | None = None, owner: str = "") -> str:
        """Begin a run and return its id at once. `resolve` finds this run's models, where they are not everyone's;
        `owner` names the person it is for. Raises QuotaExceeded.
        """
        calls = self._calls(self.labs[lab], spec)
        for first in prerequisites.of(self.labs[lab], spec).values():
            if isinstance(first, Prerequisite) and self.lacks(first, owner):
                more = self._calls(first.lab, first.spec)
                calls = more if calls is None else calls + (more or 0)
        return self._new(RunRequest(self.labs[lab], spec, new_id(lab)), resolve, owner, calls)

    def resume(
        self,
        run_id: str,
        resolve: Resolve | None = None,
        additions: Sequence[UserInput] = (),
        owner: str = "",
        failed_too: bool = False,
    ) -> None:
        """Go on with a run that stopped: answered calls are not asked again. `additions` are what a person gives it.
        One that completed is left as it is, unless it is given something, its journal has lost lines, or what failed in
        it is to be asked again (`failed_too`).

        Raises RunNotFound, JournalInUse where it is still going on, and QuotaExceeded.
        """
        if self.is_recording(run_id):
            raise RunNotFound(f"{run_id} is a recording: it does not go on.")
        job = self._job(run_id, False, owner, self._calls_of(run_id))
        try:
            with of_today():
                history, mend = self._driver.left_off(run_id, failed_too)
            lab, spec = self.begun(run_id, history)
            if (fork := fork_of(history)) is not None:
                resolve = self._forked(fork, resolve, self.events(fork.run))
        except BaseException:
            self._end(job)
            raise
        going = RunRequest(lab, spec, run_id, history, additions, mend)
        self._loop.call_soon_threadsafe(self._begin, job, going, resolve)

    def reread(self, run_id: str, replaying: Replaying, owner: str = "") -> str:
        """Read a run's raw answers again, by the rules of now: a new run, which asks no model.

        Raises RunNotFound, and QuotaExceeded.
        """
        history = self.events(run_id)
        lab, spec = self.begun(run_id, history)
        model = replaying(run_id, history)
        return self._new(new_reading(lab, spec, run_id, history), lambda id: model, owner, None)

    def plan(self, fork: Fork, spec: Spec | None = None) -> ForkPlan:
        """What going on from the edit would ask, without a call, by the run's specification or another `spec`. Raises
        RunNotFound.
        """
        history = self.events(fork.run)
        lab, begun = self.begun(fork.run, history)
        with _in_the_run():
            return asyncio.run(planned(lab, spec or begun, history, fork))

    def fork(self, fork: Fork, resolve: Resolve | None = None, owner: str = "", spec: Spec | None = None) -> str:
        """Go on from an edited answer, as a new run, which asks only what depends on the edit; by the run's
        specification or another `spec`. Raises RunNotFound, and QuotaExceeded.
        """
        history = self.events(fork.run)
        lab, begun = self.begun(fork.run, history)
        spec = spec or begun
        models = self._forked(fork, resolve, history)
        going = RunRequest(lab, spec, new_id(lab.name), additions=inputs(lab, history, fork), forked_from=fork)
        return self._new(going, models, owner, self._calls(narrowed(lab, fork), spec))

    def cancel(self, run_id: str) -> None:
        """Stop a run. No call leaves after this returns; what was answered stays."""
        if (job := self._going(run_id)) is not None:
            self._loop.call_soon_threadsafe(lambda: job.task and job.task.cancel())
            job.over.wait(timeout=5)

    def wait(self, run_id: str, seconds: float | None = None) -> bool:
        """Wait until a run of this process is over; False where the time ran out first."""
        job = self._going(run_id)
        return job is None or job.over.wait(seconds)

    def beside(self, going: Coroutine[Any, Any, None]) -> Future[None]:
        """Let something else go on on the loop of the runs."""
        return asyncio.run_coroutine_threadsafe(going, self._loop)

    def path(self, run_id: str) -> Path:
        """Where the run's journal lies. Raises RunNotFound, with the reason where it could not write its first line."""
        try:
            return super().path(run_id)
        except RunNotFound:
            if trouble := self.trouble(run_id):
                raise RunNotFound(trouble) from None
            raise

    def active(self, run_id: str) -> bool:
        """Whether the run goes on now, here or in another process. Raises RunNotFound."""
        return self.here(run_id) or journal.is_written(self.path(run_id))

    def here(self, run_id: str) -> bool:
        """Whether the run goes on in this process, which alone can cancel it."""
        return self._going(run_id) is not None

    def spent_today(self) -> dict[str, CallUsage]:
        """What runs took since midnight (UTC), by the names of their owners; empty for those of the command line.
        Raises DataDirError.
        """
        return self._allowance.each()

    def before(self, run_id: str) -> int | None:
        """How many other people's calls or programs come first, where the run waits for its turn; None where not."""
        job = self._going(run_id)
        return fairness.before(job.owner or job.id) if job else None

    def in_line(self, run_id: str) -> int | None:
        """How many other people come first, where the run waits in line for a place, here or in another process; None
        where not.
        """
        return self._line.before(run_id)

    def prior(self, run_id: str) -> str:
        """The run that is made before this one goes on, while it is; else empty."""
        job = self._going(run_id)
        return job.prior if job else ""

    def trouble(self, run_id: str) -> str:
        """Why the run's journal could not be written on, where that is what stopped it in this process; else empty."""
        return self._troubles.get(run_id, "")

    def watch(self, run_id: str, case: str = "") -> Watch:
        """The run, to be looked at again and again. Raises RunNotFound."""
        watch = Watch(self.path(run_id), lambda: self._unfinished(run_id), case)
        with of_today():
            watch.look()
        return watch

    def came_to(self, first: Prerequisite, owner: str = "") -> Frozen | None:
        """What a run of the owner's would stand on without making it: None where it was not made, or has no result."""
        return prerequisites.record_of(first, self.folder, self._seen_by(owner))

    def lacks(self, first: Prerequisite, owner: str = "") -> bool:
        """Whether what a run of the owner's stands on is wanted and has still to be made."""
        return first.wanted and self.came_to(first, owner) is None

    def made(self, lab: Lab, read: Reads, owner: str = "") -> Iterator[tuple[Spec, Frozen]]:
        """What each specification of that lab came to, of the runs that the owner may look at (`Prerequisite.read`)."""
        return prerequisites.records(lab, read, self.folder, self._seen_by(owner))

    def like(self, lab: Lab, spec: Spec, owner: str = "") -> Iterator[tuple[str, Transcript]]:
        """The runs of that very specification that the owner may look at, the newest first."""
        return prerequisites.like(lab, spec, self.folder, self._seen_by(owner))

    def _calls(self, lab: Lab, spec: Spec) -> int | None:
        """How many calls a run makes at most that count; None where it asks robots and replays alone. Raises
        QuotaExceeded for more than one run may make.
        """
        calls = planned_calls(lab, spec)
        return calls if any(map(self._allowance.counts, spec.models)) else None

    def _calls_of(self, run_id: str) -> int | None:
        """The same of a run that goes on, of which it is not known how many are left."""
        with suppress(RunNotFound, NewerSchemaError, OSError):
            begun = journal.begun(self.path(run_id))
            _, spec = self.begun(run_id, [begun] if begun else [])
            return 0 if any(map(self._allowance.counts, spec.models)) else None
        return 0

    def _forked(self, fork: Fork, resolve: Resolve | None, history: Iterable[Event]) -> Resolve:
        with _in_the_run():
            return forked(history, fork, resolve or self._driver.resolve)

    def _going(self, run_id: str) -> Job | None:
        with self._registry:
            return self._jobs.get(run_id)

    def _unfinished(self, run_id: str) -> dict[str, str]:
        job = self._going(run_id)
        return dict(job.partial) if job else {}

    def _new(self, going: RunRequest, resolve: Resolve | None, owner: str, calls: int | None) -> str:
        """Begin a run that makes so many calls at most, or none that counts (None); its id. Raises QuotaExceeded."""
        self._loop.call_soon_threadsafe(self._begin, self._job(going.id, True, owner, calls), going, resolve)
        return going.id

    def _job(self, run_id: str, new: bool, owner: str, calls: int | None) -> Job:
        """The right to write the run's journal, registered. Raises QuotaExceeded."""
        number = self._allowance.begin(run_id, owner, calls)
        try:
            return self._registered(run_id, new, owner, number)
        except BaseException:
            self._line.leave(number)
            raise

    def _registered(self, run_id: str, new: bool, owner: str, number: int | None) -> Job:
        job = Job(run_id, Journal(self.folder / f"{run_id}.jsonl", new), owner, number, self._allowance)
        with self._registry:
            self._jobs[run_id] = job
            self._troubles.pop(run_id, None)
            if new:
                # Known before its first line says so.
                self._owners[run_id] = owner
        return job

    def _end(self, job: Job, fault: BaseException | None = None) -> None:
        try:
            with self._registry:
                del self._jobs[job.id]
                self._owners.pop(job.id, None)
                if isinstance(fault, JournalFull | JournalInUse):
                    self._troubles[job.id] = str(fault)
                # On a full disk.
                with suppress(OSError):
                    job.journal.close()
                if job.journal.is_new:
                    self._troubles.setdefault(job.id, "This run was stopped before it began: it holds nothing.")
            self._line.leave(job.number)
            self._ended(job.id)
        finally:
            job.over.set()

    def _seen_by(self, owner: str) -> Callable[[str], bool]:
        """Whose answers a run of the owner's may stand on: of one that is sealed, its own owner's alone."""
        everyone = policy.allows("others")
        return lambda run: everyone or self.owner(run) == owner or (self.shared(run) and not self.sealed(run))

    def _begin(self, job: Job, going: RunRequest, resolve: Resolve | None) -> asyncio.Task[None]:
        """Begin the job's task, on the loop's thread."""
        # A callback and not a `finally`: a task cancelled before its first step never enters its body.
        job.task = self._loop.create_task(self._execute(job, going, resolve))
        job.task.add_done_callback(lambda task: self._end(job, None if task.cancelled() else task.exception()))
        return job.task

    async def _execute(self, job: Job, going: RunRequest, resolve: Resolve | None) -> None:
        WHOSE.set(job.owner or job.id)
        found = resolve or self._driver.resolve
        driver = replace(self._driver, resolve=found, owner=job.owner, sees=self._seen_by(job.owner))
        await driver.go(
            going,
            job.journal,
            job.publish,
            lambda first: self._first(job, first, resolve),
            ready=lambda: self._line.wait(job.number),
        )

    async def _first(self, job: Job, first: RunRequest, resolve: Resolve | None) -> None:
        """Make what `job` stands on: a run of its own, for the same owner."""
        # Its calls were counted when the run that wants it began, in whose place it is made.
        within = self._registered(first.id, True, job.owner, None)
        task = self._begin(within, first, resolve)
        job.prior = first.id
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            task.cancel()
            raise
        finally:
            job.prior = ""
