"""A figure with its n: when n is small, and how several cases are combined."""

import math

import pytest

from core.score import Score, mean_of_cases, undefined
from core.statistics.intervals import interval_of_items, is_thin, wilson


def share(hits: int, n: int) -> Score:
    return Score(hits / n, n, n, *wilson(hits / n, n), hits=hits)


@pytest.mark.parametrize(("n", "of", "few"), [(6, 10, True), (7, 10, False), (69, 100, True), (70, 100, False),
                                              (0, 0, False), (0, 1, True), (1, 1, False)])  # fmt: skip
def test_fewer_than_seven_of_ten_are_few(n: int, of: int, few: bool) -> None:
    assert is_thin(n, of) is few and Score(None, n, of).is_thin is few


def test_one_case_is_told_as_it_is() -> None:
    one = share(2, 3)
    assert mean_of_cases([one]) is one
    assert mean_of_cases([undefined(4, "nothing was said")]).reason == "nothing was said"


def test_each_case_counts_alike_and_the_interval_is_of_cases() -> None:
    mean = mean_of_cases([share(1, 1), share(0, 9), undefined(5, "none")])
    assert (mean.value, mean.n, mean.of) == (0.5, 2, 3)
    assert (mean.low, mean.high) == wilson(0.5, 2)
    assert mean.detail == {"mean_of": "cases", "trials": 10, "interval": "wilson over items"}
    # Values in between carry more information than zeros and ones, as everywhere (`interval_of_items`).
    between = mean_of_cases([share(3, 4), share(2, 4), share(3, 4), share(4, 4), share(3, 4), share(3, 4)])
    assert (between.low, between.high) == interval_of_items([0.75, 0.5, 0.75, 1, 0.75, 0.75])[1:3]
    assert between.low > wilson(0.75, 6)[0] and between.high < wilson(0.75, 6)[1]


@pytest.mark.parametrize("value", [-0.01, 0.7, 1.01, 24.0])
def test_what_is_no_share_has_a_t_interval(value: float) -> None:
    from scipy.stats import t

    mean = mean_of_cases([Score(value, 3, 3), Score(0.5, 4, 4)], "any")
    assert mean.value == pytest.approx((value + 0.5) / 2) and (mean.n, mean.of) == (2, 2)
    assert (mean.low, mean.high) == pytest.approx(t.interval(0.95, 1, mean.value, abs(value - 0.5) / 2))
    assert mean.detail == {"mean_of": "cases", "trials": 7, "interval": "t over items"}


@pytest.mark.parametrize("ends", [(0.0, 0.0), (1.0, 1.0), (0.0, 1.0)])
def test_shares_reach_from_none_to_all(ends: tuple[float, float]) -> None:
    mean = mean_of_cases([Score(value, 1, 1) for value in ends])
    assert mean.low is not None and mean.high is not None and 0 <= mean.low < mean.high <= 1


@pytest.mark.parametrize("cases", [0, 2])
def test_where_no_case_has_a_value_there_is_none_and_why(cases: int) -> None:
    mean = mean_of_cases([undefined(3, "nothing was said")] * cases)
    assert (mean.value, mean.n, mean.of) == (None, 0, cases)
    assert mean.reason == "it is defined in none of the cases"


def test_a_score_says_what_it_is() -> None:
    score = Score(0.25, 4, 8, hits=1, detail={"success": 1})
    assert float(score) == 0.25 and score.hits == 1 and score.success is True and score.reason == ""
    assert (score.over(9).of, score.over(9).n, score.of) == (9, 4, 8)
    assert math.isnan(float(Score(None, 0, 3))) and Score(0.5, 1, 1).success is False and Score(0.5, 1, 1).hits is None
    with pytest.raises(AttributeError):
        score.n = 5  # type: ignore[misc]
