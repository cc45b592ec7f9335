"""The dialogue of an agent, by the text protocol, on a scripted server with faults."""

from typing import Any

import pytest

from core.events import Rules, Sampling
from core.labs.probe import tables
from core.labs.probe.functions.numeric import NumericFunction
from core.labs.probe.functions.source import generate
from core.labs.probe.tasks import ProbeSpec
from core.labs.probe.verdict import list_remarks
from tests.core.labs.probe.playing import CONCLUSION, failures, play, scripted, stub_catalog, stub_spec
from tests.support.stub_server import Fault, StubServer


def test_several_inputs_a_call_and_what_was_said_is_kept() -> None:
    replies = scripted("Let me look. COMMAND: PYTHON(function.py 1 2, 3)", CONCLUSION)
    with StubServer(replies) as server:
        view, _ = play(stub_spec(), stub_catalog(server))
    assert [(probe.input, probe.output) for probe in view.probes] == [("1", "2"), ("2", "4"), ("3", "6")]
    assert view.exchanges[1].inputs == ("1", "2", "3") and view.exchanges[2].inputs == ()
    assert view.value("nmse_success") == 1


def test_the_length_of_a_dialogue_and_made_up_outputs_are_counted() -> None:
    made_up = "COMMAND: PYTHON(function.py 3)\nFunction input - output pairs: (3, 9)"
    for messages, calls, invented in (
        (("COMMAND: PYTHON(function.py 1 2)", "COMMAND: PYTHON(function.py 3)", CONCLUSION), 2, 0),
        ((made_up, CONCLUSION), 1, 1),
        ((CONCLUSION,), 0, 0),
    ):
        with StubServer(scripted(*messages)) as server:
            view, _ = play(stub_spec(), stub_catalog(server))
        found = {figure.metric: figure.score.value for figure in tables.more(view)}
        assert found == {"interactions": calls, "invented_outputs": invented}


def test_a_description_that_stood_before_the_first_output_is_said() -> None:
    early = f"COMMAND: PYTHON(function.py 1 2)\n\n{CONCLUSION}"
    words = "It had this description before it saw a single output, and never changed it."
    for messages, said in (((early, CONCLUSION), True), (("COMMAND: PYTHON(function.py 1 2)", CONCLUSION), False)):
        with StubServer(scripted(*messages)) as server:
            view, _ = play(stub_spec(), stub_catalog(server))
        assert (words in list_remarks(view)) == said and len(view.probes) == 2
        assert view.sentences()[0].startswith(words) == said and view.sentences().count(words) == 0


def test_a_relation_that_never_answered_is_said() -> None:
    with StubServer(scripted("COMMAND: PYTHON(function.py qwertz)", "[DESCRIPTION]: nothing")) as server:
        spec = stub_spec(category="relations", own="", seed=6, evaluator="control/straight")
        view, _ = play(spec, stub_catalog(server))
    assert "No call gave a value." in list_remarks(view) and "do not hold" in view.probes[0].output
    with StubServer(scripted("COMMAND: PYTHON(function.py tiger)", "[DESCRIPTION]: nothing")) as server:
        view, _ = play(spec, stub_catalog(server))
    assert "Every input that was tried gave undefined." in list_remarks(view)


def test_a_command_can_only_call_the_function() -> None:
    hostile = (
        'COMMAND: BASH(rm -rf /) or PYTHON(-c "import os; os.system(1)") and PYTHON(/etc/passwd __import__("os") 4)'
    )
    with StubServer(scripted(hostile, CONCLUSION)) as server:
        view, _ = play(stub_spec(), stub_catalog(server))
    outputs = {probe.input: probe for probe in view.probes}
    assert outputs.pop("4").output == "8"
    assert outputs and all(probe.problem and "not a number" in probe.problem for probe in outputs.values())


def test_it_is_asked_to_conclude_when_rounds_run_out() -> None:
    with StubServer(scripted("COMMAND: PYTHON(function.py 1)")) as server:
        view, _ = play(stub_spec(rounds=3), stub_catalog(server))
        asked = [seen.question for seen in server.seen]
    assert view.log.status == "completed"
    assert len(asked) == 4 and "Conclude now" in asked[-1] and "Conclude now" not in asked[-2]
    assert view.value("nmse") is None and view.value("nmse_success") is None
    assert "nothing was concluded" in view.reason("nmse")
    assert {(drop.item, drop.reason) for drop in view.log.drops} >= {("interpretation", "no description")}
    assert "gave no conclusion" in view.judgement.sentence


def test_it_is_asked_to_conclude_when_calls_run_out() -> None:
    with StubServer(scripted("PYTHON(function.py 1 2 3 4 5)", CONCLUSION)) as server:
        view, _ = play(stub_spec(probes=3), stub_catalog(server))
        assert "Conclude now" in server.seen[-1].question
    assert len(view.probes) == 3 and view.value("nmse_success") == 1


def test_code_that_cannot_be_run_is_an_observation() -> None:
    broken = CONCLUSION.replace("return 2 * x", "import scipy\n    return scipy.two(x)")
    with StubServer(scripted(broken, CONCLUSION)) as server:
        view, _ = play(stub_spec(), stub_catalog(server))
        assert "Your code cannot be run here" in server.seen[-1].question
    assert view.exchanges[1].trouble and view.value("nmse_success") == 1

    with StubServer(scripted(broken)) as server:
        view, _ = play(stub_spec(), stub_catalog(server))
        assert server.count == 3, "it may mend it twice"
    assert view.log.status == "completed"
    assert view.value("nmse") is None and view.value("nmse_success") == 0
    assert any(drop.item == "estimate" and drop.detail for drop in view.log.drops)


def test_no_command_at_all_is_answered() -> None:
    with StubServer(scripted("Hello, how can I help?", CONCLUSION)) as server:
        view, _ = play(stub_spec(), stub_catalog(server))
        assert "Nothing was run" in server.seen[-1].question
    assert view.exchanges[1].trouble


def test_who_never_asks_is_asked_to_conclude_before_its_rounds_are_used_up() -> None:
    with StubServer(scripted("Let me think about it.")) as server:
        view, _ = play(stub_spec(rounds=20), stub_catalog(server))
        assert server.count == 4 and "Conclude now" in server.seen[-1].question
    assert view.log.status == "completed"
    assert "Never called the function at all." in list_remarks(view)


def test_paper_rules_stop_at_the_tag_and_start_again_without_a_command() -> None:
    premature = f"COMMAND: PYTHON(function.py 1)\nFunction input - output pairs: (1, 5)\n{CONCLUSION}"
    with StubServer(scripted(premature)) as server:
        view, _ = play(stub_spec(rules="paper"), stub_catalog(server))
        assert server.count == 1 and view.probes == []
    with StubServer(scripted(premature, CONCLUSION)) as server:
        view, _ = play(stub_spec(rules="repaired"), stub_catalog(server))
        assert server.count == 2 and view.invented() == [1], "repaired rules run the command first"
    with StubServer(scripted("I am not sure.")) as server:
        view, _ = play(stub_spec(rules="paper", rounds=3), stub_catalog(server))
        assert {len(seen.body["messages"]) for seen in server.seen} == {2}, "its history is gone each time"
    assert view.log.status == "completed" and view.interpretation is not None
    assert view.interpretation.description.paper == ""


@pytest.mark.parametrize(("before", "concluded"), [(3, True), (4, False)])
def test_by_paper_rules_one_message_more_than_there_are_rounds_may_conclude(before: int, concluded: bool) -> None:
    with StubServer(scripted(*["COMMAND: PYTHON(function.py 1)"] * before, CONCLUSION)) as server:
        view, _ = play(stub_spec(rules="paper", rounds=3), stub_catalog(server))
        assert server.count == 4
    assert view.interpretation is not None and bool(view.interpretation.description.paper) is concluded


def test_milan_gets_exemplars_and_one_call() -> None:
    spec = stub_spec(interpreter="milan", own="", category="relations", seed=4, difficulty="easy", tools=True)
    with StubServer("[DESCRIPTION]: It names the capital.\n[DOMAIN]: countries") as server:
        view, _ = play(spec, stub_catalog(server))
        assert server.count == 1 and "tools" not in server.seen[0].body
        asked = server.seen[0].question
    function = generate("relations", 4, "easy", "repaired")
    assert [probe.input for probe in view.probes] == list(function.exemplars)  # type: ignore[attr-defined]
    assert all(f"({probe.input}, {probe.output})" in asked for probe in view.probes)
    assert view.value("unit_test") is not None


def test_aia_with_exemplars_goes_on_from_them() -> None:
    spec = stub_spec(interpreter="aia+milan", own="", category="entities", seed=4, difficulty="easy")
    replies = scripted("PYTHON(function.py zebra)", "[DESCRIPTION]: Something else.")
    with StubServer(replies) as server:
        view, _ = play(spec, stub_catalog(server))
        assert "(zebra, " in server.seen[-1].question
    assert [len(view.of_round(0)), len(view.of_round(1))] == [10, 1]


def test_a_dialogue_that_no_longer_fits_is_summed_up() -> None:
    replies = scripted("PYTHON(function.py 1 2)", "PYTHON(function.py 3)", CONCLUSION)

    def reply(body: dict[str, Any]) -> str:
        return CONCLUSION if "Conclude now" in body["messages"][-1]["content"] else replies(body)

    with StubServer(reply, faults={3: Fault("too_long")}) as server:
        view, _ = play(stub_spec(), stub_catalog(server))
        last = server.seen[-1].body["messages"]
    assert [message["role"] for message in last] == ["system", "user"]
    assert all(pair in last[-1]["content"] for pair in ("(1, 2)", "(2, 4)", "(3, 6)"))
    assert view.value("nmse_success") == 1


def test_faults_end_the_run_in_words_and_it_goes_on() -> None:
    replies = scripted("PYTHON(function.py 1 2)", "PYTHON(function.py 3)", CONCLUSION)
    spec = stub_spec(own="def f(x):\n    import random\n    return x + random.random()")
    with StubServer(replies, faults={2: Fault("server_error"), 3: Fault("server_error")}) as server:
        view, events = play(spec, stub_catalog(server, retries=0))
    assert view.log.status == "failed" and failures(events) and len(view.probes) == 2
    with StubServer(replies) as server:
        again, _ = play(spec, stub_catalog(server), history=events)
        assert server.count == 2, "the first answer is not asked for again"
    assert again.log.status == "completed"
    assert again.probes[:2] == view.probes, "what was observed stays, though the function is random"


def _question(**fields: object) -> str:
    with StubServer(CONCLUSION) as server:
        play(stub_spec(rounds=1, **fields), stub_catalog(server))
    return server.seen[0].question


@pytest.mark.parametrize("interpreter", ["aia", "milan"])
@pytest.mark.parametrize("rules", ["paper", "repaired"])
def test_by_paper_rules_the_task_is_put_as_the_authors_put_it(interpreter: str, rules: Rules) -> None:
    """The authors say that a network executes the function, and ask for no domain of texts."""
    seeds = {
        isinstance(one, NumericFunction) and one.mlp is not None: seed
        for seed in range(40)
        if (one := generate("numeric", seed, "hard", rules))
    }
    for network, seed in seeds.items():
        question = _question(own="", seed=seed, difficulty="hard", interpreter=interpreter, rules=rules)
        assert ("neural network" in question) == (network and rules == "paper") and "[DOMAIN]" in question
    assert len(seeds) == 2
    question = _question(own="", category="strings", seed=3, interpreter=interpreter, rules=rules)
    assert ("[DOMAIN]" in question) == (rules == "repaired") and "[CODE]" in question


def test_temperature_and_tokens_are_those_of_the_specification() -> None:
    chosen = {"temperature": 0.7, "top_p": 0.9, "tokens": 300}
    for given, sent in (({}, (0, None, 700)), (chosen, (0.7, 0.9, 300))):
        with StubServer(CONCLUSION) as server:
            _, events = play(stub_spec(rounds=1, **given), stub_catalog(server))
        [asked] = [event for event in events if event.kind == "asked"]
        assert (asked.sampling.temperature, asked.sampling.top_p, asked.sampling.max_tokens) == sent
        body = server.seen[0].body
        assert (body["temperature"], body.get("top_p"), body["max_tokens"]) == sent


def test_a_journal_without_temperature_and_tokens_means_what_it_meant() -> None:
    older = stub_spec().model_dump(mode="json", exclude={"temperature", "tokens"})
    assert ProbeSpec.model_validate(older).exploring == Sampling(temperature=0, max_tokens=700)
