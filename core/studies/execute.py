"""Where the runs of a study are made: here, many at a time on one loop. What has completed is what its journal says."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from .. import home, journal
from ..events import Model
from ..journal import Journal, JournalInUse
from ..labs.base.lab import Lab
from ..models.capabilities import set_room
from ..models.ids import is_free
from ..runs.context import Resolve
from ..runs.driver import Driver
from ..runs.engine import RunRequest
from ..runs.fairness import WHOSE
from ..transcript import Transcript
from .budget import BudgetGate, Meter
from .desired_state import wanted
from .early_stopping import early_of, stopped_early
from .packing import refuse_packed
from .plan import BadStudy, Planned, Study, dataset_of, unpriced
from .run_status import is_completed, standing, standings

LOOK = 1.0
"""Seconds between two looks at what people want of the study."""

TRIES = 3
"""How often a run that fails is made in one go; one whose input is bad fails the same way each time, and once will do.
"""

VAIN = 3
"""A run that was begun so often for nothing may be what ended the process: it goes last, and alone."""


@dataclass
class StudyOutcome:
    """Outcome. `early` are runs that the study's `stop_width` stopped, or made needless; `failed` says why, by run;
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
    runs: Iterable[Planned],
    make: Callable[[Planned], Coroutine[Any, Any, Planned | None]],
    at_once: Callable[[], Awaitable[int]],
    after: Mapping[str, str] | None = None,
) -> bool:
    """Have `make` make each run; one that it gives back is made again, behind all others. As many go on at a time as
    `at_once()` says, which is asked whenever one ends, and every second; where it says 0, those under way end, and no
    further one begins. A run named in `after` begins once the run that it names there has ended. Whether all were made.
    Raises what `make` raises.
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
    """The runs that have not ended, in groups to be made one after another: first those that can go on side by side,
    then each alone that was begun in vain too often. Of the others `outcome` is told.

    Raises BadStudy where the study is packed.
    """
    refuse_packed(study, folder)
    groups: list[list[Planned]] = [[]]
    early = stopped_early(study, folder)
    for run in runs:
        path = journal.at(folder, run.id)
        if is_completed(path):
            outcome.completed.append(run.id)
        elif run.id in early:
            outcome.early.append(run.id)
        elif standing(path).vain >= VAIN:
            groups.append([run])
        else:
            groups[0].append(run)
    return groups


def one_after_another(study: Study) -> dict[str, str]:
    """Which shard of its cell each shard comes after, where a cell may stop early, so that none is made in vain."""
    pairs = (pair for cell in study.cells for pair in pairwise(cell)) if study.stop_width else ()
    return {later.id: earlier.id for earlier, later in pairs}


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


@dataclass
class Making:
    """The runs of one study, made in this process. `ended(run, state)` hears of each run that ends; `owner` is for whom
    they are made: their calls wait in turn with those of others. It pauses once `paused()`, as where somebody wants it.

    Raises BadStudy where what a call costs is not known and there is a budget of money.
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

    async def make(self, runs: Sequence[Planned]) -> StudyOutcome:
        """Make those that have not completed. A cancelled task leaves every journal fit to go on from.

        Raises JournalFull where nothing more can be written.
        """
        outcome, gate = StudyOutcome(), BudgetGate(*left(self.study, self.folder))
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
        meter = Meter(gate)

        def metered(id: str) -> Model:
            model = self.resolve(id)
            if (room := self.study.thinking_room.get(id)) is not None:
                set_room(model, room)
            return model if is_free(id) else meter.of(model)

        WHOSE.set(self.owner or f"study {self.study.name}")
        driver = Driver(self.labs, metered, self.folder, self.owner, self.study.name)
        groups = still_to_make(self.study, runs, self.folder, outcome)
        tries: Counter[str] = Counter({run.id: TRIES - 1 for [run] in groups[1:]})

        async def make(run: Planned) -> Planned | None:
            tries[run.id] += 1
            # What was out of reach may have come back when it is tried again.
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
        """Make one run. Whether to try again, unless this try `is_last`."""
        if (dataset := dataset_of(run.spec)) in self.study.changed:
            outcome.failed[run.id] = f"{dataset} was changed after the study was read: begin the study again"
            return False
        early = await asyncio.to_thread(early_of, self.study, run, self.folder)
        if early is not None and early.is_narrow:
            outcome.early.append(run.id)
            return False
        try:
            with Journal(journal.at(self.folder, run.id)) as written:
                history, mend = await asyncio.to_thread(driver.left_off, run.id)
                going = RunRequest(run.lab, run.spec, run.id, history, mend=mend)
                state = await driver.go(going, written, enough=early)
        except JournalInUse:
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
