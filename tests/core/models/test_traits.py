"""What the app learns about a model is stored in the home, and used from the next call on, in every process."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from core.events import Message, ModelAnswer, Request, Sampling
from core.models import errors
from core.models.cache import Cached, ResponseCache
from core.models.connection import FIRST_ROOM, Connection, Traits, TraitsFile, connect
from core.models.endpoint import Endpoint
from tests.support.stub_server import Fault, StubServer

ASKED = Request(
    role="explainer",
    model="stub/stub-model",
    messages=(Message(role="user", content="Can birds fly?"),),
    sampling=Sampling(stop=("\n\n",), max_tokens=50),
)


def ask(connection: Connection, *requests: Request) -> list[ModelAnswer]:
    async def go() -> list[ModelAnswer]:
        endpoint = Endpoint(connection, "stub-model")
        return [await endpoint.answer(request, lambda text: None) for request in requests]

    return asyncio.run(go())


def test_what_one_process_learns_another_finds(tmp_path: Path) -> None:
    first, second = TraitsFile(tmp_path / "traits.json"), TraitsFile(tmp_path / "traits.json")
    first.learn("a m", thinks="inline", refused=frozenset({"seed"}))
    second.learn("a n", room=500)
    again = TraitsFile(tmp_path / "traits.json")
    assert again.get("a m") == Traits(thinks="inline", refused=frozenset({"seed"})) and again.get("a n").room == 500
    assert again.get("b m") == Traits()


@pytest.mark.parametrize("content", [b"", b"[1]", b'{"a m": 7}', b'{"a m": {"room": "much"}}', b"\xff", b"[" * 9999])
def test_a_broken_file_is_done_without(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "traits.json").write_bytes(content)
    file = TraitsFile(tmp_path / "traits.json")
    assert file.get("a m") == Traits()
    assert file.learn("a m", room=9).room == 9 and TraitsFile(tmp_path / "traits.json").get("a m").room == 9


def test_stops_are_sent_once_a_model_is_known_not_to_think(tmp_path: Path) -> None:
    with StubServer("Yes.\n\nQuestion:", honour_stop=False) as server:
        answers = ask(connect(server.config(), tmp_path), ASKED, ASKED)
        assert [answer.text for answer in answers] == ["Yes.", "Yes."]
        assert ["stop" in seen.body for seen in server.seen] == [False, True]
    with StubServer("Yes.", port=server.port) as later:
        ask(Connection(later.config(), TraitsFile(tmp_path / "model_traits.json")), ASKED)
        assert "stop" in later.seen[0].body, "another process knows it from the home"


def test_a_model_that_used_its_tokens_for_thinking_gets_more_room_once_and_keeps_it() -> None:
    def reply(body: dict[str, Any]) -> str:
        return f"<think>{' hm' * 200}</think>\n\nYes."

    with StubServer(reply) as server:
        connection = Connection(server.config())
        first, second = ask(connection, ASKED, ASKED)
        assert [seen.body["max_tokens"] for seen in server.seen] == [50, 50 + FIRST_ROOM, 50 + FIRST_ROOM]
    assert first.ended == second.ended == "complete" and first.text.endswith("Yes.")
    assert first.thinking is not None and first.thinking.kind == "raw" and first.thinking.text.startswith("hm")
    assert first.sent["max_tokens"] == 50 + FIRST_ROOM


def test_a_server_that_complains_of_what_was_not_sent_is_not_asked_for_ever() -> None:
    with StubServer(always=Fault("bad_request", words="each stop sequence must contain non-whitespace")) as server:
        connection = Connection(server.config())
        connection.learn("stub-model", thinks="no")
        sampling = Sampling(stop=("\n", "Question:"))
        with pytest.raises(errors.RequestRefusedError, match="in each of"):
            ask(connection, ASKED.model_copy(update={"sampling": sampling}))
        assert server.count <= 25


def test_room_that_was_set_is_not_changed_and_the_failure_names_it() -> None:
    with StubServer(f"<think>{' hm' * 200}") as server:
        with pytest.raises(errors.EmptyAnswerError) as caught:
            ask(Connection(server.config(thinking_room=10)), ASKED)
        assert server.count == 1 and server.seen[0].body["max_tokens"] == 60
    assert "all its tokens for thinking" in caught.value.message and "room for thinking" in caught.value.hint


def test_a_prompt_that_the_server_cut_is_a_failed_call() -> None:
    connection = Connection(StubServer().config())
    assert not connection.cut_prompt("m", 3_000, 250), "nothing is known of how it counts"
    assert not connection.cut_prompt("m", 3_000, 700) and connection.cut_prompt("m", 3_000, 250)
    assert not connection.cut_prompt("other", 3_000, 250) and connection.cut_prompt("other", 3_000, 60)
    assert not connection.cut_prompt("m", 3_000, None) and not connection.cut_prompt("m", 300, 5)


def test_an_answer_is_kept_as_what_was_really_sent(tmp_path: Path) -> None:
    seeded = ASKED.model_copy(update={"sampling": Sampling(temperature=0.7, seed=1)})
    with StubServer("Yes.", refused=["temperature", "seed"]) as server:

        async def go() -> list[bool]:
            cache = ResponseCache(tmp_path / "cache.sqlite")
            model = Cached(Endpoint(Connection(server.config()), "stub-model"), cache, "account")
            return [(await model.answer(one, lambda text: None)).cached for one in (ASKED, ASKED, seeded, seeded)]

        assert asyncio.run(go()) == [False] * 4, "without temperature and seed the server samples as it likes"
    with StubServer("Yes.", faults={1: Fault("refuses", words="top_p")}) as server:
        sampled = ASKED.model_copy(update={"sampling": Sampling(top_p=0.9)})

        async def again() -> list[bool]:
            cache = ResponseCache(tmp_path / "cache.sqlite")
            model = Cached(Endpoint(Connection(server.config()), "stub-model"), cache, "account")
            return [(await model.answer(sampled, lambda text: None)).cached for _ in range(2)]

        assert asyncio.run(again()) == [False, True], "what is refused once is not part of the key from then on"


def test_a_call_in_the_queue_of_a_local_server_does_not_run_out_of_time() -> None:
    with StubServer("Yes.", delay=lambda body: 0.3 * (1 + int(body["messages"][-1]["content"]))) as server:
        connection = Connection(server.config(timeout=0.5, concurrency=4))
        requests = [ASKED.model_copy(update={"messages": (Message(role="user", content=str(n)),)}) for n in range(4)]

        async def go() -> list[str]:
            endpoint = Endpoint(connection, "stub-model")
            return [
                one.text for one in await asyncio.gather(*(endpoint.answer(r, lambda text: None) for r in requests))
            ]

        assert asyncio.run(go()) == ["Yes."] * 4, "each answer shows that the server works"
