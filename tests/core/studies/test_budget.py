"""The gate in front of a study's models: what a budget lets through, and how long it waits for a model out of reach."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from math import inf
from typing import Any

import pytest

from core.events import CallError, Message, ModelAnswer, OnText, OutOfReachError, Request, Sampling, Usage
from core.models import settings
from core.models.errors import AuthenticationError, RateLimitError, ServerError, UnreachableServerError
from core.runs.fairness import CallsPausedError, Leave, current_leave
from core.studies import execute
from core.studies.execute import BudgetGate

ASKED = Request(
    role="explainer", model="a/m", messages=(Message(role="user", content="x" * 400),), sampling=Sampling(max_tokens=50)
)


async def settled(*going: Coroutine[Any, Any, Any]) -> list[asyncio.Task[Any]]:
    """Run these coroutines as far as they get by themselves."""
    tasks = [asyncio.ensure_future(one) for one in going]
    for _ in range(20):
        await asyncio.sleep(0)
    return tasks


def test_of_a_budget_of_calls_as_many_leave_and_the_end_comes_when_they_are_answered() -> None:
    async def go() -> None:
        gate = BudgetGate(2, inf)
        tasks = await settled(*(gate.reserve(0) for _ in range(3)))
        assert [task.done() for task in tasks] == [True, True, False] and not gate.over.is_set()
        # An answer from the cache was no call, so the third call may be sent.
        gate.back(0, False, 0)
        await settled()
        assert tasks[2].done() and not gate.over.is_set()
        (fourth,) = await settled(gate.reserve(0))
        gate.back(0, True, 0)
        await settled()
        assert not fourth.done() and not gate.over.is_set(), "one is under way"
        gate.back(0, True, 0)
        assert gate.over.is_set()
        fourth.cancel()

    asyncio.run(go())


def test_a_budget_that_just_suffices_is_not_spent_before_somebody_asks_for_more() -> None:
    async def go() -> None:
        gate = BudgetGate(1, inf)
        await gate.reserve(0)
        gate.back(0, True, 0)
        assert not gate.over.is_set()
        (more,) = await settled(gate.reserve(0))
        assert gate.over.is_set() and not more.done()
        more.cancel()

    asyncio.run(go())


def test_of_a_budget_of_money_the_most_that_a_call_may_cost_is_set_aside() -> None:
    async def go() -> None:
        gate = BudgetGate(inf, 1.0)
        first, second, small = await settled(gate.reserve(0.75), gate.reserve(0.5), gate.reserve(0.25))
        assert (first.done(), second.done(), small.done()) == (True, False, True)
        assert not gate.over.is_set()
        gate.back(0.75, True, 0.25)
        await settled()
        assert second.done(), "it cost less: 0.5 is left, and just enough"
        (dear,) = await settled(gate.reserve(0.125))
        assert not dear.done()
        gate.back(0.25, True, 0.25)
        assert not gate.over.is_set()
        gate.back(0.5, False, 0.0)
        await settled()
        assert dear.done() and not gate.over.is_set(), "the cache cost nothing"
        dearer, cheap = await settled(gate.reserve(0.75), gate.reserve(0.5))
        gate.back(0.125, True, 0.0)
        await settled()
        assert cheap.done() and not dearer.done() and not gate.over.is_set()
        dearer.cancel()

    async def spent() -> None:
        gate = BudgetGate(inf, 0.5)
        dear, cheap = await settled(gate.reserve(0.75), gate.reserve(0.25))
        assert not dear.done() and cheap.done()
        gate.back(0.25, True, 0.25)
        assert gate.over.is_set()
        dear.cancel()

    async def no_limit() -> None:
        gate = BudgetGate(inf, inf)
        await asyncio.wait_for(gate.reserve(1e9), 5)

    asyncio.run(spent())
    asyncio.run(no_limit())
    asyncio.run(go())


def test_at_a_pause_nothing_more_leaves_and_what_is_under_way_ends() -> None:
    async def go() -> None:
        gate = BudgetGate(inf, inf)
        assert not gate.paused
        await gate.reserve(0)
        gate.pause()
        assert gate.paused and not gate.over.is_set()
        with pytest.raises(CallsPausedError):
            gate.leave.check()
        (later,) = await settled(gate.reserve(0))
        assert not later.done()
        gate.back(0, True, 0)
        assert gate.over.is_set()
        later.cancel()

    asyncio.run(go())


class Playing:
    """A model that gives these answers, or raises these errors, one after the other, and repeats the last one."""

    def __init__(self, *plays: ModelAnswer | Exception | Callable[[], ModelAnswer], id: str = "a/m") -> None:
        self.id = id
        self.plays: Sequence[ModelAnswer | Exception | Callable[[], ModelAnswer]] = plays
        self.asked = 0

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        play = self.plays[min(self.asked, len(self.plays) - 1)]
        self.asked += 1
        if isinstance(play, Exception):
            raise play
        return play() if callable(play) else play


class Clock:
    """Time that passes only by sleeping, so that ten minutes take none."""

    def __init__(self) -> None:
        self.now = 40.0
        self.rests: list[float] = []

    def monotonic(self) -> float:
        return self.now

    async def rest(self, seconds: float) -> None:
        self.rests.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(execute, "time", clock)
    monkeypatch.setattr(Leave, "sleep", lambda leave, seconds: clock.rest(seconds))
    return clock


OK = ModelAnswer(text="Yes.", seconds=1.0)


def passing(kind: type[CallError]) -> CallError:
    failure = kind("not now")
    failure.may_pass = True
    return failure


def asked(model: Playing, of: BudgetGate, times: int = 1) -> ModelAnswer:
    """The last of `times` answers of the model, behind the meter."""

    async def go() -> ModelAnswer:
        metered = of.metered(model)
        assert metered.id == model.id
        for _ in range(times - 1):
            await metered.answer(ASKED, lambda text: None)
        return await metered.answer(ASKED, lambda text: None)

    return asyncio.run(go())


@pytest.mark.parametrize(
    "failure", [UnreachableServerError("nobody"), AuthenticationError("no"), RateLimitError("no money left")]
)
def test_who_never_answered_or_lets_nobody_in_is_not_waited_for(clock: Clock, failure: CallError) -> None:
    model = Playing(failure)
    with pytest.raises(OutOfReachError) as ended:
        asked(model, BudgetGate(inf, inf))
    assert ended.value.failure is failure and model.asked == 1 and not clock.rests


def test_who_had_answered_is_waited_for_longer_and_longer_for_ten_minutes(clock: Clock) -> None:
    model = Playing(OK, UnreachableServerError("away"))
    with pytest.raises(OutOfReachError):
        asked(model, BudgetGate(inf, inf), 2)
    assert execute.PATIENCE < sum(clock.rests) <= execute.PATIENCE + 15
    assert clock.rests[:2] == pytest.approx([0.25, 0.25 + 0.025]) and max(clock.rests) == clock.rests[-1] == 15


def test_once_it_answers_again_patience_begins_anew(clock: Clock) -> None:
    away = [UnreachableServerError("away")] * 65
    model = Playing(OK, *away, OK, *away, OK)
    assert asked(model, BudgetGate(inf, inf), 3) == OK
    assert sum(clock.rests) > execute.PATIENCE and clock.rests[:65] == pytest.approx(clock.rests[65:])


def test_what_will_not_pass_is_one_item_s_fault_at_once(clock: Clock) -> None:
    model = Playing(ServerError("broken"))
    with pytest.raises(ServerError):
        asked(model, BudgetGate(inf, inf))
    assert model.asked == 1 and not clock.rests


@pytest.mark.parametrize(("kind", "tries"), [(ServerError, execute.FAULTS), (RateLimitError, execute.REFUSALS)])
def test_where_none_was_ever_answered_a_call_is_given_up_after_some_tries(
    clock: Clock, kind: type[CallError], tries: int
) -> None:
    model = Playing(passing(kind))
    with pytest.raises(kind):
        asked(model, BudgetGate(inf, inf))
    assert model.asked == tries


@pytest.mark.parametrize(("kind", "tries"), [(ServerError, execute.FAULTS), (RateLimitError, execute.REFUSALS)])
def test_where_others_are_answered_meanwhile_it_is_the_call_s_own_fault(
    clock: Clock, kind: type[CallError], tries: int
) -> None:
    of = BudgetGate(inf, inf)
    other = of.metered(Playing(OK, id="a/other"))

    class Bad(Playing):
        async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
            if self.asked:
                await other.answer(ASKED, on_text)
            return await super().answer(request, on_text)

    model = Bad(OK, passing(kind))
    with pytest.raises(kind):
        asked(model, of, 2)
    assert model.asked == 1 + tries


def test_alone_and_failing_for_a_minute_and_a_half_a_call_is_at_fault(clock: Clock) -> None:
    model = Playing(OK, passing(ServerError))
    with pytest.raises(ServerError):
        asked(model, BudgetGate(inf, inf), 2)
    assert execute.ALONE < sum(clock.rests) < execute.ALONE + 15


@pytest.mark.parametrize("many", [execute.MANY + 1, execute.MANY + 2])
def test_where_many_fail_together_the_endpoint_is_at_fault(clock: Clock, many: int) -> None:
    async def go() -> list[Any]:
        of = BudgetGate(inf, inf)
        await of.metered(Playing(OK)).answer(ASKED, lambda text: None)
        calls = [of.metered(Playing(passing(ServerError))).answer(ASKED, lambda text: None) for _ in range(many)]
        return await asyncio.gather(*calls, return_exceptions=True)

    assert {type(one) for one in asyncio.run(go())} == {OutOfReachError}


def test_where_it_refuses_for_ten_minutes_the_endpoint_is_at_fault(clock: Clock) -> None:
    with pytest.raises(OutOfReachError):
        asked(Playing(OK, passing(RateLimitError)), BudgetGate(inf, inf), 2)
    assert sum(clock.rests) > execute.PATIENCE


def test_an_answer_of_the_cache_tells_nothing_of_the_endpoint(clock: Clock) -> None:
    with pytest.raises(OutOfReachError):
        asked(
            Playing(OK.model_copy(update={"cached": True}), UnreachableServerError("away")),
            BudgetGate(inf, inf),
            2,
        )
    assert not clock.rests


@pytest.fixture
def priced(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A million tokens sent to a/m cost 1,000 dollars, and a million written 10,000."""
    price = {"model": "a/m", "prompt": 1_000.0, "completion": 10_000.0, "date": "2026-01-01"}
    monkeypatch.setattr(settings, "prices", lambda: {"a/m": settings.Price.model_validate(price)})
    settings.price_of.cache_clear()
    yield
    settings.price_of.cache_clear()


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        (ModelAnswer(text="y" * 40, usage=Usage(prompt_tokens=80, completion_tokens=20)), 1 - 0.08 - 0.2),
        # A quarter of the characters if nobody counted: 100 and 10 tokens.
        (ModelAnswer(text="y" * 40), 1 - 0.1 - 0.1),
        (ModelAnswer(text="y" * 40, cached=True), 1),
    ],
)
def test_a_call_costs_what_the_endpoint_counted(priced: None, answer: ModelAnswer, left: float) -> None:
    gate = BudgetGate(inf, 1.0)
    asked(Playing(answer), gate)
    # The maximum is half of the characters sent and all the tokens that may be written: 0.2 + 0.5.
    assert gate._money == pytest.approx(left) and gate._flying == 0
    asked(Playing(answer), BudgetGate(inf, 0.7))
    gate = BudgetGate(inf, 0.699)

    async def too_dear() -> None:
        (waits,) = await settled(gate.metered(Playing(answer)).answer(ASKED, lambda text: None))
        assert gate.over.is_set() and not waits.done()
        waits.cancel()

    asyncio.run(too_dear())


def test_a_model_is_asked_under_the_gate_s_leave() -> None:
    seen: list[Leave] = []

    def far() -> ModelAnswer:
        seen.append(current_leave())
        return OK

    gate = BudgetGate(inf, inf)
    assert asked(Playing(far), gate) == OK and seen == [gate.leave]


def test_a_call_that_was_withheld_is_not_paid_and_waits_at_the_gate() -> None:
    async def go() -> None:
        gate = BudgetGate(5, inf)

        def late() -> ModelAnswer:
            gate.pause()
            raise CallsPausedError

        model = Playing(late)
        (waits,) = await settled(gate.metered(model).answer(ASKED, lambda text: None))
        assert gate.over.is_set() and not waits.done() and (model.asked, gate._calls) == (1, 5)
        waits.cancel()

    asyncio.run(go())


def test_a_call_that_failed_was_made_all_the_same() -> None:
    gate = BudgetGate(5, inf)
    with pytest.raises(ServerError):
        asked(Playing(ServerError("broken")), gate)
    assert (gate._calls, gate._flying) == (4, 0)
