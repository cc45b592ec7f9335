"""Where the runs of a study are made: here, many at a time on one loop. What has completed is what its journal says."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core import journal
from core.events import Answer, Event, Frozen, Model, OnText, Request
from core.journal import Journal, JournalInUse
from core.lab import Lab, Prior
from core.runs import prior
from core.runs.engine import execute
from core.runs.run import Resolve
from core.runs.transcript import Transcript, transcript
from core.runs.turns import WHOSE
from core.runs.upgrade import upgraded
from core.study.plan import Planned, Study
from core.study.standing import FREE, is_completed, standing, standings

TRIES = 3
"""How often a run that fails is made in one go; one whose input is bad fails the same way each time, and once will do.
"""

VAIN = 3
"""A run that was begun so often for nothing may be what ended the process: it goes last, and alone."""


@dataclass
class Outcome:
    """What came of it. `failed` says why, by run; `elsewhere` are runs that somebody else is making; `spent`: the
    budget of calls stopped it.
    """

    completed: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    elsewhere: list[str] = field(default_factory=list)
    bad_input: bool = True
    spent: bool = False


class Budget:
    """So many calls of models, of all runs together; None is any number. What the response cache holds costs nothing.

    Who asks for more waits for the end, which comes once the calls under way are answered: none of them is wasted.
    """

    def __init__(self, calls: int | None) -> None:
        self._left = calls
        self._flying = 0
        self._held = 0
        self._given_back = asyncio.Event()
        self.over = asyncio.Event()

    async def take(self) -> None:
        """Leave for one call; where none is left, only if one that is under way turns out to cost nothing."""
        while self._left == 0:
            self._held += 1
            self._given_back.clear()
            self._settle()
            await self._given_back.wait()
            self._held -= 1
        if self._left is not None:
            self._left -= 1
        self._flying += 1

    def back(self, was_paid: bool) -> None:
        """The call is over."""
        self._flying -= 1
        if self._left is not None and not was_paid:
            self._left += 1
            self._given_back.set()
        self._settle()

    def _settle(self) -> None:
        if self._left == 0 and self._held and not self._flying:
            self.over.set()


class _Metered:
    """A model whose calls are counted."""

    def __init__(self, model: Model, budget: Budget) -> None:
        self.id = model.id
        self._model = model
        self._budget = budget

    async def answer(self, request: Request, on_text: OnText) -> Answer:
        await self._budget.take()
        was_paid = True
        try:
            answer = await self._model.answer(request, on_text)
            was_paid = not answer.cached
            return answer
        finally:
            self._budget.back(was_paid)


class Making:
    """The runs of one study, made in this process. `told(run, state)` hears of each run as it ends."""

    def __init__(
        self,
        study: Study,
        labs: Mapping[str, Lab],
        resolve: Resolve,
        folder: Path,
        told: Callable[[Planned, Transcript], None] = lambda run, state: None,
    ) -> None:
        self.study = study
        self._labs = labs
        self._resolve = resolve
        self._folder = folder
        self._told = told
        self._making: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        """What several runs stand on is made once."""

    async def make(self, runs: Sequence[Planned]) -> Outcome:
        """Make those that have not completed. A cancelled task leaves every journal fit to go on from.

        Raises JournalFull where nothing more can be written.
        """
        outcome = Outcome()
        budget = Budget(self._left())
        going = asyncio.create_task(self._all(runs, outcome, budget))
        over = asyncio.create_task(budget.over.wait())
        try:
            await asyncio.wait([going, over], return_when=asyncio.FIRST_COMPLETED)
            if not going.done():
                outcome.spent = True
                going.cancel()
            await going
        except asyncio.CancelledError:
            if not outcome.spent:
                raise
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None
        finally:
            over.cancel()
            if not going.done():
                going.cancel()
                await asyncio.wait([going])
        return outcome

    def _left(self) -> int | None:
        if self.study.budget_calls is None:
            return None
        stand = standings(self.study.all, self._folder).values()
        return max(0, self.study.budget_calls - sum(one.paid for one in stand))

    async def _all(self, runs: Sequence[Planned], outcome: Outcome, budget: Budget) -> None:
        waiting: deque[tuple[Planned, int]] = deque()
        suspects: list[Planned] = []
        for run in runs:
            path = self._folder / f"{run.id}.jsonl"
            if is_completed(path):
                outcome.completed.append(run.id)
            elif standing(path).vain >= VAIN:
                suspects.append(run)
            else:
                waiting.append((run, 1))

        async def worker() -> None:
            while waiting:
                run, tries = waiting.popleft()
                if await self._once(run, tries, outcome, budget):
                    # Behind all others: what was out of reach may have come back by then.
                    waiting.append((run, tries + 1))

        async with asyncio.TaskGroup() as group:
            for _ in range(self.study.at_once):
                group.create_task(worker())
        for run in suspects:
            await self._once(run, TRIES, outcome, budget)

    async def _once(self, run: Planned, tries: int, outcome: Outcome, budget: Budget) -> bool:
        """Make one run. Whether to try again."""
        path = self._folder / f"{run.id}.jsonl"
        try:
            with Journal(path) as written:
                # Read once nobody else can write: two who resume at once must not ask twice.
                history = await asyncio.to_thread(lambda: upgraded(journal.read(path).events, self._labs))
                state = await self._execute(run, written, history, budget)
        except JournalInUse:
            outcome.elsewhere.append(run.id)
            return False
        if state.status == "completed":
            outcome.completed.append(run.id)
            self._told(run, state)
            return False
        is_bad = any(failure.bad_input for failure in state.failures)
        if tries < TRIES and not is_bad:
            return True
        outcome.failed[run.id] = "; ".join(dict.fromkeys(one.message for one in state.failures)) or "it did not end"
        outcome.bad_input = outcome.bad_input and is_bad
        self._told(run, state)
        return False

    async def _execute(self, run: Planned, written: Journal, history: list[Event], budget: Budget) -> Transcript:
        WHOSE.set(run.id)
        state = transcript(history)

        def publish(event: Event) -> None:
            written.append(event)
            if event.kind != "token":
                state.apply(event)

        def resolve(id: str) -> Model:
            model = self._resolve(id)
            return model if id.startswith(FREE) else _Metered(model, budget)

        first = prior.due(run.lab, run.spec, history)
        await execute(
            run.lab,
            run.spec,
            run.id,
            resolve=resolve,
            publish=publish,
            history=history,
            settle=written.settled,
            study=self.study.name,
            live=False,
            stand_on=None if first is None else lambda: self._stand_on(first, resolve),
        )
        return state

    async def _stand_on(self, first: Prior | Frozen, resolve: Resolve) -> Frozen | None:
        """What a run stands on; where it has still to be made, that is a run of its own, made once for all."""

        async def make(first: Prior, run_id: str) -> None:
            with Journal(self._folder / f"{run_id}.jsonl", new=True) as written:

                def keep(event: Event) -> None:
                    written.append(event)

                await execute(
                    first.lab,
                    first.spec,
                    run_id,
                    resolve=resolve,
                    publish=keep,
                    settle=written.settled,
                    study=self.study.name,
                )

        if not isinstance(first, Prior):
            return first
        async with self._making[first.spec.model_dump_json()]:
            return await prior.stand_on(first, self._folder, lambda run: True, make)
