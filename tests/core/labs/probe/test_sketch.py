"""A curve drawn by hand: its code goes through what was drawn, and its tiles say how close it is."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.labs.probe import by_hand
from core.labs.probe.functions.source import trouble
from core.labs.probe.records import Interpretation
from core.rulesets import PerRuleset

XS = tuple(float(x) + 0.5 for x in range(-128, 128))


def run(code: str) -> object:
    named: dict[str, object] = {}
    exec(code, named)
    return named["f"]


@given(st.lists(st.floats(-1e6, 1e6), min_size=by_hand.POINTS, max_size=by_hand.POINTS))
def test_the_code_goes_through_each_value_and_straight_between_them(ys: list[float]) -> None:
    f = run(by_hand.code(ys))
    assert callable(f)
    at = np.linspace(-128, 128, by_hand.POINTS)
    kept = [float(f"{y:.5g}") for y in ys]
    for x in (-500.0, -128.0, -127.3, 0.0, 1.7, 100.0, 128.0, 500.0):
        assert math.isclose(f(x), float(np.interp(x, at, kept)), rel_tol=1e-9, abs_tol=1e-6)


def test_the_sandbox_runs_it() -> None:
    assert not trouble("numeric", by_hand.code([float(n) for n in range(by_hand.POINTS)]))


@pytest.mark.parametrize(
    "ys",
    [[], [0.0] * (by_hand.POINTS - 1), [0.0] * by_hand.POINTS + [1.0], [math.nan] * 65, [math.inf] * 65, ["0"] * 65],
)
def test_what_is_no_curve_is_refused(ys: list[float]) -> None:
    with pytest.raises(ValueError, match="65 values"):
        by_hand.submission(ys)


def tiles(given: list[float | None], truth: list[float | None]) -> list[by_hand.Tile]:
    return by_hand.nearness(XS, truth, given)


def test_a_tile_is_near_where_most_of_the_line_lies_within_a_tenth_of_the_height() -> None:
    truth: list[float | None] = list(XS)
    off = 0.099 * 255
    near: list[float | None] = [x + off for x in XS]
    assert tiles(near, truth) == ["near"] * 16
    assert tiles([x + 0.101 * 255 for x in XS], truth) == ["far"] * 16
    half: list[float | None] = [x if n % 2 else x + 100 for n, x in enumerate(XS)]
    assert tiles(half, truth) == ["partly"] * 16
    assert tiles([], truth) == ["far"] * 16, "code that gives nothing lies nowhere near"
    broken: list[float | None] = [None if x < 0 else x for x in XS]
    found = tiles(list(XS), broken)
    assert found == ["far"] * 8 + ["near"] * 8, "where the function has no value nothing is near"
    assert by_hand.row(found) == "□" * 8 + "■" * 8 + " 8 of 16"


def test_a_flat_function_is_near_within_a_tenth_of_its_value() -> None:
    assert tiles([10.9] * 256, [10.0] * 256) == ["near"] * 16
    assert tiles([11.1] * 256, [10.0] * 256) == ["far"] * 16


def test_only_a_person_s_drawing_is_one() -> None:
    def said(who: str, words: str) -> Interpretation:
        return Interpretation(interpreter=who, description=PerRuleset.same_for_both(words))

    assert by_hand.is_drawn(said("you", by_hand.WORDS))
    assert not by_hand.is_drawn(said("control/straight", by_hand.WORDS)) and not by_hand.is_drawn(said("you", "a line"))
    assert not by_hand.is_drawn(None)
