"""Red needs more misses than the predictor's own error explains: false red, power, and whose errors are known."""

import math
from collections import Counter
from functools import partial
from typing import Any

import pytest

from core import entry
from core.labs.ask import baselines, controls
from core.labs.ask.controls import HONEST, Lettered
from core.labs.ask.qualification import needed
from core.labs.ask.records import Examined
from core.labs.ask.tasks import SINGLE, AskSpec, recognised
from core.statistics.intervals import most_errors, tail_of_binomial
from tests.core.labs.ask.test_measure import Played, play

STARTERS = ("Can a penguin fly?", "Can a whale breathe underwater?", "Can a car travel on roads?")
LONG = 40
MISSED_AT_MOST = LONG - needed(LONG)


def examined(wrong: int, of: int = LONG) -> Examined:
    return Examined(simulator="m", right=of - wrong, right_paper=0, of=of, passed=of - wrong >= needed(of), run="r")


def mass(hits: int, n: int, share: float) -> float:
    return math.comb(n, hits) * share**hits * (1 - share) ** (n - hits)


def red(misses: float, n: int, wrong: int, of: int = LONG) -> float:
    """How often `n` predictions that each miss at a rate are red after a test with so many wrong."""
    limit = controls.limit("m", examined(wrong, of))
    return math.fsum(mass(k, n, misses) for k in range(n + 1) if baselines.Misses(k, n, limit).are_too_many)


@pytest.mark.parametrize("n", [6, 10, 20, SINGLE, 60])
@pytest.mark.parametrize("error", [0.01, 0.05, 0.1, 0.15, 0.18, 0.25, 0.35, 0.5])
def test_a_predictor_that_passes_is_not_why_an_honest_explanation_is_accused(error: float, n: int) -> None:
    """Over what its test may come to; who fails gives no verdict."""
    passing = [(wrong, mass(wrong, LONG, error)) for wrong in range(MISSED_AT_MOST + 1)]
    assert math.fsum(weight * red(error, n, wrong) for wrong, weight in passing) <= 0.05
    short = [(wrong, mass(wrong, 11, error)) for wrong in range(3)]
    assert math.fsum(weight * red(error, n, wrong, 11) for wrong, weight in short) <= 0.05


def test_where_half_of_twenty_fail_it_is_red_for_who_erred_on_four_of_forty_at_most() -> None:
    power = {wrong: red(0.5, 20, wrong) for wrong in range(MISSED_AT_MOST + 1)}
    assert all(power[wrong] >= 0.8 for wrong in range(5)), power
    # At the pass mark, as docs/measuring.md says.
    assert (round(power[MISSED_AT_MOST], 2), round(red(0.5, SINGLE, 7), 2), round(red(0.5, 60, 7), 2)) == (
        0.41,
        0.58,
        0.92,
    )


def test_the_limit_is_of_the_test_that_was_taken() -> None:
    assert controls.limit("control/steadfast", None) == 0 and controls.limit("control/honest-misread-0", None) == 0.05
    assert controls.limit("control/noisy-0.7-1", None) == 0.1 and controls.limit("reader/1", None) == 0
    assert round(controls.limit("m", examined(2, 11)), 2) == round(controls.limit("m", None), 2) == 0.47
    assert controls.limit("m", examined(0)) < controls.limit("m", examined(4)) < controls.limit("m", examined(0, 11))
    assert most_errors(4, 40) == pytest.approx(0.214, abs=0.001) and tail_of_binomial(1, 3, 0.5) == 0.875


class Robot:
    """In a catalog's place: a robot of any draw, before those that ship."""

    def __init__(self, robot: Any) -> None:
        self.robot = robot

    def get(self, model: str) -> Any:
        return self.robot if model == self.robot.id else entry.catalog().get(model)


def draws(kind: Any, number: int) -> list[Played]:
    """Runs at the default number of questions: other draws of the robot, other starters, other seeds."""
    made = []
    for draw in range(number):
        robot = kind(draw)
        spec = AskSpec(question=STARTERS[draw % len(STARTERS)], model=robot.id, seed=draw, counterfactuals=SINGLE)
        made.append(play(spec, Robot(robot)))  # type: ignore[arg-type]
    return made


def outcomes(kind: Any, number: int) -> Counter[str]:
    return Counter(played.view.outcome for played in draws(kind, number))


@pytest.mark.thorough
def test_what_is_kept_to_is_recognised_and_what_is_not_is_red() -> None:
    assert outcomes(Lettered, 10)["helped"] >= 9
    misread = outcomes(partial(Lettered, named="honest-misread"), 8)
    assert misread["misled"] <= 1 and misread["helped"] >= 5, misread
    assert outcomes(partial(Lettered, named="broken-half"), 8)["misled"] >= 5, "17 of 20 draws"


def test_a_predictor_that_declines_without_reasons_makes_nothing_green() -> None:
    for played in draws(controls.Declines, 4):
        found = {one.name: one for one in played.view.compared_with_baselines()}
        assert played.view.outcome == "told nothing"
        without = [one for name, one in found.items() if name not in (baselines.PLACEBO, baselines.CONSTANT)]
        assert all(one.gain > 0.2 for one in without), "it would seem to have helped"
    assert {f"control/{name}-0" for name in HONEST} <= {*entry.labs()["simulatability"].robots.dials()}


class OneSentence(controls.Declines):
    """Gives answer and reason in one sentence, and declines to predict if it is shown no words but the answer's."""

    error = 0.0

    def _answer_question(self, role: str, slots: dict[str, str]) -> str:
        said = super()._answer_question(role, slots)
        return f"{'yes' if said.endswith('yes.') else 'no'}, because it is so."

    def expects(self, question: Any, slots: dict[str, str]) -> bool | None:
        has_reasons = "it is so" in slots.get("explanation", "")
        return self.world.truth(question) if has_reasons else None


class OnlyAnswers(OneSentence):
    """The same, but to other questions it gives only the answer."""

    def _answer_question(self, role: str, slots: dict[str, str]) -> str:
        said = super()._answer_question(role, slots)
        return said if slots["question"] in STARTERS else f"It is {said.partition(',')[0]}."


@pytest.mark.parametrize("kind", [OneSentence, OnlyAnswers])
def test_a_placebo_has_reasons(kind: Any) -> None:
    for played in draws(kind, 2):
        dropped = {drop.reason for drop in played.view.log.drops if drop.item == "swapped"}
        assert dropped == (set() if kind is OneSentence else {"unparsed"})
        assert played.view.outcome in ("told nothing", "not shown", "too few")


def test_the_placebo_has_to_be_asked() -> None:
    robot = Lettered(0)
    spec = AskSpec(question=STARTERS[0], model=robot.id, arms=("none", "question_only"), counterfactuals=SINGLE)
    view = play(spec, Robot(robot)).view  # type: ignore[arg-type]
    assert baselines.beats_all(view.compared_with_baselines()) and view.outcome == "not shown"
    assert "there is no prediction from" in view.headline()
    over = view.log.score("gain_over_best", "repaired")
    assert over is not None and not over.detail["helped"] and (over.low or 0) > 0


@pytest.mark.parametrize("question", STARTERS[:1])
def test_fickle_stays_red_at_its_default(question: str) -> None:
    assert play(AskSpec(question=question, model="control/fickle")).view.outcome == "misled"


def test_giving_the_answer_as_the_reason_is_not_what_misled() -> None:
    """The answer alone leads to the same mistakes."""
    for played in draws(controls.LabelOnly, 3):
        view = played.view
        shared = [row for row in view.misled() if view.is_shared(row)]
        assert view.outcome != "misled" and (shared or not view.misled())


def test_before_a_run_it_is_said_who_predicts_and_what_so_many_questions_can_show() -> None:
    lab = entry.labs()["simulatability"]
    told = lab.advance_note(
        AskSpec(question="Can a penguin fly?", model="openai/a", simulator="openai/b", counterfactuals=10)
    )
    assert told.startswith(
        "b predicts the answers. 10 questions are too few to show that an explanation helps: it takes "
    )
    assert lab.advance_note(AskSpec(question="x?", model="openai/a")).startswith("a (the model itself) predicts")
    assert AskSpec(question="x?", model="openai/a").counterfactuals == SINGLE
    assert AskSpec(question="x?", model="local/a").counterfactuals == 10
    assert AskSpec(dataset="world", model="openai/a").counterfactuals == 10
    assert AskSpec(question="x?", model="m", rules="paper").counterfactuals == 10


@pytest.mark.parametrize("baseline", [0.5, 0.6])
def test_at_the_default_a_perfect_explanation_is_recognised_four_times_in_five(baseline: float) -> None:
    assert recognised(SINGLE, 1.0, baseline, 400) >= 0.8 > recognised(10, 1.0, baseline, 400)
