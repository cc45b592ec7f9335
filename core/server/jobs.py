"""Keeps runs going while pages come and go: one asyncio loop in a daemon thread, and a registry of runs."""

import asyncio
import threading
import weakref
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from .. import journal, policy
from ..events import Event, Fork, Frozen, Model, Started, Token
from ..journal import Journal, JournalFullError, JournalInUseError, NewerSchemaError
from ..labs.base.lab import Lab, Prerequisite
from ..labs.base.spec import Spec
from ..runs import driver, fairness
from ..runs.context import Resolve
from ..runs.driver import Driver, ForkPlan
from ..runs.engine import RunRequest, UserInput, new_id
from ..runs.fairness import WHOSE
from ..runs.library import RunLibrary, RunNotFoundError, Watch, refusing_newer_journals
from ..text.display import count_noun
from ..transcript import Transcript
from .annotations import Annotations
from .quotas import Charge, Quotas, free_of_charge, is_counted, planned_calls
from .usage import CallUsage

Replaying = Callable[[str, Iterable[Event]], Model]
"""Makes a model that answers only what a run's journal holds, from the run's id and events."""


def _run_and_close(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()


def _stop_idle(loop: asyncio.AbstractEventLoop) -> None:
    """Stop the loop unless it still has tasks. May be called from any thread."""

    def stop() -> None:
        if not asyncio.all_tasks(loop):
            # In the next turn, after what the last task left to do.
            loop.call_soon(loop.stop)

    loop.call_soon_threadsafe(stop)


@dataclass(eq=False)
class Job:
    """One run in progress in this process, for its owner. `partial` holds the unfinished answers by call; `prior` is
    the run that it waits for, if any. `number` is the run's number in the usage counts; None if nothing is counted.
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
        """Write an event to the journal; a token is only held in memory for the page until its call ends. Raises
        OutOfReachError for a call that exceeds a daily limit.
        """
        if isinstance(event, Token):
            self.partial[event.call] = self.partial.get(event.call, "") + event.text
            return
        self.allowance.charge(self.owner, event, self.number)
        self.journal.append(event)
        if event.kind in ("answered", "failed"):
            self.partial.pop(getattr(event, "call", None) or "", None)


class JobRunner(RunLibrary):
    """Starts, resumes, cancels and shows the runs of a folder. There is one for the whole process; every method may be
    called from any thread.

    `ended(run_id)` is called, on the loop's thread, after a run's last event is on disk; for `forget` see
    `Annotations`.
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
        self._write_errors: dict[str, str] = {}
        self._allowance = Quotas(folder, charge)
        self._registry = threading.Lock()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=_run_and_close, args=[self._loop], name="runs", daemon=True).start()
        self._stop = weakref.finalize(self, _stop_idle, self._loop)
        # Runs in progress when the process ends end with it.
        self._stop.atexit = False

    def close(self) -> None:
        """End the loop and its thread, unless runs are in progress: these end with the process, and can be resumed
        later. Nothing can be started any more.
        """
        self._stop()

    def start(
        self,
        lab: str,
        spec: Spec,
        resolve: Resolve | None = None,
        owner: str = "",
        additions: Sequence[UserInput] = (),
    ) -> str:
        """Begin a run and return its id immediately. `resolve` finds this run's models if they are not the ones
        everybody has; `owner` names the person it is for; `additions` are what that person adds to it. Raises
        QuotaExceededError.
        """
        calls = self._calls(self.labs[lab], spec)
        for first in driver.prerequisites_of(self.labs[lab], spec).values():
            if isinstance(first, Prerequisite) and self.is_missing(first, owner):
                more = self._calls(first.lab, first.spec)
                calls = more if calls is None else calls + (more or 0)
        request = RunRequest(self.labs[lab], spec, new_id(lab), additions=additions)
        return self._new(request, resolve, owner, calls)

    def resume(
        self,
        run_id: str,
        resolve: Resolve | None = None,
        additions: Sequence[UserInput] = (),
        owner: str = "",
        failed_too: bool = False,
    ) -> None:
        """Resume a run that stopped; answered calls are not asked again. `additions` are what a person adds to it. A
        completed run is left as it is, unless there are additions, its journal has lost lines, or its failed calls
        are to be asked again (`failed_too`).

        Raises RunNotFoundError, JournalInUseError if the run is still in progress, and QuotaExceededError.
        """
        self.changeable_path(run_id, "cannot be resumed")
        job = self._job(run_id, False, owner, self._calls_of(run_id))
        try:
            with refusing_newer_journals():
                history, mend = self._driver.resume_point(run_id, failed_too)
            lab, spec = self.lab_and_spec(run_id, history)
            if (fork := driver.fork_of(history)) is not None:
                resolve = driver.fork_resolve(self.events(fork.run), fork, resolve or self._driver.resolve)
            elif first := next((one.predicted_from for one in history if isinstance(one, Started)), ""):
                live = spec.roles["simulator"]
                resolve = driver.stored_resolve(first, self.events(first), live, resolve or self._driver.resolve)
        except BaseException:
            self._end(job)
            raise
        request = RunRequest(lab, spec, run_id, history, additions, mend)
        self._loop.call_soon_threadsafe(self._begin, job, request, resolve)

    def reread(self, run_id: str, replaying: Replaying, owner: str = "") -> str:
        """Parse a run's raw answers again with the current parsers, as a new run, which asks no model.

        Raises RunNotFoundError and QuotaExceededError.
        """
        history = self.events(run_id)
        lab, spec = self.lab_and_spec(run_id, history)
        model = replaying(run_id, history)
        return self._new(driver.new_reading(lab, spec, run_id, history), lambda id: model, owner, None)

    def repredict(self, run_id: str, simulator: str, resolve: Resolve | None = None, owner: str = "") -> str:
        """Let another model predict in a completed run, as a new run: only that model is asked. Raises
        RunNotFoundError, QuotaExceededError, and ValueError if no model predicts in the run's lab.
        """
        history = self.events(run_id)
        lab, spec = self.lab_and_spec(run_id, history)
        request = driver.new_predictions(lab, spec, run_id, history, simulator)
        models = driver.stored_resolve(run_id, history, [simulator], resolve or self._driver.resolve)
        return self._new(request, models, owner, self._calls(lab, request.spec))

    def plan(self, fork: Fork, spec: Spec | None = None) -> ForkPlan:
        """What continuing from the edit would ask, without making a call, with the run's specification or with `spec`.
        Raises RunNotFoundError.
        """
        history = self.events(fork.run)
        lab, begun = self.lab_and_spec(fork.run, history)
        return asyncio.run(driver.planned(lab, spec or begun, history, fork))

    def fork(self, fork: Fork, resolve: Resolve | None = None, owner: str = "", spec: Spec | None = None) -> str:
        """Continue from an edited answer as a new run, which asks only what depends on the edit, with the run's
        specification or with `spec`. Raises RunNotFoundError and QuotaExceededError.
        """
        history = self.events(fork.run)
        lab, begun = self.lab_and_spec(fork.run, history)
        spec = spec or begun
        models = driver.fork_resolve(history, fork, resolve or self._driver.resolve)
        request = RunRequest(lab, spec, new_id(lab.name), additions=driver.inputs(lab, history, fork), forked_from=fork)
        return self._new(request, models, owner, self._calls(driver.narrowed(lab, fork), spec))

    def cancel(self, run_id: str) -> None:
        """Stop a run. No call is sent after this returns; the answers so far stay."""
        if (job := self._job_of(run_id)) is not None:
            self._loop.call_soon_threadsafe(lambda: job.task and job.task.cancel())
            job.over.wait(timeout=5)

    def wait(self, run_id: str, seconds: float | None = None) -> bool:
        """Wait until a run of this process is over; False if the time ran out first."""
        job = self._job_of(run_id)
        return job is None or job.over.wait(seconds)

    def run_on_loop(self, coroutine: Coroutine[Any, Any, None]) -> Future[None]:
        """Run another coroutine on the loop of the runs."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def path(self, run_id: str) -> Path:
        """The path of the run's journal. Raises RunNotFoundError, with the reason if its first line could not be
        written.
        """
        try:
            return super().path(run_id)
        except RunNotFoundError:
            if error := self.write_error(run_id):
                raise RunNotFoundError(error) from None
            raise

    def active(self, run_id: str) -> bool:
        """Whether the run is in progress, here or in another process. Raises RunNotFoundError."""
        return self.here(run_id) or journal.is_written(self.path(run_id))

    def here(self, run_id: str) -> bool:
        """Whether the run is in progress in this process, which alone can cancel it."""
        return self._job_of(run_id) is not None

    def spent_today(self) -> dict[str, CallUsage]:
        """What runs used since midnight (UTC), by the names of their owners; the name is empty for runs of the command
        line. Raises DataDirError.
        """
        return self._allowance.usage_by_owner()

    def people_ahead_for_calls(self, run_id: str) -> int | None:
        """How many other people's calls or programs come before the run's, if it waits for its turn; None if not."""
        job = self._job_of(run_id)
        return fairness.people_ahead(job.owner or job.id) if job else None

    def people_ahead_in_queue(self, run_id: str) -> int | None:
        """How many other people come before the run, if it waits in the queue of this process or another; None if
        not.
        """
        return self._allowance.ledger.people_ahead(run_id) if is_counted() else None

    def prior(self, run_id: str) -> str:
        """The id of the run that this one is waiting for; empty if there is none."""
        job = self._job_of(run_id)
        return job.prior if job else ""

    def write_error(self, run_id: str) -> str:
        """Why the run's journal could not be written, if that stopped the run in this process; empty if not."""
        return self._write_errors.get(run_id, "")

    def watch(self, run_id: str, case: str = "") -> Watch:
        """A Watch of the run, to be read again and again. Raises RunNotFoundError."""
        watch = Watch(self.path(run_id), lambda: self._unfinished(run_id), case)
        with refusing_newer_journals():
            watch.refresh()
        return watch

    def result_of(self, first: Prerequisite, owner: str = "") -> Frozen | None:
        """The result that a run of the owner's would use for that prerequisite; None if no run has produced one."""
        return driver.record_of(first, self.folder, self.seen_by(owner))

    def is_missing(self, first: Prerequisite, owner: str = "") -> bool:
        """Whether the prerequisite is wanted, and no run that the owner may use has produced it yet."""
        return first.wanted and self.result_of(first, owner) is None

    def runs_of_spec(self, lab: Lab, spec: Spec, owner: str = "") -> Iterator[tuple[str, Transcript]]:
        """The runs with exactly this specification that the owner may view, the newest first."""
        return driver.earlier_runs(lab, spec, self.folder, self.seen_by(owner))

    def _calls(self, lab: Lab, spec: Spec) -> int | None:
        """The most calls that count towards limits that a run can make; None if it asks only robots and replays. Raises
        QuotaExceededError if one run may not make that many.
        """
        calls = planned_calls(lab, spec)
        return calls if any(map(self._allowance.counts, spec.models)) else None

    def _calls_of(self, run_id: str) -> int | None:
        """The calls to plan for a run that is resumed: 0, since how many are left is not known, or None if none of them
        counts.
        """
        with suppress(RunNotFoundError, NewerSchemaError, OSError):
            begun = journal.first_event(self.path(run_id))
            _, spec = self.lab_and_spec(run_id, [begun] if begun else [])
            return 0 if any(map(self._allowance.counts, spec.models)) else None
        return 0

    def _job_of(self, run_id: str) -> Job | None:
        with self._registry:
            return self._jobs.get(run_id)

    def _unfinished(self, run_id: str) -> dict[str, str]:
        job = self._job_of(run_id)
        return dict(job.partial) if job else {}

    def _new(self, request: RunRequest, resolve: Resolve | None, owner: str, calls: int | None) -> str:
        """Begin a run that makes at most `calls` calls that count, or none (None), and return its id. Raises
        QuotaExceededError.
        """
        self._loop.call_soon_threadsafe(self._begin, self._job(request.id, True, owner, calls), request, resolve)
        return request.id

    def _job(self, run_id: str, new: bool, owner: str, calls: int | None) -> Job:
        """Register a job with the right to write the run's journal. Raises QuotaExceededError."""
        number = self._allowance.begin(run_id, owner, calls)
        try:
            return self._registered(run_id, new, owner, number)
        except BaseException:
            self._allowance.over(number)
            raise

    def _registered(self, run_id: str, new: bool, owner: str, number: int | None) -> Job:
        job = Job(run_id, Journal(self.folder / f"{run_id}.jsonl", new), owner, number, self._allowance)
        with self._registry:
            self._jobs[run_id] = job
            self._write_errors.pop(run_id, None)
            if new:
                # The owner is known before the journal's first line names it.
                self._owners[run_id] = owner
        return job

    def _end(self, job: Job, fault: BaseException | None = None) -> None:
        try:
            with self._registry:
                del self._jobs[job.id]
                self._owners.pop(job.id, None)
                if isinstance(fault, JournalFullError | JournalInUseError):
                    self._write_errors[job.id] = str(fault)
                # The disk may be full.
                with suppress(OSError):
                    job.journal.close()
                if job.journal.is_new:
                    self._write_errors.setdefault(job.id, "This run was stopped before it started, so it is empty.")
            self._allowance.over(job.number)
            self._ended(job.id)
        finally:
            job.over.set()

    def seen_by(self, owner: str) -> Callable[[str], bool]:
        """Whether a run of the owner's may use another run's answers; a sealed run's are for its own owner only."""
        everyone = policy.allows("others")
        return lambda run: everyone or self.owner(run) == owner or (self.shared(run) and not self.sealed(run))

    def _begin(self, job: Job, request: RunRequest, resolve: Resolve | None) -> asyncio.Task[None]:
        """Begin the job's task; to be called on the loop's thread."""
        # A callback and not a `finally`: a task cancelled before its first step never enters its body.
        job.task = self._loop.create_task(self._execute(job, request, resolve))
        job.task.add_done_callback(lambda task: self._end(job, None if task.cancelled() else task.exception()))
        return job.task

    async def _execute(self, job: Job, request: RunRequest, resolve: Resolve | None) -> None:
        WHOSE.set(job.owner or job.id)
        found = resolve or self._driver.resolve
        drives = replace(self._driver, resolve=found, owner=job.owner, sees=self.seen_by(job.owner))
        await drives.execute(
            request,
            job.journal,
            job.publish,
            lambda first: self._first(job, first, resolve),
            ready=lambda: self._allowance.wait(job.number),
        )

    async def _first(self, job: Job, first: RunRequest, resolve: Resolve | None) -> None:
        """Make a prerequisite of `job`: a run of its own, for the same owner."""
        # Its calls were counted when the run that needs it began, and it uses that run's place.
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


# How far a run in progress is, in words: by its cases or its calls, and what it is waiting for.


class HowFar(Frozen):
    """A run's progress: the `share` that is done, from 0 to 1. If `around` changes, what is shown around the case (such
    as the list of cases) is outdated.
    """

    share: float
    words: str
    around: str


OVER = HowFar(share=1.0, words="", around="over")
"""The progress of a run that has ended, for people who may not see its end yet."""


def how_far(jobs: JobRunner, lab: Lab | None, run: str, state: Transcript) -> HowFar:
    """The progress of the run whose events so far are in `state`. Raises RunNotFoundError."""
    ended = sum(one.is_over for one in state.cases.values())
    around = (state.started is not None, state.planned, ended, bool(jobs.prior(run)))
    share, words = _done(lab, state, ended)
    if (others := jobs.people_ahead_in_queue(run)) is not None:
        words = (
            f"The server is busy (limit: {policy.limit('runs_of_all')}), so this run waits in the queue: "
            f"{_first(others)}. It starts by itself; you can close this page."
        )
    elif others := jobs.people_ahead_for_calls(run):
        words += f" · waiting for its turn: {_first(others)}"
    return HowFar(share=min(max(share, 0.0), 1.0), words=words, around=" ".join(map(str, around)))


def _first(others: int) -> str:
    return f"{others} {'other is' if others == 1 else 'others are'} ahead" if others else "it is next"


def _done(lab: Lab | None, state: Transcript, ended: int) -> tuple[float, str]:
    if lab and lab.run_summary.last_step and ended == state.planned > 0:
        return 1.0, lab.run_summary.last_step
    calls = state.finished_calls
    if state.planned > 1:
        noun = lab.run_summary.case_noun if lab else "case"
        return ended / state.planned, f"{ended} of {state.planned} {noun}s · {count_noun(calls, 'call')}"
    if most := _most(lab, state):
        return calls / most, f"{calls} of about {most} calls answered"
    return 0.0, f"{calls} calls answered"


def _most(lab: Lab | None, state: Transcript) -> int:
    """The most calls that the run can make; 0 if that is not known."""
    if lab is None or state.started is None:
        return 0
    try:
        return lab.calls(lab.spec.model_validate(state.started.spec), 1) or 0
    except ValidationError:
        return 0
