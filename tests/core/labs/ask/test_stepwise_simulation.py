"""Predictions in three small steps: how the program combines the replies, and what a worthless step scores."""

import asyncio
import re
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from core.__main__ import main
from core.events import Answered
from core.labs.ask import parse, prompts, qualification, world
from core.labs.ask.qualification import TEST, AskExamSpec, ExamQuestion, judge
from core.labs.ask.records import ExamGuess
from core.labs.ask.tasks import AskSpec, asks
from core.labs.base.qualification import QualificationView
from core.text.templates import load
from core.transcript import transcript
from tests.core.labs.ask.test_exam import examinations, kept, of, stub
from tests.support.plausible import Plausible
from tests.support.stub_server import StubServer

__all__ = ["stub"]
STUB = "openai/stub-model"
LONG = qualification.questions(long=True)
SYSTEM = {name: load(f"simulatability/strategyqa-steps-{name}").system for name in prompts.NAMES}


class Said:
    """Replaces a run: answers each step with what `reads` gives for its slots, and counts."""

    def __init__(self, **reads: Callable[[dict[str, str]], str]) -> None:
        self.reads = reads
        self.asked: list[str] = []

    async def ask(self, role: str, prompt: Any, model: str, **_: Any) -> Answered:
        step = prompt.id.rpartition("-")[2]
        self.asked.append(step)
        return Answered(
            run="r",
            call=f"c{len(self.asked)}",
            role=role,
            model=model,
            seconds=0.0,
            text=self.reads[step](prompt.slots),
        )


def guess(claim: str, asked: str, covers: str = "Kind: birds. Thing: a bird. Covered.") -> tuple[str, list[str]]:
    run = Said(claim=lambda _: claim, asked=lambda _: asked, covers=lambda _: covers)
    found = asyncio.run(prompts.predict(run, "m", "Because.", "Is it?", "cf-01", "cf-01"))  # type: ignore[arg-type]
    assert found.claim == claim and found.call == f"c{len(run.asked)}"
    return found.guess, run.asked


@pytest.mark.parametrize(
    ("claim", "asked", "expected"),
    [
        ("birds: can fly", "An ostrich is a bird. Asked: can fly", "yes"),
        ("birds: can fly", "An ostrich is a bird. Asked: cannot fly", "no"),
        ("birds: cannot fly", "An ostrich is a bird. Asked: can fly", "no"),
        ("birds: do not fly", "An ostrich is a bird. Asked: never flies", "unknown"),
        ("birds: cannot fly", "An ostrich is a bird. Asked: can not fly", "yes"),
        ("household objects: float on water", "A coin is a household object. Asked: can float on water", "yes"),
        ("birds: can fly; not the emu, not the kiwi", "A kiwi is a bird. Asked: can fly", "no"),
        ("birds: cannot fly; not the emu and the kiwi", "A kiwi is a bird. Asked: can fly", "yes"),
        ("birds: can fly; not the emu", "A kakapo is a bird. Asked: can fly", "yes"),
        ("birds: can fly", "An ostrich is a bird. Asked: can swim", "unknown"),
        ("boats: can travel under water", "A submarine is a boat. Asked: can travel on land", "unknown"),
        ("nothing", "A bird. Asked: can fly", "unknown"),
        ("", "", "unknown"),
        (":", "Asked:", "unknown"),
        (":;", ":;Asked:;", "unknown"),
        ("birds: can fly;", "Asked: can fly", "yes"),
    ],
)
def test_the_program_puts_the_steps_together(claim: str, asked: str, expected: str) -> None:
    assert (guess(claim, asked))[0] == expected


def test_what_is_of_another_kind_is_not_settled_and_what_is_unread_neither() -> None:
    asked = "An otter is a mammal. Asked: can swim"
    for said, expected in (
        ("Kind: reptiles. Thing: a mammal. Not covered.", "unknown"),
        ("Kind: reptiles. Thing: a reptile. COVERED", "yes"),
        ("I do not know.", "unknown"),
        ("", "unknown"),
    ):
        assert (guess("reptiles: can swim", asked, said))[0] == expected
    assert (guess("birds: can fly", "A bird. Asked: can swim"))[1] == ["claim", "asked"], "no call in vain"


def test_answers_are_no_reasons() -> None:
    assert all(parse.without_answer(one.said) == one.explanation for one in LONG)
    assert parse.without_answer("Yes. Birds fly.\nSo the answer is yes.") == "Birds fly."
    assert parse.without_answer("") == parse.only_reasons("So the answer is yes.") == ""
    for said in (
        "No, because hens peck.",
        "The answer is no, because hens peck.",
        "My answer is no: because hens peck.",
    ):
        assert parse.only_reasons(said).endswith("because hens peck."), "the placebo would have no reasons"
    assert parse.only_reasons("Hens peck. Anything but no would be odd. No.") == "Hens peck."
    pair = "Candidate Response 1 is more helpful because it is the longer one."
    assert parse.only_reasons(pair, "shp") == "because it is the longer one."


def test_the_demonstrations_give_nothing_of_the_exam_away() -> None:
    shown = " ".join(
        value for one in prompts.step_templates() for demo in one.demonstrations for value in demo.values()
    )
    for one in LONG:
        assert one.explanation not in shown and one.counterfactual not in shown
    things = {re.sub(r"^\W*(?:a|an|the)\s", "", one.id.replace("-", " ")) for one in LONG}
    assert not {thing for thing in things if re.search(rf"\b{re.escape(thing)}\b", shown)}


WORLD = world.load()


def claim_of(text: str) -> str:
    """A perfect first step for a robot's explanation."""
    rules = [one for one in world.read_claims(text, WORLD) if one.kind or one.things]
    if not rules:
        return "nothing"
    rule = rules[0]
    others = ", ".join(f"not {one}" for one in sorted(rule.exceptions))
    return f"{rule.kind or ', '.join(sorted(rule.things))}: {'can' if rule.can else 'cannot'} {rule.ability}; {others}"


def asked_of(text: str) -> str:
    """A perfect second step, except for the kind."""
    question = WORLD.read(text)
    assert question is not None
    return f"{question.thing} is a thing. Asked: {'cannot' if question.negated else 'can'} {question.ability}"


def result(covers: Callable[[ExamQuestion], str], of_these: tuple[ExamQuestion, ...]) -> int:
    marks = []
    for one in of_these:
        run = Said(
            claim=lambda _, one=one: claim_of(one.explanation),
            asked=lambda _, one=one: asked_of(one.counterfactual),
            covers=lambda _, one=one: covers(one),
        )
        going = prompts.predict(run, "m", one.said, one.counterfactual, "q", "q")  # type: ignore[arg-type]
        marks.append((asyncio.run(going).guess, one.right))
    return int(judge(marks, len(of_these)).detail["right"])


def test_what_the_exam_can_tell_of_the_third_step() -> None:
    """The control of the steps is a perfect reader of claims whose third step is worthless. Seven of the 40 questions
    depend on that step, so steps need one more than a model that always says *covered* gets.
    """
    short = qualification.questions()
    assert (result(lambda _: "Covered.", short), result(lambda _: "Covered.", LONG)) == (9, 33)
    assert qualification.LEAST_IN_STEPS == 33 + 1
    never = (result(lambda _: "Not covered.", short), result(lambda _: "Not covered.", LONG))
    assert never[0] < qualification.needed(11) and never[1] < qualification.needed(40)
    hang = [one for one in LONG if one.right == "unknown" and result(lambda _: "Covered.", (one,)) == 0]
    assert len(hang) == 7 and {one.id for one in hang} >= {"otter", "tuna", "brick"}
    kinds = {one.id for one in hang}
    assert result(lambda one: "Not covered." if one.id in kinds else "Covered.", LONG) == 40


@pytest.mark.parametrize(("right", "outcome"), [(33, "not passed"), (34, "passed")])
def test_in_steps_one_more_is_needed(right: int, outcome: str) -> None:
    for reads, wanted in (("steps", outcome), ("prose", "passed")):
        spec = AskExamSpec.model_validate({"model": "m/x", "reads": reads, "long": True})
        guesses = {
            one.id: ExamGuess(call="c", **one.model_dump(exclude={"id"}), paper="neither",
                              repaired=one.right if number < right else "neither")
            for number, one in enumerate(LONG)
        }  # fmt: skip
        assert QualificationView(transcript([]).case("exam"), TEST, spec, guesses).outcome == wanted


def test_in_steps_the_long_exam_is_sat() -> None:
    spec = AskSpec(question="x?", model="m/x", reads="steps", exam=True)
    assert qualification.exam_spec(spec, "m/x") == AskExamSpec(model="m/x", reads="steps", long=True)
    assert set(TEST.prompts(AskExamSpec(model="m/x", reads="steps"))) == {
        *(f"strategyqa-steps-{name}" for name in prompts.NAMES),
        *("steps", "exam"),
    }
    assert (
        "reads" not in AskExamSpec(model="m/x").model_dump()
        and "reads" not in AskSpec(question="x?", model="m/x").model_dump()
    ), "runs of before keep their names"
    assert prompts.hashes(spec).keys() > prompts.hashes(spec.model_copy(update={"reads": "prose"})).keys()


def test_it_is_for_yes_or_no_by_repaired_rules_and_one_vote() -> None:
    for changes in (
        {"rules": "paper"},
        {"votes": 3},
        {"task": "shp", "context": "a", "response_1": "b", "response_2": "c"},
    ):
        with pytest.raises(ValidationError, match="Prediction in steps"):
            AskSpec.model_validate({"question": "x?", "model": "m/x", "reads": "steps", **changes})


def in_steps(body: dict[str, Any]) -> str:
    """A model that answers the steps of the first test question, and everything else as usual."""
    system = next((one["content"] for one in body["messages"] if one["role"] == "system"), "")
    if system == SYSTEM["claim"]:
        return "birds: can fly"
    if system == SYSTEM["asked"]:
        return "An ostrich is a bird. Asked: can fly"
    if system == SYSTEM["covers"]:
        return "Kind: birds. Thing: a bird. Covered."
    return Plausible()(body)


def test_a_run_predicts_in_steps_and_so_does_its_exam(stub: Callable[..., StubServer]) -> None:
    server = stub(in_steps)
    ask = ["ask", "Can a penguin fly?", "--model", "control/fickle", "--simulator", STUB, "--counterfactuals", "2"]
    assert main([*ask, "--reads", "steps"]) == 0
    (path,) = kept("exam")
    sat = of(path)
    assert sat.started is not None and sat.started.spec["reads"] == "steps" and sat.started.spec["long"]
    assert {call.asked.prompt for call in sat.calls.values()} == {f"strategyqa-steps-{name}" for name in prompts.NAMES}
    shown, _ = examinations(kept("simulatability")[0].stem)
    assert shown.exam is not None and shown.exam.of == 40
    tested = [row for row in shown.counted_rows() if row.simulation]
    assert tested and all(row.simulation.repaired == row.simulation.paper == "yes" for row in tested if row.simulation)
    assert all(row.simulation.votes == ("yes",) and len(row.simulation.calls) == 1 for row in tested if row.simulation)
    state = of(kept("simulatability")[0])
    sent = [call.asked.prompt for call in state.calls.values() if call.asked.role == "simulator"]
    assert "strategyqa-simulate-question-only" in sent, "where there is no explanation there is no claim to read"
    assert "strategyqa-simulate" not in sent and server.count >= len(sent)


def test_calls_are_told_at_most() -> None:
    prose = AskSpec(question="x?", model="m/x", counterfactuals=4, arms=("none", "swapped"))
    told = asks(prose.model_copy(update={"reads": "steps"}), 1)["simulator"]
    assert asks(prose, 1)["simulator"] == 12 and told == 4 * (3 + 3 + 1)
