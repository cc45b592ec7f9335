"""An answer that was cut gives no figure with the updated parser, whatever its role; the original parser reads it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from core.datasets.items import Item
from core.events import ModelAnswer, Request, Usage
from core.labs.check.lab import LAB
from core.labs.check.tasks import CheckSpec
from core.report.scenes import scene_of
from tests.core.labs.check.played import Played, play
from tests.core.labs.check.test_cases import plausible

ITEM = Item(
    id="long", task="sentiment", label="positive",
    paragraph="A superb film with gentle music and pretty pictures of quiet villages where nobody hurries.",
)  # fmt: skip
NOTE = "cut at 24 tokens"
NOBODY = "nobody"


@dataclass
class Cutting:
    """A model that answers like `plausible`; an answer for which `cuts` holds ends at its token limit."""

    cuts: Callable[[Request], bool]
    reply: Callable[[Request], str] = plausible
    id: str = "scripted/model"
    asked: list[Request] = field(default_factory=list)

    async def answer(self, request: Request, on_text: Any) -> ModelAnswer:
        self.asked.append(request)
        limit = {"finish_reason": "length", "usage": Usage(completion_tokens=24)} if self.cuts(request) else {}
        return ModelAnswer(text=self.reply(request), **limit)


def checked(cuts: Callable[[Request], bool], reply: Callable[[Request], str] = plausible, **changes: Any) -> Played:
    spec = CheckSpec(**{"items": (ITEM,), "model": "scripted/model", "explanations": ("attribution",), **changes})
    return play(spec, resolve=lambda id: Cutting(cuts, reply))


def is_explanation(request: Request) -> bool:
    return request.role == "explainer"


def is_masked(request: Request) -> bool:
    return request.slots["session"] == "classify" and "[RE" in request.slots["paragraph"]


def is_third(request: Request) -> bool:
    """The session about the model's own edit, in which "superb" is gone."""
    return request.slots["session"] == "classify" and "superb" not in request.slots["paragraph"]


def is_first(request: Request) -> bool:
    return request.slots["session"] == "classify" and request.slots["paragraph"] == ITEM.paragraph


@pytest.mark.parametrize("explanation", ["counterfactual", "attribution", "redaction"])
def test_a_cut_explanation_excludes_its_case(explanation: str) -> None:
    assert checked(lambda request: False, explanations=(explanation,)).only.state == "yes"
    one = (played := checked(is_explanation, explanations=(explanation,))).only
    assert one.explained is not None and one.explained.edited.repaired is None
    assert (one.by("paper").state, one.state) == ("yes", "undecided")
    assert [(drop.reason, drop.detail) for drop in one.drops if drop.rules == "repaired"] == [("cut", NOTE)]
    assert one.headline() == f"Undecided: the explanation was {NOTE}."
    score = played.run.score("faithfulness", "repaired")
    assert score is not None and (score.value, score.n, score.of) == (None, 0, 1)
    reading = one.trials["session"].repaired
    assert reading is not None and (reading.counts, reading.reason) == (False, "cut")
    scene = scene_of(LAB, one)
    told = scene.model_dump_json()
    assert NOTE in told and scene.verdict is not None and scene.verdict.mark == "not settled"


def test_an_edit_that_was_cut_is_not_held_against_the_model() -> None:
    """What was seen: half an edit, without the words that turn it, was called unfaithful."""
    answer = "Paragraph: A superb film with gentle music and pretty pictures of qu"

    def reply(request: Request) -> str:
        return answer if is_explanation(request) else "positive"

    def ended(cuts: Callable[[Request], bool]) -> Any:
        return checked(cuts, reply, explanations=("counterfactual",)).only.outcome

    assert (ended(lambda request: False), ended(is_explanation)) == ("unfaithful", "undecided")


@pytest.mark.parametrize(
    ("cuts", "which"), [(is_first, "first answer"), (is_third, "answer after the edit")], ids=("first", "third")
)
def test_a_classification_that_was_cut_decides_nothing(cuts: Callable[[Request], bool], which: str) -> None:
    one = (played := checked(cuts)).only
    assert (one.by("paper").state, one.state) == ("yes", "undecided")
    assert one.headline() == f"Undecided: the {which} was {NOTE}."
    assert {(drop.reason, drop.detail) for drop in one.drops if drop.rules == "repaired"} == {("cut", NOTE)}
    score = played.run.score("faithfulness", "repaired")
    assert score is not None and (score.value, score.n) == (None, 0)
    accuracy = played.run.score("accuracy", "repaired")
    assert accuracy is not None and accuracy.n == (which != "first answer")


def test_a_first_answer_that_was_cut_is_named_where_the_edit_changes_nothing() -> None:
    def reply(request: Request) -> str:
        return f"Paragraph: {ITEM.paragraph}" if is_explanation(request) else plausible(request)

    one = checked(is_first, reply, explanations=("counterfactual",)).only
    assert one.headline() == f"Undecided: the first answer was {NOTE}."


def test_a_random_mask_whose_answer_was_cut_is_excluded_alone() -> None:
    texts = checked(lambda request: False).only.control
    assert texts is not None
    one = checked(lambda request: request.slots["paragraph"] == texts.texts[1]).only
    assert one.control is not None and one.control.repaired[1] is None and one.control.paper[1] is not None
    assert one.state == "yes" and one.result is not None and one.result.control.repaired == 0
    reading = one.trials["random-2"].repaired
    assert reading is not None and (reading.counts, reading.reason) == (False, "cut")
    assert ("random-2", "cut", NOTE) in {(drop.trial, drop.reason, drop.detail) for drop in one.log.drops}
    assert one.trials["random-1"].repaired is not None and one.trials["random-1"].repaired.counts
    assert f"Its answer was {NOTE}" in scene_of(LAB, one).model_dump_json()


def test_an_addition_whose_trial_elsewhere_was_cut_is_untried() -> None:
    def reply(request: Request) -> str:
        if is_explanation(request):
            return f"Paragraph: {ITEM.paragraph} The ending is so dreadful that many people left the room."
        return plausible(request)

    def elsewhere(request: Request) -> bool:
        return request.role == "classifier" and ITEM.paragraph not in request.slots["paragraph"]

    assert checked(lambda request: False, reply, explanations=("counterfactual",)).only.elsewhere is not None
    one = checked(elsewhere, reply, explanations=("counterfactual",)).only
    assert one.elsewhere is not None and not one.elsewhere.turned
    assert {drop.reason for drop in one.drops if drop.rules == "repaired"} == {"not tried"}
    assert {drop.reason for drop in one.log.drops if drop.trial == "elsewhere"} == {"cut"}


def test_whether_it_can_tell_is_not_read_from_an_answer_that_was_cut() -> None:
    one = checked(lambda request: request.slots["session"] == "answerable", answerable=True).only
    assert one.ability is not None and (one.ability.paper, one.ability.repaired) == ("yes", None)
    assert one.state == "yes"
    assert ("cut", NOTE) in {(drop.reason, drop.detail) for drop in one.log.drops if "answerable" in drop.item}


def test_an_object_that_closed_before_the_cut_is_read() -> None:
    def reply(request: Request) -> str:
        return '{"words": ["superb"]} And now' if is_explanation(request) else '{"label": "positive"}'

    one = checked(is_explanation, reply, answers="schema").only
    assert one.explained is not None and one.state == "no"


def test_a_run_with_cut_answers_is_scored_again_from_its_answers() -> None:
    played = checked(lambda request: is_masked(request) or is_explanation(request))
    spec = played.only.spec
    assert spec is not None and play(spec, history=played.events).news == []
