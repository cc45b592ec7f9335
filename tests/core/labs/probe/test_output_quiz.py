"""A rule of texts expressed by picking: one of three outputs is the function's, and the choice is compared with it."""

import pytest

from core.labs.probe import output_quiz
from core.labs.probe.functions.source import load
from core.labs.probe.records import Interpretation
from core.labs.probe.tasks import ProbeSpec
from core.rulesets import PerRuleset


@pytest.mark.parametrize("seed", [0, 1, 2, 5, 8])
def test_of_three_outputs_one_is_the_function_s(seed: int) -> None:
    spec = ProbeSpec(category="strings", seed=seed, difficulty="easy", interpreter="you")
    function = load(spec)
    found = output_quiz.quiz_items(function, seed, ())
    assert len(found) == output_quiz.TEXTS and len({one.text for one in found}) == output_quiz.TEXTS
    assert found == output_quiz.quiz_items(load(spec), seed, ())
    for one in found:
        assert len(set(one.outputs)) == 3
        right = [
            given for given in one.outputs if next(output_quiz.picked_outputs(function, {one.text: given}))[2] == given
        ]
        assert len(right) == 1
    tried = {found[0].text, found[3].text}
    assert not tried & {one.text for one in output_quiz.quiz_items(function, seed, tried)}, "texts are new"


def test_the_right_one_has_no_place_of_its_own() -> None:
    places = set()
    for seed in range(12):
        function = load(ProbeSpec(category="strings", seed=seed, difficulty="easy", interpreter="you"))
        if not function.is_stochastic:
            for one in output_quiz.quiz_items(function, seed, ()):
                [(_, _, given)] = output_quiz.picked_outputs(function, {one.text: ""})
                places.add(one.outputs.index(given))
    assert places == {0, 1, 2}


def said(words: str, who: str = "you") -> Interpretation:
    return Interpretation(interpreter=who, description=PerRuleset.same_for_both(words))


def test_what_was_picked_is_read_from_the_conclusion_and_nothing_else_is() -> None:
    given = {"a b": "b a", "ß\n": '"'}
    words = output_quiz.submission(given).description
    assert output_quiz.picks(said(words)) == given
    assert output_quiz.picks(said(words, "control/straight")) == {} and output_quiz.picks(None) == {}
    for other in (
        "it reverses",
        output_quiz.WORDS,
        f"{output_quiz.WORDS}[1]",
        f"{output_quiz.WORDS}{{",
        f'{output_quiz.WORDS}{{"a": 1}}',
    ):
        assert output_quiz.picks(said(other)) == {}
