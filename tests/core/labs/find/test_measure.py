"""The whole lab: on controls, whose scores are known; on a scripted server with faults; on the real local model."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from core import entry
from core.events import Event
from core.labs.find.case import Case, case
from core.labs.find.functions.source import by_id, drawn
from core.labs.find.measure import LAB
from core.labs.find.records import Submission, Wish
from core.labs.find.tasks import ProbeSpec
from core.labs.find.verdict import missed, verdict
from core.models import local
from core.models.catalog import Catalog
from core.models.replay import Replay
from core.runs.run import execute, recorded
from core.runs.transcript import transcript
from tests.stub_server import Calls, Fault, StubServer

BOTH = ("paper", "repaired")


def play(spec: ProbeSpec, catalog: Catalog | None = None, history: list[Event] | None = None) -> tuple[Case, list]:
    events: list[Event] = list(history or [])
    asyncio.run(
        execute(LAB, spec, "r", resolve=(catalog or entry.catalog()).get, publish=events.append, history=history or [])
    )
    kept = [event for event in events if event.kind != "token"]
    return case(transcript(kept)), kept


def stub_catalog(server: StubServer, **changes: object) -> Catalog:
    return Catalog(
        home=Path("unused"), journals=Path("unused"), read=lambda path: [], endpoints=[server.config(**changes)]
    )


def stub_spec(**changes: object) -> ProbeSpec:
    return ProbeSpec.model_validate({"own": "2*x", "model": "stub/stub-model", "rounds": 4, **changes})


CONCLUSION = "[DESCRIPTION]: It doubles x.\n[DOMAIN]: all numbers\n[CODE]:\n```python\ndef f(x):\n    return 2 * x\n```"


def scripted(*messages: str | Calls) -> Any:
    """A model that says one thing after another, the last for ever; which one, the turns so far tell."""

    def reply(body: dict[str, Any]) -> str | Calls:
        said = sum(message["role"] == "assistant" for message in body["messages"])
        return messages[min(said, len(messages) - 1)]

    return reply


# Controls of known scores


@pytest.mark.parametrize("formula", ["3*x - 4", "-0.5*x", "x/7 + 12"])
def test_the_straight_control_solves_lines(formula: str) -> None:
    found, _ = play(ProbeSpec(own=formula, model="control/straight"))
    assert found.told.status == "completed"
    for rules in BOTH:
        assert found.value("nmse", rules) == pytest.approx(0, abs=1e-9)
        assert found.value("nmse_success", rules) == 1
        assert found.value("noise_floor", rules) == 0
        assert found.value("evidence_supported", rules) == 1
    assert "found the function" in verdict(found)
    assert missed(found) == []


def test_the_inventors_error_is_what_its_claim_makes_it() -> None:
    found, events = play(ProbeSpec(own="2*x", model="control/inventor"))
    xs = [k + 0.5 for k in range(-128, 128)]
    expected = sum((2 * x - (3 * x + 7)) ** 2 for x in xs) / sum((2 * x) ** 2 for x in xs)
    for rules in BOTH:
        assert found.value("nmse", rules) == pytest.approx(expected)
        assert found.value("nmse_success", rules) == 0
        assert found.value("evidence_supported", rules) == 0
    assert found.invented() == [1]
    assert found.audit is not None
    assert found.audit.contradicted == (("1", "10"),) and found.audit.unseen == (("2", "13"),)
    second = [event for event in events if event.kind == "asked"][1]
    assert "(1, 2)" in second.messages[-1].content, "it is told the real output"
    assert "did not come from the function" in second.messages[-1].content


@pytest.mark.parametrize("own", ["def f(x):\n    return x[::-1]", "def f(x):\n    return x.upper() + 'Q'"])
def test_the_straight_control_solves_short_texts(own: str) -> None:
    found, _ = play(ProbeSpec(category="strings", own=own, model="control/straight"))
    for rules in BOTH:
        assert found.value("exact_match", rules) == 1
    assert found.value("held_out_match") == 1
    assert found.value("unit_test") is None and "evaluator" in found.reason("unit_test")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def f(x):\n    return x", "giving every text back unchanged is right on"),
        ("def f(x):\n    return x.upper() if len(x) % 2 else x", "It found part of it: the code is right on"),
    ],
)
def test_doing_nothing_is_the_control_of_texts(code: str, words: str) -> None:
    """A function that leaves most texts alone is not found by leaving all of them alone."""
    own = "def f(x):\n    return x.upper() if len(x) % 2 else x + '!' if x == 'Oslo' else x"
    spec = {"category": "strings", "own": own, "interpreter": "given", "given": {"description": "d", "code": code}}
    found, _ = play(ProbeSpec.model_validate(spec))
    told = verdict(found)
    assert words in told and "unchanged" in told


@pytest.mark.parametrize("difficulty", ["easy", "hard"])
@pytest.mark.parametrize("category", ["entities", "relations"])
def test_the_straight_control_solves_what_our_tables_hold(category: str, difficulty: str) -> None:
    spec = {"category": category, "difficulty": difficulty, "seed": 6, "model": "control/straight"}
    found, _ = play(ProbeSpec.model_validate({**spec, "evaluator": "control/straight"}))
    for rules in BOTH:
        assert found.value("unit_test", rules) == 1
        assert found.value("unit_test_ceiling", rules) == 1
    assert found.truth is not None and found.interpretation is not None
    both = (found.truth.description, found.interpretation.description_repaired)
    assert len({frozenset(text.replace(",", "").split()) for text in both}) == 1, "the two subjects in any order"


def test_an_embedding_judges_where_no_model_does() -> None:
    spec = ProbeSpec(category="entities", seed=1, difficulty="easy", model="control/straight")
    found, events = play(spec)
    ceiling = found.value("unit_test_ceiling")
    assert ceiling is not None and ceiling > 0.6
    assert found.value("unit_test") == ceiling, "its description is the true one"
    assert {event.role for event in events if event.kind == "asked"} == {"interpreter"}


def test_truth_is_recorded_last() -> None:
    for spec in (ProbeSpec(own="2*x", model="control/straight"), ProbeSpec(seed=3, interpreter="fit")):
        _, events = play(spec)
        assert [event.kind for event in events[-2:]] == ["recorded", "finished"]
        assert events[-2].record == "truth"
        told = [event for event in events[:-2] if event.kind in ("recorded", "scored", "dropped")]
        formula = drawn("numeric", 3, None, "repaired").describe()
        assert all(formula not in event.model_dump_json() for event in told)


def test_a_damaged_journal_is_read_as_far_as_it_goes() -> None:
    found, events = play(ProbeSpec(own="2*x", model="control/straight"))
    broken = [
        event.model_copy(update={"data": {"number": "?"}}) if event.kind == "recorded" and k % 3 == 0 else event
        for k, event in enumerate(events)
    ]
    damaged = case(transcript(broken))
    assert damaged.unread and len(damaged.probes) < len(found.probes)
    verdict(damaged), missed(damaged)


# The dialogue


def test_several_inputs_a_call_and_what_was_said_is_kept() -> None:
    replies = scripted("Let me look. COMMAND: PYTHON(function.py 1 2, 3)", CONCLUSION)
    with StubServer(replies) as server:
        found, _ = play(stub_spec(), stub_catalog(server))
    assert [(probe.input, probe.output) for probe in found.probes] == [("1", "2"), ("2", "4"), ("3", "6")]
    assert found.exchanges[1].inputs == ("1", "2", "3") and found.exchanges[2].inputs == ()
    assert found.value("nmse_success") == 1


def test_a_description_that_stood_before_the_first_output_is_said() -> None:
    early = f"COMMAND: PYTHON(function.py 1 2)\n\n{CONCLUSION}"
    words = "Had this description before it saw a single output, and never changed it."
    for messages, said in (((early, CONCLUSION), True), (("COMMAND: PYTHON(function.py 1 2)", CONCLUSION), False)):
        with StubServer(scripted(*messages)) as server:
            found, _ = play(stub_spec(), stub_catalog(server))
        assert (words in missed(found)) == said and len(found.probes) == 2


def test_a_relation_that_never_answered_is_said() -> None:
    with StubServer(scripted("COMMAND: PYTHON(function.py qwertz)", "[DESCRIPTION]: nothing")) as server:
        spec = stub_spec(category="relations", own="", seed=6, evaluator="control/straight")
        catalog = Catalog(
            home=Path("unused"), journals=Path("unused"), read=lambda path: [], endpoints=[server.config()],
            controls=entry.controls(),
        )  # fmt: skip
        found, _ = play(spec, catalog)
    assert "Every input that was tried gave undefined." in missed(found)


def test_a_command_can_only_call_the_function() -> None:
    hostile = (
        'COMMAND: BASH(rm -rf /) or PYTHON(-c "import os; os.system(1)") and PYTHON(/etc/passwd __import__("os") 4)'
    )
    with StubServer(scripted(hostile, CONCLUSION)) as server:
        found, _ = play(stub_spec(), stub_catalog(server))
    outputs = {probe.input: probe for probe in found.probes}
    assert outputs.pop("4").output == "8"
    assert outputs and all(probe.problem and "not a number" in probe.problem for probe in outputs.values())


def test_it_is_told_to_conclude_when_rounds_run_out() -> None:
    with StubServer(scripted("COMMAND: PYTHON(function.py 1)")) as server:
        found, _ = play(stub_spec(rounds=3), stub_catalog(server))
        asked = [seen.question for seen in server.seen]
    assert found.told.status == "completed"
    assert len(asked) == 4 and "Conclude now" in asked[-1] and "Conclude now" not in asked[-2]
    assert found.value("nmse") is None and found.value("nmse_success") == 0
    assert "there is no code" in found.reason("nmse")
    assert {(drop.item, drop.reason) for drop in found.told.drops} >= {("interpretation", "no description")}
    assert "gave no conclusion" in verdict(found)


def test_it_is_told_to_conclude_when_calls_run_out() -> None:
    with StubServer(scripted("PYTHON(function.py 1 2 3 4 5)", CONCLUSION)) as server:
        found, _ = play(stub_spec(probes=3), stub_catalog(server))
        assert "Conclude now" in server.seen[-1].question
    assert len(found.probes) == 3 and found.value("nmse_success") == 1


def test_code_that_cannot_be_run_is_an_observation() -> None:
    broken = CONCLUSION.replace("return 2 * x", "import scipy\n    return scipy.two(x)")
    with StubServer(scripted(broken, CONCLUSION)) as server:
        found, _ = play(stub_spec(), stub_catalog(server))
        assert "Your code cannot be run here" in server.seen[-1].question
    assert found.exchanges[1].trouble and found.value("nmse_success") == 1

    with StubServer(scripted(broken)) as server:
        found, _ = play(stub_spec(), stub_catalog(server))
        assert server.count == 3, "it may mend it twice"
    assert found.told.status == "completed"
    assert found.value("nmse") is None and found.value("nmse_success") == 0
    assert any(drop.item == "estimate" and drop.detail for drop in found.told.drops)


def test_no_command_at_all_is_told() -> None:
    with StubServer(scripted("Hello, how can I help?", CONCLUSION)) as server:
        found, _ = play(stub_spec(), stub_catalog(server))
        assert "Nothing was run" in server.seen[-1].question
    assert found.exchanges[1].trouble


def test_who_never_asks_is_told_to_conclude_before_its_rounds_are_used_up() -> None:
    with StubServer(scripted("Let me think about it.")) as server:
        found, _ = play(stub_spec(rounds=20), stub_catalog(server))
        assert server.count == 4 and "Conclude now" in server.seen[-1].question
    assert found.told.status == "completed"
    assert "Never called the function at all." in missed(found)


# Tool calls


def look(*inputs: object, text: str = "") -> Calls:
    return Calls((("call_function", json.dumps({"inputs": inputs})),), text)


def test_native_tool_calls_make_the_same_calls_and_lead_to_the_same_scores() -> None:
    with StubServer(scripted(look(1, 2.5), CONCLUSION)) as server:
        found, events = play(stub_spec(tools=True), stub_catalog(server))
        first, second = (seen.body for seen in server.seen)
    assert [(probe.input, probe.output) for probe in found.probes] == [("1", "2"), ("2.5", "5")]
    assert found.value("nmse") == 0 and found.value("nmse_success", "paper") == 1
    assert all(exchange.tools for exchange in found.exchanges.values())
    [tool] = first["tools"]
    assert tool["function"]["parameters"]["properties"]["inputs"]["items"] == {"type": "number"}
    assert "PYTHON" not in json.dumps(first), "the text protocol is not spoken of"
    *_, asked, told = second["messages"]
    assert asked["tool_calls"][0]["id"] == told["tool_call_id"] and told["role"] == "tool"
    assert "(1, 2)\n(2.5, 5)" in told["content"] and "Calls left: 198" in told["content"]
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
        found, _ = play(stub_spec(tools=True), stub_catalog(server))
        told = [turn["content"] for turn in server.seen[1].body["messages"] if turn["role"] == "tool"]
    assert told[0] == "(1, 2)"
    assert "no tool delete_everything" in told[1] and "not JSON" in told[2]
    assert "(3, 6)" in told[3] and "(x, no output" in told[3] and "Rounds left: 3" in told[3]
    assert [probe.input for probe in found.probes] == ["1", "3", "x"]


def test_the_budget_holds_over_several_tool_calls() -> None:
    several = Calls((("call_function", '{"inputs": [1, 2]}'), ("call_function", '{"inputs": [3, 4]}')))
    with StubServer(scripted(several, CONCLUSION)) as server:
        found, _ = play(stub_spec(tools=True, probes=2), stub_catalog(server))
        told = [turn["content"] for turn in server.seen[1].body["messages"] if turn["role"] == "tool"]
        assert "tools" not in server.seen[1].body, "nothing is left to be called"
    assert told[0] == "(1, 2)\n(2, 4)" and "no experiments left" in told[1]
    assert len(found.probes) == 2 and found.value("nmse") == 0


def test_a_tool_call_that_asks_for_nothing_is_told_and_ends_in_order() -> None:
    with StubServer(Calls((("call_function", "{}"),))) as server:
        found, _ = play(stub_spec(tools=True, rounds=3), stub_catalog(server))
    assert found.told.status == "completed" and not found.probes
    assert "names no input" in found.exchanges[1].trouble
    assert [drop.reason for drop in found.told.drops if drop.item == "interpretation"] == ["no description"] * 2


def test_outputs_invented_beside_a_tool_call_are_answered_with_the_real_ones() -> None:
    with StubServer(scripted(look(1, text="I see that f(1) = 10."), CONCLUSION)) as server:
        found, _ = play(stub_spec(tools=True), stub_catalog(server))
        told = server.seen[1].body["messages"][-1]["content"]
    assert found.invented() == [1] and found.exchanges[1].invented == "(1, 10)"
    assert "(1, 2)" in told and "did not come from the function" in told


def test_where_an_endpoint_has_no_tools_the_agent_goes_on_in_text() -> None:
    with StubServer(scripted("COMMAND: PYTHON(function.py 1 2)", CONCLUSION), refused=["tools"]) as server:
        found, events = play(stub_spec(tools=True), stub_catalog(server))
        assert server.count == 3, "the refusal, then two rounds"
        assert "PYTHON(function.py" in server.seen[1].body["messages"][0]["content"]
    failed = [event for event in events if event.kind == "failed"]
    assert [event.error for event in failed] == ["NoToolCalls"] and failed[0].call is not None
    assert found.told.status == "completed" and found.value("nmse") == 0
    assert not any(exchange.tools for exchange in found.exchanges.values())
    assert set(found.exchanges) == {1, 2}, "the refused call is no round"


def test_tools_that_are_refused_midway_lose_nothing() -> None:
    """Some servers take no replies to tool calls once there are no tools: here when it is told to conclude."""
    refusal = Fault("bad_request", words="Requests with tool results must define tools")
    with StubServer(scripted(look(1), CONCLUSION), faults={2: refusal}) as server:
        found, _ = play(stub_spec(tools=True, rounds=1), stub_catalog(server))
        turns = server.seen[2].body["messages"]
    assert [turn["role"] for turn in turns] == ["system", "user", "assistant", "user"]
    assert turns[2]["content"] == 'COMMAND: PYTHON(function.py "1")'
    assert "(1, 2)" in turns[3]["content"] and "Conclude now" in turns[3]["content"]
    assert found.value("nmse") == 0


def test_a_model_that_has_no_idea_of_tools_may_still_write_the_command() -> None:
    with StubServer(scripted("I have no tools.", "COMMAND: PYTHON(function.py 1 2)", CONCLUSION)) as server:
        found, _ = play(stub_spec(tools=True), stub_catalog(server))
        told = server.seen[1].body["messages"][-1]["content"]
    assert "if you have no tools" in told and "PYTHON(function.py" in told
    assert len(found.probes) == 2 and found.value("nmse") == 0


@pytest.mark.parametrize("category", ["numeric", "strings", "entities", "relations"])
def test_controls_play_alike_by_tool_calls_and_in_text(category: str) -> None:
    spec = {"category": category, "seed": 6, "model": "control/straight", "evaluator": "control/straight"}
    both = [play(ProbeSpec.model_validate({**spec, "tools": tools}))[0] for tools in (False, True)]
    assert both[0].probes == both[1].probes and both[0].probes
    assert both[0].interpretation is not None and both[1].interpretation is not None
    assert both[0].interpretation.told_repaired == both[1].interpretation.told_repaired
    inventor, _ = play(ProbeSpec(own="2*x", model="control/inventor", tools=True))
    assert inventor.invented() == [1]


def test_a_run_with_tool_calls_goes_on_and_plays_again() -> None:
    with StubServer(scripted(look(1), look(2), CONCLUSION), faults={3: Fault("server_error")}) as server:
        catalog = stub_catalog(server, retries=0)
        broken, events = play(stub_spec(tools=True), catalog)
        assert broken.told.status == "failed" and len(broken.probes) == 2
        whole, events = play(stub_spec(tools=True), catalog, events)
        assert server.count == 4, "what was answered is not asked again"
    assert whole.value("nmse") == 0 and len(whole.probes) == 2
    replay = Replay("r", events)
    again: list[Event] = []
    asyncio.run(execute(LAB, stub_spec(tools=True), "r2", resolve=lambda id: replay, publish=again.append))
    assert case(transcript(again)).probes == whole.probes


def test_halves_of_characters_in_a_tool_call_end_nothing() -> None:
    asked = Calls((("call_function", '{"inputs": ["\\ud800 a"]}'),))
    with StubServer(scripted(asked, CONCLUSION)) as server:
        found, events = play(stub_spec(tools=True, category="strings", own="x + x"), stub_catalog(server))
    assert found.told.status == "completed" and found.probes[0].input == "? a"
    assert all(event.model_dump_json() for event in events)


def test_a_random_text_function_is_held_against_itself_and_scores_are_repeated() -> None:
    spec = ProbeSpec(category="strings", seed=6, interpreter="fit")
    first, second = (play(spec)[0] for _ in range(2))
    figures = [{score.metric: score.value for score in one.told.scores.values()} for one in (first, second)]
    assert figures[0] == figures[1]
    ceiling = first.value("exact_match_ceiling")
    assert ceiling is not None and ceiling < 1
    assert "The function draws at random: drawn again, it agrees with itself on" in verdict(first)


def test_a_text_function_may_count() -> None:
    spec = {"category": "strings", "own": "len(x)", "interpreter": "given"}
    found, _ = play(
        ProbeSpec.model_validate({**spec, "given": {"description": "d", "code": "def f(x):\n    return len(x)"}})
    )
    assert found.value("exact_match") == 1 and found.predictions[0].truth.isdigit()


def test_own_code_that_draws_differs_from_command_to_command() -> None:
    own = "import numpy as np\ndef f(x):\n    return np.random.normal(x, 1)"
    with StubServer(
        scripted("COMMAND: PYTHON(function.py 1 1)", "COMMAND: PYTHON(function.py 1 1)", CONCLUSION)
    ) as server:
        found, _ = play(stub_spec(own=own), stub_catalog(server))
    assert len({probe.output for probe in found.probes}) == 4


def test_numbers_typed_as_pairs_are_numbers() -> None:
    found, _ = play(ProbeSpec(own="1 -> 1\n2 -> 4\n3 -> 9", own_kind="pairs", model="control/straight"))
    assert {probe.input: probe.value for probe in found.probes if not probe.problem} == {"1": 1.0, "2": 4.0}


def test_a_description_that_is_not_there_is_not_judged() -> None:
    spec = stub_spec(category="entities", own="", seed=4, rounds=1)
    with StubServer("I like words.") as server:
        found, _ = play(spec, stub_catalog(server))
    assert found.value("unit_test") is None and "no description" in found.reason("unit_test")
    assert "gave no conclusion" in verdict(found)


def test_paper_rules_stop_at_the_tag_and_start_again_without_a_command() -> None:
    premature = f"COMMAND: PYTHON(function.py 1)\nFunction input - output pairs: (1, 5)\n{CONCLUSION}"
    with StubServer(scripted(premature)) as server:
        found, _ = play(stub_spec(rules="paper"), stub_catalog(server))
        assert server.count == 1 and found.probes == []
    with StubServer(scripted(premature, CONCLUSION)) as server:
        found, _ = play(stub_spec(rules="repaired"), stub_catalog(server))
        assert server.count == 2 and found.invented() == [1], "repaired rules run the command first"
    with StubServer(scripted("I am not sure.")) as server:
        found, _ = play(stub_spec(rules="paper", rounds=3), stub_catalog(server))
        assert {len(seen.body["messages"]) for seen in server.seen} == {2}, "its history is gone each time"
    assert found.told.status == "completed" and found.interpretation is not None
    assert found.interpretation.description_paper == ""


def test_milan_gets_exemplars_and_one_call() -> None:
    spec = stub_spec(interpreter="milan", own="", category="relations", seed=4, difficulty="easy", tools=True)
    with StubServer("[DESCRIPTION]: It names the capital.\n[DOMAIN]: countries") as server:
        found, _ = play(spec, stub_catalog(server))
        assert server.count == 1 and "tools" not in server.seen[0].body
        asked = server.seen[0].question
    function = drawn("relations", 4, "easy", "repaired")
    assert [probe.input for probe in found.probes] == list(function.exemplars)
    assert all(f"({probe.input}, {probe.output})" in asked for probe in found.probes)
    assert found.value("unit_test") is not None


def test_aia_with_exemplars_goes_on_from_them() -> None:
    spec = stub_spec(interpreter="aia+milan", own="", category="entities", seed=4, difficulty="easy")
    replies = scripted("PYTHON(function.py zebra)", "[DESCRIPTION]: Something else.")
    with StubServer(replies) as server:
        found, _ = play(spec, stub_catalog(server))
        assert "(zebra, " in server.seen[-1].question
    assert [len(found.of_round(0)), len(found.of_round(1))] == [10, 1]


def test_a_language_model_can_carry_the_function_out() -> None:
    spec = stub_spec(
        category="entities", own="", seed=4, backbone="model", module="stub/stub-model", difficulty="easy", rounds=2
    )

    def reply(body: dict[str, Any]) -> str:
        asked = body["messages"][-1]["content"]
        if "Reply 1 for yes" in asked:
            return "1" if "eagle" in asked else "0"
        return scripted("PYTHON(function.py eagle stone)", "[DESCRIPTION]: birds")(body)

    with StubServer(reply) as server:
        found, events = play(spec, stub_catalog(server))
    assert {(probe.input, probe.value, probe.how) for probe in found.probes} == {
        ("eagle", 1.0, "logprobs"),
        ("stone", 0.0, "logprobs"),
    }
    assert sum(event.kind == "asked" and event.role == "module" for event in events) == 2

    with StubServer(reply) as server:
        play(spec, stub_catalog(server), history=events[:-1])
        assert server.count == 0, "nothing is asked twice"

    with StubServer(reply, refused=["logprobs", "top_logprobs"]) as server:
        found, _ = play(spec, stub_catalog(server))
    assert [(probe.value, probe.how) for probe in found.probes] == [(1.0, "answer"), (0.0, "answer")]


def test_one_failing_input_is_an_observation_and_all_failing_stop_the_run() -> None:
    spec = stub_spec(
        category="relations", own="", seed=4, backbone="model", module="stub/stub-model", evaluator="", rounds=2
    )

    def reply(body: dict[str, Any]) -> str:
        if "reply with the fact alone" in body["messages"][0]["content"]:
            return "Paris"
        return scripted("PYTHON(function.py France Spain)", "[DESCRIPTION]: capitals")(body)

    with StubServer(reply, faults={2: Fault("filtered")}) as server:
        found, _ = play(spec, stub_catalog(server, retries=0))
    assert found.told.status == "completed"
    assert sorted(bool(probe.problem) for probe in found.probes) == [False, True]
    with StubServer(reply, faults={2: Fault("filtered"), 3: Fault("filtered")}) as server:
        found, _ = play(spec, stub_catalog(server, retries=0))
    assert found.told.status == "failed" and found.probes == []


def test_a_dialogue_that_no_longer_fits_is_summed_up() -> None:
    replies = scripted("PYTHON(function.py 1 2)", "PYTHON(function.py 3)", CONCLUSION)

    def reply(body: dict[str, Any]) -> str:
        return CONCLUSION if "Conclude now" in body["messages"][-1]["content"] else replies(body)

    with StubServer(reply, faults={3: Fault("too_long")}) as server:
        found, _ = play(stub_spec(), stub_catalog(server))
        last = server.seen[-1].body["messages"]
    assert [message["role"] for message in last] == ["system", "user"]
    assert all(pair in last[-1]["content"] for pair in ("(1, 2)", "(2, 4)", "(3, 6)"))
    assert found.value("nmse_success") == 1


def test_faults_end_the_run_in_words_and_it_goes_on() -> None:
    replies = scripted("PYTHON(function.py 1 2)", "PYTHON(function.py 3)", CONCLUSION)
    spec = stub_spec(own="def f(x):\n    import random\n    return x + random.random()")
    with StubServer(replies, faults={2: Fault("server_error"), 3: Fault("server_error")}) as server:
        found, events = play(spec, stub_catalog(server, retries=0))
    assert found.told.status == "failed" and found.told.failures and len(found.probes) == 2
    with StubServer(replies) as server:
        again, _ = play(spec, stub_catalog(server), history=events)
        assert server.count == 2, "the first answer is not asked for again"
    assert again.told.status == "completed"
    assert again.probes[:2] == found.probes, "what was observed stays, though the function is random"


def test_a_description_that_paper_rules_read_otherwise_is_judged_apart() -> None:
    """Without a space after the tag, paper rules keep the whole message."""
    spec = {"category": "entities", "own": "", "seed": 1, "evaluator": "stub/stub-model", "interpreter": "milan"}
    for text, apart in (("I think.\n[DESCRIPTION]:about fish", 10), ("[DESCRIPTION]: about fish", 0)):
        with StubServer(lambda body, text=text: text if "calls were made" in str(body) else "[ANSWER]: 1") as server:
            found, _ = play(stub_spec(**spec), stub_catalog(server))
            judged = [str(seen.body) for seen in server.seen if "I think." in str(seen.body)]
        assert len(judged) == apart
        assert [test.about for test in found.units.values()].count("paper") == apart
        score = found.told.score("unit_test", "paper")
        assert score is not None and score.n == 10


def test_an_evaluator_that_fails_drops_its_tests_and_the_rest_counts() -> None:
    def reply(body: dict[str, Any]) -> str:
        if "Which one" in body["messages"][-1]["content"]:
            return "[ANSWER]: 1"
        return "[DESCRIPTION]: birds"

    spec = stub_spec(category="entities", own="", seed=4, evaluator="stub/stub-model")
    with StubServer(reply, faults={3: Fault("filtered"), 7: Fault("empty")}) as server:
        found, _ = play(spec, stub_catalog(server, retries=0))
    assert found.told.status == "completed"
    scores = [found.told.score(metric, "repaired") for metric in ("unit_test", "unit_test_ceiling")]
    assert sum(score.n for score in scores if score) == 18 and all(score and score.of == 10 for score in scores)
    assert sum(drop.reason == "error" for drop in found.told.drops) == 2


# Baselines, the reader, and what is given


def test_fit_goes_through_the_run() -> None:
    found, events = play(ProbeSpec(own="7*abs(x) - 3", interpreter="fit", probes=500))
    assert found.value("nmse_success") == 1 and 50 < len(found.probes) <= 500
    assert not any(event.kind == "asked" for event in events)
    found, _ = play(ProbeSpec(category="strings", function="strings-5", interpreter="fit"))
    assert found.value("exact_match") == 1


def test_fit_asks_for_typed_inputs_and_nothing_else() -> None:
    numbers = {"own": "1 -> 3\n2.0 -> 5\n4 -> 9\n-7 -> -13\n10 -> 21", "own_kind": "pairs", "interpreter": "fit"}
    found, _ = play(ProbeSpec.model_validate(numbers))
    assert found.value("nmse_success") == 1
    assert {probe.input for probe in found.probes} == {"-7.0", "1.0", "2.0", "4.0", "10.0"}
    texts = {**numbers, "category": "strings", "own": "cat -> CAT\nSome dog -> SOME DOG\nB2 -> B2"}
    found, _ = play(ProbeSpec.model_validate(texts))
    assert found.value("exact_match") == 1 and found.interpretation is not None
    assert found.interpretation.description_repaired.startswith("Seen for 3 texts only")


@pytest.mark.parametrize(("outputs", "found_words"), [(("yes", "no"), "It found nothing"), (("1", "0"), "chess")])
def test_nearest_on_typed_pairs(outputs: tuple[str, str], found_words: str) -> None:
    pytest.importorskip("sentence_transformers", reason="the baseline needs sentence-transformers")
    own = "\n".join(f"{word} -> {outputs[0]}" for word in ("rook", "checkmate", "bishop", "knight", "pawn"))
    own += f"\nbanana -> {outputs[1]}\nguitar -> {outputs[1]}"
    spec = {"category": "entities", "own": own, "own_kind": "pairs", "interpreter": "nearest"}
    found, _ = play(ProbeSpec.model_validate(spec))
    assert found.interpretation is not None and found_words in found.interpretation.description_repaired


def test_nearest_goes_through_the_run() -> None:
    found, _ = play(ProbeSpec(category="entities", seed=5, difficulty="easy", interpreter="nearest"))
    assert found.truth is not None and found.interpretation is not None
    assert found.interpretation.description_repaired == found.truth.description
    assert found.value("unit_test") == found.value("unit_test_ceiling")


def test_the_reader_probes_by_hand_and_is_scored_alike() -> None:
    spec = ProbeSpec(own="3*x + 1", interpreter="you")
    found, events = play(spec)
    assert found.told.status == "completed" and found.truth is None and found.told.scores == {}
    events.append(recorded("r", Wish(inputs=("0", "1", "dog")), "wish-01"))
    found, events = play(spec, history=events)
    assert [probe.output for probe in found.probes][:2] == ["1", "4"] and found.probes[2].problem
    assert found.truth is None, "it stays hidden until the reader concludes"
    events.append(recorded("r", Wish(inputs=("2",)), "wish-02"))
    said = Submission(description="a line", code="def f(x):\n    return 3 * x + 1")
    events.append(recorded("r", said, "submission"))
    found, events = play(spec, history=events)
    assert [probe.round for probe in found.probes] == [1, 1, 1, 2]
    assert found.value("nmse_success") == 1 and found.truth is not None
    assert verdict(found).startswith("You found")


def test_the_readers_budget_holds() -> None:
    spec = ProbeSpec(own="3*x + 1", interpreter="you", probes=2)
    events: list[Event] = play(spec)[1]
    events.append(recorded("r", Wish(inputs=("0", "1", "2")), "wish-01"))
    assert len(play(spec, history=events)[0].probes) == 2


def test_the_same_seed_makes_the_same_observations() -> None:
    def outputs(seed: int) -> list[str]:
        spec = ProbeSpec(seed=seed, difficulty="medium", interpreter="fit", probes=60)
        return [probe.output for probe in play(spec)[0].probes]

    assert outputs(3) == outputs(3)
    assert outputs(3) != outputs(21)


def test_typed_pairs_are_their_own_test() -> None:
    pairs = "\n".join(f"{x} -> {x * x}" for x in range(-3, 4))
    good = {"description": "x squared", "domain": "", "code": "def f(x):\n    return x * x"}
    found, _ = play(
        ProbeSpec.model_validate({"own": pairs, "own_kind": "pairs", "interpreter": "given", "given": good})
    )
    score = found.told.score("nmse", "repaired")
    assert score is not None and (score.value, score.n, score.of) == (0, 7, 7)


def given(own: str, formula: str) -> Case:
    """The run on a function of one's own whose interpreter concluded with `formula`."""
    said = {"description": "It is told in code.", "code": f"def f(x):\n    return {formula}"}
    return play(ProbeSpec.model_validate({"own": own, "interpreter": "given", "given": said}))[0]


NOWHERE = "def f(x):\n    if abs(x) > 99 and x == int(x):\n        return 1.0\n    raise ValueError('no')"


@pytest.mark.parametrize("own", [NOWHERE, "def f(x):\n    return 'a'"])
def test_what_cannot_be_scored_is_undefined_with_its_reason(own: str) -> None:
    found = given(own, "x")
    assert found.told.status == "completed"
    assert found.value("nmse") is None and "at none of the points" in found.reason("nmse")
    assert found.value("nmse_success") is None and found.value("noise_floor") is None
    assert found.value("nmse_success", "paper") == 0, "its authors count whatever they cannot compute as a failure"
    assert all("cannot be scored" in verdict(found, rules) for rules in BOTH)


def test_an_error_without_bounds_is_told_from_code_that_cannot_be_run() -> None:
    assert verdict(given("2*x", "1e300 * x")).endswith("the code's error is too large to be computed.")
    assert "found the function" in verdict(given("10**300*x", "1e300 * x"))


def test_points_where_the_function_gives_a_text_are_not_scored() -> None:
    found = given("def f(x):\n    return x if x > 0 else 'neg'", "abs(x)")
    score = found.told.score("nmse", "repaired")
    assert score is not None and (score.value, score.n, score.of) == (0, 128, 256)
    assert "found the function" in verdict(found)


def test_zero_everywhere_is_found_or_not_by_repaired_rules_and_failed_by_the_papers() -> None:
    right, wrong = given("0*x", "0"), given("0*x", "x")
    assert (right.value("nmse"), right.value("nmse_success"), right.value("noise_floor")) == (0, 1, 0)
    assert wrong.value("nmse") is None and "zero at every point" in wrong.reason("nmse")
    assert wrong.value("nmse_success") == 0
    assert "found the function" in verdict(right) and "It did not find the function: it is zero" in verdict(wrong)
    for found in (right, wrong):
        assert found.value("nmse", "paper") is None and found.value("nmse_success", "paper") == 0
        assert "cannot be scored" in verdict(found, "paper")


@pytest.mark.parametrize("formula", ["x ** 0.5", "math.sqrt(x)", "math.sqrt(x) if x >= 0 else 77", "abs(x) ** 0.5"])
def test_a_root_is_won_where_it_is_real(formula: str) -> None:
    found = given("x^0.5", formula)
    assert found.value("nmse") == pytest.approx(0, abs=1e-12) and found.value("nmse_success") == 1
    assert found.value("noise_floor") == 0
    assert verdict(found) == "It found the function: the code gives its values on all 128 test points where it has any."
    assert not any("Farthest" in line for line in missed(found))
    assert found.estimate is not None and not found.estimate.trouble_repaired, "what fails where nothing is asked for"


def test_code_without_a_number_on_some_points_is_told_from_code_that_cannot_be_run() -> None:
    found = given("2*x", "2 * x if x > 0 else None")
    assert found.value("nmse_success") == 0
    assert verdict(found) == "It did not find the function: the code gives no number on 128 of 256 test points."
    assert not any("Farthest" in line for line in missed(found))


def test_a_published_root_can_be_won(find_dir: Path) -> None:
    spec = {"function": "f00274", "find_dir": str(find_dir)}
    function = by_id("numeric", "f00274", find_dir)
    scale, bias = (function.atoms[0].parameters[name] for name in ("scale", "bias"))
    code = f"def f(x):\n    return {scale} * x ** (1 / 2) + {bias}"
    right, _ = play(ProbeSpec.model_validate({**spec, "interpreter": "given", "given": {"code": code}}))
    fitted, _ = play(ProbeSpec.model_validate({**spec, "interpreter": "fit"}))
    assert right.value("nmse", "paper") == pytest.approx(0, abs=1e-9), "complex numbers count there"
    for found in (right, fitted):
        assert found.value("nmse") == pytest.approx(0, abs=1e-9) and found.value("nmse_success") == 1
        assert found.value("noise_floor") == found.value("noise_floor", "paper") == 0


def test_the_parts_of_a_formula_that_a_network_missed_are_not_asked_for() -> None:
    networks = [(seed, f) for seed in range(120) if (f := drawn("numeric", seed, "hard", "repaired")).mlp is not None]
    for differs, seed in (
        (differs, next(seed for seed, f in networks if f.differs == differs)) for differs in (True, False)
    ):
        said = {"description": "A sine wave.", "code": "def f(x):\n    return 0"}
        spec = {"seed": seed, "difficulty": "hard", "interpreter": "given", "given": said}
        found, _ = play(ProbeSpec.model_validate(spec))
        for rules in BOTH:
            assert (found.value("components_identified", rules) is None) == differs
            assert ("too far from the formula" in found.reason("components_identified", rules)) == differs
        assert any("part" in line and "Names" in line for line in missed(found)) != differs


def test_noise_that_nobody_can_beat_is_said(find_dir: Path) -> None:
    functions = [by_id("numeric", f"f{k:05}", find_dir) for k in range(150, 400)]
    noisy = next(f for f in functions if f.noise is not None and f.kind == "gaussian")
    given = {"code": "def f(x):\n    return 0.0"}
    spec = {"function": noisy.id, "find_dir": str(find_dir), "interpreter": "given", "given": given}
    found, _ = play(ProbeSpec.model_validate(spec))
    floor = found.value("noise_floor")
    assert floor is not None and floor > 0.1
    assert "Nobody could have" in verdict(found)


def test_corruption_that_was_never_looked_at_is_said() -> None:
    found, _ = play(ProbeSpec(seed=1753, difficulty="medium", model="control/straight"))
    assert any("Never probed between 57.9" in sentence for sentence in missed(found))
    assert found.value("interval_iou") == 0
    claimed = {"domain": "Corrupted between 57.9 and 75.757.", "description": "linear"}
    spec = {"seed": 1753, "difficulty": "medium", "interpreter": "given", "given": claimed}
    found, _ = play(ProbeSpec.model_validate(spec))
    assert found.value("interval_iou") == pytest.approx(1, abs=1e-4)


# The published set


@pytest.mark.parametrize(
    ("category", "id"), [("numeric", "f00700"), ("strings", "f00003"), ("entities", "f00010"), ("relations", "f00007")]
)
def test_published_functions_by_id(find_dir: Path, category: str, id: str) -> None:
    spec = {"category": category, "function": id, "find_dir": str(find_dir), "model": "control/straight"}
    found, _ = play(ProbeSpec.model_validate({**spec, "evaluator": "control/straight"}))
    assert found.told.status == "completed" and found.truth is not None and found.truth.id == id
    if category != "numeric":
        score = found.told.score("unit_test", "repaired")
        assert score is not None and score.of == 10
    if category == "strings":
        tests = json.loads((find_dir / "strings" / "unit_test_data.json").read_text(encoding="utf-8"))
        texts = next(entry for entry in tests if entry["name"] == id)
        recorded_input = texts["test_vec"][0][0][texts["correct_inx"][0] - 1]
        assert found.predictions[0].input == recorded_input


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"function": "f00001"}, "name the folder"),
        ({"function": "f00001", "find_dir": "/nowhere"}, "missing"),
        ({"function": "strings-3"}, "not of numeric"),
        ({"own": "1 +"}, "gives no value"),
        ({"own": "no pair", "own_kind": "pairs"}, "Line 1 is no pair"),
    ],
)
def test_a_function_that_cannot_be_had_says_why(changes: dict[str, object], words: str) -> None:
    found, _ = play(ProbeSpec.model_validate({"model": "control/straight", **changes}))
    assert found.told.status == "failed"
    assert words in found.told.failures[0].message


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": ""}, "Choose the model"),
        ({"interpreter": "fit", "category": "entities"}, "numeric and strings"),
        ({"interpreter": "given"}, "no description"),
        ({"category": "entities", "backbone": "model"}, "needs a model"),
        ({"category": "entities", "difficulty": "medium"}, "easy or hard"),
        ({"seed": -1}, "greater than or equal"),
    ],
)
def test_a_specification_that_cannot_run_says_why(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ProbeSpec.model_validate({"model": "m", **changes})


@pytest.mark.local_model
def test_the_real_local_model_ends_properly_however_badly_it_plays() -> None:
    try:
        spec = ProbeSpec(seed=1, difficulty="easy", model="local/smollm2-135m", rounds=1, probes=40)
        found, _ = play(spec)
        assert found.told.status == "completed"
        assert found.truth is not None and found.interpretation is not None
        assert 1 <= len(found.exchanges) <= spec.rounds + 3
        assert all(score.value is not None or score.detail for score in found.told.scores.values())
        print(f"{len(found.exchanges)} rounds, {len(found.probes)} calls. {verdict(found)}")
    finally:
        local.stop_all()
