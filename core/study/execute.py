"""Where the runs of a study are made: here, many at a time on one loop. What has completed is what its journal says."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core import home, journal
from core.events import Model
from core.journal import Journal, JournalInUse
from core.lab import Lab
from core.models.ids import is_free
from core.runs.driver import Driver
from core.runs.engine import Going
from core.runs.run import Resolve
from core.runs.turns import LEAVE, WHOSE
from core.study.control import wanted
from core.study.early import Early, stopped_early
from core.study.meter import Gate, Meter
from core.study.plan import BadStudy, Planned, Study, dataset_of, unpriced
from core.study.standing import is_completed, standing, standings
from core.transcript import Transcript

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
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None
        finally:
            over.cancel()
            if not going.done():
                going.cancel()
                await asyncio.wait([going])
        return outcome

    async def _all(self, runs: Sequence[Planned], outcome: Outcome, gate: Gate) -> None:
        waiting: deque[tuple[Planned, int]] = deque()
        suspects: list[Planned] = []
        for run in runs:
            path = journal.at(self._folder, run.id)
            if is_completed(path):
                outcome.completed.append(run.id)
            elif stopped_early(self.study, run, path) is not None:
                outcome.early.append(run.id)
            elif standing(path).vain >= VAIN:
                suspects.append(run)
            else:
                waiting.append((run, 1))
        LEAVE.set(gate.leave)
        WHOSE.set(self._owner or f"study {self.study.name}")
        driver = self._driver(Meter(gate))

        async def one(run: Planned, tries: int) -> None:
            if await self._once(run, tries, outcome, driver):
                # Behind all others: what was out of reach may have come back by then.
                waiting.append((run, tries + 1))

        going: set[asyncio.Task[None]] = set()
        async with asyncio.TaskGroup() as group:
            while waiting or going or suspects:
                now = wanted(home.home(), self.study.name)
                if now.paused or self._paused():
                    gate.pause()
                room = (now.at_once or self.study.at_once) - len(going)
                while waiting and room > 0 and not gate.paused:
                    going.add(group.create_task(one(*waiting.popleft())))
                    room -= 1
                if not going and not waiting and not gate.paused:
                    going.add(group.create_task(one(suspects.pop(0), TRIES)))
                if going:
                    _, going = await asyncio.wait(going, timeout=LOOK, return_when=asyncio.FIRST_COMPLETED)
                else:
                    await asyncio.sleep(LOOK)

    async def _once(self, run: Planned, tries: int, outcome: Outcome, driver: Driver) -> bool:
        """Make one run. Whether to try again."""
        if (dataset := dataset_of(run.spec)) in self.study.changed:
            outcome.failed[run.id] = f"{dataset} was changed after the study was read: begin the study again"
            return False
        path = journal.at(self._folder, run.id)
        try:
            with Journal(path) as written:
                history, mend = await asyncio.to_thread(driver.left_off, run.id)
                going = Going(run.lab, run.spec, run.id, history, mend=mend)
                width = self.study.stop_width_of(run)
                early = Early(run.lab, self.study.rules, width) if width else None
                state = await driver.go(going, written, enough=early)
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

    def _driver(self, meter: Meter) -> Driver:
        """What drives the runs, each call of a model counted."""

        def resolve(id: str) -> Model:
            model = self._resolve(id)
            return model if is_free(id) else meter.of(model)

        return Driver(self._labs, resolve, self._folder, self._owner, self.study.name)
