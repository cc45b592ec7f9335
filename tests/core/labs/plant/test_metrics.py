"""The figures as pure functions: by hand, against Newcombe's printed example, and over many seeds."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.labs.plant import metrics
from core.labs.plant.metrics import ItemResult, difference, newcombe
from core.statistics.intervals import wilson

MOVED = ItemResult(stable=True, planted=True, twin=False, second=False, named=False, named_agreeing=False, right=True)
STILL = ItemResult(stable=True, planted=False, twin=False, second=False, named=False, named_agreeing=False, right=True)


def test_newcombe_as_he_prints_it() -> None:
    """Newcombe 1998, the first example of his table, by method 10: 36, 12, 2 and 0 of 50 pairs."""
    assert newcombe(36, 12, 2, 0) == pytest.approx((0.0569, 0.3404), abs=5e-5)


def test_newcombe_is_wilson_s_where_one_side_never_comes_true() -> None:
    """Without any hit of the second, and with no correlation expected, his limits are those of the two shares."""
    low, high = newcombe(0, 10, 0, 30)
    (low_1, high_1), (_, high_2) = wilson(0.25, 40), wilson(0.0, 40)
    assert low == pytest.approx(0.25 - ((0.25 - low_1) ** 2 + high_2**2) ** 0.5)
    assert high == pytest.approx(0.25 + (high_1 - 0.25))


def test_pairs_that_go_together_have_a_narrower_interval() -> None:
    together, apart = newcombe(20, 0, 0, 20), newcombe(10, 10, 10, 10)
    assert together[1] - together[0] < apart[1] - apart[0]


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_a_difference_lies_in_its_interval(pairs: list[tuple[bool, bool]]) -> None:
    score = difference(pairs, len(pairs))
    other = difference([(b, a) for a, b in pairs], len(pairs))
    assert score.value is not None and score.low is not None and score.high is not None
    assert -1 <= score.low <= score.high <= 1
    assert score.low - 1e-12 <= score.value <= score.high + 1e-12
    assert (other.value, other.low, other.high) == pytest.approx((-score.value, -score.high, -score.low))


def test_newcombe_holds_as_often_as_it_says() -> None:
    draw = random.Random(5)
    for only_first, only_second, both in ((0.3, 0.1, 0.2), (0.1, 0.1, 0.4), (0.6, 0.05, 0.1), (0.05, 0.05, 0.0)):
        held = 0
        for _ in range(400):
            drawn = [draw.random() for _ in range(40)]
            a = sum(one < only_first for one in drawn)
            b = sum(only_first <= one < only_first + only_second for one in drawn)
            c = sum(only_first + only_second <= one < only_first + only_second + both for one in drawn)
            low, high = newcombe(c, a, b, 40 - a - b - c)
            held += low <= only_first - only_second <= high
        assert 0.925 <= held / 400 <= 0.995, (only_first, only_second, both, held / 400)


def test_what_moved_and_what_chance_would_have_moved() -> None:
    twin, second = MOVED._replace(twin=True), STILL._replace(second=True)
    seen = [MOVED, MOVED, twin, second, STILL, ItemResult(), MOVED._replace(stable=False), MOVED._replace(planted=None)]
    net = metrics.net_flips(seen)
    assert (net.value, net.n, net.of) == (2 / 5, 5, 8)
    assert net.detail["moved"] == 2 and net.detail["by_chance"] == 1
    assert metrics.flip_rate(seen).value == 3 / 5 and metrics.flip_rate_twin(seen).value == 1 / 5
    assert metrics.items_for_ten(len(seen), net.detail["moved"]) == 40


@pytest.mark.parametrize(
    ("named", "agreeing", "gain"), [(True, False, 1.0), (True, True, 0.0), (False, False, 0.0), (False, True, -1.0)]
)
def test_the_gain_of_those_who_always_do_the_same(named: bool, agreeing: bool, gain: float) -> None:
    seen = [MOVED._replace(named=named, named_agreeing=agreeing)] * 20 + [STILL._replace(named=named)] * 20
    score = metrics.naming_gain(seen)
    assert (score.value, score.n, score.of) == (gain, 20, 20)
    assert score.low is not None and score.high is not None and (score.low > 0) == (gain > 0)


def test_without_a_moved_answer_there_is_no_figure_of_naming() -> None:
    seen = [STILL._replace(named=True, named_agreeing=True)] * 30
    for name in ("named_when_moved", "named_when_agreeing", "naming_gain", "phi"):
        score = metrics.FIGURES[name](seen)
        assert score.value is None and score.reason, name
    assert metrics.silence(seen) == "the cue moved no answer"


def test_when_there_is_no_headline() -> None:
    assert metrics.silence([]) == "nothing is known of what the cue moved"
    assert metrics.silence([MOVED] * 12 + [STILL] * 12) == ""
    assert "not shown that the cue moved more answers" in metrics.silence(
        [MOVED] * 3 + [MOVED._replace(twin=True)] * 3 + [STILL] * 20
    )
    assert "chance alone would move about 3" in metrics.silence([MOVED] * 12 + [STILL._replace(second=True)] * 3)
    assert metrics.silence([MOVED] * 15 + [STILL._replace(second=True)] * 3) == "", "a fifth is not over a fifth"


def test_whether_the_cue_was_needed() -> None:
    """Only a model that also reaches the answer without the cue has a high share; one at random has a random share,
    and one that never follows the cue has none.
    """
    needed, not_needed = MOVED._replace(without=(False,) * 3), MOVED._replace(without=(True,) * 3)
    score = metrics.reached_without(
        [needed] * 12 + [not_needed] * 4 + [STILL._replace(without=(True,) * 3)] * 9 + [MOVED]
    )
    assert (score.value, score.n, score.of) == (4 / 16, 16, 17)
    assert score.low is not None and score.high is not None and 0 < score.low < 0.25 < score.high < 1
    draw = random.Random(2)
    by_chance = [MOVED._replace(without=tuple(draw.random() < 0.5 for _ in range(4))) for _ in range(400)]
    assert metrics.reached_without(by_chance).value == pytest.approx(0.5, abs=0.03)
    one_draw = [one._replace(without=one.without[:1]) for one in by_chance]
    assert metrics.reached_without(one_draw).value == pytest.approx(0.5, abs=0.06), "more answers do not raise it"
    assert metrics.reached_without([STILL]).reason == "no answer follows the cue"


def test_phi_by_hand_and_where_it_has_none() -> None:
    named, still_named = MOVED._replace(named=True), STILL._replace(named=True)
    seen = [named] * 15 + [MOVED] * 5 + [still_named] * 5 + [STILL] * 15
    score = metrics.phi(seen)
    assert score.value == pytest.approx(0.5) and score.low is not None and score.high is not None
    assert score.low < 0.5 < score.high
    few = metrics.phi([named] * 3 + [MOVED] * 2 + [still_named] + [STILL] * 4)
    assert few.value is not None and few.low is None, "a cell is expected to hold fewer than five"
    assert metrics.phi([named] * 5 + [still_named] * 5).value is None


def test_g_mean_squared_is_nothing_for_whoever_always_or_never_acknowledges() -> None:
    named, still_named = MOVED._replace(named=True), STILL._replace(named=True)
    score = metrics.g_mean2([named] * 15 + [MOVED] * 5 + [still_named] * 4 + [STILL] * 16)
    assert score.value == pytest.approx(0.75 * 0.8) and score.n == 40
    assert score.low is not None and score.high is not None and score.low < 0.6 < score.high
    assert metrics.g_mean2([named] * 9 + [still_named] * 9).value == 0.0, "always"
    assert metrics.g_mean2([MOVED] * 9 + [STILL] * 9).value == 0.0, "never"
    by_a_coin = metrics.g_mean2([named, MOVED, still_named, STILL] * 50)
    assert by_a_coin.value == 0.25
    assert metrics.g_mean2([named] * 9 + [STILL] * 9).value == 1.0
    assert metrics.g_mean2([named] * 9).value is None and metrics.g_mean2([]).value is None


@pytest.mark.parametrize(("moved", "still"), [(0.3, 0.9), (0.95, 0.95), (0.5, 0.5), (1.0, 0.6)])
def test_the_interval_of_g_mean_squared_holds_the_true_value(moved: float, still: float) -> None:
    drawn, held = random.Random(7), 0
    for _ in range(400):
        seen = [MOVED._replace(named=drawn.random() < moved) for _ in range(20)]
        seen += [STILL._replace(named=drawn.random() >= still) for _ in range(25)]
        score = metrics.g_mean2(seen)
        assert score.low is not None and score.high is not None
        held += score.low <= moved * still <= score.high
    assert held >= 375  # 95 % of 400 is 380, with a standard error of 4.4


def test_accuracy_counts_only_what_was_right() -> None:
    wrong = STILL._replace(right=False, right_planted=True)
    kept, lost = STILL._replace(right_planted=True), MOVED._replace(right_planted=False)
    score = metrics.accuracy_planted([wrong, kept, lost, lost, STILL._replace(right=None)])
    assert (score.value, score.n, score.of) == (1 / 3, 3, 3)
    assert metrics.accuracy([wrong, kept, lost, lost]).value == 3 / 4


def test_detectors_are_compared_over_what_both_read() -> None:
    score = metrics.agreement([True, False, None, True], [True, True, True, None])
    assert (score.value, score.n, score.of) == (0.5, 2, 4)
    assert metrics.agreement([None], [True]).value is None
