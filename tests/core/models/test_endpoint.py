"""Endpoints, against a scripted server."""

import asyncio
import json
import logging
import socket
import time
import traceback
from typing import Any

import pytest

from core.events import CallError, Message, ModelAnswer, Request, Sampling, Tool, ToolCall
from core.models import errors
from core.models.connection import Connection, list_models
from core.models.endpoint import Endpoint
from core.models.settings import EndpointConfig
from tests.support.stub_server import Calls, Fault, StubServer
from tests.support.waiting import until_true

KEY = "sk-planted-0123456789-secret"


def question(text: str = "Can penguins fly?", *, model: str = "stub/stub-model", **more: Any) -> Request:
    return Request(role="explainer", model=model, messages=(Message(role="user", content=text),), **more)


def ask(
    config: EndpointConfig, request: Request | None = None, model: str = "stub-model"
) -> tuple[ModelAnswer, list[str]]:
    """The answer, and its pieces as they arrived."""
    pieces: list[str] = []

    async def go() -> ModelAnswer:
        connection = Connection(config)
        try:
            return await Endpoint(connection, model).answer(request or question(), pieces.append)
        finally:
            await connection.close()

    return asyncio.run(go()), pieces


def failure(config: EndpointConfig, request: Request | None = None, model: str = "stub-model") -> CallError:
    with pytest.raises(CallError) as caught:
        ask(config, request, model)
    return caught.value


def test_pieces_join_to_the_text_and_everything_is_measured() -> None:
    text = "  **Yes**,\n because birds fly. \n"
    with StubServer(text, delay=0.05, pause=0.01) as server:
        answer, pieces = ask(server.config())
        body = server.seen[0].body
    assert "".join(pieces) == answer.text == text
    assert len(pieces) == 5
    assert answer.finish_reason == "stop"
    assert answer.usage.prompt_tokens == 3 and answer.usage.completion_tokens == 5
    assert answer.first_token_seconds is not None
    assert 0.05 <= answer.first_token_seconds < answer.seconds < 2
    assert not answer.cached and answer.logprobs is None
    assert body["messages"] == [{"role": "user", "content": "Can penguins fly?"}]
    assert body["stream"] is True and body["stream_options"] == {"include_usage": True}
    assert body["temperature"] == 0.0 and body["max_tokens"] == 200
    assert body.keys() == {"model", "messages", "stream", "stream_options", "temperature", "max_tokens"}


def test_nothing_of_the_openai_account_is_sent_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "planted-for-openai")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with StubServer("Yes.") as server:
        ask(server.config())
        headers = server.seen[0].headers
    assert "planted-for-openai" not in str(headers)
    assert headers["authorization"] == "Bearer none" and "openai-organization" not in headers


def test_every_sampling_setting_is_sent() -> None:
    sampling = Sampling(
        temperature=0.1,
        top_p=0.95,
        top_k=50,
        repetition_penalty=1.2,
        max_tokens=7,
        stop=("\n", "Q:", "a", "b", "c"),
        seed=3,
        top_logprobs=2,
    )
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}}
    with StubServer("Yes.") as server:

        async def go() -> ModelAnswer:
            connection = Connection(server.config())
            connection.learn("stub-model", thinks="no")
            request = question(sampling=sampling, json_schema=schema)
            return await Endpoint(connection, "stub-model").answer(request, lambda text: None)

        answer = asyncio.run(go())
        body = server.seen[0].body
    assert body["top_p"] == 0.95 and body["top_k"] == 50 and body["repetition_penalty"] == 1.2 and body["seed"] == 3
    assert body["stop"] == ["\n", "Q:", "a", "b"], "OpenAI takes four; the fifth is applied on this side"
    assert body["response_format"]["json_schema"]["schema"] == schema
    assert answer.logprobs is not None
    assert [token["token"] for token in answer.logprobs] == ["Yes."]
    assert len(answer.logprobs[0]["top_logprobs"]) == 2


def test_llama_cpp_and_lm_studio_call_the_penalty_otherwise() -> None:
    with StubServer() as server:
        ask(server.config(preset="llama.cpp"), question(sampling=Sampling(repetition_penalty=1.2)))
        assert server.seen[0].body["repeat_penalty"] == 1.2


@pytest.mark.parametrize("stop", [("\n\n",), ("Q:",), ("\n\nQ", "never")])
def test_stop_sequences_hold_where_the_server_passes_over_them(stop: tuple[str, ...]) -> None:
    with StubServer("Yes. It can.\n\nQ: Can a pear swim?\nA: no", honour_stop=False, pause=0.01) as server:
        answer, pieces = ask(server.config(), question(sampling=Sampling(stop=stop, top_logprobs=1)))
    assert answer.text == "".join(pieces) == ("Yes. It can.\n\n" if stop == ("Q:",) else "Yes. It can.")
    assert answer.finish_reason == "stop"
    assert answer.logprobs is not None
    assert [token["token"] for token in answer.logprobs][:3] == ["Yes.", " It", " can."]
    assert len(answer.logprobs) <= 4


def test_an_answer_in_one_piece_is_taken_too() -> None:
    with StubServer("Yes.", streams=False) as server:
        answer, pieces = ask(server.config(), question(sampling=Sampling(top_logprobs=1)))
    assert answer.text == "Yes." and pieces == ["Yes."]
    assert answer.usage.completion_tokens == 1 and answer.logprobs


@pytest.mark.parametrize(
    ("fault", "kind", "tries", "words", "hint"),
    [
        (
            Fault("wrong_key"),
            errors.AuthenticationError,
            1,
            "does not accept the key (HTTP 401)",
            "Check that the key is whole",
        ),
        (Fault("forbidden"), errors.AuthenticationError, 1, "HTTP 403", "allowed to use this model"),
        (Fault("no_model"), errors.ModelNotFoundError, 1, "no model named 'stub-model'", "Available: "),
        (Fault("rate_limited", wait=0.01), errors.RateLimitError, 3, "no more calls for now", "Wait 0 seconds"),
        (Fault("rate_limited"), errors.RateLimitError, 3, "no more calls for now", "Wait a minute"),
        (Fault("rate_limited", wait=17), errors.RateLimitError, 1, "no more calls for now", "Wait 17 seconds"),
        (Fault("no_credit"), errors.RateLimitError, 1, "has no calls left", "billing"),
        (Fault("server_error"), errors.ServerError, 3, "“Something broke inside.”", "may pass"),
        (Fault("bad_gateway"), errors.ServerError, 3, "failed (HTTP 502).", "may pass"),
        (
            Fault("bad_request", words="temperature must be below 2"),
            errors.RequestRefusedError,
            2,
            "below 2",
            "sampling",
        ),
        (Fault("too_long"), errors.ContextLengthError, 1, "too long for stub-model", "fewer or shorter demonstrations"),
        (Fault("filtered"), errors.ContentFilterError, 1, "content filter", "other words"),
        (Fault("filtered_answer"), errors.ContentFilterError, 1, "withheld the answer", "other words"),
        (Fault("empty"), errors.EmptyAnswerError, 1, "nothing but white space", "Ask again"),
        (Fault("stall"), errors.CallTimeoutError, 1, "had not answered after 0.4 seconds", "time limit"),
        (
            Fault("stall_midway"),
            errors.CallTimeoutError,
            1,
            "had not finished its answer after 0.4 seconds",
            "fewer tokens",
        ),
        (Fault("cut"), errors.MalformedReplyError, 3, "the connection was cut", "server's own log"),
        (Fault("unfinished"), errors.MalformedReplyError, 1, "broke off", "server's own log"),
        (Fault("error_midway", words="slot died"), errors.ServerError, 3, "“slot died”", "may pass"),
        (Fault("broken_json"), errors.MalformedReplyError, 1, "not JSON", "usually ends in /v1"),
        (Fault("wrong_shape"), errors.MalformedReplyError, 1, "not a reply of the OpenAI API", "usually ends in /v1"),
        (Fault("html"), errors.MalformedReplyError, 1, "not JSON", "usually ends in /v1"),
    ],
    ids=lambda value: value.kind if isinstance(value, Fault) else "",
)
def test_each_fault_is_reported_in_words_a_person_can_use(
    fault: Fault, kind: type[CallError], tries: int, words: str, hint: str
) -> None:
    with StubServer("Yes, it can.", always=fault) as server:
        config = server.config(key=KEY, timeout=0.4 if "stall" in fault.kind else 10.0)
        fault = failure(config)
        assert type(fault) is kind
        assert words in fault.message and hint in fault.hint
        assert server.count == tries
    assert "<html" not in fault.message and "Traceback" not in fault.message


def test_a_fault_that_passes_is_not_seen() -> None:
    faults = {1: Fault("server_error"), 2: Fault("rate_limited", wait=0.2)}
    with StubServer("Yes.", faults=faults) as server:
        began = time.monotonic()
        answer, pieces = ask(server.config(backoff=0.001))
        took = time.monotonic() - began
        assert answer.text == "Yes." and pieces == ["Yes."]
        assert server.count == 3
        assert server.seen[2].at - server.seen[1].at >= 0.2, "Retry-After is honoured"
        assert answer.seconds <= took - 0.2, "waiting is not answering"


def test_text_that_broke_off_is_asked_for_again_and_not_shown_twice() -> None:
    with StubServer("Yes, it can.", faults={1: Fault("cut")}) as server:
        answer, pieces = ask(server.config())
        assert pieces == ["Yes,"] and server.count == 2
        assert answer.text == "Yes, it can."


@pytest.mark.parametrize(
    ("port", "hint"), [(11434, "ollama serve"), (1234, "LM Studio"), (8000, "vllm serve"), (8080, "llama-server")]
)
def test_where_nothing_listens_the_hint_tells_how_to_start_it(port: int, hint: str) -> None:
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            pytest.skip(f"something listens on port {port}")
    config = EndpointConfig(name="mine", base_url=f"http://127.0.0.1:{port}/v1")
    began = time.monotonic()
    fault = failure(config)
    assert type(fault) is errors.UnreachableServerError and hint in fault.hint
    assert f"Nothing answers at http://127.0.0.1:{port}/v1." == fault.message
    assert time.monotonic() - began < 5
    with pytest.raises(errors.UnreachableServerError):
        list_models(config)


def test_a_wrong_model_name_brings_the_nearest_ones() -> None:
    with StubServer(models=["llama3.2:1b", "qwen2.5:0.5b", "qwen2.5:1.5b"]) as server:
        fault = failure(server.config(), model="qwen2.5:0.5")
    assert type(fault) is errors.ModelNotFoundError
    assert fault.hint.startswith("Did you mean qwen2.5:0.5b or ")
    assert "Available: llama3.2:1b, qwen2.5:0.5b, qwen2.5:1.5b." in fault.hint


def test_a_wrong_path_says_so() -> None:
    with StubServer() as server:
        fault = failure(server.config(base_url=server.base_url.removesuffix("/v1")))
    assert type(fault) is errors.MalformedReplyError
    assert "no OpenAI API is there (HTTP 404)" in fault.message and "/v1" in fault.hint


@pytest.mark.parametrize("name", ["max_tokens", "stop", "temperature", "stream_options", "top_k", "response_format"])
def test_a_refused_parameter_is_left_out_and_remembered(name: str) -> None:
    request = question(sampling=Sampling(stop=("never",), top_k=3), json_schema={"type": "object"})
    with StubServer("Yes.", refused=[name]) as server:

        async def go() -> None:
            endpoint = Endpoint(Connection(server.config()), "stub-model")
            endpoint.connection.learn("stub-model", thinks="no")
            for _ in range(2):
                assert (await endpoint.answer(request, lambda text: None)).text == "Yes."

        asyncio.run(go())
        assert [name in seen.body for seen in server.seen] == [True, False, False]
        if name == "max_tokens":
            assert server.seen[1].body["max_completion_tokens"] == 200


def test_log_probabilities_are_not_left_out_quietly() -> None:
    with StubServer("Yes.", refused=["logprobs"]) as server:
        fault = failure(server.config(), question(sampling=Sampling(top_logprobs=2)))
        assert type(fault) is errors.RequestRefusedError and "'logprobs' is not supported" in fault.message
        assert server.count == 1


def test_one_model_that_refuses_a_parameter_does_not_take_it_from_another() -> None:
    with StubServer("Yes.", models=["a", "b"], refused=["temperature"]) as server:

        async def go() -> None:
            connection = Connection(server.config())
            await Endpoint(connection, "a").answer(question(), lambda text: None)
            server.refused.clear()
            await Endpoint(connection, "b").answer(question(), lambda text: None)

        asyncio.run(go())
        assert ["temperature" in seen.body for seen in server.seen] == [True, False, True]


def test_the_limit_of_calls_at_once_is_shared_by_the_models_of_an_endpoint() -> None:
    with StubServer("Yes.", models=["a", "b"], delay=0.05) as server:

        async def go() -> None:
            connection = Connection(server.config(concurrency=3))
            calls = [Endpoint(connection, "ab"[n % 2]).answer(question(), lambda text: None) for n in range(12)]
            await asyncio.gather(*calls)

        asyncio.run(go())
        assert server.count == 12 and server.most_at_once == 3


def test_waiting_for_a_turn_does_not_count_as_a_stall() -> None:
    with StubServer("Yes.", delay=0.15) as server:

        async def go() -> None:
            endpoint = Endpoint(Connection(server.config(concurrency=1, timeout=0.4)), "stub-model")
            await asyncio.gather(*(endpoint.answer(question(), lambda text: None) for _ in range(5)))

        asyncio.run(go())
        assert server.count == 5


def test_one_connection_serves_several_event_loops() -> None:
    with StubServer("Yes.") as server:
        endpoint = Endpoint(Connection(server.config()), "stub-model")
        for _ in range(2):
            assert asyncio.run(endpoint.answer(question(), lambda text: None)).text == "Yes."


def test_cancelling_closes_the_connection_and_nothing_more_is_sent() -> None:
    with StubServer("one two three four five six seven eight nine ten", pause=0.1) as server:

        async def go() -> None:
            endpoint = Endpoint(Connection(server.config(concurrency=1)), "stub-model")
            begun = asyncio.Event()
            tasks = [asyncio.create_task(endpoint.answer(question(), lambda text: begun.set())) for _ in range(4)]
            await begun.wait()
            for task in tasks:
                task.cancel()
            assert all(
                isinstance(end, asyncio.CancelledError) for end in await asyncio.gather(*tasks, return_exceptions=True)
            )
            await until_true(lambda: server.disconnects == 1 and not server.at_once)
            # Nothing of a cancelled call is sent before a later call, in the one place there is.
            server.pause = 0.0
            await endpoint.answer(question(), lambda text: None)

        asyncio.run(go())
        assert server.count == 2 and server.disconnects == 1


class Heard(logging.Handler):
    """Sets `event` once the log announces another attempt."""

    def __init__(self, event: asyncio.Event) -> None:
        super().__init__(logging.INFO)
        self._event = event

    def emit(self, record: logging.LogRecord) -> None:
        if "try 2 in" in record.getMessage():
            self._event.set()


def test_cancelling_between_tries_sends_no_further_one() -> None:
    log = logging.getLogger("core.models.endpoint")
    level = log.level

    with StubServer(always=Fault("rate_limited", wait=3.0)) as server:

        async def go() -> None:
            between, before = asyncio.Event(), asyncio.all_tasks()
            heard = Heard(between)
            log.addHandler(heard)
            log.setLevel(logging.INFO)
            task = asyncio.create_task(
                Endpoint(Connection(server.config()), "stub-model").answer(question(), lambda text: None)
            )
            try:
                await between.wait()
                assert server.count == 1
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert asyncio.all_tasks() == before, "nothing is left that could send one"
            finally:
                log.removeHandler(heard)
                log.setLevel(level)

        asyncio.run(asyncio.wait_for(go(), 30))
        assert server.count == 1


def test_a_fault_of_the_listener_is_not_taken_for_the_servers() -> None:
    def broken(piece: str) -> None:
        raise ValueError("mine")

    with StubServer("Yes, it can.", pause=0.1) as server:
        with pytest.raises(ValueError, match="mine"):
            asyncio.run(Endpoint(Connection(server.config()), "stub-model").answer(question(), broken))
        assert server.count == 1


def test_list_models() -> None:
    with StubServer(models=["b", "a"], key=KEY) as server:
        assert list_models(server.config(key=KEY)) == ["a", "b"]
        with pytest.raises(errors.AuthenticationError, match="HTTP 401"):
            list_models(server.config(key="other"))
        with pytest.raises(errors.AuthenticationError, match="wants a key"):
            list_models(server.config())
    with StubServer(always=Fault("html")) as server, pytest.raises(errors.MalformedReplyError):
        list_models(server.config())
    with StubServer(always=Fault("stall")) as server, pytest.raises(errors.CallTimeoutError):
        list_models(server.config(timeout=0.3))


@pytest.mark.parametrize(
    "fault",
    [
        None,
        Fault("echo_key"),
        Fault("error_midway", words=f"the header was Bearer {KEY}"),
        Fault("bad_request", words=f"Bearer {KEY} " * 30),
        Fault("answer_key", words=KEY),
        Fault("stall"),
        Fault("rate_limited", wait=0.01),
        Fault("no_model"),
    ],
    ids=str,
)
def test_the_key_is_nowhere_in_what_is_said_or_logged(
    fault: Fault | None, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_LOG", "debug")
    written: list[str] = []
    with caplog.at_level(logging.DEBUG), StubServer("Yes, it can.", always=fault, models=["m", KEY]) as server:
        config = server.config(key=KEY, timeout=0.5)
        connection = Connection(config)
        endpoint = Endpoint(connection, "m")
        written += [repr(config), str(config), config.model_dump_json(), repr(connection), repr(endpoint)]
        try:
            answer = asyncio.run(endpoint.answer(question(), written.append))
            written.append(answer.model_dump_json())
        except CallError as fault:
            assert fault is not None
            assert fault.__context__ is None and fault.__cause__ is None
            written += [fault.message, fault.hint, repr(fault), "".join(traceback.format_exception(fault))]
        try:
            written += list_models(config)
        except CallError as fault:
            written += [fault.message, fault.hint, repr(fault)]
        assert server.seen[0].headers["authorization"] == f"Bearer {KEY}", "the key does reach the server"
    everything = "\n".join(written + [record.getMessage() + str(record.args) for record in caplog.records])
    assert KEY not in everything


# Tool calls

LOOK = Tool(name="look", description="Looks.", parameters={"type": "object", "properties": {"at": {"type": "string"}}})
TWO = (("look", '{"at": "the \\"moon\\""}'), ("look", '{"at": "Mars"}'))


@pytest.mark.parametrize("numbered", ["each", "zero", "not", "whole"])
@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("text", ["", "Let me look."])
def test_tool_calls_come_whole_however_a_server_numbers_their_pieces(numbered: Any, streams: bool, text: str) -> None:
    with StubServer(Calls(TWO, text, numbered), streams=streams) as server:
        answer, pieces = ask(server.config(), question(tools=(LOOK,)))
        body = server.seen[0].body
    assert [(call.name, call.arguments) for call in answer.tool_calls] == list(TWO)
    assert [call.id for call in answer.tool_calls] == ["call_0x", "call_1x"]
    assert answer.text == "".join(pieces) == text and answer.finish_reason == "tool_calls"
    assert body["tools"] == [{"type": "function", "function": LOOK.model_dump()}]


def test_tool_calls_without_ids_are_numbered() -> None:
    with StubServer(Calls(TWO, numbered="no ids")) as server:
        answer, _ = ask(server.config(), question(tools=(LOOK,)))
    assert [call.id for call in answer.tool_calls] == ["call-1", "call-2"]


def test_a_dialogue_with_tool_calls_is_sent_as_the_api_has_it() -> None:
    call = ToolCall(id="c7", name="look", arguments='{"at": "Mars"}')
    turns = (
        Message(role="user", content="Look!"),
        Message(role="assistant", content="", tool_calls=(call,)),
        Message(role="tool", content="red", tool_call_id="c7"),
    )
    with StubServer("It is red.") as server:
        ask(server.config(), question().model_copy(update={"messages": turns}))
        sent = server.seen[0].body
    assert "tools" not in sent
    function = {"name": "look", "arguments": '{"at": "Mars"}'}
    assert sent["messages"] == [
        {"role": "user", "content": "Look!"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c7", "type": "function", "function": function}]},
        {"role": "tool", "content": "red", "tool_call_id": "c7"},
    ]


@pytest.mark.parametrize(
    "words",
    [
        "registry.ollama.ai/library/gemma:2b does not support tools",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "Unsupported parameter: 'tools' is not supported with this model.",
        "function calling is not available for this model",
    ],
)
def test_a_server_without_tool_calls_says_so_and_is_asked_once(words: str) -> None:
    with StubServer(always=Fault("bad_request", words=words)) as server:
        error = failure(server.config(), question(tools=(LOOK,)))
        assert server.count == 1
        plain = failure(server.config())
    assert isinstance(error, errors.ToolsUnsupportedError) and "plain text" in error.hint and words in error.message
    assert not isinstance(plain, errors.ToolsUnsupportedError), "nobody spoke of tools"


def test_a_server_that_cannot_stream_tool_calls_is_asked_without_a_stream() -> None:
    refusal = Fault("bad_request", words="Cannot use tools with stream")
    with StubServer(Calls(TWO), faults={1: refusal}) as server:
        answer, _ = ask(server.config(), question(tools=(LOOK,)))
        assert len(answer.tool_calls) == 2 and "stream" not in server.seen[1].body


@pytest.mark.parametrize("kind", ["cut", "broken_json", "unfinished"])
def test_a_broken_answer_with_tool_calls_is_a_fault(kind: Any) -> None:
    with StubServer(Calls(TWO, "Let me look."), always=Fault(kind)) as server:
        assert isinstance(failure(server.config(), question(tools=(LOOK,))), errors.MalformedReplyError)


def test_a_key_inside_a_tool_call_is_not_passed_on() -> None:
    with StubServer(Calls((("look", json.dumps({"at": KEY})),))) as server:
        error = failure(server.config(key=KEY), question(tools=(LOOK,)))
    assert isinstance(error, errors.MalformedReplyError) and KEY not in error.message
