"""The app makes as many simultaneous calls as an endpoint accepts."""

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.events import CallError, Message, ModelAnswer, Request
from core.models import local
from core.models.cache import Cached, ResponseCache
from core.models.connection import Connection, Throttle
from core.models.endpoint import Endpoint
from core.models.settings import EndpointConfig
from core.runs.fairness import LEAVE, CallsPausedError, Leave
from tests.support.stub_server import Fault, StubServer
from tests.support.waiting import until_true

ASKED = Request(role="explainer", model="stub/stub-model", messages=(Message(role="user", content="Can birds fly?"),))


async def ask(connection: Connection, calls: int) -> list[ModelAnswer]:
    endpoint = Endpoint(connection, "stub-model")
    return await asyncio.gather(*(endpoint.answer(ASKED, lambda text: None) for _ in range(calls)))


def test_it_doubles_until_the_first_refusal_and_then_goes_up_one_by_one() -> None:
    async def go() -> list[int]:
        throttle, seen = Throttle(2, 64), []

        async def one() -> None:
            async with throttle.turns.turn():
                sent = await throttle.open()
                await asyncio.sleep(0)
                if throttle.at_once >= 16 and not throttle._refused:
                    throttle.refused(sent, None)
                else:
                    throttle.answered(sent)
                seen.append(throttle.at_once)

        await asyncio.gather(*(one() for _ in range(120)))
        return seen

    numbers = asyncio.run(go())
    changes = [n for n, before in zip(numbers, [0, *numbers], strict=False) if n != before]
    # Sixteen calls that were sent together are refused once: 0.8 × 16 = 12.
    assert changes[:6] == [2, 4, 8, 16, 12, 13]


def test_who_never_asks_for_more_is_not_given_more_and_a_fault_changes_nothing() -> None:
    with StubServer("Yes.", faults={2: Fault("server_error")}) as server:
        connection = Connection(server.config(concurrency=2, most_at_once=8))

        async def go() -> list[int | None]:
            return [(await ask(connection, 1))[0].at_once for _ in range(6)]

        assert asyncio.run(go()) == [2] * 6


def test_a_storm_of_refusals_is_waited_out_by_all_together() -> None:
    faults = {n: Fault("rate_limited", wait=0.4) for n in range(5, 13)}
    with StubServer("Yes.", faults=faults, delay=0.1) as server:
        connection = Connection(server.config(concurrency=4, most_at_once=32))
        answers = asyncio.run(ask(connection, 30))
        refused = max(one.at for one in server.seen if one.number in faults)
        # The first four double the limit; the next eight are refused together, and nothing is sent while they wait.
        assert [one.number for one in server.seen if refused + 0.02 < one.at < refused + 0.35] == []
        assert answers[4].at_once is not None and max(one.at_once or 0 for one in answers) == 8
        assert min(one.at_once or 0 for one in answers[4:]) == 6


def test_where_it_may_grow() -> None:
    def span(url: str, **settings: object) -> tuple[int, int]:
        return EndpointConfig.model_validate({"name": "x", "base_url": url, **settings}).calls_at_once

    assert span("https://api.openai.com/v1") == (8, 64)
    assert span("https://api.openai.com/v1", concurrency=3) == (3, 3)
    assert span("https://api.openai.com/v1", of_visitor=True) == (8, 8)
    assert span("http://127.0.0.1:8000/v1") == (1, 8)
    assert span("http://127.0.0.1:8000/v1", most_at_once=40) == (1, 40)


def test_a_refusal_that_says_may_pass_is_told() -> None:
    with StubServer(always=Fault("rate_limited", wait=30)) as server:
        connection = Connection(server.config(timeout=1.0))
        failures = asyncio.run(_failures(connection))
        # It demands a longer wait than the app accepts: later calls fail with that message and are not sent.
        later = asyncio.run(_failures(connection))
    assert [one.may_pass for one in failures + later] == [True, True] and server.count == 1
    assert "wait 30 more seconds" in str(later[0])
    with StubServer(always=Fault("no_credit")) as server:
        assert not asyncio.run(_failures(Connection(server.config())))[0].may_pass


async def _failures(connection: Connection) -> list[CallError]:
    results = await asyncio.gather(Endpoint(connection, "stub-model").answer(ASKED, print), return_exceptions=True)
    return [one for one in results if isinstance(one, CallError)]


def test_only_the_calls_that_were_handed_it_are_withheld(tmp_path: Path) -> None:
    with StubServer("Yes.", faults={1: Fault("rate_limited", wait=30)}) as server:
        endpoint = Endpoint(Connection(server.config(timeout=60)), "stub-model")
        leave, cache = Leave(), ResponseCache(tmp_path / "answers.sqlite")
        model = Cached(endpoint, cache, "")

        async def withheld() -> ModelAnswer:
            LEAVE.set(leave)
            return await model.answer(ASKED, lambda text: None)

        async def go() -> None:
            waiting = asyncio.create_task(withheld())
            await until_true(lambda: leave._resting)
            leave.close()
            for one in (waiting, asyncio.create_task(withheld())):
                with pytest.raises(CallsPausedError):
                    await asyncio.wait_for(one, 10)
            endpoint.connection.throttle._wait_until = 0.0
            assert (await endpoint.answer(ASKED, lambda text: None)).text == "Yes."

        asyncio.run(go())
    assert server.count == 2


def test_a_model_of_this_machine_hands_it_to_its_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with StubServer("Yes.") as server:
        started = SimpleNamespace(connection=Connection(server.config()), alive=True, thinks="no")
        monkeypatch.setattr(local, "_server", lambda path: started)
        leave = Leave()
        leave.close()

        async def withheld() -> None:
            LEAVE.set(leave)
            await local.LocalModel("local/m", tmp_path).answer(ASKED, lambda text: None)

        with pytest.raises(CallsPausedError):
            asyncio.run(withheld())
    assert server.count == 0


def test_a_rest_ends_when_none_may_leave_and_else_in_its_time() -> None:
    leave = Leave()

    async def go() -> None:
        await leave.sleep(0)
        resting = [asyncio.create_task(leave.sleep(600)) for _ in range(2)]
        await asyncio.sleep(0)
        leave.close()
        await asyncio.wait_for(asyncio.gather(*resting, leave.sleep(600)), 10)
        assert not leave._resting

    asyncio.run(go())
