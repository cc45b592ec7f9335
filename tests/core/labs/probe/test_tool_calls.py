"""The dialogue of an agent that asks by native tool calls."""

import asyncio
import json

import pytest

from core.events import Event
from core.labs.probe.lab import LAB
from core.labs.probe.tasks import ProbeSpec
from core.models.cache import Replay
from core.runs.engine import RunIO, RunRequest, execute
from core.transcript import transcript
from tests.core.labs.probe.playing import CONCLUSION, play, scripted, stub_catalog, stub_spec
from tests.support.stub_server import Calls, Fault, StubServer


def look(*inputs: object, text: str = "") -> Calls:
    return Calls((("call_function", json.dumps({"inputs": inputs})),), text)


def test_native_tool_calls_make_the_same_calls_and_lead_to_the_same_scores() -> None:
    with StubServer(scripted(look(1, 2.5), CONCLUSION)) as server:
        view, events = play(stub_spec(tools=True), stub_catalog(server))
        first, second = (seen.body for seen in server.seen)
    assert [(probe.input, probe.output) for probe in view.probes] == [("1", "2"), ("2.5", "5")]
    assert view.value("nmse") == 0 and view.by("paper").value("nmse_success") == 1
    assert all(exchange.tools for exchange in view.exchanges.values())
    [tool] = first["tools"]
    assert tool["function"]["parameters"]["properties"]["inputs"]["items"] == {"type": "number"}
    assert "PYTHON" not in json.dumps(first), "the text protocol is not spoken of"
    *_, asked, reply = second["messages"]
    assert asked["tool_calls"][0]["id"] == reply["tool_call_id"] and reply["role"] == "tool"
    assert "(1, 2)\n(2.5, 5)" in reply["content"] and "Calls left: 198" in reply["content"]
    answered = next(event for event in events if event.kind == "answered")
    assert answered.text == "" and json.loads(answered.tool_calls[0].arguments) == {"inputs": [1, 2.5]}


def test_each_of_several_tool_calls_gets_its_own_outputs() -> None:
    several = Calls(
        (
            ("call_function", '{"inputs": [1]}'),
            ("delete_everything", "{}"),
            ("call_function", '{"inputs": [2'),
            ("call_function", '{"inputs": [3, "x"]}'),
        )
    )
    with StubServer(scripted(several, CONCLUSION)) as server:
        view, _ = play(stub_spec(tools=True), stub_catalog(server))
        replies = [turn["content"] for turn in server.seen[1].body["messages"] if turn["role"] == "tool"]
    assert replies[0] == "(1, 2)"
    assert "no tool delete_everything" in replies[1] and "not JSON" in replies[2]
    assert "(3, 6)" in replies[3] and "(x, no output" in replies[3] and "Rounds left: 3" in replies[3]
    assert [probe.input for probe in view.probes] == ["1", "3", "x"]


def test_the_budget_holds_over_several_tool_calls() -> None:
    several = Calls((("call_function", '{"inputs": [1, 2]}'), ("call_function", '{"inputs": [3, 4]}')))
    with StubServer(scripted(several, CONCLUSION)) as server:
        view, _ = play(stub_spec(tools=True, probes=2), stub_catalog(server))
        replies = [turn["content"] for turn in server.seen[1].body["messages"] if turn["role"] == "tool"]
        assert "tools" not in server.seen[1].body, "nothing is left to be called"
    assert replies[0] == "(1, 2)\n(2, 4)" and "no experiments left" in replies[1]
    assert len(view.probes) == 2 and view.value("nmse") == 0


def test_a_tool_call_that_asks_for_nothing_is_answered_and_ends_in_order() -> None:
    with StubServer(Calls((("call_function", "{}"),))) as server:
        view, _ = play(stub_spec(tools=True, rounds=3), stub_catalog(server))
    assert view.log.status == "completed" and not view.probes
    assert "names no input" in view.exchanges[1].trouble
    assert [drop.reason for drop in view.log.drops if drop.item == "interpretation"] == ["no description"] * 2


def test_outputs_invented_beside_a_tool_call_are_answered_with_the_real_ones() -> None:
    with StubServer(scripted(look(1, text="I see that f(1) = 10."), CONCLUSION)) as server:
        view, _ = play(stub_spec(tools=True), stub_catalog(server))
        message = server.seen[1].body["messages"][-1]["content"]
    assert view.invented() == [1] and view.exchanges[1].invented == "(1, 10)"
    assert "(1, 2)" in message and "did not come from the function" in message


def test_where_an_endpoint_has_no_tools_the_agent_goes_on_in_text() -> None:
    with StubServer(scripted("COMMAND: PYTHON(function.py 1 2)", CONCLUSION), refused=["tools"]) as server:
        view, events = play(stub_spec(tools=True), stub_catalog(server))
        assert server.count == 3, "the refusal, then two rounds"
        assert "PYTHON(function.py" in server.seen[1].body["messages"][0]["content"]
    failed = [event for event in events if event.kind == "failed"]
    assert [event.error for event in failed] == ["NoToolCalls"] and failed[0].call is not None
    assert view.log.status == "completed" and view.value("nmse") == 0
    assert not any(exchange.tools for exchange in view.exchanges.values())
    assert set(view.exchanges) == {1, 2}, "the refused call is no round"


def test_tools_that_are_refused_midway_lose_nothing() -> None:
    """Some servers refuse replies to tool calls once there are no tools, here when the agent is asked to conclude."""
    refusal = Fault("bad_request", words="Requests with tool results must define tools")
    with StubServer(scripted(look(1), CONCLUSION), faults={2: refusal}) as server:
        view, _ = play(stub_spec(tools=True, rounds=1), stub_catalog(server))
        turns = server.seen[2].body["messages"]
    assert [turn["role"] for turn in turns] == ["system", "user", "assistant", "user"]
    assert turns[2]["content"] == 'COMMAND: PYTHON(function.py "1")'
    assert "(1, 2)" in turns[3]["content"] and "Conclude now" in turns[3]["content"]
    assert view.value("nmse") == 0


def test_a_model_that_has_no_idea_of_tools_may_still_write_the_command() -> None:
    with StubServer(scripted("I have no tools.", "COMMAND: PYTHON(function.py 1 2)", CONCLUSION)) as server:
        view, _ = play(stub_spec(tools=True), stub_catalog(server))
        message = server.seen[1].body["messages"][-1]["content"]
    assert "if you have no tools" in message and "PYTHON(function.py" in message
    assert len(view.probes) == 2 and view.value("nmse") == 0


@pytest.mark.sampled(2)
@pytest.mark.parametrize("category", ["numeric", "strings", "entities", "relations"])
def test_controls_play_alike_by_tool_calls_and_in_text(category: str) -> None:
    spec = {"category": category, "seed": 6, "model": "control/straight", "evaluator": "control/straight"}
    both = [play(ProbeSpec.model_validate({**spec, "tools": tools}))[0] for tools in (False, True)]
    assert both[0].probes == both[1].probes and both[0].probes
    assert both[0].interpretation is not None and both[1].interpretation is not None
    assert both[0].interpretation.told.repaired == both[1].interpretation.told.repaired
    inventor, _ = play(ProbeSpec(own="2*x", model="control/inventor", tools=True))
    assert inventor.invented() == [1]


def test_a_run_with_tool_calls_goes_on_and_plays_again() -> None:
    with StubServer(scripted(look(1), look(2), CONCLUSION), faults={3: Fault("server_error")}) as server:
        catalog = stub_catalog(server, retries=0)
        broken, events = play(stub_spec(tools=True), catalog)
        assert broken.log.status == "failed" and len(broken.probes) == 2
        whole, events = play(stub_spec(tools=True), catalog, events)
        assert server.count == 4, "what was answered is not asked again"
    assert whole.value("nmse") == 0 and len(whole.probes) == 2
    replay = Replay("r", events)
    again: list[Event] = []
    asyncio.run(execute(RunRequest(LAB, stub_spec(tools=True), "r2"), RunIO(lambda id: replay, again.append)))
    state = transcript(again)
    assert LAB.view(state.case(state.only)).probes == whole.probes


def test_halves_of_characters_in_a_tool_call_end_nothing() -> None:
    asked = Calls((("call_function", '{"inputs": ["\\ud800 a"]}'),))
    with StubServer(scripted(asked, CONCLUSION)) as server:
        view, events = play(stub_spec(tools=True, category="strings", own="x + x"), stub_catalog(server))
    assert view.log.status == "completed" and view.probes[0].input == "? a"
    assert all(event.model_dump_json() for event in events)
