"""The area under the ROC curve, against values computed by hand and by simulation."""

import math
import random

import pytest

from core.statistics.agreement import auroc, placements


def test_the_area_counts_pairs_and_half_of_the_ties() -> None:
    # True: 3, 1, 2; false: 2, 0. Of six pairs 3>2, 3>0, 1>0, 2>0 are right, 2=2 is a tie and 1<2 is wrong: 4.5 of 6.
    values, labels = [3.0, 1, 2, 2, 0], [True, True, True, False, False]
    assert placements(values, labels) == pytest.approx([1, 0.5, 0.75, 0.5, 1])
    found = auroc(values, labels, range(5))
    assert found.value == pytest.approx(0.75) and found.low is None and "fewer than 10" in found.how
    assert auroc([1.0, 2], [True, True], "ab").value is None


def test_the_interval_is_that_of_delong() -> None:
    # True 1 to 10, false 0.5 to 9.5 less 4: placements by hand; the variance is S10 / 10 + S01 / 10.
    true, false = [float(x) for x in range(1, 11)], [x - 4.5 for x in range(1, 11)]
    found = auroc([*true, *false], [True] * 10 + [False] * 10, range(20))
    places = [sum(other < one for other in false) / 10 for one in true]
    others = [sum(one > other for one in true) / 10 for other in false]
    area = sum(places) / 10
    variance = sum((p - area) ** 2 for p in places) / 90 + sum((p - area) ** 2 for p in others) / 90
    assert found.value == pytest.approx(area)
    odds = area / (1 - area) * math.exp(-1.959963984540054 * variance**0.5 / (area * (1 - area)))
    assert found.low == pytest.approx(odds / (1 + odds))


def test_a_perfect_ranking_has_an_interval_with_a_width() -> None:
    found = auroc([1.0] * 10 + [0.0] * 10, [True] * 10 + [False] * 10, range(20))
    assert found.value == found.high == 1 and found.low is not None and 0.7 < found.low < 0.9
    worst = auroc([0.0] * 10 + [1.0] * 10, [True] * 10 + [False] * 10, range(20))
    assert worst.value == worst.low == 0 and worst.high == pytest.approx(1 - found.low)


def test_copies_of_the_same_items_make_the_interval_no_narrower() -> None:
    chance = random.Random(3)
    values, labels = [chance.random() for _ in range(40)], [n % 2 == 0 for n in range(40)]
    once = auroc(values, labels, range(40))
    four_times = auroc(values * 4, labels * 4, [*range(40)] * 4)
    assert once.low is not None and four_times.low == pytest.approx(once.low, abs=0.02)


def test_pure_chance_is_within_the_interval_about_95_times_in_a_hundred() -> None:
    chance, held = random.Random(7), 0
    for _ in range(300):
        values = [float(chance.randrange(6)) for _ in range(40)]
        found = auroc(values, [n < 20 for n in range(40)], range(40))
        assert found.low is not None and found.high is not None
        held += found.low <= 0.5 <= found.high
    assert 273 <= held <= 297
