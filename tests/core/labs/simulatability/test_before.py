"""Specifications of journals that knew neither arms nor the exam."""

from __future__ import annotations

from core.labs.simulatability.tasks import AskSpec


def test_a_run_of_before_goes_on_as_it_began_and_a_new_one_asks_its_baselines() -> None:
    new = AskSpec(question="Can a penguin fly?", model="control/fickle")
    assert new.arms == ("explanation", "none", "swapped", "question_only") and new.exam
    written = new.model_dump(mode="json")
    assert AskSpec.model_validate(written) == new
    before = {name: value for name, value in written.items() if name not in ("arms", "exam")}
    old = AskSpec.model_validate(before)
    assert old.arms == ("explanation",) and not old.exam
    assert AskSpec.model_validate({"question": "x?", "model": "m", "votes": 3, "seed": 1}).control_arms
