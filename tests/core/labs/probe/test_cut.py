"""Answers that were cut: the updated parser reads nothing of the part that was cut, in any role."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from core.events import Event, ModelAnswer, OnText, Request, ToolCall, Usage
from core.labs.probe.functions.modules import DIGIT, read_fact, read_score
from core.labs.probe.lab import LAB
from core.labs.probe.reliability.lab import LAB as RELIABILITY
from core.labs.probe.reliability.lab import ReliabilitySpec
from core.labs.probe.report import ProbeReport
from core.labs.probe.tasks import ProbeSpec
from core.runs.engine import RunIO, RunRequest, execute
from core.transcript import transcript
from tests.core.labs.probe.playing import CONCLUSION, stub_spec

COMMAND = "COMMAND: PYTHON(function.py 1 2)"
UNFINISHED = CONCLUSION.removesuffix("x\n```")


def cut(text: str, reason: str = "length", **fields: Any) -> ModelAnswer:
    return ModelAnswer(text=text, finish_reason=reason, usage=Usage(completion_tokens=200), **fields)


class Scripted:
    """A model that answers by a function of the request."""

    id = "stub/stub-model"

    def __init__(self, reply: Callable[[Request], ModelAnswer]) -> None:
        self.reply = reply

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        return self.reply(request)


def in_turn(*answers: ModelAnswer | str) -> Scripted:
    """One answer after another, the last for ever; which one, the turns so far tell."""
    said = [one if isinstance(one, ModelAnswer) else ModelAnswer(text=one, finish_reason="stop") for one in answers]

    def reply(request: Request) -> ModelAnswer:
        turns = sum(message.role == "assistant" for message in request.messages)
        return said[min(turns, len(said) - 1)]

    return Scripted(reply)


def play(spec: ProbeSpec, model: Scripted) -> ProbeReport:
    events: list[Event] = []
    asyncio.run(execute(RunRequest(LAB, spec, "r"), RunIO(lambda id: model, events.append)))
    state = transcript([event for event in events if event.kind != "token"])
    assert state.status == "completed"
    return LAB.view(state.case(state.only))


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS", "model_length"])
@pytest.mark.parametrize("text", [UNFINISHED, CONCLUSION])
@pytest.mark.parametrize("how", [{}, {"interpreter": "milan"}, {"rules": "paper"}])
def test_a_conclusion_that_was_cut_excludes_its_case(how: dict[str, str], text: str, reason: str) -> None:
    view = play(stub_spec(**how), in_turn(*([] if "interpreter" in how else [COMMAND]), cut(text, reason)))
    assert view.interpretation is not None
    assert (view.interpretation.description.repaired, view.interpretation.code.repaired) == ("", "")
    assert view.interpretation.description.paper == "It doubles x."
    assert [(drop.item, drop.reason, drop.detail, drop.rules) for drop in view.log.drops][:1] == [
        ("", "cut", "cut at 200 tokens", "repaired")
    ]
    assert view.outcome == "cut" and "cut at 200 tokens" in view.judgement.sentence
    assert view.value("nmse") is None and view.value("nmse_success") is None
    assert view.by("paper").outcome == ("found" if text == CONCLUSION else "not tested")
    assert view.by("paper").value("nmse_success") == float(text == CONCLUSION)


def test_the_original_parser_has_a_cut_description_tested() -> None:
    spec = stub_spec(category="relations", own="", seed=4, difficulty="easy", evaluator="stub/stub-model")
    said = "[DESCRIPTION]: It names the capital.\n[DOMAIN]: countr"
    reply = lambda one: ModelAnswer(text="[ANSWER]: 1") if one.role == "evaluator" else cut(said)  # noqa: E731
    view = play(spec, Scripted(reply))
    assert view.outcome == "cut" and view.value("unit_test") is None
    score = view.by("paper").score("unit_test")
    assert score is not None and score.n == spec.unit_tests
    trials = list(view.trials.values())
    assert len(trials) == spec.unit_tests
    assert all(one.paper.counts and one.repaired.outcome == "cut" for one in trials)


def test_a_round_that_was_cut_is_told_to_the_agent() -> None:
    view = play(stub_spec(), in_turn(cut("Let me think. COMMAND: PYTHON(function.py 1"), COMMAND, CONCLUSION))
    assert view.exchanges[1].inputs == () and "cut at 200 tokens" in view.exchanges[1].told
    assert "cut at 200 tokens" in view.exchanges[1].read.repaired
    assert view.exchanges[2].inputs == ("1", "2") and view.outcome == "found"


def test_of_a_round_the_lines_before_the_cut_are_read() -> None:
    """The command stood on a line of its own; that what follows was made up and cut changes nothing of it."""
    made_up = f"{COMMAND}\nInputs and outputs:\n(1, 10)\n(2, 1"
    view = play(stub_spec(), in_turn(cut(made_up), CONCLUSION))
    assert view.exchanges[1].inputs == ("1", "2") and "(1, 10)" in view.exchanges[1].invented
    assert "(2, 1" not in view.exchanges[1].invented


def test_a_tool_call_that_was_cut_is_not_run() -> None:
    broken = ToolCall(id="a", name="call_function", arguments='{"inputs": ["1", "2')
    view = play(stub_spec(tools=True), in_turn(cut("", tool_calls=(broken,)), CONCLUSION))
    assert not view.probes and view.outcome == "found"


def test_a_cut_answer_to_mend_leaves_the_conclusion_before_it() -> None:
    broken = CONCLUSION.replace("return 2 * x", "return nowhere(x)")
    view = play(stub_spec(), in_turn(COMMAND, broken, cut(UNFINISHED)))
    assert view.interpretation is not None and "nowhere" in view.interpretation.code.repaired


def test_an_agent_that_is_always_cut_is_not_blamed() -> None:
    view = play(stub_spec(), in_turn(cut("<think>Let me see. The function might")))
    assert view.outcome == "cut" and not view.value("nmse")


@pytest.mark.parametrize(
    ("text", "picked"),
    [
        ("The answer is 1", None),
        ("Example 1 cannot be it.\nExample", None),
        ("[ANSWER]: 1", None),
        ("[ANSWER]: 1\nFor its output is", 1),
    ],
)
def test_a_cut_reply_of_an_evaluator_excludes_its_test(text: str, picked: int | None) -> None:
    spec = stub_spec(category="entities", own="", seed=4, evaluator="stub/stub-model", interpreter="milan")

    def reply(request: Request) -> ModelAnswer:
        if request.role != "evaluator":
            return ModelAnswer(text="[DESCRIPTION]: It knows fish.")
        return cut(text, "max_tokens")

    view = play(spec, Scripted(reply))
    tests = [one for one in view.units.values() if one.about == "interpretation"]
    assert len(tests) == 20 and {one.picked for one in tests} == {picked}
    assert {one.repaired for one in tests} == ({None} if picked is None else {True, False})
    assert {one.paper for one in tests} == {True, False}, "the original parser reads the digit anywhere"
    dropped = {(drop.reason, drop.detail) for drop in view.log.drops}
    assert dropped == (set() if picked else {("cut", "cut at 200 tokens")})
    if picked is None:
        assert {(one.repaired.outcome, one.repaired.counts) for one in view.trials.values()} == {("cut", False)}


def test_a_whole_field_of_a_cut_answer_is_read() -> None:
    """A JSON object that closed was complete; one that did not is excluded."""
    spec = stub_spec(answers="schema")
    fields = '{"description": "It doubles x.", "domain": "all", "code": "def f(x):\\n    return 2 * x"'
    view = play(spec, in_turn(COMMAND, CONCLUSION, cut(f"{fields}}}\n\n\n")))
    assert view.outcome == "found"
    view = play(spec, in_turn(COMMAND, cut(UNFINISHED), cut(fields)))
    assert view.outcome == "cut"


def test_a_digit_is_whole_once_it_is_there_and_a_fact_once_its_line_ended() -> None:
    assert read_score("tiger", cut("1")).value == 1.0 and read_score("tiger", cut("0\n")).value == 0.0
    spoken = [{"token": "1", "logprob": -0.1, "top_logprobs": [{"token": "1", "logprob": -0.1}]}]
    assert read_score("tiger", cut("1,", logprobs=spoken)).how == "logprobs"
    lost = read_score("tiger", cut("<think>"))
    assert lost.value is None and lost.cut and "cut at 200 tokens" in lost.problem
    assert DIGIT.max_tokens == 2
    assert read_fact("France", cut("Paris\nParis is the")).value == "Paris"
    lost = read_fact("France", cut("Paris is the capital of France, which"))
    assert lost.value is None and lost.cut and "cut at 200 tokens" in lost.problem
    assert read_fact("France", ModelAnswer(text="Paris")).value == "Paris"


def test_of_a_backbone_a_value_that_was_cut_away_is_said_to_be_cut() -> None:
    spec = ReliabilitySpec(backbone="model", model="stub/stub-model", concepts=2, words=1)
    events: list[Event] = []
    texts = iter(["<think>", *"111"])
    model = Scripted(lambda request: cut(next(texts)))
    asyncio.run(execute(RunRequest(RELIABILITY, spec, "r"), RunIO(lambda id: model, events.append)))
    dropped = [event for event in events if event.kind == "dropped"]
    assert [one.reason for one in dropped] == ["cut"] and "cut at 200 tokens" in dropped[0].detail
    found = [event.data["values"] for event in events if event.kind == "recorded" and event.record == "reliability"]
    assert sorted(value for values in found for value in values if value is not None) == [1.0] * 3
