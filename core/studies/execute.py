"""Makes the runs of a study in this process, many at a time on one event loop, in a command or in the background
of the app. A run's journal says whether it has completed.
"""

import asyncio
import logging
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from .. import home, journal
from ..errors import ExplainError
from ..events import CallError, Model, ModelAnswer, OnText, OutOfReachError, Request
from ..journal import Journal, JournalInUseError
from ..labs.base.lab import Lab
from ..models.capabilities import set_room
from ..models.errors import AuthenticationError, RateLimitError, UnreachableServerError
from ..models.ids import is_free
from ..models.settings import price_of
from ..runs.context import Resolve
from ..runs.driver import Driver
from ..runs.engine import RunRequest
from ..runs.fairness import LEAVE, WHOSE, CallsPausedError, Leave
from ..transcript import Transcript
from . import plan, tables
from .plan import Planned, Study, StudyError, dataset_of, unpriced, wanted
from .run_status import StudyState, Tokens, early_of, is_completed, standing
from .study_files import refuse_packed

# What stands between a study's runs and its models: budgets, pauses, and waiting for unreachable endpoints.


log = logging.getLogger(__name__)

PATIENCE = 600.0
"""Seconds that an endpoint which has answered before may be unreachable before its runs fail."""

MANY, ALONE = 3, 90.0
"""While fewer than `MANY` calls fail, a call that fails for `ALONE` seconds is itself taken to be the cause."""

_LONGEST_REST = 15.0

FAULTS, REFUSALS = 3, 20
"""How often a call may fail, or be refused by a rate limit, while its endpoint answers other calls."""


class BudgetGate:
    """Lets calls of all runs through until a budget is spent or somebody pauses; one for each process that makes a
    study's runs. `calls` and `money` (US dollars) are what is left of the budgets, infinite without a limit. Answers
    from the response cache are free.

    Further calls wait. `over` is set once the calls in progress are answered, so none of these is wasted.
    """

    def __init__(self, calls: float, money: float) -> None:
        self.over = asyncio.Event()
        self.leave = Leave()
        self.paused = False
        self._calls = calls
        self._money = money
        self._flying = 0
        self._held: list[float] = []
        self._given_back = asyncio.Event()
        self._reach: defaultdict[str, _Reach] = defaultdict(_Reach)
        """By endpoint, whether it can be reached."""

    def metered(self, model: Model) -> Model:
        """`model` with calls that go through the gate, and are repeated after temporary failures."""
        return _Metered(model, self, self._reach[model.id.partition("/")[0]])

    def pause(self) -> None:
        """Hold back all further calls."""
        self.paused = True
        self.leave.close()
        self._settle()

    async def reserve(self, most: float) -> None:
        """Wait until a call that costs at most `most` US dollars is within the budgets, and reserve that amount."""
        while not self._has_room(most):
            self._held.append(most)
            self._given_back.clear()
            self._settle()
            await self._given_back.wait()
            self._held.remove(most)
        self._calls -= 1
        self._money -= most
        self._flying += 1

    def back(self, most: float, was_paid: bool, cost: float) -> None:
        """End a call that had reserved `most`, and return what it did not spend."""
        self._flying -= 1
        self._calls += not was_paid
        self._money += most - cost
        self._given_back.set()
        self._settle()

    def _has_room(self, most: float) -> bool:
        return self._calls > 0 and self._money >= most and not self.paused

    def _settle(self) -> None:
        is_spent = bool(self._held) and not any(map(self._has_room, self._held))
        if (self.paused or is_spent) and not self._flying:
            self.over.set()


class _Reach:
    """Whether one endpoint can be reached, according to this study's calls."""

    def __init__(self) -> None:
        self.answers = 0
        self.waiting = 0
        self._lost_at: float | None = None

    def answered(self) -> None:
        self.answers += 1
        self._lost_at = None

    @property
    def lost_for(self) -> float:
        """Seconds since the endpoint became unreachable; 0 if it is reachable."""
        return 0.0 if self._lost_at is None else time.monotonic() - self._lost_at

    async def wait(self, failure: CallError, leave: Leave) -> None:
        """Wait until it is worth trying again. Raises OutOfReachError if the endpoint has been unreachable for too
        long.
        """
        if self._lost_at is None:
            self._lost_at = time.monotonic()
            log.warning("waiting: %s", failure.message)
        lost_for = self.lost_for
        if lost_for > PATIENCE:
            raise OutOfReachError(failure)
        self.waiting += 1
        try:
            await leave.sleep(min(0.25 + lost_for / 10, _LONGEST_REST))
        finally:
            self.waiting -= 1


class _Metered:
    """One model. Raises OutOfReachError, which ends the run, if its endpoint cannot be reached or refuses the key: no
    item should be lost for that.
    """

    def __init__(self, model: Model, gate: BudgetGate, reach: _Reach) -> None:
        self.id = model.id
        self._model = model
        self._gate = gate
        self._reach = reach
        self._price = price_of(model.id)

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        LEAVE.set(self._gate.leave)
        sent = sum(len(message.content) for message in request.messages)
        # A token hardly ever has less than two characters; the real number is counted once the answer is there.
        most = self._cost(Tokens(1, sent / 2, request.sampling.max_tokens))
        while True:
            await self._gate.reserve(most)
            was_paid, cost = True, 0.0
            try:
                answer = await self._patiently(request, on_text)
                was_paid = not answer.cached
                cost = self._cost(Tokens.from_call(answer.usage.model_dump(), sent, answer.text)) if was_paid else 0.0
                return answer
            except CallsPausedError:
                was_paid = False
            finally:
                self._gate.back(most, was_paid, cost)

    def _cost(self, tokens: Tokens) -> float:
        return self._price.cost_of(tokens.prompt, tokens.completion) if self._price else 0.0

    async def _patiently(self, request: Request, on_text: OnText) -> ModelAnswer:
        faults, failing_since = 0, None
        while True:
            before = self._reach.answers
            try:
                answer = await self._model.answer(request, on_text)
            except CallError as failure:
                is_down = isinstance(failure, UnreachableServerError)
                is_refused = isinstance(failure, RateLimitError)
                is_shut = isinstance(failure, AuthenticationError) or (is_refused and not failure.may_pass)
                if is_shut or (is_down and not self._reach.answers):
                    raise OutOfReachError(failure) from None
                if not (is_down or failure.may_pass):
                    raise
                # If other calls are answered meanwhile, or none ever was, this call itself may be the cause.
                faults += not is_down and (self._reach.answers > before or not before)
                failing_since = failing_since or time.monotonic()
                is_alone = self._reach.waiting < MANY and time.monotonic() - failing_since > ALONE
                # Once the endpoint is given up, a call that waited with others is not the cause just because it fails
                # last.
                is_alone = is_alone and self._reach.lost_for <= PATIENCE
                if faults >= (REFUSALS if is_refused else FAULTS) or (is_alone and not is_down and not is_refused):
                    raise
                await self._reach.wait(failure, self._gate.leave)
            else:
                if not answer.cached:
                    self._reach.answered()
                return answer


LOOK = 1.0
"""Seconds between two checks of the study's desired state."""

TRIES = 3
"""How often a failing run is tried in one go; a run with bad input fails the same way each time, so it is tried once.
"""

VAIN = 3
"""A run that was begun this often without a result may be what ended the process: it is made last, and alone."""


@dataclass
class StudyOutcome:
    """The result of making runs. `early` are runs that the study's `stop_width` stopped or made unnecessary; `failed`
    says why, by run; `elsewhere` are runs that another process is making; `spent`: a budget ended it; `paused`:
    somebody paused it.
    """

    completed: list[str] = field(default_factory=list)
    early: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    elsewhere: list[str] = field(default_factory=list)
    bad_input: bool = True
    spent: bool = False
    paused: bool = False


async def hand_out(
    runs: Iterable[Planned],
    make: Callable[[Planned], Coroutine[Any, Any, Planned | None]],
    at_once: Callable[[], Awaitable[int]],
    after: Mapping[str, str] | None = None,
) -> bool:
    """Have `make` make each run; a run that it returns is made again, after all others. `at_once()` says how many are
    made at a time; it is called whenever a run ends, and every second. If it returns 0, runs in progress end, and no
    further one begins. A run named in `after` begins only once the run that it names there has ended. Returns
    whether all were made. Raises what `make` raises.
    """
    waiting, going = {run.id: run for run in runs}, set[asyncio.Task[Planned | None]]()

    def is_ready(run: Planned) -> bool:
        earlier = after.get(run.id) if after else None
        return earlier is None or not (earlier in waiting or any(task.get_name() == earlier for task in going))

    try:
        async with asyncio.TaskGroup() as group:
            while True:
                room = await at_once() - len(going)
                ready = list(islice(filter(is_ready, waiting.values()), max(0, room)))
                going |= {group.create_task(make(waiting.pop(run.id)), name=run.id) for run in ready}
                if not going:
                    return not waiting
                ended, going = await asyncio.wait(going, timeout=LOOK, return_when=asyncio.FIRST_COMPLETED)
                waiting |= {again.id: again for task in ended if (again := task.result()) is not None}
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None


def still_to_make(study: Study, runs: Sequence[Planned], folder: Path, outcome: StudyOutcome) -> list[list[Planned]]:
    """The runs that have not ended, in groups to be made one after another: first those that can be made in parallel,
    then each run that was begun in vain too often by itself. The other runs are added to `outcome`.

    Raises StudyError if the study is packed.
    """
    refuse_packed(study, folder)
    groups: list[list[Planned]] = [[]]
    state = StudyState(study, folder)
    for run in runs:
        path = journal.path_for(folder, run.id)
        if is_completed(path):
            outcome.completed.append(run.id)
        elif run.id in state.early:
            outcome.early.append(run.id)
        elif standing(path).vain >= VAIN:
            groups.append([run])
        else:
            groups[0].append(run)
    return groups


def one_after_another(study: Study) -> dict[str, str]:
    """For each shard, the shard of its cell that it comes after, if a cell may stop early, so that none is made in
    vain.
    """
    pairs = (pair for cell in study.cells for pair in pairwise(cell)) if study.stop_width else ()
    return {later.id: earlier.id for earlier, later in pairs}


def check_budget(study: Study) -> None:
    """Check the study's budget of money. Raises StudyError if there is one and the price of a model is not known."""
    if study.budget_money is not None and (unknown := unpriced(study)):
        raise StudyError(
            f"budget_money = {study.budget_money:g} cannot be kept: what {', '.join(unknown)} costs is not known. "
            "Add its price to data/models.toml, or set budget_calls in its place."
        )


@dataclass
class Making:
    """Makes the runs of one study in this process. `ended(run, state)` is called with each run that ends; `owner` is
    the person they are made for: their calls take turns with those of others. Making pauses once `paused()` is true.

    Raises StudyError if there is a budget of money and the price of a model is not known.
    """

    study: Study
    labs: Mapping[str, Lab]
    resolve: Resolve
    folder: Path
    ended: Callable[[Planned, Transcript], None] = lambda run, state: None
    owner: str = ""
    paused: Callable[[], bool] = lambda: False

    def __post_init__(self) -> None:
        check_budget(self.study)

    async def run_all(self, runs: Sequence[Planned]) -> StudyOutcome:
        """Make the runs that have not completed. After a cancelled task every journal can be resumed.

        Raises JournalFullError if nothing more can be written.
        """
        outcome, gate = StudyOutcome(), BudgetGate(*StudyState(self.study, self.folder).budget_left)
        making = asyncio.create_task(self._all(runs, outcome, gate))
        over = asyncio.create_task(gate.over.wait())
        over.add_done_callback(lambda task: making.cancel())
        try:
            await making
        except asyncio.CancelledError:
            if not gate.over.is_set():
                raise
            outcome.paused, outcome.spent = gate.paused, not gate.paused
        finally:
            over.cancel()
        return outcome

    async def _all(self, runs: Sequence[Planned], outcome: StudyOutcome, gate: BudgetGate) -> None:
        def metered(id: str) -> Model:
            model = self.resolve(id)
            if (room := self.study.thinking_room.get(id)) is not None:
                set_room(model, room)
            return model if is_free(id) else gate.metered(model)

        WHOSE.set(self.owner or f"study {self.study.name}")
        driver = Driver(self.labs, metered, self.folder, self.owner, self.study.name)
        groups = still_to_make(self.study, runs, self.folder, outcome)
        tries: Counter[str] = Counter({run.id: TRIES - 1 for [run] in groups[1:]})

        async def make(run: Planned) -> Planned | None:
            tries[run.id] += 1
            # An unreachable endpoint may be back by the next try.
            return run if await self._once(run, tries[run.id] >= TRIES, outcome, driver) else None

        async def at_once() -> int:
            now = wanted(home.home(), self.study.name)
            if now.paused or self.paused():
                gate.pause()
            return 0 if gate.paused else now.at_once or self.study.at_once

        for group in groups:
            if not await hand_out(group, make, at_once, one_after_another(self.study)):
                outcome.paused = True

    async def _once(self, run: Planned, is_last: bool, outcome: StudyOutcome, driver: Driver) -> bool:
        """Make one run. Returns whether to try again, which is never so if this try `is_last`."""
        if (dataset := dataset_of(run.spec)) in self.study.changed:
            outcome.failed[run.id] = f"{dataset} was changed after the study was read: begin the study again"
            return False
        early = await asyncio.to_thread(early_of, self.study, run, self.folder)
        if early is not None and early.is_narrow:
            outcome.early.append(run.id)
            return False
        try:
            with Journal(journal.path_for(self.folder, run.id)) as written:
                history, mend = await asyncio.to_thread(driver.resume_point, run.id)
                request = RunRequest(run.lab, run.spec, run.id, history, mend=mend)
                state = await driver.execute(request, written, enough=early)
        except JournalInUseError:
            outcome.elsewhere.append(run.id)
            return False
        is_bad = any(failure.bad_input for failure in state.failures)
        if state.status in ("completed", "cancelled"):
            (outcome.completed if state.status == "completed" else outcome.early).append(run.id)
        elif not (is_last or is_bad):
            return True
        else:
            why = "; ".join(dict.fromkeys(failure.message for failure in state.failures))
            outcome.failed[run.id] = why or "it did not end"
            outcome.bad_input = outcome.bad_input and is_bad
        self.ended(run, state)
        return False


# Studies that run in the background of this process, whatever page is open.


class StudyRunningError(ExplainError):
    """Another study is in the way; the message says which, and what to do."""


@dataclass
class UnderWay:
    """A study that `whose` started in this process. Once it is over: `outcome` is the result of its runs; `off` lists
    the controls whose figures are not what they must be; `fault` says why nothing more could be written.
    """

    study: Study
    whose: str
    outcome: StudyOutcome = field(default_factory=StudyOutcome)
    off: list[str] = field(default_factory=list)
    fault: str = ""
    over: threading.Event = field(default_factory=threading.Event)


@dataclass
class Studies:
    """Runs studies, one at a time for each person; every method may be called from any thread. To pause a study, use
    core.studies.plan. `beside` runs a coroutine on the event loop of another thread; `ended()` is called
    after each run.
    """

    labs: Mapping[str, Lab]
    home: Path
    folder: Path
    beside: Callable[[Coroutine[Any, Any, None]], Future[None]]
    ended: Callable[[], None]
    _under_way: dict[str, UnderWay] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, study: Study, resolve: Resolve, whose: str = "") -> UnderWay:
        """Start the study, or resume it from its journals. Raises StudyRunningError, CallError for a model that cannot
        be asked, StudyError if a budget of money cannot be enforced, and OSError if nothing can be written.
        """
        for model in sorted({model for run in study.all for model in run.spec.models}):
            resolve(model)
        making = Making(study, self.labs, resolve, self.folder, lambda run, state: self.ended(), whose)
        with self._lock:
            for other in self._under_way.values():
                if not other.over.is_set() and (other.whose == whose or other.study.name == study.name):
                    raise StudyRunningError(f"{other.study.title} is going on. Wait until it is over, or pause it.")
            plan.want(self.home, study.name, paused=False)
            started = self._under_way[study.name] = UnderWay(study, whose)
        self.beside(self._make(started, making)).add_done_callback(lambda future: self._end(started, future))
        return started

    def started(self, name: str) -> UnderWay | None:
        """The study of that name if it was started in this process, whether it is over or not; None if it was not."""
        with self._lock:
            return self._under_way.get(name)

    async def _make(self, started: UnderWay, making: Making) -> None:
        study = started.study
        # If a control's figure is wrong, nothing else is asked.
        started.outcome = await making.run_all(study.controls)
        if len(started.outcome.completed) == len(study.controls):
            frame = await asyncio.to_thread(tables.measured, study, self.labs, self.folder)
            started.off = tables.instrument_faults(self.labs, frame)
            if not started.off:
                started.outcome = await making.run_all(study.runs)

    def _end(self, started: UnderWay, future: Future[None]) -> None:
        if (error := future.exception()) is not None:
            started.fault = str(error)
        self.ended()
        started.over.set()
