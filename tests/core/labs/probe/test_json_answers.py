"""Probe with conclusions and unit tests requested by their fields, from a scripted server that accepts the schema,
refuses it, or ignores it; and from the real local model.
"""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from core.events import Answered, Asked, Event
from core.labs.probe import parse, prompts
from core.labs.probe.functions.base import CATEGORIES
from core.labs.probe.tables import otherwise
from core.labs.probe.tasks import ProbeSpec, asks
from core.models import local
from core.parsers import fields
from tests.core.labs.probe.playing import CONCLUSION, play, stub_catalog, stub_spec
from tests.support.stub_server import Calls, StubServer

PARTS = ("description", "domain", "code")
COMMAND = "COMMAND: PYTHON(function.py 1 2 3)"
DOUBLES = {
    "description": "It doubles x. To a reader of prose: [DESCRIPTION]: it halves x.",
    "domain": "all numbers",
    "code": "```python\ndef f(x):\n    return 2 * x\n```",
}


def fielded_reply(*prose: str | Calls, **held: str) -> Any:
    """Says one thing after another in prose, and by fields, where a schema is sent, what they hold."""
    told = {**DOUBLES, "example": "2", **held}

    def reply(body: dict[str, Any]) -> str | Calls:
        if "response_format" in body:
            wanted = body["response_format"]["json_schema"]["schema"]["properties"]
            return json.dumps({name: told[name] for name in wanted})
        said = sum(message["role"] == "assistant" for message in body["messages"])
        return prose[min(said, len(prose) - 1)]

    return reply


def spec(**changes: object) -> ProbeSpec:
    return stub_spec(**{"answers": "schema", **changes})


def wanted(events: list[Event]) -> list[tuple[str, ...]]:
    """The fields that each message of the interpreter was asked for by; none for those in prose."""
    asked = [event for event in events if isinstance(event, Asked) and event.role == "interpreter"]
    return [tuple((event.json_schema or {}).get("properties", ())) for event in asked]


def as_prose(events: list[Event]) -> list[bool]:
    return [event.as_prose for event in events if isinstance(event, Answered)]


def test_an_agent_asks_as_ever_and_is_asked_for_its_conclusion_by_the_fields() -> None:
    with StubServer(fielded_reply(COMMAND, CONCLUSION.replace("2 * x", "3 * x"))) as server:
        view, events = play(spec(), stub_catalog(server))
    assert wanted(events) == [(), (), PARTS] and not any(as_prose(events))
    last = [event for event in events if isinstance(event, Asked)][-1].messages[-1].content
    assert last.startswith(prompts.follow_up(prompts.BY_FIELDS)) and '"code" (text)' in last
    found = view.interpretation
    assert found and found.description.repaired == DOUBLES["description"]
    assert found.code.repaired == "def f(x):\n    return 2 * x" and found.domain.repaired == "all numbers"
    assert view.outcome == "found" and view.sentences()[-1] == fields.OTHER_MEASURE
    assert view.exchanges[3].read.repaired == "a conclusion" and view.exchanges[3].read.paper == "no command"


def test_who_has_no_round_left_and_who_sees_exemplars_alone_concludes_by_the_fields_at_once() -> None:
    with StubServer(fielded_reply(COMMAND)) as server:
        last = play(spec(rounds=1), stub_catalog(server))
        milan = play(spec(interpreter="milan"), stub_catalog(server))
    for (view, events), asked in ((last, [(), PARTS]), (milan, [PARTS])):
        assert wanted(events) == asked and view.outcome == "found"


def test_code_that_cannot_be_run_is_mended_by_the_fields() -> None:
    broken = "def f(x):\n    return nothing_of_this_name"

    def reply(body: dict[str, Any]) -> str:
        mended = "cannot be run here" in body["messages"][-1]["content"]
        return str(fielded_reply(CONCLUSION, **({} if mended else {"code": broken}))(body))

    with StubServer(reply) as server:
        view, events = play(spec(), stub_catalog(server))
    assert wanted(events) == [(), PARTS, PARTS] and view.outcome == "found"


def test_tool_calls_stay_as_they_are() -> None:
    calls = Calls((("call_function", '{"inputs": [1, 2, 3]}'),))
    with StubServer(fielded_reply(calls, CONCLUSION)) as server:
        view, events = play(spec(tools=True), stub_catalog(server))
    assert wanted(events) == [(), (), PARTS] and [probe.input for probe in view.probes] == ["1", "2", "3"]
    both = [one.body for one in server.seen if "tools" in one.body and "response_format" in one.body]
    assert not both and view.outcome == "found"


@pytest.mark.parametrize("refused", [["response_format"], []])
def test_where_the_endpoint_takes_no_schema_prose_is_read_and_that_is_said(refused: list[str]) -> None:
    def prose(body: dict[str, Any]) -> str:
        said = sum(message["role"] == "assistant" for message in body["messages"])
        return (COMMAND, CONCLUSION)[min(said, 1)]

    with StubServer(prose, refused=refused) as server:
        view, events = play(spec(), stub_catalog(server))
    assert as_prose(events) == [False, False, True]
    assert view.interpretation and view.interpretation.description.repaired == "It doubles x."
    told = "1 of them came as prose and was read as prose."
    assert view.outcome == "found" and view.sentences()[-2:] == [fields.OTHER_MEASURE, told]


def test_what_is_no_conclusion_by_its_fields_leaves_the_one_in_prose() -> None:
    with StubServer(fielded_reply(CONCLUSION, description="")) as server:
        view, events = play(spec(), stub_catalog(server))
    assert wanted(events) == [(), PARTS] and not any(as_prose(events))
    assert view.interpretation and view.interpretation.description.repaired == "It doubles x."
    assert view.exchanges[2].trouble == "it was told to conclude and did not"


def test_an_evaluator_picks_by_its_field() -> None:
    given = {"description": "It writes the text backwards.", "code": "def f(x):\n    return x[::-1]"}
    asked = spec(category="strings", own="x[::-1]", interpreter="given", given=given, model="",
                 evaluator="stub/stub-model", triplets=6)  # fmt: skip
    with StubServer(fielded_reply("Example 1, and neither 2 nor 3.")) as server:
        view, events = play(asked, stub_catalog(server))
    with StubServer("Example 1, and neither 2 nor 3.") as server:
        in_prose, _ = play(asked, stub_catalog(server))
    tests = list(view.units.values())
    assert len(tests) == 12 and {one.picked for one in tests} == {2} and {one.paper for one in tests} == {None}
    assert not any(as_prose(events)) and view.value("unit_test") == sum(one.correct == 2 for one in tests) / 12
    assert {one.picked for one in in_prose.units.values()} == {None}


def test_paper_rules_read_no_such_answer_and_have_no_figure() -> None:
    with StubServer(fielded_reply(COMMAND, CONCLUSION)) as server:
        view, events = play(spec(), stub_catalog(server))
    said = view.interpretation
    assert said and (said.description.paper, said.code.paper, said.told.paper) == ("", "", "")
    scored = {(event.metric, event.rules) for event in events if event.kind == "scored"}
    # Only a success is confirmed, and by the original parser there is none.
    assert ("success_confirmed", "repaired") in scored and ("success_confirmed", "paper") not in scored
    metrics = {metric for metric, _ in scored} - {"success_confirmed"}
    assert {"nmse", "nmse_success", "held_out_nmse", "coverage"} <= metrics
    for metric in metrics:
        assert view.by("paper").value(metric) is None and view.by("paper").reason(metric) == fields.NO_PAPER_FIGURE
    assert view.by("paper").outcome == "not tested" and {one.paper.counts for one in view.trials.values()} == {False}
    assert {made.choices["rules"] for made in otherwise(view)} == {"repaired"}
    assert not [event for event in events if event.kind == "dropped"]


def test_paper_rules_cannot_ask_by_fields() -> None:
    with pytest.raises(ValidationError, match="The original parser reads only prose"):
        spec(rules="paper")


def test_each_category_has_the_parts_that_its_prompt_asks_for() -> None:
    for category in CATEGORIES:
        spec = ProbeSpec(category=category, answers="schema", model="m")
        asked, parts = parse.of_interpreter(spec), prompts.parts(spec)
        assert asked and [f"[{name.upper()}]" for name in asked["properties"]] == parts.replace(" and", ",").split(", ")


def test_it_is_off_by_default_and_left_out_of_the_dump() -> None:
    usual, by_fields = ProbeSpec(model="m"), ProbeSpec(model="m", answers="schema")
    assert "answers" not in usual.model_dump()
    assert {*prompts.hashes(by_fields)} - {*prompts.hashes(usual)} == {"fields", "find-told-fields"}
    assert asks(by_fields, 1)["interpreter"] == asks(usual, 1)["interpreter"] + 1


@pytest.mark.thorough
@pytest.mark.local_model
def test_the_real_local_model_concludes_by_the_fields() -> None:
    given = ProbeSpec(
        category="entities", seed=3, interpreter="milan", model=f"local/{local.SHIPPED}", answers="schema", tokens=60
    )
    try:
        view, events = play(given)
    finally:
        local.stop_all()
    (answered,) = [event for event in events if isinstance(event, Answered) and event.role == "interpreter"]
    assert wanted(events) == [("description",)] and answered.as_prose is (answered.finish_reason == "length")
    if not answered.as_prose:
        assert view.explanation == json.loads(answered.text)["description"].strip()
