"""What stands between a study's runs and its models: budgets, pauses, and waiting for unreachable endpoints."""

import asyncio
import logging
import time
from collections import defaultdict

from ..events import CallError, Model, ModelAnswer, OnText, OutOfReachError, Request
from ..models.errors import AuthenticationError, RateLimitError, UnreachableServerError
from ..models.settings import price_of
from ..runs.fairness import CallsPausedError, Leave, gated
from .run_status import Tokens

log = logging.getLogger(__name__)

PATIENCE = 600.0
"""Seconds that an endpoint which has answered before may be unreachable before its runs fail."""

MANY, ALONE = 3, 90.0
"""While fewer than `MANY` calls fail, a call that fails for `ALONE` seconds is itself taken to be the cause."""

_LONGEST_REST = 15.0

FAULTS, REFUSALS = 3, 20
"""How often a call may fail, or be refused by a rate limit, while its endpoint answers other calls."""


class BudgetGate:
    """Lets calls of all runs through until a budget is spent or somebody pauses. `calls` and `money` (US dollars) are
    what is left of the budgets, None without a limit. Answers from the response cache are free.

    Further calls wait. `over` is set once the calls in progress are answered, so none of these is wasted.
    """

    def __init__(self, calls: int | None, money: float | None) -> None:
        self.over = asyncio.Event()
        self.leave = Leave()
        self.paused = False
        self._calls = calls
        self._money = money
        self._flying = 0
        self._held: list[float] = []
        self._given_back = asyncio.Event()

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
        self._add(-1, -most)
        self._flying += 1

    def back(self, most: float, was_paid: bool, cost: float) -> None:
        """End a call that had reserved `most`, and return what it did not spend."""
        self._flying -= 1
        self._add(not was_paid, most - cost)
        self._given_back.set()
        self._settle()

    def _has_room(self, most: float) -> bool:
        enough = (self._calls is None or self._calls > 0) and (self._money is None or self._money >= most)
        return enough and not self.paused

    def _add(self, calls: int, money: float) -> None:
        self._calls = None if self._calls is None else self._calls + calls
        self._money = None if self._money is None else self._money + money

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


class Meter:
    """The models of one study, each behind the gate; one meter for each process that makes its runs."""

    def __init__(self, gate: BudgetGate) -> None:
        self.gate = gate
        self._reach: defaultdict[str, _Reach] = defaultdict(_Reach)

    def metered(self, model: Model) -> Model:
        """`model` with calls that go through the gate, and are repeated after temporary failures."""
        return _Metered(model, self.gate, self._reach[model.id.partition("/")[0]])


class _Metered:
    """One model. Raises OutOfReachError, which ends the run, if its endpoint cannot be reached or refuses the key: no
    item should be lost for that.
    """

    def __init__(self, model: Model, gate: BudgetGate, reach: _Reach) -> None:
        self.id = model.id
        self._model = gated(model, gate.leave)
        self._gate = gate
        self._reach = reach
        self._price = price_of(model.id)

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
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
                is_shut = isinstance(failure, AuthenticationError) or (
                    isinstance(failure, RateLimitError) and not failure.may_pass
                )
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
                is_refused = isinstance(failure, RateLimitError)
                if faults >= (REFUSALS if is_refused else FAULTS) or (is_alone and not is_down and not is_refused):
                    raise
                await self._reach.wait(failure, self._gate.leave)
            else:
                if not answer.cached:
                    self._reach.answered()
                return answer
