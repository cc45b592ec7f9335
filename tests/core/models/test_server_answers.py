"""How servers in real use answer: one test for each reported behaviour, with two variants."""

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import JSONResponse, Response

from core.labs.check import parse
from core.models import errors
from core.text.reply import without_thinking
from tests.conftest import OUTSIDE
from tests.core.models.scripted import Body, chunk, outcome, refuses, says, stream, usage, whole

GOOD = "Wings carry a bird. A puffin has wings. So the answer is yes."


def first(*replies: Response) -> Any:
    """These replies in turn, then an ordinary answer."""
    return lambda body, number: replies[number - 1] if number <= len(replies) else says(GOOD)


def unless(refused: Any, reply: Response) -> Any:
    """`reply` to requests for which `refused` is true; an ordinary answer to all others."""
    return lambda body, number: reply if refused(body) else says(GOOD)


# Endings


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS"])
def test_a_cut_answer_is_kept_and_called_cut(reason: str) -> None:
    found = outcome(lambda body, number: says("The lobby was bright, and we slept w", reason))
    assert found.answer and found.answer.ended == "cut" and found.answer.cut_note == "cut at 200 tokens"


@pytest.mark.parametrize("reason", ["error", "network_error", "model_error"])
def test_half_an_answer_with_an_error_is_asked_for_again(reason: str) -> None:
    found = outcome(first(says("The lobby was", reason)))
    assert found.text == GOOD and len(found.bodies) == 2
    failed = outcome(lambda body, number: says("The lobby was", reason)).failure
    assert isinstance(failed, errors.ServerError)


@pytest.mark.parametrize("reason", ["insufficient_system_resource", "system_overload", "request_timeout"])
def test_a_server_that_gives_up_has_failed_and_is_asked_again(reason: str) -> None:
    found = outcome(first(says("The lobby", reason)))
    assert found.text == GOOD and len(found.bodies) == 2


@pytest.mark.parametrize("reason", ["content_filter: RECITATION", "SAFETY", "content_filter: PROHIBITED_CONTENT"])
def test_what_a_filter_cut_is_withheld_and_not_asked_again(reason: str) -> None:
    found = outcome(lambda body, number: says("The lobby was bright", reason))
    assert isinstance(found.failure, errors.ContentFilterError) and len(found.bodies) == 1


@pytest.mark.parametrize(
    "reply",
    [
        stream(chunk(GOOD)),
        stream(chunk(GOOD[:9]), chunk(GOOD[9:], finish="")),
        stream({"choices": [{"delta": {"content": GOOD}}]}, usage(prompt_tokens=9, completion_tokens=9)),
    ],
)
def test_done_is_an_end_even_without_a_reason(reply: Response) -> None:
    found = outcome(first(reply))
    assert found.text == GOOD and found.answer and found.answer.ended == "unknown" and len(found.bodies) == 1


# Failures and retry times


@pytest.mark.parametrize(
    ("status", "words"),
    [(498, "All slots are taken"), (413, "tokens per minute: limit 6000, requested 7500"), (429, "Slow down")],
)
def test_a_server_that_is_full_is_asked_again(status: int, words: str) -> None:
    found = outcome(first(refuses(words, status)))
    assert found.text == GOOD and len(found.bodies) == 2
    failed = outcome(lambda body, number: refuses(words, status), config={"retries": 0}).failure
    assert isinstance(failed, errors.RateLimitError) and failed.may_pass and words in failed.message


@pytest.mark.parametrize(
    "reply",
    [
        refuses("Quota exceeded, see your plan and billing page. Try again in 0.05s.", 429),
        refuses("Quota of your billing tier is used up. Please retry in 50ms", 429, code="429"),
        refuses("Check billing.", 429, as_list=True, details=[{"@type": "x/RetryInfo", "retryDelay": "0.05s"}]),
    ],
)
def test_a_quota_that_says_when_to_come_back_is_no_empty_account(reply: Response) -> None:
    found = outcome(first(reply))
    assert found.text == GOOD and len(found.bodies) == 2


@pytest.mark.parametrize("words", ["Balance too low", "Payment required", ""])
def test_no_money_is_said_and_not_asked_again(words: str) -> None:
    found = outcome(lambda body, number: refuses(words, 402))
    assert found.failure and not found.failure.may_pass and len(found.bodies) == 1
    assert "has no calls left" in found.failure.message and "billing" in found.failure.hint


@pytest.mark.parametrize(
    "reply",
    [
        refuses("API key not valid. Please pass a valid API key.", as_list=True, code=400, status="INVALID_ARGUMENT"),
        refuses("API key expired. Please renew the API key.", as_list=True, code=400),
        refuses("Incorrect API key provided", 401),
    ],
)
def test_a_wrong_key_is_known_under_every_status(reply: Response) -> None:
    found = outcome(lambda body, number: reply, config={"key": "sk-made-up-0123456789"})
    assert isinstance(found.failure, errors.AuthenticationError) and "API key" in found.failure.message


@pytest.mark.parametrize("code", [502, "503", 529])
def test_an_error_under_http_200_is_read_by_its_code(code: Any) -> None:
    body = {"error": {"message": "The provider behind us is overloaded", "code": code}}
    found = outcome(first(JSONResponse(body)))
    assert found.text == GOOD and len(found.bodies) == 2
    failed = outcome(lambda sent, number: JSONResponse(body)).failure
    assert isinstance(failed, errors.ServerError) and "provider behind us" in failed.message


@pytest.mark.parametrize(
    "event",
    [
        'event: error\ndata: {"message": "too many guests", "type": "overloaded_error"}\n\n',
        'event: error\ndata: {"type": "error", "error": {"type": "api_error", "message": "too many guests"}}\n\n',
        'data: {"error": {"message": "too many guests", "code": 500}}\n\n',
    ],
)
def test_an_error_event_has_its_words(event: str) -> None:
    found = outcome(lambda body, number: stream(chunk("Wings"), event, done=False))
    assert isinstance(found.failure, errors.ServerError) and "too many guests" in found.failure.message


# Refused parameters


@pytest.mark.parametrize(
    ("reply", "name", "value"),
    [
        (refuses('Unknown name "seed": Cannot find field.', as_list=True, code=400), "seed", 7),
        (refuses("`temperature` is deprecated for this model."), "temperature", 0.7),
        (refuses("temperature is no longer supported and may not be sent"), "temperature", 0.7),
        (refuses("'temperature' has been removed for this model", type="invalid_request_error"), "temperature", 0.7),
        (refuses("`temperature` must be strictly positive", 422), "temperature", 0.0),
        (refuses("temperature: value must be greater than 0", 422), "temperature", 0.0),
        (refuses("`temperature` has to be a strictly positive float", 400), "temperature", 0.0),
        (refuses("Unknown parameter: 'seed'.", param="seed", code="unknown_parameter"), "seed", 7),
        (refuses('Invalid JSON payload. Unknown name "top_k"', as_list=True), "top_k", 50),
    ],
)
def test_a_refused_parameter_is_left_out_and_that_is_remembered(reply: Response, name: str, value: Any) -> None:
    found = outcome(unless(lambda body: name in body, reply), times=2, **{name: value})
    assert found.text == GOOD and [name in body for body in found.bodies] == [True, False, False]
    assert found.answer and name not in found.answer.sent and name in found.traits.refused


@pytest.mark.parametrize(
    "words",
    [
        "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
        "temperature and top_p can't be used together",
        "Only one of temperature, top_p may be set",
    ],
)
def test_of_two_samplers_top_p_is_left_out(words: str) -> None:
    both = unless(lambda body: {"temperature", "top_p"} <= body.keys(), refuses(words))
    found = outcome(both, temperature=0.1, top_p=0.95)
    assert found.text == GOOD and found.answer and found.answer.sent["temperature"] == 0.1
    assert "top_p" not in found.answer.sent


@pytest.mark.parametrize(
    "words",
    [
        "stop_sequences: each stop sequence must contain non-whitespace",
        "stop: sequences must contain non-whitespace text",
        "Invalid stop: each stop sequence must contain non-whitespace characters",
    ],
)
def test_stops_of_white_space_are_applied_here_alone(words: str) -> None:
    def replies(body: Body, number: int) -> Response:
        if any(not stop.strip() for stop in body.get("stop") or []):
            return refuses(words)
        return says(GOOD + "\n\nAnother paragraph.")

    found = outcome(replies, times=3, stop=("\n\n", "Q:"))
    assert found.text == GOOD and found.answer and found.answer.ended == "complete"
    assert found.bodies[-1]["stop"] == ["Q:"]


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("System role not supported", 400),
        ("The model's template raised: System role not supported", 500),
        ("Only user and assistant roles are supported!", 400),
    ],
)
def test_without_a_system_role_its_text_stands_before_the_first_turn(words: str, status: int) -> None:
    has_system = unless(lambda body: body["messages"][0]["role"] == "system", refuses(words, status))
    found = outcome(has_system, messages=(("system", "Be short."), ("user", "Can a puffin fly?")), times=2)
    assert found.text == GOOD and len(found.bodies) == 3
    assert found.bodies[-1]["messages"] == [{"role": "user", "content": "Be short.\n\nCan a puffin fly?"}]
    assert found.answer and found.answer.sent["system_role"] == "user"


# Thinking


def _spends(needed: int, detail: str = "completion_tokens_details") -> Any:
    def replies(body: Body, number: int) -> Response:
        if "max_tokens" in body:
            return refuses("Use 'max_completion_tokens' instead of 'max_tokens'.", param="max_tokens")
        had = body["max_completion_tokens"]
        if had < needed:
            spent = {"completion_tokens": had, detail: {"reasoning_tokens": had}}
            return stream(chunk("", finish="length"), usage(prompt_tokens=9, **spent))
        spent = {"completion_tokens": needed, detail: {"reasoning_tokens": needed - 20}}
        return stream(chunk(GOOD, finish="stop"), usage(prompt_tokens=9, **spent))

    return replies


@pytest.mark.parametrize("needed", [900, 3000, 6000])
def test_a_model_that_used_all_its_tokens_for_thinking_gets_room(needed: int) -> None:
    found = outcome(_spends(needed), times=2, max_tokens=50)
    if needed > 4050:
        # Asked once more with more room, and not again.
        assert found.failure is None or "thinking" in found.failure.message
        return
    assert found.text == GOOD and found.answer and found.answer.thinking and found.answer.thinking.kind == "hidden"
    assert len(found.bodies) == 4, "the wrong parameter, the empty answer, and two whole ones"
    assert found.traits.room >= needed - 50


@pytest.mark.parametrize(
    "words",
    [
        "Could not finish the message because max_tokens or model output limit was reached.",
        "Could not finish the message because max_completion_tokens was reached. Try again with higher max_tokens.",
        "could not finish the message: output limit was reached",
    ],
)
def test_the_same_as_an_error_gets_room_too(words: str) -> None:
    short = unless(lambda body: body.get("max_tokens", 0) < 900, refuses(words))
    found = outcome(short, times=2)
    assert found.text == GOOD and len(found.bodies) == 3
    settled = outcome(lambda body, number: refuses(words), config={"thinking_room": 100}).failure
    assert settled and "thinking" in settled.message


@pytest.mark.parametrize("reported", [0, 5, 300])
def test_thinking_outside_the_usage_is_counted(reported: int) -> None:
    counted = usage(prompt_tokens=100, completion_tokens=reported, total_tokens=905)
    found = outcome(lambda body, number: stream(chunk(GOOD, finish="stop"), counted))
    assert found.answer and found.answer.usage.completion_tokens == 805
    assert found.answer.thinking and found.answer.thinking.tokens == 805 - reported


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": GOOD}],
        [
            {"type": "reasoning", "text": "Hm."},
            {"type": "text", "text": GOOD[:20]},
            {"type": "text", "text": GOOD[20:]},
        ],
        [{"type": "output_text", "text": GOOD}],
    ],
)
def test_a_content_of_parts_is_joined_without_its_thinking(content: Any) -> None:
    found = outcome(lambda body, number: whole(content))
    assert found.text == GOOD
    thought = found.answer and found.answer.thinking
    assert (thought.text if thought else None) == ("Hm." if len(content) > 1 else None)


@pytest.mark.parametrize(
    "before",
    [
        "analysisThe cellar came first. So cellar? No.assistantfinal",
        "<|channel|>analysis<|message|>The cellar? No.<|end|><|start|>assistant<|channel|>final<|message|>",
        "analysisCellar.assistantcommentaryI look again.assistantfinal",
    ],
)
def test_channels_are_told_apart(before: str) -> None:
    found = outcome(lambda body, number: says(f"{before}attic"))
    assert without_thinking(found.text) == "attic"
    assert found.answer and found.answer.thinking and "ellar" in found.answer.thinking.text
    unfinished = outcome(lambda body, number: says("analysisThe cellar came first. So", "stop"))
    assert unfinished.failure and "thinking" in unfinished.failure.message


@pytest.mark.parametrize("tags", [("<think>", "</think>"), ("<thinking>", "</thinking>"), ("[THINK]", "[/THINK]")])
@pytest.mark.parametrize("opened_by", ["model", "template"])
def test_stops_count_only_outside_thinking(tags: tuple[str, str], opened_by: str) -> None:
    opening = tags[0] + "\n" if opened_by == "model" else ""
    text = f"{opening}Many would say no. So the answer is no.\n\nBut no.\n{tags[1]}\n\n{GOOD}\n\nNext question"

    def replies(body: Body, number: int) -> Response:
        assert "stop" not in body, "the server would look for it in the thinking"
        return says(text)

    found = outcome(replies, times=2, stop=("\n\n",))
    assert without_thinking(found.text).strip() == GOOD and found.answer and found.answer.ended == "complete"
    assert found.traits.thinks == "inline"


@pytest.mark.parametrize("stop", [(), ("\n\n",), ("\n",)])
def test_thinking_that_was_cut_before_any_mark_is_no_answer(stop: tuple[str, ...]) -> None:
    """The template holds the opening tag, and the closing one arrives only with more room."""
    thought = "Let me see. The first thought is no.\n\nSo the answer is no.\nHm, but then"

    def replies(body: Body, number: int) -> Response:
        return says(thought, "length") if body["max_tokens"] < 900 else says(f"{thought}.\n</think>\n\n{GOOD}")

    found = outcome(replies, times=2, stop=stop)
    if stop:
        assert without_thinking(found.text).strip() == GOOD and found.traits.thinks == "inline"
        assert found.answer and found.answer.ended == "complete"
    else:
        assert found.answer and found.answer.ended == "cut"


def test_a_model_known_to_think_in_its_text_gets_room_where_a_role_has_little() -> None:
    thought = "At first sight no.\n\nBut I have to weigh this"

    def replies(body: Body, number: int) -> Response:
        if number == 1 or body["max_tokens"] > 900:
            return says(f"{thought}.\n</think>\n\n{GOOD}")
        return says(thought, "length")

    found = outcome(replies, times=2, stop=("\n\n",))
    assert without_thinking(found.text).strip() == GOOD and len(found.bodies) == 3 and found.traits.room


def test_a_model_that_rambles_is_asked_with_more_room_once_and_gets_none_for_good() -> None:
    found = outcome(lambda body, number: says(f"{GOOD}\n\nQ: Can a duck fly?", "length"), times=3, stop=("\n\n",))
    assert found.text == GOOD and found.answer and found.answer.ended == "complete" and len(found.bodies) == 4
    assert found.traits.thinks == "no" and found.traits.room == 0 and found.bodies[-1]["stop"] == ["\n\n"]


@pytest.mark.parametrize(
    "thinks",
    [
        {"reasoning_content": "Puffins are birds."},
        {"reasoning": "Puffins are birds."},
        {"reasoning_details": [{"type": "reasoning.text", "text": "Puffins are birds."}]},
    ],
)
@pytest.mark.parametrize("at_first", [True, False])
def test_a_stop_in_thinking_that_a_server_tells_apart_costs_no_answer(thinks: Body, at_first: bool) -> None:
    """The server also searches the thinking for stop sequences, and then has no answer."""

    def replies(body: Body, number: int) -> Response:
        thought = chunk(**thinks) if at_first or number > 1 else chunk("")
        if "stop" in body:
            return stream(thought, chunk(finish="stop"))
        return stream(thought, chunk(GOOD), chunk(finish="stop"))

    found = outcome(replies, times=2, stop=("\n\n",))
    assert found.text == GOOD


# Shapes


@pytest.mark.parametrize("media", ["text/plain", "application/json", "application/octet-stream"])
def test_an_event_stream_is_read_under_every_content_type(media: str) -> None:
    found = outcome(lambda body, number: stream(chunk(GOOD), chunk(finish="stop"), media=media))
    assert found.text == GOOD and len(found.bodies) == 1


@pytest.mark.parametrize("name", ["puffin-small", "stub/puffin-2", "m-2026-01-01"])
def test_who_answered_is_kept(name: str) -> None:
    named = {**chunk(GOOD, finish="stop"), "model": name, "system_fingerprint": "fp_7"}
    found = outcome(lambda body, number: stream(named))
    assert found.answer and found.answer.served and found.answer.served.model == name
    assert found.answer.served.fingerprint == "fp_7"


@pytest.mark.parametrize("text", ["ANSWER: $B$", "The answer is $B$.", "$\\boxed{B}$"])
def test_a_letter_in_dollar_signs_is_a_letter(text: str) -> None:
    found = outcome(lambda body, number: says(text))
    assert parse.choice(found.text, ["cellar", "attic", "hall"], "repaired") == "attic"


# Cases that may be outside the project

CASES = OUTSIDE.parent / "endpoints" / "cases"

_FAIL: dict[str, type[Exception]] = {
    "edit-error": errors.ServerError,
    "edit-recitation": errors.ContentFilterError,
    "finish-resource": errors.ServerError,
    "gemini-bad-key": errors.AuthenticationError,
    "paid-402": errors.RateLimitError,
    "sse-error-event-without-error-key": errors.ServerError,
}
_CUT = {"edit-cut", "think-cut-no-tag"}
_OTHER = {"channels-without-marks": "garden", "letter-in-dollars": "ANSWER: $B$"}


def _fits(when: Body, body: Body, number: int) -> bool:
    asked = body["messages"][-1]["content"]
    return (
        all(name in body for name in when.get("has", []))
        and (body.get("max_tokens") or body.get("max_completion_tokens") or 10**9) < when.get("below", 10**10)
        and when.get("says", "") in asked
        and ("role" not in when or any(turn["role"] == when["role"] for turn in body["messages"]))
        and number <= when.get("first", 10**9)
        and (not when.get("blank_stop") or any(not stop.strip() for stop in body.get("stop") or []))
    )


def _reply(rule: Body) -> Response:
    if "json" in rule:
        return JSONResponse(rule["json"], rule.get("status", 200))
    if "sse" in rule:
        return stream(*rule["sse"], done=not rule.get("no_done"), media=rule.get("media", "text/event-stream"))
    return says(rule["text"], rule.get("finish", "stop"))


@pytest.mark.outside_data
@pytest.mark.parametrize("path", sorted(CASES.glob("*.json")), ids=lambda path: path.stem)
def test_the_cases_beside_the_project(path: Path) -> None:
    case = json.loads(path.read_text(encoding="utf-8"))
    if "models" in case:
        pytest.skip("a list of models: tests/core/models/test_listing.py")

    def replies(body: Body, number: int) -> Response:
        return next(_reply(rule) for rule in case["rules"] if _fits(rule.get("when", {}), body, number))

    lab = case["run"].split()[0]
    sampling: Body = {
        "ask": {"stop": ("\n\n",), "max_tokens": 200},
        "exam": {"stop": ("\n",), "max_tokens": 200},
        "plant": {"temperature": 0.7, "max_tokens": 300, "seed": 0},
        "check": {"temperature": 0.1, "top_p": 0.95, "max_tokens": 1024, "seed": 0, "top_k": 50},
    }[lab]
    messages = (("system", "Answer briefly."), ("user", "Change the following paragraph."))
    found = outcome(replies, messages=messages, times=2, **sampling)
    if (wanted := _FAIL.get(path.stem)) is not None:
        assert isinstance(found.failure, wanted)
    elif path.stem in _CUT:
        assert found.answer and found.answer.ended == "cut"
    else:
        answer = without_thinking(found.text).strip()
        plain = "So the answer is yes." if lab in ("ask", "exam", "plant") else "positive"
        assert answer.endswith(_OTHER.get(path.stem, plain)), answer
