"""A rule of texts expressed by picking: one of three outputs is the function's, and the choice is compared with it."""

import pytest

from core.labs.probe import by_hand
from core.labs.probe.functions.source import load
from core.labs.probe.records import Interpretation
from core.labs.probe.tasks import ProbeSpec
from core.rulesets import PerRuleset


@pytest.mark.parametrize("seed", [0, 1, 2, 5, 8])
def test_of_three_outputs_one_is_the_function_s(seed: int) -> None:
    spec = ProbeSpec(category="strings", seed=seed, difficulty="easy", interpreter="you")
    function = load(spec)
    found = by_hand.quiz_items(function, seed, ())
    assert len(found) == by_hand.TEXTS and len({one.text for one in found}) == by_hand.TEXTS
    assert found == by_hand.quiz_items(load(spec), seed, ())
    for one in found:
        assert len(set(one.outputs)) == 3
        right = [
            given for given in one.outputs if next(by_hand.picked_outputs(function, {one.text: given}))[2] == given
        ]
        assert len(right) == 1
    tried = {found[0].text, found[3].text}
    assert not tried & {one.text for one in by_hand.quiz_items(function, seed, tried)}, "texts are new"


def test_the_right_one_has_no_place_of_its_own() -> None:
    places = set()
    for seed in range(12):
        function = load(ProbeSpec(category="strings", seed=seed, difficulty="easy", interpreter="you"))
        if not function.is_stochastic:
            for one in by_hand.quiz_items(function, seed, ()):
                [(_, _, given)] = by_hand.picked_outputs(function, {one.text: ""})
                places.add(one.outputs.index(given))
    assert places == {0, 1, 2}


def said(words: str, who: str = "you") -> Interpretation:
    return Interpretation(interpreter=who, description=PerRuleset.same_for_both(words))


def test_what_was_picked_is_read_from_the_conclusion_and_nothing_else_is() -> None:
    given = {"a b": "b a", "ß\n": '"'}
    words = by_hand.quiz_submission(given).description
    assert by_hand.picks(said(words)) == given
    assert by_hand.picks(said(words, "control/straight")) == {} and by_hand.picks(None) == {}
    for other in (
        "it reverses",
        by_hand.QUIZ_WORDS,
        f"{by_hand.QUIZ_WORDS}[1]",
        f"{by_hand.QUIZ_WORDS}{{",
        f'{by_hand.QUIZ_WORDS}{{"a": 1}}',
    ):
        assert by_hand.picks(said(other)) == {}
