"""A rule of texts told by picking: one of three outputs is the function's, and what was picked is held to it."""

from __future__ import annotations

import pytest

from core.by_rules import ByRules
from core.labs.find import picked
from core.labs.find.records import Interpretation
from core.labs.find.tasks import ProbeSpec


@pytest.mark.parametrize("seed", [0, 1, 2, 5, 8])
def test_of_three_outputs_one_is_the_function_s(seed: int) -> None:
    spec = ProbeSpec(category="strings", seed=seed, difficulty="easy", interpreter="you")
    function = spec.load()
    found = picked.choices(function, seed, ())
    assert len(found) == picked.TEXTS and len({one.text for one in found}) == picked.TEXTS
    assert found == picked.choices(spec.load(), seed, ())
    for one in found:
        assert len(set(one.outputs)) == 3
        right = [given for given in one.outputs if next(picked.held(function, {one.text: given}))[2] == given]
        assert len(right) == 1
    tried = {found[0].text, found[3].text}
    assert not tried & {one.text for one in picked.choices(function, seed, tried)}, "texts are new"


def test_the_right_one_has_no_place_of_its_own() -> None:
    places = set()
    for seed in range(12):
        function = ProbeSpec(category="strings", seed=seed, difficulty="easy", interpreter="you").load()
        if not function.is_stochastic:
            for one in picked.choices(function, seed, ()):
                [(_, _, given)] = picked.held(function, {one.text: ""})
                places.add(one.outputs.index(given))
    assert places == {0, 1, 2}


def said(words: str, who: str = "you") -> Interpretation:
    return Interpretation(interpreter=who, description=ByRules.both(words))


def test_what_was_picked_is_read_from_the_conclusion_and_nothing_else_is() -> None:
    given = {"a b": "b a", "ß\n": '"'}
    words = picked.submission(given).description
    assert picked.picks(said(words)) == given
    assert picked.picks(said(words, "control/straight")) == {} and picked.picks(None) == {}
    for other in ("it reverses", picked.WORDS, f"{picked.WORDS}[1]", f"{picked.WORDS}{{", f'{picked.WORDS}{{"a": 1}}'):
        assert picked.picks(said(other)) == {}
