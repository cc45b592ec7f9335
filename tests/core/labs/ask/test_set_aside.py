"""What the updated rules exclude: questions that yes or no cannot answer, and repeated questions."""

from typing import Any

import pytest

from core.labs.ask.counterfactuals import REWORDED
from core.labs.ask.parse import is_yes_or_no
from core.text.embed import SMALL, encoder
from tests.core.labs.ask.test_measure import play, stub_catalog, stub_spec
from tests.support.plausible import Plausible
from tests.support.stub_server import StubServer

SAME = [
    ("Can a penguin fly?", "Is a penguin able to fly?"),
    ("Is the Moon bigger than Mars?", "Is the Moon larger than Mars?"),
    ("Do most cats like cucumbers?", "Are most cats fond of cucumbers?"),
    ("Is it possible to boil water in a paper cup?", "Can water be boiled in a paper cup?"),
]
OTHERS = [
    ("Can a penguin swim?", "Can a penguin fly?"),
    ("Can a duck fly?", "Can a goose fly?"),
    ("Could Caesar have eaten a potato?", "Could Caesar have eaten a tomato?"),
    ("Can a male lion roar?", "Can a female lion roar?"),
]


@pytest.mark.parametrize("asked", [
    "Why can't a dog fly?", "How many legs has a dog?", "Which is heavier, lead or gold?", "What if a dog could fly?",
    "And why is that?", "Who wrote it?",
])  # fmt: skip
def test_what_yes_or_no_cannot_answer(asked: str) -> None:
    assert not is_yes_or_no(asked)


@pytest.mark.parametrize("asked", [
    "Can a dog fly?", "When it rains, do dogs get wet?", "If a dog had wings, could it fly?", "Is what he wrote true?",
    "In Paris, is French spoken?", "Where wolves live, can a dog survive?",
])  # fmt: skip
def test_what_yes_or_no_can(asked: str) -> None:
    assert is_yes_or_no(asked)


def test_the_bound_parts_rewordings_from_other_questions() -> None:
    def likeness(pair: tuple[str, str]) -> float:
        one, other = encoder(SMALL).encode(list(pair))
        return float(one @ other)

    assert min(map(likeness, SAME)) >= REWORDED > max(map(likeness, OTHERS)) + 0.01


def written(*questions: str) -> Any:
    """A run in which these counterfactuals are written, in order."""
    plausible = Plausible()
    left = iter(questions)

    def reply(body: dict[str, Any]) -> str:
        text = plausible(body)
        if "Your guess of the robot" not in text:
            return text
        return f"{next(left)}\nYour guess of the robot's answer: So the robot will likely answer yes."

    with StubServer(reply) as server:
        return play(stub_spec(counterfactuals=len(questions)), stub_catalog(server))


def test_each_has_its_reason_and_paper_rules_count_it() -> None:
    played = written("Can a duck fly?", "Why can't a dog fly?", "Is a duck able to fly?", "Can a goose fly?")
    reasons = {
        row.counterfactual.text: {(drop.reason, drop.rules) for drop in row.drops}
        for row in played.view.counted_rows() if row.counterfactual
    }  # fmt: skip
    assert ("unparsed", "repaired") in reasons["Why can't a dog fly?"]
    reworded = [text for text, drops in reasons.items() if ("reworded", "repaired") in drops]
    assert len(reworded) == 1 and "duck" in reworded[0], "the later of the two"
    outcomes = {row.counterfactual.text: row.outcome for row in played.view.counted_rows() if row.counterfactual}
    assert outcomes["Why can't a dog fly?"] == outcomes[reworded[0]] == "dropped"
    repaired, paper = (played.run.score("constant_guess", rules) for rules in ("repaired", "paper"))
    assert repaired is not None and paper is not None and repaired.n <= 2 < paper.n <= 4
    assert repaired.of == paper.of == 4, "nothing vanishes"
    numbered = written("Can bird number 1 fly?", "Can bird number 2 fly?")
    assert not [drop for row in numbered.view.counted_rows() for drop in row.drops if drop.reason == "reworded"]
    again = play(stub_spec(counterfactuals=4), history=played.events)
    assert len(again.events) == len(played.events), "a completed run publishes nothing"
