"""Makes a study's runs on many machines: each run is a task of a Dask cluster, made as `core.studies.execute` makes it
locally.

The process that makes a run writes its journal: in the study's folder if the worker can see it, else in a folder of its
own, and the whole journal is sent back. A task holds what is to be measured and no key: workers take keys from their
own environment. The journals say what has completed, so a lost worker costs only the call that it was making. The
scheduler is given bytes and needs nothing of this app.
"""

from __future__ import annotations

import asyncio
import pickle
import secrets
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import home, journal, lease
from ..events import CallError
from ..labs.base.lab import Lab, Prerequisite
from ..models.ids import is_free
from ..runs import driver
from ..runs.context import Resolve
from ..transcript import Transcript, transcript
from .estimate import Sizes
from .execute import LOOK, Making, StudyOutcome, check_budget, hand_out, one_after_another, still_to_make
from .plan import Planned, Study, run_id, wanted
from .run_status import RunStatus, StudyState, early_of, is_completed, standing

if TYPE_CHECKING:
    from distributed import Client

AHEAD = 2
"""How many tasks the scheduler is given for each thread of its workers: enough that no thread waits for its next one,
and few enough when somebody pauses or a budget of money is spent.
"""

PATIENCE = 5.0
"""Seconds that workers have to receive a pause."""


class Task(NamedTuple):
    """What a worker is told about one run. `study` has no runs, and its budgets are the limits for the whole of the
    run's journal. `folder` is where journals are; a file `sign` there contains its own name. `begun` is the journal
    so far, for a worker that does not see the folder.
    """

    run: str
    lab: str
    spec: dict[str, Any]
    study: Study
    folder: str
    sign: str
    begun: bytes


class TaskResult(NamedTuple):
    """The result of a task; `journal` is the run's journal if the worker wrote it elsewhere."""

    outcome: StudyOutcome
    journal: bytes = b""


_paused: set[str] = set()
"""The studies that are paused in this process as a worker, each by the `sign` of its execution."""


def pause(sign: str) -> None:
    """In a worker's process: send no further call of that execution of a study; calls in progress are answered
    first.
    """
    _paused.add(sign)


async def while_wanted(task: Task, labs: Mapping[str, Lab], resolve: Resolve) -> TaskResult:
    """Make the run on a worker; it is cancelled once nobody wants it any more, because its owner was stopped or is
    gone.

    Raises JournalFullError.
    """
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()
    going = asyncio.ensure_future(_made(task, labs, resolve))
    while not (await asyncio.wait([going], timeout=LOOK))[0]:
        known = worker.state.tasks.get(key)
        if known is None or known.state == "cancelled":
            going.cancel()
    return going.result()


async def _made(task: Task, labs: Mapping[str, Lab], resolve: Resolve) -> TaskResult:
    lab = labs[task.lab]
    run = Planned(task.run, lab, lab.spec.model_validate(task.spec))
    if run_id(lab, run.spec) != task.run:
        words = (
            "The worker has another version of this app, other prompts, or another data file: it would measure "
            "something else."
        )
        return TaskResult(StudyOutcome(failed={task.run: words}))
    if task.sign in _paused:
        return TaskResult(StudyOutcome(paused=True))
    is_shared = _holds(Path(task.folder) / task.sign, task.sign)
    folder = Path(task.folder) if is_shared else home.journals()
    path = folder / f"{task.run}.jsonl"
    if not is_shared and task.begun and not path.exists():
        journal.write_atomic(path, task.begun)
    # A worker may not see the other shards of a cell, so it makes each shard whole; the cell may stop between shards.
    stop_width = task.study.stop_width if run.spec == run.spec.whole else None
    alone = replace(task.study, runs=(run,), stop_width=stop_width)
    making = Making(alone, labs, resolve, folder, paused=lambda: task.sign in _paused)
    outcome = await making.run_all([run])
    # Wait until the lease of a worker that was lost on another machine runs out.
    until = time.monotonic() + 1.5 * lease.TTL
    while outcome.elsewhere and time.monotonic() < until:
        await asyncio.sleep(LOOK)
        outcome = await making.run_all([run])
    return TaskResult(outcome, b"" if is_shared or outcome.elsewhere or not path.exists() else path.read_bytes())


def _holds(path: Path, words: str) -> bool:
    """Whether the file exists and holds these words. It is opened, since a network file system may report stale
    entries.
    """
    with suppress(OSError):
        return path.read_text(encoding="utf-8") == words
    return False


@dataclass
class Cluster:
    """Makes the runs of one study on the workers of `connected`, as `core.studies.execute.Making` does in this process.

    `task` is what a worker calls: a function of a module that workers have. `ended(run, state)` is called with each run
    that ends. Raises StudyError as `Making` does.
    """

    study: Study
    labs: Mapping[str, Lab]
    folder: Path
    connected: Callable[[], AbstractAsyncContextManager[Client]]
    task: Callable[[Task], TaskResult]
    ended: Callable[[Planned, Transcript], None] = lambda run, state: None

    def __post_init__(self) -> None:
        check_budget(self.study)
        self._sizes = Sizes()

    async def run_all(self, runs: Sequence[Planned]) -> StudyOutcome:
        """Make the runs that have not completed. A cancelled task ends the runs in progress in good order.

        Raises JournalFullError if a worker can write nothing more, and ConnectionError if the cluster cannot be
        reached.
        """
        self._outcome = outcome = StudyOutcome()
        groups = still_to_make(self.study, runs, self.folder, outcome)
        if not any(groups):
            return outcome
        self._first: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        """A lock for each prerequisite of several runs: the first of these runs makes it."""
        self._calls, self._money = StudyState(self.study, self.folder).budget_left
        """What is left of the budgets, without the calls allotted to runs in progress."""
        self._given_back = asyncio.Condition()
        self._flying = 0
        """The number of runs in progress that were allotted calls."""
        self._rounds: Counter[str] = Counter()
        """How often each run was allotted calls."""
        self._killers: list[Planned] = []
        """The runs during which a worker was lost."""
        self._room, self._looked = 1, -inf
        self._sign = f".cluster-{secrets.token_hex(8)}"
        """The name of a file in the folder that contains its own name, for as long as workers may look for it."""
        sign = self.folder / self._sign
        sign.write_text(self._sign, encoding="utf-8")
        try:
            # Workers end tasks that nobody waits for, once this client is gone.
            async with self.connected() as self._client:
                await hand_out(groups[0], self._in_turn, self._at_once, one_after_another(self.study))
                # One at a time: if a worker with several runs is lost, it is unknown which of them is the cause.
                alone = groups[1:] + [[run] for run in self._killers]
                self._killers.clear()
                for group in alone:
                    await hand_out(group, self._in_turn, self._at_once)
        finally:
            sign.unlink(missing_ok=True)
        why = "each worker that made it was lost: it may take more memory than there is, or end the process"
        for run in self._killers:
            outcome.bad_input = False
            outcome.failed[run.id] = why
        return outcome

    async def _at_once(self) -> int:
        """How many runs may be given to workers now: the number in the study's file, else twice as many as the workers
        have threads; 0 if the study is paused or its budget is spent. Passes a pause on to the workers.
        """
        if time.monotonic() >= self._looked + LOOK:
            now = wanted(home.home(), self.study.name)
            try:
                if now.paused:
                    self._outcome.paused = True
                    # Repeated, since a new worker may have joined; the timeout keeps a stalled worker from holding up
                    # the rest.
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._client.run(pause, self._sign, on_error="ignore"), PATIENCE)
                threads: dict[str, int] = await self._client.nthreads()  # type: ignore[no-untyped-call]
            except OSError as error:
                raise ConnectionError(f"The cluster is gone: {error}") from None
            asked = self.study.cluster.in_hand if self.study.cluster else None
            self._room = asked or max(1, AHEAD * sum(threads.values()))
            self._looked = time.monotonic()
        return 0 if self._outcome.spent or self._outcome.paused else self._room

    async def _in_turn(self, run: Planned) -> Planned | None:
        """Make one run, after its prerequisites were made. Returns the run if it has to be made again."""
        priors = driver.prerequisites_of(run.lab, run.spec).values()
        before = {
            first.spec.model_dump_json(): first for first in priors if isinstance(first, Prerequisite) and first.wanted
        }
        async with AsyncExitStack() as locks:
            # Always in the same order, so that no two runs wait for each other.
            for name in sorted(before):
                await locks.enter_async_context(self._first[name])
            for first in before.values():
                if await asyncio.to_thread(driver.record_of, first, self.folder, lambda run: True) is None:
                    return await self._once(run)
        return await self._once(run)

    async def _once(self, run: Planned) -> Planned | None:
        outcome, path = self._outcome, journal.path_for(self.folder, run.id)
        early = await asyncio.to_thread(early_of, self.study, run, self.folder)
        if early is not None and early.is_narrow:
            outcome.early.append(run.id)
            return None
        before = standing(path)
        # Failed tries are calls too, so each further try gets twice as many.
        wants = 0 if self._calls == inf else self._calls_of(run, before) << self._rounds[run.id]
        self._rounds[run.id] += 1
        async with self._given_back:
            # If no calls are left, wait until other runs return some.
            await self._given_back.wait_for(lambda: self._calls or not wants or not self._flying)
            given = int(min(wants, self._calls))
            if self._money <= 0 or (wants and not given):
                outcome.spent = True
                return None
            self._calls -= given
            self._flying += given > 0
        calls = None if self._calls == inf else before.paid + given
        money = None if self._money == inf else before.money + self._money
        task = Task(
            run=run.id,
            lab=run.lab.name,
            spec=run.spec.model_dump(mode="json"),
            study=replace(self.study, controls=(), runs=(), tables=(), budget_calls=calls, budget_money=money),
            folder=str(self.folder.resolve()),
            sign=self._sign,
            begun=path.read_bytes() if path.exists() else b"",
        )
        try:
            made = await self._made(run, task)
        finally:
            now = standing(path)
            async with self._given_back:
                self._money -= now.money - before.money
                self._calls = max(0, self._calls + given - (now.paid - before.paid))
                self._flying -= given > 0
                self._given_back.notify_all()
        if made is None:
            return None
        of_run = made.outcome
        if of_run.spent or of_run.paused:
            # The run lacks money, not calls: all that was left was too little for its next call.
            outcome.spent = outcome.spent or (of_run.spent and money is not None and now.paid < (calls or inf))
            outcome.paused = outcome.paused or of_run.paused
            return run if of_run.spent and not outcome.spent else None
        outcome.elsewhere += of_run.elsewhere
        outcome.completed += of_run.completed
        outcome.early += of_run.early
        outcome.failed |= of_run.failed
        outcome.bad_input = outcome.bad_input and (of_run.bad_input or not of_run.failed)
        if path.exists() and not of_run.elsewhere:
            self.ended(run, transcript(journal.read(path).events))
        return None

    async def _made(self, run: Planned, task: Task) -> TaskResult | None:
        """A worker's result for the task, with the run's journal in our folder; None if no worker could make it."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        try:
            # The scheduler unpickles the function that it is given: a lambda, so that it needs no module of ours.
            made: TaskResult = await self._client.submit(
                lambda packed: pickle.loads(packed)(),  # noqa: S301  our own
                pickle.dumps(partial(self.task, task)),
                key=f"{run.id}-{secrets.token_hex(4)}",
                pure=False,
            )
            if made.journal and not is_completed(path := journal.path_for(self.folder, run.id)):
                await asyncio.to_thread(journal.write_atomic, path, made.journal)
            return made
        except KilledWorker:
            self._killers.append(run)
        except FutureCancelledError as error:
            raise ConnectionError(f"The cluster is gone: {error}") from None
        except journal.JournalFullError:
            raise
        except Exception as error:  # A worker's own installation may raise anything.
            why = f"{type(error).__name__}: {error}"
            self._outcome.failed[run.id] = f"the worker could not make it: {why}"
        return None

    def _calls_of(self, run: Planned, now: RunStatus) -> int:
        """The most calls of models that the run may still need; 1 if that is not known, so that the run itself can
        report why.
        """
        if all(is_free(model) for model in run.spec.models):
            return 0
        try:
            cases = self._sizes.size_of(run).cases
            most = run.lab.calls(run.spec, cases)
        except (CallError, ValueError, OSError):
            return 1
        if most is None:
            most = self.study.budget_calls or 1
        return max(1, most - now.answered.total())
