"""The call budget of the function under test, and what it still knows after a stopped run is resumed."""

import asyncio
from typing import Any

import pytest

from core.events import Event, Recorded
from core.labs.base.report import Case
from core.labs.probe.box import AT_ONCE, LONGEST, Box
from core.labs.probe.functions.source import load
from core.labs.probe.lab import LAB
from core.labs.probe.report import ProbeReport
from core.labs.probe.tasks import MODULE_CHECKS, ProbeSpec
from core.runs.context import CaseContext
from core.runs.engine import RunIO, RunRequest, execute
from tests.core.labs.probe import playing
from tests.core.labs.probe.playing import CONCLUSION, scripted, stub_catalog, stub_spec
from tests.support.stub_server import Fault, StubServer

MODULE_ASKED = "Reply 1 for yes"

CHECKS = 2 * MODULE_CHECKS
"""Calls that check the function before it is used."""


def play(spec: ProbeSpec, server: StubServer | None = None, history: list[Event] | None = None) -> ProbeReport:
    return playing.play(spec, stub_catalog(server) if server else None, history or [])[0]


def module_spec(**changes: object) -> ProbeSpec:
    spec = {"category": "entities", "seed": 4, "difficulty": "easy", "backbone": "model", "module": "stub/stub-model"}
    return ProbeSpec.model_validate({**spec, "model": "stub/stub-model", "rounds": 6, **changes})


def agent(*commands: str) -> Any:
    """A model that gives these commands one after another, then concludes; as the function's module it says no."""

    def reply(body: dict[str, Any]) -> str:
        if MODULE_ASKED in body["messages"][-1]["content"]:
            return "0"
        said = sum(message["role"] == "assistant" for message in body["messages"])
        return commands[said] if said < len(commands) else "[DESCRIPTION]: nothing"

    return reply


def module_calls(server: StubServer) -> int:
    return sum(MODULE_ASKED in seen.question for seen in server.seen)


@pytest.mark.parametrize(
    "commands",
    [
        ("PYTHON(function.py oak elm ash fir yew)",),
        ("PYTHON(function.py oak elm)", "PYTHON(function.py ash fir yew)"),
    ],
    ids=["in one command", "over two commands"],
)
def test_a_function_that_a_model_carries_out_keeps_to_its_budget(commands: tuple[str, ...]) -> None:
    with StubServer(agent(*commands)) as server:
        view = play(module_spec(probes=3), server)
        assert [probe.input for probe in view.probes] == ["oak", "elm", "ash"]
        assert module_calls(server) == CHECKS + 3
        assert "fir" not in server.seen[-1].question.split("function.py")[-1]
        rest = [seen.question for seen in server.seen if MODULE_ASKED not in seen.question]
    assert len(rest) == len(commands) + 1, "with its budget spent it is asked to conclude"


@pytest.mark.parametrize("commands", [1, 2])
def test_a_function_of_ours_keeps_to_the_same_budget(commands: int) -> None:
    numbers = (
        ("PYTHON(function.py 1 2 3 4 5)",) if commands == 1 else ("PYTHON(function.py 1 2)", "PYTHON(function.py 3 4)")
    )
    with StubServer(agent(*numbers)) as server:
        view = play(ProbeSpec(own="2*x", model="stub/stub-model", probes=3, rounds=6), server)
    assert [probe.output for probe in view.probes] == ["2", "4", "6"]


def test_one_command_has_an_end_and_so_has_one_input() -> None:
    long = "7" * (LONGEST + 20)
    many = " ".join(str(number) for number in range(AT_ONCE + 20))
    with StubServer(agent(f"PYTHON(function.py {many})", f"PYTHON(function.py {long})")) as server:
        view = play(ProbeSpec(own="2*x", model="stub/stub-model", probes=300, rounds=6), server)
    assert [probe.input for probe in view.of_round(1)] == [str(number) for number in range(AT_ONCE)]
    assert [len(probe.input) for probe in view.of_round(2)] == [LONGEST]


def stopped_after_probes(events: list[Event], **changes: object) -> list[Event]:
    """The run's history up to its last probe, with what the first probe recorded changed."""
    last = max(place for place, event in enumerate(events) if isinstance(event, Recorded) and event.record == "probe")
    kept = []
    for event in events[: last + 1]:
        if isinstance(event, Recorded) and event.record == "probe" and event.data["number"] == 1:
            event = event.model_copy(update={"data": {**event.data, **changes}})
        kept.append(event)
    return kept


def history_of(spec: ProbeSpec, server: StubServer) -> list[Event]:
    return playing.play(spec, stub_catalog(server))[1]


@pytest.mark.parametrize(
    ("spec", "command", "first"),
    [
        (ProbeSpec(own="2*x", model="stub/stub-model", rounds=2), "PYTHON(function.py 1 2)", "2"),
        (ProbeSpec(own="def f(x):\n    return 2 * x", own_kind="code", model="stub/stub-model", rounds=2),
         "PYTHON(function.py 1 2)", "2"),
        (module_spec(rounds=2), "PYTHON(function.py oak elm)", "0.0000"),
    ],
    ids=["formula", "code", "module"],
)  # fmt: skip
def test_a_run_that_goes_on_sees_what_it_saw_and_only_that(spec: ProbeSpec, command: str, first: str) -> None:
    """A known call is not made again, not even where it would now come to something else."""
    with StubServer(agent(command)) as server:
        events = history_of(spec, server)
        before = play(spec, server, history=stopped_after_probes(events))
        assert before.probes[0].output == first
        asked = module_calls(server)
        known = play(spec, server, history=stopped_after_probes(events, output="0.4321", value=0.4321))
        assert (known.probes[0].output, known.probes[0].value) == ("0.4321", 0.4321)
        assert [probe.output for probe in known.probes[1:]] == [probe.output for probe in before.probes[1:]]
        assert "0.4321" in str(server.seen[-1].body["messages"]), "and the interpreter goes on from what it read"
        assert module_calls(server) == asked
        other = play(spec, server, history=stopped_after_probes(events, input="banana", output="0.4321"))
        assert other.probes[0].output == first, "what was seen of another input is not what is asked for now"


def test_a_module_is_not_asked_for_an_input_that_is_known() -> None:
    spec = module_spec(rounds=2)
    with StubServer(agent("PYTHON(function.py oak elm)")) as server:
        history = stopped_after_probes(history_of(spec, server))
        module = {event.call for event in history if event.kind == "asked" and event.role == "module"}
        without = [event for event in history if getattr(event, "call", None) not in module]
        asked = module_calls(server)
        view = play(spec, server, history=without)
        assert len(module) == asked == module_calls(server) == CHECKS + 2
    assert [probe.input for probe in view.probes] == ["oak", "elm"]


def test_a_run_that_goes_on_sees_a_call_fail_that_had_failed() -> None:
    """Asked again the module would answer, and the interpreter's messages would no longer fit what it read."""
    spec = stub_spec(category="relations", own="", seed=4, backbone="model", module="stub/stub-model", rounds=4)
    replies = scripted("PYTHON(function.py France Spain)", "PYTHON(function.py Italy)", "[DESCRIPTION]: capitals")

    def reply(body: dict[str, Any]) -> str:
        return "Paris" if "reply with the fact alone" in body["messages"][0]["content"] else replies(body)

    with StubServer(reply, faults={CHECKS + 2: Fault("filtered"), CHECKS + 6: Fault("server_error")}) as server:
        before, events = playing.play(spec, stub_catalog(server, retries=0))
        assert before.log.status == "failed" and server.count == CHECKS + 6
        assert sum(bool(probe.problem) for probe in before.probes) == 1
        after, _ = playing.play(spec, stub_catalog(server, retries=0), events)
        assert server.count == CHECKS + 7, "only the interpreter's last message is asked for"
    assert after.log.status == "completed" and after.probes == before.probes


def test_code_that_draws_at_random_is_seen_again_as_it_was() -> None:
    spec = stub_spec(own="import random\ndef f(x):\n    return x + random.random()")
    commands = ("PYTHON(function.py 1 1)", "PYTHON(function.py 1)", CONCLUSION)
    with StubServer(scripted(*commands), faults={3: Fault("server_error")}) as server:
        before, events = playing.play(spec, stub_catalog(server, retries=0))
        assert before.log.status == "failed" and len({probe.output for probe in before.probes}) == 3
        after, whole = playing.play(spec, stub_catalog(server, retries=0), events)
        assert server.count == 4
    assert after.probes == before.probes and after.log.status == "completed"
    again, _ = playing.play(spec, stub_catalog(server), [event for event in whole if event.kind != "finished"])
    assert again.probes == before.probes and server.count == 4


def test_a_baseline_that_looks_from_a_thread_keeps_to_the_budget_too() -> None:
    looked: list[list[str]] = []

    async def measure(spec: ProbeSpec, case: Case, run: CaseContext) -> None:
        box = Box(spec, run, load(spec))
        for inputs in (["1", "2", "3"], ["4", "5"], ["6"]):
            looked.append([probe.output for probe in box.call(inputs, 1)])
        assert box.calls_left == 0

    spec = ProbeSpec(own="2*x", interpreter="fit", probes=4)
    events: list[Event] = []
    asyncio.run(
        execute(RunRequest(LAB.with_changes(measure=measure), spec, "r"), RunIO(lambda name: None, events.append))
    )
    assert looked == [["2", "4", "6"], ["8"], []]


def test_own_code_that_draws_differs_from_command_to_command() -> None:
    own = "import numpy as np\ndef f(x):\n    return np.random.normal(x, 1)"
    with StubServer(
        scripted("COMMAND: PYTHON(function.py 1 1)", "COMMAND: PYTHON(function.py 1 1)", CONCLUSION)
    ) as server:
        view, _ = playing.play(stub_spec(own=own), stub_catalog(server))
    assert len({probe.output for probe in view.probes}) == 4


def test_numbers_typed_as_pairs_are_numbers() -> None:
    view, _ = playing.play(ProbeSpec(own="1 -> 1\n2 -> 4\n3 -> 9", own_kind="pairs", model="control/straight"))
    assert {probe.input: probe.value for probe in view.probes if not probe.problem} == {"1": 1.0, "2": 4.0}


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
        view, events = playing.play(spec, stub_catalog(server))
    assert {(probe.input, probe.value, probe.how) for probe in view.probes} == {
        ("eagle", 1.0, "logprobs"),
        ("stone", 0.0, "logprobs"),
    }
    assert sum(event.kind == "asked" and event.role == "module" for event in events) == CHECKS + 2

    with StubServer(reply) as server:
        playing.play(spec, stub_catalog(server), history=events[:-1])
        assert server.count == 0, "nothing is asked twice"

    with StubServer(reply, refused=["logprobs", "top_logprobs"]) as server:
        view, _ = playing.play(spec, stub_catalog(server))
    assert [(probe.value, probe.how) for probe in view.probes] == [(1.0, "answer"), (0.0, "answer")]


def test_one_failing_input_is_an_observation_and_all_failing_stop_the_run() -> None:
    spec = stub_spec(
        category="relations", own="", seed=4, backbone="model", module="stub/stub-model", evaluator="", rounds=2
    )

    def reply(body: dict[str, Any]) -> str:
        if "reply with the fact alone" in body["messages"][0]["content"]:
            return "Paris"
        return scripted("PYTHON(function.py France Spain)", "[DESCRIPTION]: capitals")(body)

    with StubServer(reply, faults={CHECKS + 2: Fault("filtered")}) as server:
        view, _ = playing.play(spec, stub_catalog(server, retries=0))
    assert view.log.status == "completed"
    assert sorted(bool(probe.problem) for probe in view.probes) == [False, True]
    with StubServer(reply, faults={CHECKS + 2: Fault("filtered"), CHECKS + 3: Fault("filtered")}) as server:
        view, _ = playing.play(spec, stub_catalog(server, retries=0))
    assert view.log.status == "failed" and view.probes == []


def test_the_same_seed_makes_the_same_observations() -> None:
    def outputs(seed: int) -> list[str]:
        spec = ProbeSpec(seed=seed, difficulty="medium", interpreter="fit", probes=60)
        return [probe.output for probe in playing.play(spec)[0].probes]

    assert outputs(3) == outputs(3)
    assert outputs(3) != outputs(21)


@pytest.mark.parametrize(("times", "another"), [(1.0, False), (1 + 1e-9, False), (1.001, True), (-1.0, True)])
def test_a_run_never_goes_on_with_another_function(times: float, another: bool) -> None:
    """A newer version may draw another function for the same seed; what was seen tells."""
    with StubServer(scripted("PYTHON(function.py 1 2 30)", CONCLUSION)) as server:
        spec = stub_spec(own="", seed=1)
        _, events = playing.play(spec, stub_catalog(server))
        history = []
        for event in events:
            if isinstance(event, Recorded) and event.record in ("truth", "result"):
                break
            if isinstance(event, Recorded) and event.data.get("input") == "2":
                gave = event.data["value"] * times
                event = event.model_copy(update={"data": {**event.data, "output": f"{gave:.10g}", "value": gave}})
            history.append(event)
        view, news = playing.play(spec, stub_catalog(server), history)
    assert (view.log.status == "failed") is another
    assert any("drew another function" in words for words in playing.failures(news)) is another
