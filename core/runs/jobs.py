"""What keeps runs going while pages come and go: one asyncio loop in a daemon thread, and a registry of runs."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import ValidationError

from core import home, journal, policy
from core.events import Event, Finished, Fork, Frozen, Model, Recorded, Shared, Started, Token
from core.journal import Fault, FromTheFuture, Journal, JournalFull, JournalInUse
from core.lab.lab import Lab, Prior, Reads
from core.lab.spec import Spec
from core.runs import prior, turns
from core.runs.allowance import Allowance, CallsToday, planned_calls
from core.runs.engine import Addition, execute, given, new_id
from core.runs.fork import Plan, fork_of, forked, inputs, narrowed, planned
from core.runs.labels import BY, Kept
from core.runs.run import Resolve, complaints, recorded
from core.runs.said import is_shared, kept_path, said_path, shared_path
from core.runs.turns import WHOSE
from core.runs.upgrade import upgraded
from core.runs.watch import Watch
from core.transcript import Transcript, ancestors, transcript

Replaying = Callable[[str, Iterable[Event]], Model]
"""A model that answers what a run's journal holds, and nothing else; by the run's id and events."""


class NoSuchRun(LookupError):
    """No journal of that name, or none that this app can read; the message says which."""

    title = "There is no such run"


class NewerRun(NoSuchRun):
    """A newer version of the app wrote the journal."""

    title = "This run cannot be read here"


@contextmanager
def _of_today() -> Iterator[None]:
    try:
        yield
    except FromTheFuture as error:
        raise NewerRun(str(error)) from None


@contextmanager
def _in_the_run() -> Iterator[None]:
    try:
        yield
    except LookupError as error:
        raise NoSuchRun(str(error)) from None


class Job:
    """One run going on in this process, for its owner. `partial` holds the unfinished answers by call, `ahead` is how
    many calls it may still make, as far as that was known.
    """

    def __init__(self, run_id: str, journal: Journal, owner: str, calls: int, today: CallsToday) -> None:
        self.id = run_id
        self.owner = owner
        self.ahead = calls
        self._today = today
        self.journal = journal
        self.partial: dict[str, str] = {}
        self.prior = ""
        """The run that is made first, while it goes on."""
        self.task: asyncio.Task[None] | None = None
        self.over = threading.Event()

    def publish(self, event: Event) -> None:
        """Journal an event; a token is only kept for the page until its call ends."""
        if isinstance(event, Token):
            self.partial[event.call] = self.partial.get(event.call, "") + event.text
            return
        self.journal.append(event)
        if event.kind == "asked":
            self.ahead = max(0, self.ahead - 1)
            self._today.note(self.owner)
        if event.kind in ("answered", "failed"):
            self.partial.pop(getattr(event, "call", None) or "", None)


class Jobs:
    """Starts, cancels, resumes and shows runs. One for the whole process; every method may be called from any thread.

    `ended(run_id)` is called, on the loop's thread, after a run's last event is on disk. `recordings` is a folder of
    further runs, which are nobody's: they are only looked at, and what people say of them is kept in `folder`.
    """

    def __init__(
        self,
        folder: Path,
        labs: Mapping[str, Lab],
        resolve: Resolve,
        ended: Callable[[str], None] = lambda run_id: None,
        recordings: Path | None = None,
    ) -> None:
        self._folder = folder
        self._recordings = recordings
        self._labs = labs
        self._resolve = resolve
        self._ended = ended
        self._jobs: dict[str, Job] = {}
        self._troubles: dict[str, str] = {}
        self._owners: dict[str, str] = {}
        self._allowance = Allowance(folder)
        self._making: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        """What several runs stand on is made once."""
        self._away: dict[str, str] = {}
        """Deleted runs, and who deleted each."""
        self._registry = threading.Lock()
        self._beginning = threading.Lock()
        """One run begins after another, so that no two take the same last place."""
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="runs", daemon=True).start()

    def start(self, lab: str, spec: Spec, resolve: Resolve | None = None, owner: str = "") -> str:
        """Begin a run and return its id at once. `resolve` finds this run's models, where they are not everyone's;
        `owner` names the person it is for. Raises TooMuch.
        """
        calls = planned_calls(self._labs[lab], spec)
        for first in prior.of(self._labs[lab], spec).values():
            if isinstance(first, Prior) and self.lacks(first, owner):
                calls += planned_calls(first.lab, first.spec)
        run_id = new_id(lab)
        job = self._job(run_id, new=True, owner=owner, calls=calls)
        self._go(job, self._execute(job, self._labs[lab], spec, resolve))
        return run_id

    def resume(
        self,
        run_id: str,
        resolve: Resolve | None = None,
        additions: Sequence[Addition] = (),
        owner: str = "",
        failed_too: bool = False,
    ) -> None:
        """Go on with a run that stopped: answered calls are not asked again. `additions` are what a person gives it.
        One that completed is left as it is, unless it is given something, its journal has lost lines, or what failed in
        it is to be asked again (`failed_too`).

        Raises NoSuchRun, JournalInUse where it is still going on, and TooMuch.
        """
        if self.is_recording(run_id):
            raise NoSuchRun(f"{run_id} is a recording: it does not go on.")
        job = self._job(run_id, owner=owner)
        try:
            # Read once nobody else can write: two who resume at once must not ask twice.
            history = self.events(run_id)
            mend = bool(self.faults(run_id)) or (failed_too and bool(transcript(history).lost))
            lab, spec = self._begun(run_id, history)
            if (fork := fork_of(history)) is not None:
                resolve = self._forked(fork, resolve, self.events(fork.run))
        except BaseException:
            self._end(job)
            raise
        self._go(job, self._execute(job, lab, spec, resolve, history, additions, mend=mend))

    def reread(self, run_id: str, replaying: Replaying, owner: str = "") -> str:
        """Read a run's raw answers again, by the rules of now: a new run, which asks no model.

        Raises NoSuchRun, and TooMuch.
        """
        history = self.events(run_id)
        lab, spec = self._begun(run_id, history)
        model = replaying(run_id, history)
        new = new_id(lab.name)
        job = self._job(new, new=True, owner=owner)
        going = self._execute(
            *(job, lab, spec, lambda id: model, (), given(lab, history)),
            reread_from=run_id,
            forked_from=fork_of(history),
        )
        self._go(job, going)
        return new

    def plan(self, fork: Fork) -> Plan:
        """What going on from the edit would ask, without a call. Raises NoSuchRun."""
        history = self.events(fork.run)
        lab, spec = self._begun(fork.run, history)
        with _in_the_run():
            return asyncio.run(planned(lab, spec, history, fork))

    def fork(self, fork: Fork, resolve: Resolve | None = None, owner: str = "") -> str:
        """Go on from an edited answer, as a new run, which asks only what depends on the edit. Raises NoSuchRun, and
        TooMuch.
        """
        history = self.events(fork.run)
        lab, spec = self._begun(fork.run, history)
        models = self._forked(fork, resolve, history)
        run_id = new_id(lab.name)
        job = self._job(run_id, new=True, owner=owner, calls=planned_calls(narrowed(lab, fork), spec))
        self._go(job, self._execute(job, lab, spec, models, (), inputs(lab, history, fork), forked_from=fork))
        return run_id

    def cancel(self, run_id: str) -> None:
        """Stop a run. No call leaves after this returns; what was answered stays."""
        with self._registry:
            job = self._jobs.get(run_id)
        if job is not None:
            self._loop.call_soon_threadsafe(lambda: job.task and job.task.cancel())
            job.over.wait(timeout=5)

    def beside(self, going: Coroutine[Any, Any, None]) -> Future[None]:
        """Let something else go on on the loop of the runs."""
        return asyncio.run_coroutine_threadsafe(going, self._loop)

    def wait(self, run_id: str, seconds: float | None = None) -> bool:
        """Wait until a run of this process is over; False where the time ran out first."""
        with self._registry:
            job = self._jobs.get(run_id)
        return job is None or job.over.wait(seconds)

    def watch(self, run_id: str, case: str = "") -> Watch:
        """The run, to be looked at again and again. Raises NoSuchRun."""
        watch = Watch(self._path(run_id), self._labs, lambda: self._unfinished(run_id), case)
        with _of_today():
            watch.look()
        return watch

    def case(self, run_id: str, case: str) -> Transcript:
        """One case of a run and how the others ended, without reading the rest of the journal. Raises NoSuchRun."""
        path = self._path(run_id)
        with _of_today():
            part = journal.read_part(path, ["", case, *ancestors(case)]).events
        if part and isinstance(part[0], Started) and part[0].version == 1:
            part = self.events(run_id)
        kept = {"", case, *ancestors(case)}
        state = Transcript(keep=lambda place: place in kept)
        for event in part:
            state.apply(event)
        return state

    def events(self, run_id: str) -> list[Event]:
        """What has happened in a run so far. Raises NoSuchRun."""
        with _of_today():
            return upgraded(journal.read(self._path(run_id)).events, self._labs)

    def faults(self, run_id: str) -> list[Fault]:
        """Lines of the run's journal that hold no event, are missing or were moved. Raises NoSuchRun."""
        with _of_today():
            return journal.faults(self._path(run_id))

    def active(self, run_id: str) -> bool:
        """Whether the run goes on now, here or in another process. Raises NoSuchRun."""
        with self._registry:
            if run_id in self._jobs:
                return True
        return journal.is_written(self._path(run_id))

    def before(self, run_id: str) -> int | None:
        """How many other people's calls or programs come first, where the run waits for its turn; None where not."""
        with self._registry:
            job = self._jobs.get(run_id)
        return turns.before(job.owner or job.id) if job else None

    def prior(self, run_id: str) -> str:
        """The run that is made before this one goes on, while it is; else empty."""
        with self._registry:
            job = self._jobs.get(run_id)
        return job.prior if job else ""

    def came_to(self, first: Prior, owner: str = "") -> Frozen | None:
        """What a run of the owner's would stand on without making it: None where it was not made, or has no result."""
        return prior.record_of(first, self._folder, self._seen_by(owner))

    def lacks(self, first: Prior, owner: str = "") -> bool:
        """Whether what a run of the owner's stands on is wanted and has still to be made."""
        return first.wanted and self.came_to(first, owner) is None

    def made(self, lab: Lab, read: Reads, owner: str = "") -> Iterator[tuple[Spec, Frozen]]:
        """What each specification of that lab came to, of the runs that the owner may look at (`Prior.read`)."""
        return prior.records(lab, read, self._folder, self._seen_by(owner))

    def like(self, lab: Lab, spec: Spec, owner: str = "") -> Iterator[tuple[str, Transcript]]:
        """The runs of that very specification that the owner may look at, the newest first."""
        return prior.like(lab, spec, self._folder, self._seen_by(owner))

    def trouble(self, run_id: str) -> str:
        """Why the run's journal could not be written on, where that is what stopped it in this process; else empty."""
        return self._troubles.get(run_id, "")

    def here(self, run_id: str) -> bool:
        """Whether the run goes on in this process, which alone can cancel it."""
        with self._registry:
            return run_id in self._jobs

    def say(self, run_id: str, who: str, case: str, record: Frozen, item: str, owner: str = "") -> None:
        """Keep what a person says about a run, such as a guess: in a journal of their own, so that the run's has one
        writer and no two people's words replace each other. Raises NoSuchRun.
        """
        said = self._said(run_id, who)
        self._add(run_id, said, recorded(said.stem, record, item, case=case, trial=item, by=who), owner)

    def speaker(self, run_id: str, who: str) -> str | None:
        """The name of the person who speaks of the run as `who`; None where nobody has. Raises NoSuchRun."""
        said = self._said(run_id, who)
        return self.owner(said.stem) if said.exists() else None

    def said(self, run_id: str, who: str) -> list[Event]:
        """What that person said about the run. Raises NoSuchRun."""
        said = self._said(run_id, who)
        return [event for event in journal.read(said).events if event.kind == "recorded"] if said.exists() else []

    def share(self, run_id: str, shared: bool) -> None:
        """Let everyone look at a run, or nobody but its owner any more. Raises NoSuchRun."""
        if self.is_recording(run_id):
            raise NoSuchRun(f"{run_id} is a recording: everyone may look at it.")
        path = shared_path(self._beside(run_id))
        self._add(run_id, path, Shared(run=path.stem, shared=shared))

    def shared(self, run_id: str) -> bool:
        """Whether everyone may look at the run. Raises NoSuchRun."""
        return self.is_recording(run_id) or is_shared(self._beside(run_id))

    def labels(self, run_id: str) -> dict[str, list[Recorded]]:
        """What people say of the run's cases and trials (`core.runs.labels`), by the name each says it under. Raises
        NoSuchRun.
        """
        name = self._path(run_id).stem
        said = {path: journal.read(path).events for path in sorted(self._folder.glob(f"{name}~{BY}*.jsonl"))}
        return {
            path.stem.partition("~")[2]: [event for event in events if isinstance(event, Recorded)]
            for path, events in said.items()
        }

    def keep(self, run_id: str, kept: Kept, owner: str = "") -> None:
        """Keep the run so from now on. Raises NoSuchRun."""
        if self.is_recording(run_id):
            raise NoSuchRun(f"{run_id} is a recording: it stays as it is.")
        path = kept_path(self._beside(run_id))
        self._add(run_id, path, recorded(path.stem, kept, "run"), owner)

    def kept(self, run_id: str) -> Kept:
        """How its owner keeps the run. Raises NoSuchRun."""
        path = kept_path(self._beside(run_id))
        said = journal.read(path).events if path.exists() else []
        return Kept.model_validate(said[-1].data) if said and isinstance(said[-1], Recorded) else Kept()

    def delete(self, run_id: str, who: str = "") -> None:
        """Put the run away, with what was said about it, until this process ends; `who` may bring it back. Raises
        NoSuchRun, and JournalInUse where it goes on.
        """
        path = self._path(run_id)
        if self.is_recording(run_id):
            raise NoSuchRun(f"{run_id} is a recording: it stays where it is.")
        # Nobody goes on with it meanwhile; what lies in a pack is refused.
        with Journal(self._beside(run_id)):
            for one in [path, *self._folder.glob(f"{run_id}~*.jsonl")]:
                one.rename(Path(self._bin.name) / one.name)
            self._away[run_id] = who
        self._ended(run_id)

    def deleted(self, who: str = "") -> list[str]:
        """The runs that `who` deleted in this process, the latest last."""
        return [run for run, by in self._away.items() if by == who]

    def undo(self, run_id: str, who: str = "") -> None:
        """Bring back a run that `who` deleted. Raises NoSuchRun where there is none."""
        if run_id not in self.deleted(who):
            raise NoSuchRun(f"{run_id} can no longer be brought back.")
        for one in Path(self._bin.name).glob(f"{run_id}*.jsonl"):
            one.rename(self._folder / one.name)
        del self._away[run_id]
        self._ended(run_id)

    def is_recording(self, run_id: str) -> bool:
        """Whether the run came with the app. Raises NoSuchRun."""
        return self._path(run_id).parent in (self._recordings, home.priors())

    def owner(self, run_id: str) -> str:
        """The name of the person whose run it is; empty for one begun on the command line. Raises NoSuchRun."""
        if run_id not in self._owners:
            with _of_today():
                begun = journal.begun(self._path(run_id))
            if begun is None:
                # Its first line is not written yet, or lost.
                with self._registry:
                    return self._jobs[run_id].owner if run_id in self._jobs else ""
            self._owners[run_id] = begun.owner
        return self._owners[run_id]

    def journal(self, run_id: str) -> bytes:
        """The run's journal as it lies on disk. Raises NoSuchRun."""
        return self._path(run_id).read_bytes()

    def file(self, run_id: str) -> os.stat_result:
        """Size and times of the run's journal: what was read of it holds as long as they stay. Raises NoSuchRun."""
        return self._path(run_id).stat()

    @cached_property
    def _bin(self) -> TemporaryDirectory[str]:
        """Where deleted runs lie, which go for good with this process."""
        return TemporaryDirectory(prefix=".deleted-", dir=self._folder, ignore_cleanup_errors=True)

    def _add(self, run_id: str, path: Path, event: Event, owner: str = "") -> None:
        """Write `event` into the journal of what somebody says about a run; begin it where there is none."""
        begin = not path.exists()
        with Journal(path) as written:
            if begin:
                with _of_today():
                    begun = journal.begun(self._path(run_id))
                lab = begun.lab if begun else ""
                written.append(Started(run=path.stem, lab=lab, spec={}, seed=0, about=run_id, owner=owner))
            written.append(event)
        self._ended(path.stem)

    def _begun(self, run_id: str, history: Iterable[Event]) -> tuple[Lab, Spec]:
        started = next((event for event in history if isinstance(event, Started)), None)
        if started is None or started.lab not in self._labs or started.about:
            raise NoSuchRun(f"{run_id} holds no run that this app can go on with")
        lab = self._labs[started.lab]
        try:
            return lab, lab.spec.model_validate(started.spec)
        except ValidationError as error:
            why = "; ".join(complaints(error)[:3])
            raise NoSuchRun(f"The settings of {run_id} cannot be read by this version of the app: {why}") from None

    def _forked(self, fork: Fork, resolve: Resolve | None, history: Iterable[Event]) -> Resolve:
        with _in_the_run():
            return forked(history, fork, resolve or self._resolve)

    def _unfinished(self, run_id: str) -> dict[str, str]:
        with self._registry:
            job = self._jobs.get(run_id)
        return dict(job.partial) if job else {}

    def _said(self, run_id: str, who: str) -> Path:
        return said_path(self._beside(run_id), who)

    def _beside(self, run_id: str) -> Path:
        """Where the run's journal would lie if it were no recording and in no pack: what is said of it lies there."""
        return self._folder / self._path(run_id).name

    def _path(self, run_id: str) -> Path:
        path = journal.found(run_id, self._folder, self._recordings, home.priors())
        if path is not None:
            return path
        raise NoSuchRun(f"There is no run named {run_id!r} in {self._folder}.")

    def _job(self, run_id: str, new: bool = False, owner: str = "", calls: int = 0) -> Job:
        """The right to write the run's journal, with a place in the registry. Raises TooMuch."""
        with self._beginning:
            with self._registry:
                going_on = list(self._jobs.values())
            self._allowance.check(owner, calls, going_on)
            job = Job(run_id, Journal(self._folder / f"{run_id}.jsonl", new), owner, calls, self._allowance.today)
            with self._registry:
                self._jobs[run_id] = job
                self._troubles.pop(run_id, None)
        return job

    def _end(self, job: Job, fault: BaseException | None = None) -> None:
        try:
            with self._registry:
                del self._jobs[job.id]
                if isinstance(fault, JournalFull | JournalInUse):
                    self._troubles[job.id] = str(fault)
                # On a full disk.
                with suppress(OSError):
                    job.journal.close()
            self._ended(job.id)
        finally:
            job.over.set()

    def _seen_by(self, owner: str) -> Callable[[str], bool]:
        return lambda run: policy.allows("others") or self.owner(run) == owner or self.shared(run)

    async def _stand_on(self, job: Job, first: Prior | Frozen, resolve: Resolve | None) -> Frozen | None:
        """What `job` stands on; where it has still to be made, that is a run of its own, for the same owner."""

        async def make(first: Prior, run_id: str) -> None:
            # Its calls were counted when the run that wants it began.
            made = Job(run_id, Journal(self._folder / f"{run_id}.jsonl", True), job.owner, 0, self._allowance.today)
            with self._registry:
                self._jobs[run_id] = made
            job.prior = run_id
            self._begin(made, self._execute(made, first.lab, first.spec, resolve))
            assert made.task is not None
            try:
                await asyncio.wait([made.task])
            except asyncio.CancelledError:
                made.task.cancel()
                raise
            finally:
                job.prior = ""

        if not isinstance(first, Prior):
            return first
        async with self._making[first.spec.model_dump_json()]:
            return await prior.stand_on(first, self._folder, self._seen_by(job.owner), make)

    def _go(self, job: Job, going: Coroutine[None, None, None]) -> None:
        self._loop.call_soon_threadsafe(self._begin, job, going)

    def _begin(self, job: Job, going: Coroutine[None, None, None]) -> None:
        """Begin the job's task, on the loop's thread."""
        # A callback and not a `finally`: a task cancelled before its first step never enters its body.
        job.task = self._loop.create_task(going)
        job.task.add_done_callback(lambda task: self._end(job, None if task.cancelled() else task.exception()))

    async def _execute(
        self,
        job: Job,
        lab: Lab,
        spec: Spec,
        resolve: Resolve | None,
        history: Sequence[Event] = (),
        additions: Sequence[Addition] = (),
        reread_from: str = "",
        forked_from: Fork | None = None,
        mend: bool = False,
    ) -> None:
        WHOSE.set(job.owner or job.id)
        if forked_from := forked_from or fork_of(history):
            lab = narrowed(lab, forked_from)
        due = {} if reread_from or forked_from else prior.due(lab, spec, history)
        await execute(
            lab,
            spec,
            job.id,
            resolve=resolve or self._resolve,
            publish=job.publish,
            history=history,
            additions=additions,
            settle=job.journal.settled,
            reread_from=reread_from,
            forked_from=forked_from,
            owner=job.owner,
            stand_on=lambda: prior.all_of(due, lambda first: self._stand_on(job, first, resolve)),
            mend=mend,
        )


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
