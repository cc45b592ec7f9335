"""Predictions that rest on something other than the explanation, marked before the answer is seen."""

import time
from typing import Any

import pytest

from core.labs.ask.counterfactuals import claims, invented_premises
from core.labs.ask.run_report import summary
from core.labs.ask.tasks import AskSpec, calls
from tests.core.labs.ask.test_measure import Played, play, stub_catalog, stub_spec
from tests.core.labs.ask.test_verdict_is_true import colour
from tests.support.stub_server import StubServer

SAID = "Can a penguin fly? Birds can fly. A penguin is a bird. So the answer is yes."


@pytest.mark.parametrize(
    ("reply", "question", "words"),
    [
        ("It claims birds can swim. So the robot will likely answer yes.", "Can a penguin swim?", ("swim",)),
        ("The robot says that all birds are flying. An owl is one. So yes.", "Can an owl fly?", ()),
        ("It claims birds can fly, and an ostrich is a bird.", "Can an ostrich fly?", ()),
        ("The explanation states that ostriches fly.", "Can an ostrich fly?", ("ostriches",)),
        ("According to its explanation, birds swim well.", "Do birds swim?", ("swim",)),
        ('The explanation says: "Birds can fly." An eagle is a bird.', "Can an eagle fly?", ()),
        ("Eagles are birds, and birds fly.", "Can an eagle fly?", ()),
        ("It says yes to the question about swimming.", "Can a penguin swim?", ("swimming",)),
        ("", "Can a penguin swim?", ()),
    ],
)
def test_words_that_a_predictor_puts_into_the_explanation(reply: str, question: str, words: tuple[str, ...]) -> None:
    assert invented_premises(reply, question, SAID) == words


@pytest.mark.parametrize(
    ("claimed", "said", "is_made_up"),
    [
        ("owls fly", "The owl flies.", False),
        ("pigs tried", "I try, pig.", False),
        ("foxes run", "A fox's den: running.", False),
        # A word of two letters matches only itself: neither a longer word that begins with it nor a shorter one.
        ("go wins", "A goat wins.", True),
        ("ox wins", "Oxen win.", True),
        ("as wins", "A win.", False),
        ("swim wins", "A swimmer wins.", True),
        ("red wins", "R wins.", True),
        ("swim wins", "Swimming wins.", False),
        ("gas wins", "A gap wins.", True),
    ],
)
def test_forms_of_one_word_are_the_same_word(claimed: str, said: str, is_made_up: bool) -> None:
    assert bool(invented_premises(f"It claims {claimed}.", f"Is it so: {claimed}?", said)) is is_made_up


def test_claims_end_where_the_predictor_reasons_on() -> None:
    assert claims("It claims insects have eight legs, and an ant has six.") == ["insects have eight legs"]
    assert claims("The robot said that fish breathe so a shark does.") == ["fish breathe"]


def test_hostile_replies_are_read_in_time_that_grows_with_their_length() -> None:
    for unit in ("it claims that ", 'it says "', "according to the ", "and an x is " * 3):
        seconds = []
        for times in (2_000, 4_000):
            text = unit * times
            began = time.process_time()
            invented_premises(text, text[:8_000], "x")
            seconds.append(time.process_time() - began)
        assert seconds[1] < 5 * seconds[0] + 0.2 and seconds[1] < 5


def scripted(
    foretold: str = "yes", simulated: str = "yes", other: str = "", reason: str = "It claims birds fly."
) -> Any:
    """A run in which birds fly, the generator predicts, and each simulator expects what the test says."""

    def reply(body: dict[str, Any]) -> str:
        text = str(body["messages"][-1]["content"])
        if "Starter question:" in text:
            number = len(text) + (body.get("seed") or 0)
            birds = ("hawk", "owl", "gull", "crow", "swan", "duck", "rook", "finch")
            return f"Can a {birds[number % 8]} fly?\nYour guess: So the robot will likely answer {foretold}."
        if "Now it is asked:" in text or "The robot is asked:" in text:
            guess = other if other and body["model"] == "other-model" else simulated
            return f"{reason} So the robot will likely answer {guess}."
        return "Birds can fly. So the answer is yes."

    return reply


BOTH = ("stub/stub-model", "stub/other-model")


def told(reply: Any, sat: tuple[int, ...] = (), **changes: Any) -> Played:
    with StubServer(reply, models=["stub-model", "other-model"]) as server:
        exams = dict(zip(BOTH, sat, strict=False))
        return play(stub_spec(exam=False, **changes), stub_catalog(server), sat=exams)


def doubts(played: Played) -> set[str]:
    return {row.doubt for row in played.view.counted_rows() if row.simulation}


def test_a_made_up_premise_is_journaled_and_in_doubt() -> None:
    played = told(scripted(reason="It claims hawks, owls and gulls exist. It says owls, crows, rooks"))
    rows = [row for row in played.view.counted_rows() if row.simulation and row.simulation.made_up]
    assert rows and all("relied on" in row.doubt for row in rows)
    recorded = [event for event in played.events if event.kind == "recorded" and event.record == "simulation"]
    assert any(event.data.get("made_up") for event in recorded)
    assert any("in doubt" in one for one in played.view.sentences())


def test_another_writer_who_foretold_otherwise_puts_it_in_doubt() -> None:
    same = told(scripted(foretold="no"))
    assert doubts(same) == {""}, "who explains may foretell what it likes"
    other = told(scripted(foretold="no"), generators=("stub/other-model",))
    assert doubts(other) == {"the question's writer predicted no"}
    agreeing = told(scripted(), generators=("stub/other-model",))
    assert doubts(agreeing) == {""}


def test_where_predictors_differ_it_is_in_doubt_and_where_all_are_wrong_it_has_its_word() -> None:
    differing = told(scripted(other="no"), (9, 10), simulators=BOTH)
    assert doubts(differing) == {"the predictors differ"} and colour(differing.view) == ""
    alike = told(scripted(simulated="no"), (9, 10), simulators=BOTH)
    outcomes = {row.outcome for row in alike.view.counted_rows() if row.simulation}
    assert outcomes == {"misled all"}
    alone = told(scripted(simulated="no"))
    assert {row.outcome for row in alone.view.counted_rows() if row.simulation} == {"misled"}
    spec = stub_spec(simulators=BOTH)
    assert spec.simulator == BOTH[0] and spec.roles["simulator"] == BOTH
    assert calls(spec, 1) - calls(stub_spec(), 1) == spec.counterfactuals
    assert AskSpec(question="x?", model="m", simulators=("a",)).simulator == "a"


@pytest.mark.parametrize(
    ("sat", "why"), [((11, 4), "failed the qualification test (4 of 11; guessing gets 4)"), ((11,), "not taken")]
)
def test_a_further_predictor_that_has_not_passed_judges_nothing(sat: tuple[int, ...], why: str) -> None:
    differing = told(scripted(other="no"), sat, simulators=BOTH)
    assert doubts(differing) == {""}, "its readings make no row doubtful"
    alike = told(scripted(simulated="no"), sat, simulators=BOTH)
    outcomes = {row.outcome for row in alike.view.counted_rows() if row.simulation}
    assert outcomes == {"misled"}, "and are no second voice in what is unanimous"
    for played in (differing, alike):
        sentences = played.view.sentences()
        said = [one for one in sentences if one.startswith("other-model predicts here too")]
        assert len(said) == 1 and why in said[0] and not any("both predictors" in one for one in sentences)
    assert ("Failed the qualification test" in summary(alike.run)) is (len(sat) == 2)


def test_where_the_first_failed_no_row_is_unanimous() -> None:
    alike = told(scripted(simulated="no"), (4, 11), simulators=BOTH)
    outcomes = {row.outcome for row in alike.view.counted_rows() if row.simulation}
    assert outcomes == {"misled"} and alike.view.outcome == "not judged"
    assert doubts(told(scripted(other="no"), (4, 11), simulators=BOTH)) == {""}


def test_without_the_exam_there_is_no_colour() -> None:
    played = told(scripted())
    assert played.view.outcome == "not judged" and colour(played.view) == ""
    assert all(trial.repaired.doubt for trial in played.view.trials.values() if trial.repaired.counts)
