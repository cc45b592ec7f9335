"""Ask with answers requested by their fields, from a scripted server that accepts the schema, refuses it, or ignores
it; and from the real local model.
"""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from core.events import Answered, Asked
from core.labs.ask import parse, prompts, qualification
from core.labs.ask.lab import LAB
from core.labs.ask.qualification import TEST, AskExamSpec
from core.labs.ask.run_report import otherwise
from core.labs.ask.tasks import AskSpec
from core.models import local
from core.parsers import fields
from core.report.standalone_html import case_html, of_run
from core.runs.engine import RunIO, RunRequest, execute
from core.transcript import transcript
from tests.core.labs.ask.test_measure import Played, play, stub_catalog, stub_spec
from tests.support.plausible import Plausible
from tests.support.stub_server import Fault, StubServer

REFUSALS = ["response_format", "This model does not do json_schema.", "Bad request."]


class ByFields:
    """Answers as `Plausible` does, and by the fields of the schema where one is sent. Its prose says the contrary."""

    def __init__(self) -> None:
        self.prose = Plausible()

    def __call__(self, body: dict[str, Any]) -> str:
        if "response_format" not in body:
            return self.prose(body)
        wanted = body["response_format"]["json_schema"]["schema"]["properties"]
        said = self.prose(body)
        held = {
            "reasons": "All birds fly. Some say that the answer is no.",
            "answer": "no" if said.endswith("no.") else "yes",
            "question": said.partition("\n")[0],
            "reason": "No, it says all birds fly. One may hold that the robot will answer no.",
            "guess": "yes",
        }
        return json.dumps({name: held[name] for name in wanted})


def spec(**changes: object) -> AskSpec:
    return stub_spec(**{"answers": "schema", "counterfactuals": 3, **changes})


def played(
    reply: Callable[[dict[str, Any]], str], given: AskSpec | None = None, **server: Any
) -> tuple[Played, StubServer]:
    with StubServer(reply, **server) as stub:
        return play(given or spec(), stub_catalog(stub)), stub


def answers(one: Played) -> list[Answered]:
    return [event for event in one.events if isinstance(event, Answered)]


def outcomes(one: Played) -> list[str]:
    """Sorted, for the server numbers questions as they come."""
    return sorted(row.outcome for row in one.view.counted_rows())


def test_each_role_is_asked_for_its_fields_and_nothing_is_guessed() -> None:
    one, _ = played(ByFields())
    asked = {event.role: event for event in one.events if isinstance(event, Asked)}
    wanted = {role: list((event.json_schema or {})["properties"]) for role, event in asked.items()}
    assert wanted == {
        "explainer": ["reasons", "answer"],
        "generator": ["question", "guess"],
        "simulator": ["reason", "guess"],
        "answerer": ["reasons", "answer"],
    }
    assert all(event.sampling.stop == () for event in asked.values())
    assert all("Do not give this reply in the form" in event.messages[-1].content for event in asked.values())
    assert not any(event.as_prose for event in answers(one))
    starter = one.view.starter
    assert starter and starter.answer.repaired == "yes"
    # What the reasons say of other answers decides nothing: to the reader of prose these contradict each other.
    assert starter.explanation.repaired == "All birds fly. Some say that the answer is no. So the answer is yes."
    assert outcomes(one) == ["as expected", "as expected", "misled"]
    assert all(row.counterfactual and row.counterfactual.foretold == "yes" for row in one.view.counted_rows())
    assert one.view.caveats()[-1] == fields.OTHER_MEASURE


def test_paper_rules_read_no_such_answer_and_have_no_figure() -> None:
    one, _ = played(ByFields())
    assert one.view.starter and one.view.starter.answer.paper == "neither"
    assert one.view.starter.explanation.paper is None
    for metric in {event.metric for event in one.events if event.kind == "scored"}:
        score = one.run.score(metric, "paper")
        assert score is not None and score.value is None, metric
        assert score.detail["reason"] == fields.NO_PAPER_FIGURE
    precision = one.run.score("precision", "repaired")
    assert precision is not None and precision.value == pytest.approx(2 / 3)
    assert {made.choices["rules"] for made in otherwise(one.view)} == {"repaired"}


@pytest.mark.parametrize("words", REFUSALS)
def test_an_endpoint_that_refuses_the_schema_is_asked_without_it_once_and_remembered(words: str) -> None:
    def refused(body: dict[str, Any]) -> Fault | None:
        if "response_format" not in body:
            return None
        return Fault("refuses", words=words) if words == "response_format" else Fault("bad_request", words=words)

    given = spec(arms=("explanation",), exam=False)
    with StubServer(Plausible(), faulty=refused) as stub:
        first = play(given.model_copy(update={"counterfactuals": 1}), stub_catalog(stub, concurrency=1))
        sent = ["response_format" in seen.body for seen in stub.seen]
    # What was under way before the first refusal came back was sent with it; from then on nothing is.
    assert sent[:2] == [True, False] and not any(sent[2:])
    assert first.run.status == "completed" and first.run.failures == []
    assert all(event.as_prose for event in answers(first)) and len(answers(first)) == 4
    assert first.view.starter and first.view.starter.answer.repaired == "yes"
    told = "4 of them came as prose and were read as prose."
    assert first.view.sentences()[-2:] == [fields.OTHER_MEASURE, told]
    assert told in case_html("t", of_run(LAB, first.run)).decode()


def test_another_mistake_is_not_put_down_to_the_schema() -> None:
    with StubServer(Plausible(), always=Fault("bad_request", words="You may not ask that.")) as stub:
        catalog = stub_catalog(stub)
        one = play(spec(), catalog)
        assert one.run.failures and "You may not ask that." in one.run.failures[0].message
        assert stub.count == 2
        assert not catalog.get("stub/stub-model").connection.traits("stub-model").refused  # type: ignore[attr-defined]


def test_an_endpoint_that_passes_over_the_schema_is_read_as_prose_and_that_is_said() -> None:
    one, stub = played(Plausible())
    assert all("response_format" in seen.body for seen in stub.seen)
    assert answers(one) and all(event.as_prose for event in answers(one))
    in_prose, _ = played(Plausible(), stub_spec(counterfactuals=3))
    assert outcomes(one) == outcomes(in_prose) == ["as expected", "as expected", "misled"]
    assert one.view.log.came_as_prose == len(answers(one))
    assert one.run.score("precision", "paper").value is None  # type: ignore[union-attr]


def test_one_answer_that_is_cut_off_is_prose_and_the_others_are_not() -> None:
    whole = ByFields()

    def reply(body: dict[str, Any]) -> str:
        said = whole(body)
        return said[:-4] if "number 2" in str(body["messages"][-1]["content"]) and '"reasons"' in said else said

    one, _ = played(reply)
    assert [event.role for event in answers(one) if event.as_prose] == ["answerer"]
    assert one.view.caveats()[-1] == "1 of them came as prose and was read as prose."


@pytest.mark.parametrize(
    ("method", "task", "text", "answer", "explanation"),
    [
        ("posthoc", "strategyqa", '{"answer": "no", "reasons": "It is heavy."}', "no", "It is heavy."),
        ("cot", "strategyqa", '{"reasons": "", "answer": "no"}', "no", None),
        ("cot", "strategyqa", '{"reasons": "yes", "answer": "no"}', "no", None),
        ("cot", "strategyqa", '{"reasons": "1.", "answer": "no"}', "no", None),
        ("posthoc", "shp", '{"answer": "2", "reasons": " "}', "2", None),
        ("forced", "strategyqa", '{"reasons": "It is heavy."}', "neither", "It is heavy."),
        ("cot", "shp", '{"reasons": "It helps.", "answer": "2"}', "2",
         "It helps. So Candidate Response 2 is more helpful."),
        ("posthoc", "shp", '{"answer": "2", "reasons": "It helps."}', "2",
         "Candidate Response 2 is more helpful. It helps."),
    ],
)  # fmt: skip
def test_what_an_explainer_s_fields_come_to(
    method: Any, task: Any, text: str, answer: str, explanation: str | None
) -> None:
    asked = prompts.fields_of_explainer(AskSpec.model_construct(answers="schema", task=task), method)
    assert fields.read(text, asked or {}) is not None
    assert parse.answer(text, method, task, "repaired", asked) == answer
    assert parse.explanation(text, method, task, "repaired", asked) == explanation
    assert parse.answer(text, method, task, "paper", asked) == "neither"


def test_a_simulator_can_say_that_it_cannot_guess_and_a_pair_has_its_parts() -> None:
    given = AskSpec.model_construct(answers="schema", task="shp", reasoning=False)
    asked = prompts.fields_of_simulator(given)
    assert parse.simulation('{"guess": "cannot guess"}', "shp", "repaired", asked) == "unknown"
    assert parse.simulation('{"guess": "2"}', "shp", "repaired", asked) == "2"
    pair = prompts.fields_of_generator(given, blind=False)
    text = json.dumps({"context": "C", "response_1": "A", "response_2": "B"})
    assert dict(parse.counterfactual(text, "shp", "repaired", pair) or {})["response_2"] == "B"
    assert parse.counterfactual(text.replace('"B"', '""'), "shp", "repaired", pair) is None


@pytest.mark.parametrize(
    ("question", "read"),
    [("Can a bat\n fly?", "Can a bat fly?"), ("yes", None), ("", None), ("...", None), ("A bat flies.", None)],
)
def test_a_field_that_holds_no_question_is_none(question: str, read: str | None) -> None:
    asked = prompts.fields_of_generator(AskSpec.model_construct(answers="schema", task="strategyqa"), blind=True)
    assert parse.counterfactual(json.dumps({"question": question}), "strategyqa", "repaired", asked) == read


def test_it_is_off_by_default_left_out_of_the_dump_and_refused_where_it_makes_no_sense() -> None:
    usual = AskSpec(question="Is it?", model="m")
    assert "answers" not in usual.model_dump() and usual.answers == "prose"
    assert "fields" not in prompts.hashes(usual)
    by_fields = usual.model_copy(update={"answers": "schema"})
    assert by_fields.model_dump()["answers"] == "schema" and "fields" in prompts.hashes(by_fields)
    with pytest.raises(ValidationError, match="The original parser reads only prose"):
        AskSpec(question="Is it?", model="m", answers="schema", rules="paper")
    with pytest.raises(ValidationError, match="in steps works in prose only"):
        AskSpec(question="Is it?", model="m", answers="schema", reads="steps")


def test_who_predicts_by_fields_takes_an_exam_of_its_own_by_fields() -> None:
    sat = qualification.exam_spec(spec(), "stub/stub-model")
    assert sat.answers == "schema" and sat != qualification.exam_spec(stub_spec(), "stub/stub-model")
    assert qualification.prompted(sat, "Is it?").answers == "schema"
    assert TEST.prompts(sat).keys() - TEST.prompts(AskExamSpec(model="m")).keys() == {"fields"}


def test_the_exam_by_fields_has_a_result_by_repaired_rules_alone() -> None:
    events: list[Any] = []
    with StubServer(ByFields()) as stub:
        sat = qualification.exam_spec(spec(), "stub/stub-model")
        resolve = stub_catalog(stub).get
        asyncio.run(execute(RunRequest(TEST, sat, "e"), RunIO(resolve, events.append)))
    run = transcript([event for event in events if event.kind != "token"])
    repaired, paper = run.score("exam", "repaired"), run.score("exam", "paper")
    assert repaired and repaired.detail["right"] == 4 and repaired.detail["unread"] == 0
    assert paper and paper.value is None and paper.detail["reason"] == fields.NO_PAPER_FIGURE
    found = TEST.result_of(run)
    assert found and (found.right, found.right_paper, found.passed) == (4, 0, False)  # type: ignore[attr-defined]


@pytest.mark.thorough
@pytest.mark.local_model
def test_the_real_local_model_answers_by_its_fields() -> None:
    """llama.cpp holds it to the schema: no answer that was not cut off is left to be guessed at."""
    given = AskSpec(
        question="Can a penguin fly?", model=f"local/{local.SHIPPED}", answers="schema", counterfactuals=1, exam=False,
        arms=("explanation",),
    )  # fmt: skip
    try:
        one = play(given)
    finally:
        local.stop_all()
    whole = [event for event in answers(one) if event.finish_reason == "stop"]
    assert whole and not any(event.as_prose for event in whole)
    assert all(event.as_prose for event in answers(one) if event.finish_reason == "length")
