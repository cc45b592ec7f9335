"""Given questions: an explanation is tested with the questions written for another."""

import pytest
from pydantic import ValidationError

from core.events import Asked
from core.labs.ask import world
from core.labs.ask.controls import expected_precision
from core.labs.ask.tasks import AskSpec, WrittenQuestion, calls
from tests.core.labs.ask.test_measure import play

TEXTS = ("Can an emu fly?", "Can an owl fly?", "Can a kiwi fly?")
GIVEN = tuple(WrittenQuestion(text=text) for text in TEXTS)


@pytest.mark.parametrize("rules", ["repaired", "paper"])
@pytest.mark.parametrize("robot", ["control/steadfast", "control/fickle"])
def test_they_are_asked_as_they_stand_and_nobody_writes_any(robot: str, rules: str) -> None:
    spec = AskSpec(question="Can a penguin fly?", model=robot, given=GIVEN, given_from="another", rules=rules, arms=())
    played = play(spec)
    roles = [event.role for event in played.events if isinstance(event, Asked)]
    assert "generator" not in roles and len(roles) == calls(spec, 1) == 7
    assert [trial.about for trial in played.view.trials.values()] == list(TEXTS)
    score = played.run.score("precision", "repaired")
    matches, simulatable = expected_precision(robot, spec.question, TEXTS, world.load())
    assert score is not None and (score.n, score.of) == (simulatable, 3)
    assert score.value == matches / simulatable
    assert not [one for one in played.run.scores if one.metric.startswith("generality")]


def test_a_preference_is_given_in_its_parts() -> None:
    pair = WrittenQuestion(
        text="p", context="What to eat?", response_1="Soup.", response_2="Soup, for it is cold outside."
    )
    parts = {"context": "What to read?", "response_1": "A book.", "response_2": "A book, or two if it rains."}
    played = play(AskSpec(task="shp", model="control/fickle", given=(pair,), **parts))
    [row] = played.view.rows.values()
    assert row.counterfactual and row.counterfactual.context == "What to eat?" and row.answer


def test_they_are_about_one_question_and_other_runs_are_as_they_were() -> None:
    with pytest.raises(ValidationError, match="do not name a data set as well"):
        AskSpec(dataset="strategyqa", model="control/fickle", given=GIVEN)
    plain = AskSpec(question="Can a penguin fly?", model="control/fickle")
    assert not {"given", "given_from"} & plain.model_dump().keys()
    assert AskSpec.model_validate(plain.model_copy(update={"given": GIVEN}).model_dump(mode="json")).given == GIVEN
