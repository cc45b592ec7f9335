"""Check with answers requested by their fields, from a scripted server that accepts the schema or does not, and from
the real local model.
"""

import json
from typing import Any

import pytest

from core.datasets.items import Item
from core.events import Answered, Asked, ModelAnswer
from core.labs.check import prompts
from core.labs.check.measure import _parsed
from core.labs.check.tasks import CheckSpec
from core.models import local
from core.parsers import fields
from tests.core.labs.check.played import REVIEW, Played, play, stub_catalog, stub_spec
from tests.core.labs.check.test_local_model import ITEMS
from tests.support.plausible import telling
from tests.support.stub_server import StubServer

EXPLAINED = {
    "words": ["superb", " wonderful ", ""],
    "paragraph": "A [REDACTED] film, dull at the end, and [REDACTED].",
}


def by_fields(body: dict[str, Any]) -> str:
    """Like `telling`, in the fields of the given schema."""
    (name,) = body["response_format"]["json_schema"]["schema"]["properties"]
    return json.dumps({name: EXPLAINED[name] if name in EXPLAINED else telling()(body)})


def spec(**changes: object) -> CheckSpec:
    return stub_spec(answers="schema", **changes)


def checked(reply: Any, given: CheckSpec, **server: Any) -> Played:
    with StubServer(reply, **server) as stub:
        return play(given, stub_catalog(stub))


def as_prose(one: Played) -> list[bool]:
    return [event.as_prose for event in one.events if isinstance(event, Answered)]


def test_every_session_is_asked_for_its_field_and_nothing_is_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    def guess(*_: object) -> None:
        raise AssertionError("prose was read")

    for reader in ("sentiment", "word_list"):
        monkeypatch.setattr(prompts.parse, reader, guess)  # type: ignore[attr-defined]
    one = checked(by_fields, spec())
    asked = [event for event in one.events if isinstance(event, Asked)]
    assert {(event.role, *(event.json_schema or {})["properties"]) for event in asked} == {
        ("classifier", "label"),
        ("explainer", "words"),
    }
    labels = next((event.json_schema or {}) for event in asked if event.role == "classifier")
    assert labels["properties"]["label"]["enum"] == ["positive", "negative", "neutral", "unknown"]
    assert not any(as_prose(one))
    assert one.only.explained and one.only.explained.words.repaired == ("superb", "wonderful")
    assert one.only.state == "yes"
    assert one.only.sentences()[-1] == fields.OTHER_MEASURE


def test_a_redaction_is_its_paragraph() -> None:
    one = checked(by_fields, spec(explanations=("redaction",)))
    assert one.only.explained and one.only.explained.edited.repaired == EXPLAINED["paragraph"]
    assert not any(as_prose(one))


def test_paper_rules_read_no_such_answer_and_have_no_figure() -> None:
    one = checked(by_fields, spec())
    result = one.only.result
    assert result and result.before.paper is None and result.faithful.paper == "undecided"
    assert result.reason.paper == fields.NO_PAPER_FIGURE
    for metric in {event.metric for event in one.events if event.kind == "scored"}:
        score = one.run.score(metric, "paper")
        assert score is not None and score.value is None and score.detail["reason"] == fields.NO_PAPER_FIGURE
    accuracy = one.run.score("accuracy", "repaired")
    assert accuracy is not None and accuracy.value == 1


@pytest.mark.parametrize("server", [{}, {"refused": ["response_format"]}])
def test_where_the_endpoint_takes_no_schema_prose_is_read_and_that_is_said(server: dict[str, Any]) -> None:
    one, in_prose = checked(telling(), spec(), **server), checked(telling(), stub_spec())
    assert all(as_prose(one)) and not any(as_prose(in_prose))
    assert one.only.state == in_prose.only.state == "yes"
    assert one.only.sentences()[-1] == f"{len(as_prose(one))} of them came as prose and were read as prose."
    assert not any(line == fields.OTHER_MEASURE for line in in_prose.only.sentences())


def test_a_choice_is_one_of_the_choices_as_they_stand() -> None:
    item = Item(id="m", task="multi_choice", paragraph="P.", question="Q?", choices=(" a, no", 'the "b"', "unknown"))
    given = CheckSpec.model_construct(answers="schema", task="multi_choice")
    asked = prompts.of_classifier(given, item)
    assert asked and asked["properties"]["label"]["enum"] == [" a, no", 'the "b"', "unknown"]
    assert prompts.label(item, json.dumps({"label": " a, no"}), asked, "repaired") == " a, no"
    answered = ModelAnswer(text=json.dumps({"label": "a, no"}))
    assert _parsed(answered, asked, lambda text, rules: prompts.label(item, text, asked, rules)).paper is None


def test_an_empty_field_is_no_explanation() -> None:
    given = CheckSpec.model_construct(answers="schema")
    assert prompts.word_list('{"words": ["", " "]}', prompts.of_explainer(given, "attribution"), "repaired") is None
    assert prompts.paragraph('{"paragraph": " "}', prompts.of_explainer(given, "redaction"), "repaired") is None
    refusal = '{"paragraph": "I\'m sorry, but I cannot help with that."}'
    assert prompts.paragraph(refusal, prompts.of_explainer(given, "redaction"), "repaired") is None
    assert prompts.ability('{"answer": "no"}', prompts.of_ability(given), "repaired") == "no"


def test_it_is_off_by_default_and_left_out_of_the_dump() -> None:
    usual = CheckSpec(items=(REVIEW,), model="m")
    assert "answers" not in usual.model_dump() and "fields" not in prompts.hashes(usual)
    assert "fields" in prompts.hashes(CheckSpec(items=(REVIEW,), model="m", answers="schema"))


@pytest.mark.thorough
@pytest.mark.local_model
def test_the_real_local_model_answers_by_its_fields() -> None:
    given = CheckSpec(
        task="multi_choice",
        items=(ITEMS["multi_choice"],),
        explanations=("attribution",),
        controls=1,
        max_tokens=64,
        model=f"local/{local.SHIPPED}",
        answers="schema",
    )
    try:
        one = play(given)
    finally:
        local.stop_all()
    answered = [event for event in one.events if isinstance(event, Answered)]
    labels = [event for event in answered if event.role == "classifier"]
    assert labels and not any(event.as_prose for event in labels)
    assert {json.loads(event.text)["label"] for event in labels} <= {"attic", "cellar", "unknown"}
    assert all(event.as_prose is (event.finish_reason == "length") for event in answered)
