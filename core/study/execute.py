"""Where the runs of a study are made: here, many at a time on one loop. What has completed is what its journal says."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from core import home, journal
from core.events import Event, Frozen, Model
from core.journal import Journal, JournalInUse
from core.lab.lab import Lab, Prior
from core.models.ids import is_free
from core.runs import prior
from core.runs.engine import execute
from core.runs.run import Resolve
from core.runs.turns import WHOSE
from core.runs.upgrade import upgraded
from core.study.control import wanted
from core.study.early import Early, stopped_early
from core.study.meter import Gate, Meter
from core.study.plan import BadStudy, Planned, Study, dataset_of, unpriced
from core.study.standing import is_completed, standing, standings
from core.transcript import Transcript

T = TypeVar("T")

LOOK = 1.0
"""Seconds between two looks at what people want of the study."""

TRIES = 3
"""How often a run that fails is made in one go; one whose input is bad fails the same way each time, and once will do.
"""

VAIN = 3
"""A run that was begun so often for nothing may be what ended the process: it goes last, and alone."""


@dataclass
class Outcome:
    """What came of it. `early` are runs that stopped at the study's `stop_width`; `failed` says why, by run;
    `elsewhere` are runs that somebody else is making; `spent`: a budget stopped it, `paused`: somebody who wanted a
    pause.
    """

    completed: list[str] = field(default_factory=list)
    early: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    elsewhere: list[str] = field(default_factory=list)
    bad_input: bool = True
    spent: bool = False
    paused: bool = False


async def hand_out(
    work: Iterable[T], one: Callable[[T], Coroutine[Any, Any, T | None]], at_once: Callable[[], Awaitable[int]]
) -> bool:
    """Have `one` do each piece of work; what it gives back is done again, behind all others. As many go on at a time as
    `at_once()` says, which is asked whenever one ends, and every second; where it says 0, those under way end, and no
    further one begins. Whether all was done. Raises what `one` raises.
    """
    waiting, going = deque(work), set[asyncio.Task[T | None]]()
    try:
        async with asyncio.TaskGroup() as group:
            while True:
                room = await at_once() - len(going)
                going |= {group.create_task(one(waiting.popleft())) for _ in range(min(room, len(waiting)))}
                if not going:
                    return not waiting
                ended, going = await asyncio.wait(going, timeout=LOOK, return_when=asyncio.FIRST_COMPLETED)
                waiting.extend(again for task in ended if (again := task.result()) is not None)
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None


def still_to_make(
    study: Study, runs: Sequence[Planned], folder: Path, outcome: Outcome
) -> tuple[list[Planned], list[Planned]]:
    """The runs that have not ended, and such as are to be made last, each alone; of the others `outcome` is told."""
    waiting: list[Planned] = []
    suspects: list[Planned] = []
    for run in runs:
        path = journal.at(folder, run.id)
        if is_completed(path):
            outcome.completed.append(run.id)
        elif stopped_early(study, run, path) is not None:
            outcome.early.append(run.id)
        else:
            (suspects if standing(path).vain >= VAIN else waiting).append(run)
    return waiting, suspects


def check_budget(study: Study) -> None:
    """Raises BadStudy where what a call costs is not known and there is a budget of money."""
    if study.budget_money is not None and (unknown := unpriced(study)):
        raise BadStudy(
            f"budget_money = {study.budget_money:g} cannot be kept: what {', '.join(unknown)} costs is not known. "
            "Add its price to data/models.toml, or set budget_calls in its place."
        )


def left(study: Study, folder: Path) -> tuple[int | None, float | None]:
    """Of the study's budgets of calls and of money, by its journals in `folder`; None where there is none."""
    calls, money = study.budget_calls, study.budget_money
    if calls is None and money is None:
        return None, None
    stand = standings(study.all, folder).values()
    return (
        None if calls is None else max(0, calls - sum(one.paid for one in stand)),
        None if money is None else max(0.0, money - sum(one.money for one in stand)),
    )


class Making:
    """The runs of one study, made in this process. `ended(run, state)` hears of each run that ends; `owner` is for whom
    they are made: their calls wait in turn with those of others. It pauses once `paused()`, as where somebody wants it.

    Raises BadStudy where what a call costs is not known and there is a budget of money.
    """

    def __init__(
        self,
        study: Study,
        labs: Mapping[str, Lab],
        resolve: Resolve,
        folder: Path,
        ended: Callable[[Planned, Transcript], None] = lambda run, state: None,
        owner: str = "",
        paused: Callable[[], bool] = lambda: False,
    ) -> None:
        check_budget(study)
        self.study = study
        self._paused = paused
        self._owner = owner
        self._labs = labs
        self._resolve = resolve
        self._folder = folder
        self._ended = ended
        self._making: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        """What several runs stand on is made once."""

    async def make(self, runs: Sequence[Planned]) -> Outcome:
        """Make those that have not completed. A cancelled task leaves every journal fit to go on from.

        Raises JournalFull where nothing more can be written.
        """
        outcome = Outcome()
        gate = Gate(*left(self.study, self._folder))
        going = asyncio.create_task(self._all(runs, outcome, gate))
        over = asyncio.create_task(gate.over.wait())
        try:
            await asyncio.wait([going, over], return_when=asyncio.FIRST_COMPLETED)
            if not going.done():
                outcome.paused, outcome.spent = gate.paused, not gate.paused
                going.cancel()
            await going
        except asyncio.CancelledError:
            if not (outcome.spent or outcome.paused):
                raise
        finally:
            over.cancel()
            if not going.done():
                going.cancel()
                await asyncio.wait([going])
        return outcome

    async def _all(self, runs: Sequence[Planned], outcome: Outcome, gate: Gate) -> None:
        waiting, suspects = still_to_make(self.study, runs, self._folder, outcome)
        WHOSE.set(self._owner or f"study {self.study.name}")
        meter = Meter(gate)

        async def one(work: tuple[Planned, int]) -> tuple[Planned, int] | None:
            run, tries = work
            # What was out of reach may have come back when it is tried again.
            return (run, tries + 1) if await self._once(run, tries, outcome, meter) else None

        async def at_once() -> int:
            now = wanted(home.home(), self.study.name)
            if now.paused or self._paused():
                gate.pause()
            return 0 if gate.paused else now.at_once or self.study.at_once

        for work in ([(run, 1) for run in waiting], *([(run, TRIES)] for run in suspects)):
            if not await hand_out(work, one, at_once):
                outcome.paused = True

    async def _once(self, run: Planned, tries: int, outcome: Outcome, meter: Meter) -> bool:
        """Make one run. Whether to try again."""
        if (dataset := dataset_of(run.spec)) in self.study.changed:
            outcome.failed[run.id] = f"{dataset} was changed after the study was read: begin the study again"
            return False
        path = journal.at(self._folder, run.id)
        try:
            with Journal(path) as written:
                # Read once nobody else can write: two who resume at once must not ask twice.
                history = await asyncio.to_thread(lambda: upgraded(journal.read(path).events, self._labs))
                state = await self._execute(run, written, history, meter)
        except JournalInUse:
            outcome.elsewhere.append(run.id)
            return False
        if state.status in ("completed", "cancelled"):
            (outcome.completed if state.status == "completed" else outcome.early).append(run.id)
            self._ended(run, state)
            return False
        is_bad = any(failure.bad_input for failure in state.failures)
        if tries < TRIES and not is_bad:
            return True
        outcome.failed[run.id] = "; ".join(dict.fromkeys(one.message for one in state.failures)) or "it did not end"
        outcome.bad_input = outcome.bad_input and is_bad
        self._ended(run, state)
        return False

    async def _execute(self, run: Planned, written: Journal, history: list[Event], meter: Meter) -> Transcript:
        def resolve(id: str) -> Model:
            model = self._resolve(id)
            return model if is_free(id) else meter.of(model)

        due = prior.due(run.lab, run.spec, history)
        width = self.study.stop_width_of(run)
        return await execute(
            run.lab,
            run.spec,
            run.id,
            enough=Early(run.lab, self.study.rules, width) if width else None,
            resolve=resolve,
            publish=written.append,
            history=history,
            settle=written.settled,
            study=self.study.name,
            owner=self._owner,
            live=False,
            stand_on=lambda: prior.all_of(due, lambda first: self._stand_on(first, resolve)),
        )

    async def _stand_on(self, first: Prior | Frozen, resolve: Resolve) -> Frozen | None:
        """What a run stands on; where it has still to be made, that is a run of its own, made once for all."""

        async def make(first: Prior, run_id: str) -> None:
            with Journal(self._folder / f"{run_id}.jsonl", new=True) as written:
                await execute(
                    first.lab,
                    first.spec,
                    run_id,
                    resolve=resolve,
                    publish=written.append,
                    settle=written.settled,
                    study=self.study.name,
                    owner=self._owner,
                )

        if not isinstance(first, Prior):
            return first
        async with self._making[first.spec.model_dump_json()]:
            return await prior.stand_on(first, self._folder, lambda run: True, make)
