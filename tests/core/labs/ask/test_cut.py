"""What a token limit cut short is never read by the updated parser: each role of Ask, and its qualification test."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from core.events import ModelAnswer, OnText, Request, Usage
from core.labs.ask.lab import LAB
from core.labs.ask.qualification import TEST, AskExamSpec, judge
from core.labs.ask.tasks import AskSpec
from core.models.catalog import Catalog
from core.report import run_scene, scenes
from core.runs.engine import RunIO, RunRequest, execute
from core.scene import steps
from core.transcript import transcript
from tests.core.labs.ask.test_measure import Played, play
from tests.support.plausible import Plausible

MODEL = "stub/stub-model"
COMPLETE = Usage(completion_tokens=20)
NOTE = "cut at 50 tokens"


class Cutting:
    """A plausible model of which `changed` says, by role and text, how an answer reads and whether it was cut."""

    id = MODEL

    def __init__(self, changed: Callable[[Request, str], tuple[str, bool]]) -> None:
        self.changed = changed
        self.plausible = Plausible()

    def get(self, model: str) -> Any:
        """In a catalog's place."""
        return self

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        text = self.plausible({"messages": [one.model_dump() for one in request.messages]})
        text, is_cut = self.changed(request, text)
        usage = Usage(completion_tokens=50 if is_cut else 20)
        return ModelAnswer(text=text, usage=usage, finish_reason="length" if is_cut else "stop")


def run(changed: Callable[[Request, str], tuple[str, bool]], **spec: Any) -> Played:
    given = {"question": "Can a penguin fly?", "model": MODEL, "counterfactuals": 4, "exam": False, **spec}
    catalog: Catalog = Cutting(changed)  # type: ignore[assignment]
    return play(AskSpec.model_validate(given), catalog, sat={MODEL: 11})


def in_role(role: str, first: bool = False) -> Callable[[Request, str], tuple[str, bool]]:
    """Cuts all answers in that role, or the first alone."""
    cut: list[str] = []

    def changed(request: Request, text: str) -> tuple[str, bool]:
        is_cut = request.role == role and not (first and cut)
        cut.extend([text] if is_cut else [])
        return text, is_cut

    return changed


@pytest.mark.parametrize(("role", "who"), [("answerer", "answer"), ("simulator", "prediction")])
def test_a_trial_with_a_cut_answer_is_excluded_and_says_so(role: str, who: str) -> None:
    whole, played = run(lambda request, text: (text, False)), run(in_role(role))
    before, after = whole.run.score("precision", "repaired"), played.run.score("precision", "repaired")
    assert before is not None and before.n and after is not None and after.n == 0
    for rules in ("paper",):
        assert played.run.score("precision", rules).value == whole.run.score("precision", rules).value  # type: ignore[union-attr]
    readings = [trial.repaired for trial in played.view.trials.values()]
    assert all(one.reason == "cut" and not one.counts and one.outcome == "dropped" for one in readings)
    assert {trial.paper.reason for trial in played.view.trials.values()} <= {"", "not simulatable"}
    scene = scenes.of_case(LAB, played.run, played.run.only)
    assert all(card.reason == f"the {who} was {NOTE}" for card in scene.cards)
    assert not any(drop.reason == "unparsed" and drop.rules == "repaired" for drop in played.view.log.drops)


def test_a_cut_explanation_excludes_the_case_and_asks_nothing_more() -> None:
    played = run(in_role("explainer"))
    assert played.view.outcome == "cut" and LAB.means("cut") == "set aside"
    assert {call.asked.role for call in played.run.calls.values()} == {"explainer"}
    [drop] = [drop for drop in played.view.log.drops if not drop.item]
    assert (drop.reason, drop.rules, drop.detail) == ("cut", "repaired", f"its first answer was {NOTE}")
    assert NOTE in played.view.headline() and played.run.cases[played.run.only].result is not None
    score = played.run.score("precision", "repaired")
    assert score is not None and (score.value, score.of) == (None, 4)


def test_the_original_parser_reads_a_cut_explanation_and_the_updated_one_counts_nothing() -> None:
    played = run(in_role("explainer"), rules="paper")
    paper, repaired = (played.run.score("precision", rules) for rules in ("paper", "repaired"))
    assert paper is not None and paper.n and repaired is not None and repaired.n == 0
    assert played.view.outcome == "cut" and played.view.by("paper").outcome in ("kept", "misled")
    assert all(one.repaired.reason == "cut" for one in played.view.trials.values())


@pytest.mark.parametrize("is_whole", [True, False])
def test_of_a_generators_cut_answer_the_line_that_was_complete_is_read(is_whole: bool) -> None:
    def changed(request: Request, text: str) -> tuple[str, bool]:
        if request.role != "generator":
            return text, False
        question = text.partition("\n")[0]
        guess = "\nYour guess of the robot's answer: So the robot will likely answer yes" if is_whole else ""
        return question + guess, True

    played = run(changed)
    rows = [row for row in played.view.rows.values() if row.counterfactual or row.drops]
    assert rows
    for row in rows:
        if is_whole:
            assert row.counterfactual and row.counterfactual.repaired and not row.counterfactual.foretold
        else:
            assert not row.is_question and row.reading.reason == "cut"


@pytest.mark.parametrize("is_whole", [True, False])
def test_json_that_closed_is_read_and_json_that_did_not_is_not(is_whole: bool) -> None:
    questions = iter(("Can a duck fly?", "Can a robin fly?", "Can a kiwi fly?", "Can a goose fly?"))

    def changed(request: Request, _: str) -> tuple[str, bool]:
        fields: dict[str, str] = {"reasons": "All birds can fly.", "answer": "yes"}
        if request.role == "generator":
            fields = {"question": next(questions), "guess": "yes"}
        elif request.role == "simulator":
            fields = {"reason": "It claims that all birds can fly.", "guess": "yes"}
        text = json.dumps(fields)
        if request.role != "answerer":
            return text, False
        return (f"{text} And so" if is_whole else text[:-1]), True

    played = run(changed, answers="schema")
    score = played.run.score("precision", "repaired")
    assert score is not None and score.n == (4 if is_whole else 0)
    reasons = {one.repaired.reason for one in played.view.trials.values()}
    assert reasons == ({""} if is_whole else {"cut"})


def test_a_vote_that_was_cut_is_no_vote_for_what_it_says() -> None:
    def changed(request: Request, text: str) -> tuple[str, bool]:
        return text, request.role == "simulator" and request.repeat > 0

    played = run(changed, votes=3)
    assert {row.simulation.votes[1:] for row in played.view.rows.values() if row.simulation} == {("neither", "neither")}
    assert all(one.repaired.reason == "cut" for one in played.view.trials.values())


def test_cut_steps_predict_nothing() -> None:
    def changed(request: Request, text: str) -> tuple[str, bool]:
        said = {"claim": "birds: can fly", "asked": "A duck is a bird. Asked: can fly", "covers": "Covered."}
        step = request.prompt.rpartition("-")[2]
        return said.get(step, text), step == "claim"

    played = run(changed, reads="steps")
    assert all(row.simulation and row.simulation.repaired == "neither" for row in played.view.rows.values())
    assert all(one.repaired.reason == "cut" for one in played.view.trials.values())


def sat(cut: int, wrong: int) -> Any:
    """The test, with so many of its guesses cut and so many wrong."""
    spec = AskExamSpec(model=MODEL)
    right = {one.counterfactual: one.right for one in spec.questions}
    numbers = {one.counterfactual: number for number, one in enumerate(spec.questions)}
    other = {"yes": "no", "no": "unknown", "unknown": "yes"}

    def changed(request: Request, _: str) -> tuple[str, bool]:
        asked = request.slots["counterfactual"]
        number, guess = numbers[asked], right[asked]
        guess = other[guess] if cut <= number < cut + wrong else guess
        said = "I cannot guess the robot's answer." if guess == "unknown" else f"the robot will likely answer {guess}."
        return f"So {said}", number < cut

    events: list[Any] = []
    asyncio.run(execute(RunRequest(TEST, spec, "r", history=[]), RunIO(Cutting(changed).get, events.append)))
    return TEST.view(transcript(events).case("exam"))


def test_a_qualification_test_is_not_failed_by_answers_that_were_cut() -> None:
    assert sat(0, 0).outcome == "passed"
    passed = sat(2, 0)
    assert passed.outcome == "passed" and passed.score.detail["right"] == 9
    lost = sat(4, 0)
    assert lost.score.value is None and lost.outcome == "failed"
    assert "4 of 11 answers were cut" in " ".join(lost.sentences())
    assert sat(2, 6).outcome == "not passed", "two more would not have helped"
    assert lost.by("paper").score.value == 1, "the original parser reads what was cut"
    reasons = [trial.repaired.reason for trial in lost.trials.values()]
    assert reasons.count("cut") == 4


def test_only_what_could_have_passed_is_left_open() -> None:
    marks = [("yes", "yes")] * 8 + [("neither", "yes")] * 3
    assert judge(marks, 11).detail["passed"] is False
    assert judge(marks, 11, cut=1).value is None
    assert judge(marks[:7] + marks[8:] + marks[:0] + [("no", "yes")], 11, cut=1).detail["passed"] is False


@pytest.mark.parametrize(
    ("role", "helps"), [("answerer", "more tokens (Longest answer, in tokens)"), ("simulator", "room for thinking")]
)
def test_what_was_cut_and_what_would_help_stands_before_the_verdict(role: str, helps: str) -> None:
    played = run(in_role(role, first=True))
    calls = len(played.run.calls)
    told = [text for _, text in steps(scenes.of_case(LAB, played.run, played.run.only))]
    where = next(place for place, text in enumerate(told) if text.startswith(f"1 of {calls} answers was cut"))
    assert helps in told[where] and told[where + 1] == played.view.headline()
    of_run = run_scene.of_run(LAB, played.run).verdict.caution
    assert of_run is not None and of_run.text == told[where]
    whole = run(lambda request, text: (text, False))
    assert scenes.of_case(LAB, whole.run, whole.run.only).verdict.caution is None  # type: ignore[union-attr]
