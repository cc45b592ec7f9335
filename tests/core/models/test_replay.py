"""Replays answer only from a journal."""

import asyncio
from typing import Any

import pytest

from core.events import (
    Answered,
    Asked,
    Event,
    Failed,
    Message,
    ModelAnswer,
    Request,
    Sampling,
    Tool,
    ToolCall,
    Usage,
    from_json,
    to_json,
)
from core.models import errors
from core.models.cache import Replay

RUN = "20261120-061500-ask-1a2b"


def request(text: str = "Can penguins fly?", **changes: Any) -> Request:
    settings: dict[str, Any] = {"role": "explainer", "model": "openai/gpt"} | changes
    return Request(messages=(Message(role="user", content=text),), **settings)


def asked(call: str, sent: Request) -> Asked:
    return Asked(
        run=RUN,
        call=call,
        role=sent.role,
        model=sent.model,
        messages=sent.messages,
        sampling=sent.sampling,
        repeat=sent.repeat,
        fingerprint=sent.fingerprint(),
    )


def answered(call: str, text: str, sent: Request) -> Answered:
    return Answered(
        run=RUN,
        call=call,
        role=sent.role,
        model=sent.model,
        text=text,
        seconds=1.5,
        usage=Usage(prompt_tokens=1, completion_tokens=2),
        finish_reason="stop",
        logprobs=[{"token": "y"}],
    )


def journal(*calls: tuple[Request, str]) -> list[Event]:
    events: list[Event] = []
    for number, (sent, text) in enumerate(calls):
        events += [asked(f"c{number}", sent), answered(f"c{number}", text, sent)]
    return events


def ask(replay: Replay, sent: Request, pieces: list[str] | None = None) -> ModelAnswer:
    mine = sent.model_copy(update={"model": replay.id})
    return asyncio.run(replay.answer(mine, (pieces if pieces is not None else []).append))


def test_it_answers_what_was_asked_with_all_that_was_measured() -> None:
    replay = Replay(RUN, journal((request(), "No."), (request("Can owls fly?"), "Yes.")))
    assert replay.id == f"replay/{RUN}"
    pieces: list[str] = []
    answer = ask(replay, request("Can owls fly?"), pieces)
    assert answer.text == "Yes." and pieces == ["Yes."] and answer.cached
    assert answer.seconds == 1.5 and answer.usage.completion_tokens == 2 and answer.logprobs == [{"token": "y"}]
    assert ask(replay, request()).text == "No."
    assert ask(replay, request()).text == "No.", "as often as it is asked"


def test_tool_calls_are_given_again() -> None:
    call = ToolCall(id="c1", name="look", arguments='{"at": "Mars"}')
    tool = Tool(name="look", description="", parameters={})
    sent = request().model_copy(update={"tools": (tool,)})
    events = [
        event.model_copy(update={"tool_calls": (call,)}) if isinstance(event, Answered) else event
        for event in journal((sent, ""))
    ]
    again = [from_json(to_json(event)) for event in events]
    assert ask(Replay(RUN, again), sent).tool_calls == (call,)


@pytest.mark.parametrize(
    "other",
    [
        request(role="simulator"),
        request(repeat=1),
        request("Can owls fly? One two three four five six seven eight nine ten eleven"),
        request(sampling=Sampling(temperature=1.0)),
        request(sampling=Sampling(seed=1)),
    ],
)
def test_anything_else_is_not_in_it_and_is_named(other: Request) -> None:
    replay = Replay(RUN, journal((request(), "No.")))
    with pytest.raises(errors.NotInReplayError) as caught:
        ask(replay, other)
    message = caught.value.message
    assert RUN in message and other.role in message and other.messages[-1].content[:15] in message
    # The message quotes twelve words.
    assert "eleven" not in message and message.endswith("nine…”." if "nine" in other.messages[-1].content else "?”.")


def test_of_a_dialogue_the_last_words_are_named() -> None:
    sent = request("And now?")
    dialogue = sent.model_copy(update={"messages": (Message(role="user", content="At first"), *sent.messages)})
    with pytest.raises(errors.NotInReplayError, match="to “And now\\?”"):
        ask(Replay(RUN, []), dialogue)


def test_two_models_asked_the_same_are_given_by_turns() -> None:
    exchanges = [(request(model="a/a"), "from a"), (request(model="b/b"), "from b")]
    replay = Replay(RUN, journal(*exchanges))
    assert [ask(replay, request()).text for _ in range(4)] == ["from a", "from b", "from a", "from b"]


def test_the_schema_tells_apart_what_is_otherwise_the_same() -> None:
    plain, shaped = request(), request(json_schema={"type": "object"})
    replay = Replay(RUN, journal((plain, "No."), (shaped, "{}")))
    assert ask(replay, shaped).text == "{}"
    assert ask(replay, plain).text == "No."


def test_a_call_that_failed_fails_again_and_one_that_was_mended_does_not() -> None:
    failed = Failed(run=RUN, call="c0", error="RateLimited", message="Too many.", hint="Wait.")
    events: list[Event] = [asked("c0", request()), failed]
    with pytest.raises(errors.RateLimitError) as caught:
        ask(Replay(RUN, events), request())
    assert caught.value.message == "Too many." and caught.value.hint == "Wait."
    events += [asked("c1", request()), answered("c1", "No.", request())]
    assert [ask(Replay(RUN, events), request()).text for _ in range(2)] == ["No.", "No."]


def test_a_call_that_was_never_answered_is_not_in_it() -> None:
    with pytest.raises(errors.NotInReplayError):
        ask(Replay(RUN, [asked("c0", request())]), request())
