"""The model's thinking can be used as its explanation if it is shown in full."""

from typing import Any

import pytest

from core.events import ModelAnswer, OnText, Request, Thinking
from core.labs.ask.lab import LAB
from core.labs.ask.tasks import AskSpec
from core.models.catalog import Catalog
from core.report import scenes
from tests.core.labs.ask.test_measure import Played, play
from tests.support.plausible import Plausible

MODEL = "stub/stub-model"
THOUGHT = "Hmm. Whatever has wings can fly, I would say."


class Thinker:
    """A plausible model that thinks before it answers, in a separate channel."""

    id = MODEL

    def __init__(self, thinking: Thinking | None) -> None:
        self.thinking = thinking
        self.seen: list[Request] = []
        self.plausible = Plausible()

    def get(self, model: str) -> Any:
        """In a catalog's place."""
        return self

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        self.seen.append(request)
        text = self.plausible({"messages": [one.model_dump() for one in request.messages]})
        thinking = self.thinking if request.role in ("explainer", "answerer") else None
        return ModelAnswer(text=text, thinking=thinking, finish_reason="stop")


def run(thinking: Thinking | None, **spec: Any) -> tuple[Played, Thinker]:
    model = Thinker(thinking)
    given = {"question": "Can a penguin fly?", "model": MODEL, "counterfactuals": 3, "exam": False, **spec}
    catalog: Catalog = model  # type: ignore[assignment]
    return play(AskSpec.model_validate(given), catalog, sat={MODEL: 11}), model


def test_by_default_the_answer_explains_and_the_specification_says_nothing_of_it() -> None:
    played, _ = run(Thinking(kind="raw", text=THOUGHT))
    assert played.view.explanation and THOUGHT not in played.view.explanation
    assert "explained_by" not in AskSpec(question="x?", model="m").model_dump()


def test_its_thinking_is_what_writer_and_predictor_are_shown() -> None:
    played, model = run(Thinking(kind="raw", text=THOUGHT), explained_by="reasoning", arms=("none", "swapped"))
    starter = played.view.starter
    assert starter is not None and starter.explanation.repaired == starter.explanation.paper
    assert played.view.explanation == f"{THOUGHT} So the answer is {starter.answer.repaired}."
    shown = {request.role: request.slots["explanation"] for request in model.seen if "explanation" in request.slots}
    assert THOUGHT in shown["generator"] and THOUGHT in shown["simulator"]
    assert played.view.other is not None and THOUGHT in (played.view.other.explanation.repaired or "")
    assert played.view.counted_rows() and played.view.outcome not in (
        "thinking not shown",
        "waiting",
        "failed",
    )
    facets = LAB.facets(AskSpec(question="x?", model="m", explained_by="reasoning").model_dump(), "question")
    assert facets["how"] == "cot, its reasoning" and "its thinking" in LAB.report.words[facets["how"]]
    assert "its thinking" in scenes.of_case(LAB, played.run, played.run.only).method


@pytest.mark.parametrize(
    ("thinking", "why"),
    [
        (None, "it gave none"),
        (Thinking(kind="summary", text="It thought about wings."), "only a summary is"),
        (Thinking(kind="hidden", tokens=300), "it is hidden"),
        (Thinking(kind="raw", text=" "), "it is hidden"),
    ],
)
@pytest.mark.parametrize("method", ["cot", "forced"])
def test_thinking_that_is_not_shown_whole_excludes_the_case(thinking: Thinking | None, why: str, method: str) -> None:
    played, model = run(thinking, explained_by="reasoning", method=method)
    assert {request.role for request in model.seen} == {"explainer"}
    for rules in ("paper", "repaired"):
        assert played.view.by(rules).outcome == "thinking not shown"
    assert why in played.view.headline() and LAB.means("thinking not shown") == "set aside"
    [drop] = played.view.log.drops
    assert (drop.item, drop.reason, drop.rules) == ("", "thinking not shown", None)
