"""Whatever a server sends becomes a storable answer or one failed call with its reason, in bounded memory."""

import asyncio
import resource
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.events import LONGEST_ANSWER, Answered, CallError, Message, ModelAnswer, Request, from_json, to_json
from core.models import safe_http
from core.models.connection import LONGEST_NAME, connect, list_models
from core.models.endpoint import Endpoint
from core.models.settings import EndpointConfig
from tests.attacks.replies import REPLIES, Bytes, delta, head, raw_server, streamed, whole

REQUEST = Request(role="x", model="m", messages=(Message(role="user", content="Is it so?"),))


def config(port: int, seconds: float = 120.0) -> EndpointConfig:
    return EndpointConfig(name="x", base_url=f"http://127.0.0.1:{port}/v1", timeout=seconds, retries=0, secret="k" * 20)  # type: ignore[call-arg]


def asked(reply: Bytes, seconds: float = 120.0) -> ModelAnswer | CallError:
    """The result of a call, after checking that it can be journaled."""

    async def ask(port: int) -> ModelAnswer | CallError:
        connection = connect(config(port, seconds))
        try:
            answer = await Endpoint(connection, "m").answer(REQUEST, lambda piece: None)
        except CallError as failure:
            assert failure.message
            return failure
        finally:
            await connection.close()
        event = Answered.model_validate({"run": "r", "call": "c", "role": "x", "model": "m", **dict(answer)})
        assert isinstance(from_json(to_json(event).encode()), Answered)
        assert len(answer.text) + sum(len(call.arguments) for call in answer.tool_calls) <= LONGEST_ANSWER
        return answer

    with raw_server(reply) as port:
        return asyncio.run(ask(port))


def peak() -> float:
    """The peak memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


REASONS = {
    "JSON without end": "longer than 2 MB",
    "a bomb": "longer than 2 MB",
    "thinking without end": "longer than 16 MB",
    "lines without end": "does not end",
    "elsewhere": "another machine",
    "another port": "port 9 of 127.0.0.1, another server",
    "an encoding that was not asked for": "zstd",
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", REPLIES)
def test_hostile_replies_end_as_one_call_in_time_and_memory(name: str) -> None:
    before, began = peak(), time.monotonic()
    outcome = asked(REPLIES[name])
    assert time.monotonic() - began < 60, "not by the time limit"
    assert peak() - before < 150
    assert isinstance(outcome, ModelAnswer | CallError)
    if "without end" in name or "bomb" in name or name in ("elsewhere", "another port"):
        assert isinstance(outcome, CallError)
    assert REASONS.get(name, "") in str(outcome)


@settings(max_examples=50)
@given(
    st.binary(max_size=300), st.sampled_from(["application/json", "text/event-stream", "", "text/html"]), st.booleans()
)
def test_any_bytes_are_an_answer_or_a_failed_call(body: bytes, kind: str, bare: bool) -> None:
    asked(body if bare else head(kind) + body, seconds=5)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["choices", "delta", "message", "content", "finish_reason", "usage", "tool_calls", "function",
                         "logprobs", "token", "index", "id", "prompt_tokens", "refusal", "arguments", "error"]),
        inner, max_size=3,
    ),
)  # fmt: skip


@settings(max_examples=50)
@given(st.lists(JSON, max_size=4), JSON, st.booleans())
def test_any_json_is_an_answer_or_a_failed_call(chunks: list[object], choice: object, stream: bool) -> None:
    asked(
        streamed(*chunks, {"choices": [choice]}, delta("", finish_reason="stop")) if stream else whole(message=choice)
    )


def test_a_long_answer_is_cut_and_says_so() -> None:
    chunk = delta("word " * 100)
    cut = asked(streamed(*[chunk] * 200, delta("", finish_reason="stop")))
    assert isinstance(cut, ModelAnswer)
    assert (len(cut.text), cut.ended, cut.finish_reason) == (LONGEST_ANSWER, "cut", "length")
    short = asked(streamed(*[chunk] * 130, delta("", finish_reason="stop")))
    assert isinstance(short, ModelAnswer) and (len(short.text), short.ended) == (65_000, "complete")


def test_compression_that_was_asked_for_is_undone() -> None:
    import gzip

    plain = whole()
    body = plain.partition(b"\r\n\r\n")[2]
    answer = asked(head("application/json", "200 OK", "Content-Encoding: gzip") + gzip.compress(body))
    assert isinstance(answer, ModelAnswer) and answer.text == "Yes."


def test_a_list_of_models_is_bounded() -> None:
    def listing(names: list[str]) -> list[str]:
        body = '{"data": [' + ", ".join(f'{{"id": "{name}"}}' for name in names) + "]}"
        with raw_server(head() + body.encode()) as port:
            return list_models(config(port))

    assert listing(["b", "a" * (LONGEST_NAME + 1), "a\\ud800"]) == ["a?", "b"]
    with pytest.raises(CallError, match="longer than 2 MB"):
        listing([f"model-{number}" for number in range(200_000)])
    for reply in REPLIES.values():
        with raw_server(reply) as port:
            try:
                assert isinstance(list_models(config(port)), list)
            except CallError as failure:
                assert failure.message
    assert safe_http.LONGEST_REPLY == 2 * 1024 * 1024
