"""The runs of a study made on many machines: each a task of a Dask cluster, made as `core.study.execute` makes it here.

Who makes a run writes its journal: in the study's folder, where the worker sees that very folder; else in a folder of
its own, and the whole journal travels back. A task holds what is to be measured and no key: workers take keys from
their own environment. What has completed is what the journals say, so a worker that is lost costs what it was asking.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import replace
from itertools import islice
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from core import home, journal, lease
from core.events import CallFailed
from core.lab import MOST_CASES, Lab, Prior
from core.models.ids import is_free
from core.runs import prior
from core.runs.run import Resolve
from core.runs.upgrade import upgraded
from core.study.control import wanted
from core.study.execute import Making, Outcome, check_budget, left
from core.study.plan import Planned, Study, run_id
from core.study.standing import is_completed, standing
from core.transcript import Transcript, transcript

if TYPE_CHECKING:
    from distributed import Client

AHEAD = 2
"""Tasks that the scheduler is given for each thread of its workers: none waits for its next, and few are in hand when
somebody wants a pause, or a budget of money is spent.
"""

LOOK = 1.0
"""Seconds between two looks at what is wanted."""

PATIENCE = 5.0
"""Seconds in which workers hear of a pause."""


class Task(NamedTuple):
    """What a worker is told of one run. `study` names no runs; `folder` is where journals lie, where a file `sign`
    holds its own name; `most` how many calls of models the run's journal may come to hold, and `most_money` what these
    may cost in US dollars, None for any number; `begun` the journal as far as it goes, for a worker that does not see
    the folder.
    """

    run: str
    lab: str
    spec: dict[str, Any]
    study: Study
    folder: str
    sign: str
    most: int | None
    most_money: float | None
    begun: bytes


class Made(NamedTuple):
    """What came of a task; `journal` where the worker wrote it elsewhere, `paid` the calls of models in it, and `money`
    what they cost in US dollars.
    """

    outcome: Outcome
    journal: bytes
    paid: int = 0
    money: float = 0.0


_paused: set[str] = set()
"""What is paused among that which this process makes as a worker: the `sign` of each making of a study."""


def pause(sign: str) -> None:
    """In the process of a worker: no further call of that making leaves; what was asked is answered first."""
    _paused.add(sign)


async def make(task: Task, labs: Mapping[str, Lab], resolve: Resolve, own: Callable[[], Path]) -> Made:
    """Make the run, on a worker; `own` gives the folder for journals of one that does not see the study's.

    Raises JournalFull.
    """
    lab = labs[task.lab]
    run = Planned(task.run, lab, lab.spec.model_validate(task.spec))
    if run_id(lab, run.spec) != task.run:
        words = (
            "The worker has another version of this app, other prompts, or another data file: it would measure "
            "something else."
        )
        return Made(Outcome(failed={task.run: words}), b"")
    if task.sign in _paused:
        return Made(Outcome(paused=True), b"")
    is_shared = _holds(Path(task.folder) / task.sign, task.sign)
    folder = Path(task.folder) if is_shared else own()
    path = folder / f"{task.run}.jsonl"
    if not is_shared and task.begun and not path.exists():
        journal.put(path, task.begun)
    study = replace(task.study, runs=(run,), budget_calls=task.most, budget_money=task.most_money)
    making = Making(study, labs, resolve, folder, paused=lambda: task.sign in _paused)
    outcome = await making.make([run])
    # The lease of a worker that was lost on another machine runs out.
    for _ in range(ceil(1.5 * lease.TTL / LOOK)):
        if not outcome.elsewhere:
            break
        await asyncio.sleep(LOOK)
        outcome = await making.make([run])
    now = standing(path)
    written = b"" if is_shared or outcome.elsewhere or not path.exists() else path.read_bytes()
    return Made(outcome, written, now.paid, now.money)


def _holds(path: Path, words: str) -> bool:
    """Whether the file is there and holds these words. It is opened, since a network storage may remember what is not
    there.
    """
    try:
        return path.read_text(encoding="utf-8") == words
    except OSError:
        return False


async def while_wanted(work: Coroutine[Any, Any, Made]) -> Made:
    """What comes of `work`, in a task of a worker; cancelled once nobody wants it any more: whoever asked for it was
    stopped, or is gone.
    """
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()
    going = asyncio.ensure_future(work)
    while not (await asyncio.wait([going], timeout=LOOK))[0]:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            going.cancel()
    return going.result()


class Cluster:
    """Makes the runs of one study on the workers of `connected`, as `core.study.execute.Making` does in this process.

    `task` is what a worker calls. `ended(run, state)` hears of each run as it ends. Raises BadStudy as `Making` does.
    """

    def __init__(
        self,
        study: Study,
        labs: Mapping[str, Lab],
        folder: Path,
        connected: Callable[[], AbstractAsyncContextManager[Client]],
        task: Callable[[Task], Made],
        ended: Callable[[Planned, Transcript], None] = lambda run, state: None,
    ) -> None:
        check_budget(study)
        self.study = study
        self._labs = labs
        self._folder = folder
        self._connected = connected
        self._task = task
        self._ended = ended

    async def make(self, runs: Sequence[Planned]) -> Outcome:
        """Make those that have not completed. A cancelled task ends the runs under way in good order.

        Raises JournalFull where a worker can write nothing more, and ConnectionError where the cluster is out of reach.
        """
        self._begin()
        outcome = Outcome()
        waiting: deque[Planned] = deque()
        for run in runs:
            if is_completed(self._path(run)):
                outcome.completed.append(run.id)
            else:
                waiting.append(run)
        if not waiting:
            return outcome
        killers: list[Planned] = []
        with self._signed() as sign:
            async with self._connected() as client:

                async def one(run: Planned) -> None:
                    if await self._in_turn(client, run, sign, outcome, killers):
                        waiting.append(run)

                # Workers end what nobody waits for any more, once this client is gone.
                try:
                    await self._hand_out(client, waiting, one, sign, outcome)
                    # Each alone: which of those on a worker that was lost is to blame cannot be told.
                    suspects, killers = killers, []
                    for run in suspects:
                        await self._hand_out(client, deque([run]), one, sign, outcome)
                except BaseExceptionGroup as several:
                    raise several.exceptions[0] from None
        for run in killers:
            outcome.bad_input = False
            outcome.failed[run.id] = (
                "each worker that made it was lost: it may take more memory than there is, or end the process"
            )
        return outcome

    async def _hand_out(
        self,
        client: Client,
        waiting: deque[Planned],
        one: Callable[[Planned], Coroutine[Any, Any, None]],
        sign: str,
        outcome: Outcome,
    ) -> None:
        """Have these runs made, as many at a time as are wanted, else as the workers take; of a pause the workers are
        told. What is in hand is waited for.
        """
        going: set[asyncio.Task[None]] = set()
        at_once, looked = 1, 0.0
        async with asyncio.TaskGroup() as group:
            while going or (waiting and not outcome.spent and not outcome.paused):
                if time.monotonic() >= looked + LOOK:
                    at_once = await self._wanted(client, sign, outcome)
                    looked = time.monotonic()
                while waiting and len(going) < at_once and not outcome.spent and not outcome.paused:
                    going.add(group.create_task(one(waiting.popleft())))
                if going:
                    _, going = await asyncio.wait(going, timeout=LOOK, return_when=asyncio.FIRST_COMPLETED)

    async def _wanted(self, client: Client, sign: str, outcome: Outcome) -> int:
        """How many runs may be in hand now. Tells the workers of a pause."""
        now = wanted(home.home(), self.study.name)
        try:
            if now.paused:
                outcome.paused = True
                # Again and again, for a worker may have come only now; one that stands still keeps nobody waiting.
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(client.run(pause, sign, on_error="ignore"), PATIENCE)
            return now.at_once or max(1, AHEAD * sum((await client.nthreads()).values()))  # type: ignore[no-untyped-call]
        except OSError as error:
            raise ConnectionError(f"The cluster is gone: {error}") from None

    def _begin(self) -> None:
        """What holds for one loop."""
        self._first: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        """What several runs stand on is made once, by the first of them."""
        self._left, self._money = left(self.study, self._folder)
        self._given_back = asyncio.Condition()
        self._flying = 0
        self._rounds: Counter[str] = Counter()
        """How often each run was given leave for calls."""

    def _path(self, run: Planned) -> Path:
        return journal.at(self._folder, run.id)

    @contextmanager
    def _signed(self) -> Iterator[str]:
        """The name of a file in the folder that holds its own name, for as long as workers may look for it."""
        sign = self._folder / f".cluster-{secrets.token_hex(8)}"
        sign.write_text(sign.name, encoding="utf-8")
        try:
            yield sign.name
        finally:
            sign.unlink(missing_ok=True)

    async def _in_turn(self, client: Client, run: Planned, sign: str, outcome: Outcome, killers: list[Planned]) -> bool:
        """Make one run, after what it stands on was made. Whether to make it again."""
        priors = prior.of(run.lab, run.spec).values()
        wanted = {one.spec.model_dump_json(): one for one in priors if isinstance(one, Prior) and one.wanted}
        async with contextlib.AsyncExitStack() as locks:
            # Always in one order, so that no two runs wait for each other.
            for _, first in sorted(wanted.items()):
                await locks.enter_async_context(self._first[first.spec.model_dump_json()])
            for first in wanted.values():
                if await asyncio.to_thread(prior.record_of, first, self._folder, lambda run: True) is None:
                    return await self._once(client, run, sign, outcome, killers)
        return await self._once(client, run, sign, outcome, killers)

    async def _once(self, client: Client, run: Planned, sign: str, outcome: Outcome, killers: list[Planned]) -> bool:
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        if self._money is not None and self._money <= 0:
            outcome.spent = True
            return False
        before = standing(self._path(run))
        # Tries that fail are calls too: what was not enough is doubled.
        wants = 0 if self._left is None else self._calls_of(run) << self._rounds[run.id]
        self._rounds[run.id] += 1
        leave = await self._take(wants)
        if wants and not leave and self._left is not None:
            outcome.spent = True
            return False
        task = Task(
            run=run.id,
            lab=run.lab.name,
            spec=run.spec.model_dump(mode="json"),
            study=replace(self.study, controls=(), runs=(), tables=()),
            folder=str(self._folder.resolve()),
            sign=sign,
            most=None if self._left is None else before.paid + leave,
            most_money=None if self._money is None else before.money + self._money,
            begun=self._path(run).read_bytes() if self._path(run).exists() else b"",
        )
        spent = before.paid, before.money
        try:
            made = await client.submit(self._task, task, key=f"{run.id}-{secrets.token_hex(4)}", pure=False)
            spent = max(before.paid, made.paid), max(before.money, made.money)
            if made.journal and not is_completed(self._path(run)):
                await asyncio.to_thread(journal.put, self._path(run), made.journal)
        except KilledWorker:
            killers.append(run)
            now = standing(self._path(run))
            spent = now.paid, now.money
            return False
        except FutureCancelledError as error:
            raise ConnectionError(f"The cluster is gone: {error}") from None
        except journal.JournalFull:
            raise
        except Exception as error:  # Whatever a worker's own installation raises.
            outcome.failed[run.id] = f"the worker could not make it: {type(error).__name__}: {error}"
            return False
        finally:
            if self._money is not None:
                self._money -= spent[1] - before.money
            await self._give_back(leave, spent[0] - before.paid)
        if made.outcome.spent and self._money is not None and (self._left is None or spent[0] < before.paid + leave):
            # It is money that it wants, and all that was left was too little for its next call.
            outcome.spent = True
        return self._heard(run, made.outcome, outcome)

    def _heard(self, run: Planned, made: Outcome, outcome: Outcome) -> bool:
        """Take up what came of one run. Whether to make it again."""
        if made.spent or made.paused:
            outcome.paused = outcome.paused or made.paused
            return made.spent and not outcome.spent
        outcome.elsewhere += made.elsewhere
        outcome.completed += made.completed
        outcome.early += made.early
        outcome.failed |= made.failed
        outcome.bad_input = outcome.bad_input and (made.bad_input or not made.failed)
        if self._path(run).exists() and not made.elsewhere:
            self._ended(run, transcript(upgraded(journal.read(self._path(run)).events, self._labs)))
        return False

    def _calls_of(self, run: Planned) -> int:
        """How many calls of models the run may still want; 1 where that cannot be told, for it to say so itself."""
        if all(is_free(model) for model in run.spec.models):
            return 0
        try:
            cases = len(list(islice(run.lab.cases(run.spec), MOST_CASES)))
            most = sum(run.lab.asks(run.spec, cases).values()) if run.lab.asks else self.study.budget_calls or 1
        except (CallFailed, ValueError, OSError):
            return 1
        return max(1, most - standing(self._path(run)).answered.total())

    async def _take(self, wanted: int) -> int:
        """Leave for so many calls, or for those that are left. Where none are, once others gave theirs back."""
        async with self._given_back:
            await self._given_back.wait_for(lambda: self._left is None or not wanted or self._left or not self._flying)
            leave = min(wanted, self._left or 0)
            if self._left is not None:
                self._left -= leave
            self._flying += leave > 0
            return leave

    async def _give_back(self, leave: int, paid: int) -> None:
        async with self._given_back:
            if self._left is not None:
                self._left = max(0, self._left + leave - paid)
            self._flying -= leave > 0
            self._given_back.notify_all()
