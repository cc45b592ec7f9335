"""Explanations from a person's file: the model is held to words that are not its own."""

import csv
from pathlib import Path

import pytest
from pydantic import ValidationError

from core.events import Asked
from core.labs.ask.records import Explanation
from core.labs.ask.tasks import AskSpec, calls
from core.models.ids import GIVEN
from tests.core.labs.ask.test_measure import play

EXPERT = (
    "Birds can fly, except the penguin, the ostrich, the emu, the kiwi, the kakapo and the cassowary. "
    "A penguin is one of the exceptions."
)
INTERN = "All birds can fly. A penguin is a bird."
COLUMNS = {"question": "q", "answer": "a", "explanation": "why", "gold": "truth", "source": "who"}


def written(folder: Path, *rows: tuple[str, str, str, str, str]) -> str:
    path = folder / "words.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("q", "a", "why", "who", "truth"), *rows])
    return f"file:{path}"


@pytest.fixture
def two_sources(tmp_path: Path) -> AskSpec:
    q = "Can a penguin fly?"
    rows = [(q, "no", EXPERT, "expert", "no"), (q, "yes", INTERN, "intern", "no")]
    return AskSpec(
        dataset=written(tmp_path, *rows), columns=COLUMNS, model="control/steadfast", counterfactuals=6, arms=()
    )


def test_the_model_is_asked_the_follow_ups_alone_and_each_source_is_a_case(two_sources: AskSpec) -> None:
    played = play(two_sources)
    asked = [event for event in played.events if isinstance(event, Asked)]
    assert {event.model for event in asked if event.role == "explainer"} == {GIVEN}
    # Repeats are not asked, so there may be fewer.
    assert len([event for event in asked if event.model != GIVEN]) <= calls(two_sources, 2)
    by_source = {place.columns["source"]: name for name, place in played.run.cases.items()}
    assert set(by_source) == {"expert", "intern"}
    score = {who: played.run.case(name).score("precision", "repaired") for who, name in by_source.items()}
    assert score["expert"].value == 1.0 and score["intern"].value <= 0.5


def test_the_words_stand_in_the_call_unchanged(two_sources: AskSpec) -> None:
    events = play(two_sources).events
    given = [event for event in events if isinstance(event, Asked) and event.model == GIVEN]
    assert {event.messages[1].content for event in given} == {f"{EXPERT}\nAnswer: no", f"{INTERN}\nAnswer: yes"}
    found = [Explanation.model_validate(one.data) for one in events if getattr(one, "record", "") == "explanation"]
    assert {one.explanation.repaired for one in found} == {
        f"{EXPERT} So the answer is no.",
        f"{INTERN} So the answer is yes.",
    }
    assert {one.gold for one in found} == {"no"}


def test_a_column_of_that_name_is_an_own_column_until_somebody_says_so(tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    path.write_text("question,answer,explanation\nCan a penguin fly?,no,Because.\n")
    played = play(AskSpec(dataset=f"file:{path}", model="control/fickle", counterfactuals=2, arms=()))
    assert {event.model for event in played.events if isinstance(event, Asked)} == {"control/fickle"}


def test_a_row_without_words_or_answer_is_left_out_with_the_reason(tmp_path: Path) -> None:
    rows = [("Can a crow fly?", "yes", "", "x", ""), ("Can an owl fly?", "", "Birds can fly.", "x", "")]
    data = written(tmp_path, *rows, ("Can an eagle fly?", "yes", "Birds can fly.", "x", "maybe"))
    spec = AskSpec(dataset=data, columns=COLUMNS, model="control/fickle", counterfactuals=2)
    with pytest.raises(ValueError, match="holds no items") as caught:
        spec.chosen_items()
    assert "3 (broken row)" in str(caught.value) or "broken" in str(caught.value)


def test_what_cannot_go_with_given_words_is_refused(tmp_path: Path) -> None:
    data = written(tmp_path)
    with pytest.raises(ValidationError, match="explanations are given"):
        AskSpec(dataset=data, columns=COLUMNS, model="control/fickle", method="forced")
    with pytest.raises(ValidationError, match="belongs to one for 'explanation'"):
        AskSpec(dataset=data, columns={"question": "q", "source": "who"}, model="control/fickle")
