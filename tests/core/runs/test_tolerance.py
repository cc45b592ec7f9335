"""What is news, and what is only the last digits of another machine."""

import math

import pytest

from core.runs.context import TOLERANCE, nearly_equal


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (0.35028179606740306, 0.3502817960674032, True),
        (0.5, 0.5 + 0.9 * TOLERANCE, True),
        (0.5, 0.5 + 1.1 * TOLERANCE, False),
        (0.0, -1e-17, True),
        (1.0, 1, True),
        (1e12, 1e12 + 1, True),
        (math.nan, math.nan, True),
        (math.nan, 0.0, False),
        (math.inf, 1.0, False),
        (None, 0.0, False),
        # Counts, words and shapes are the same or not.
        (100_000_000, 100_000_001, False),
        (True, 1, False),
        (False, 0.0, False),
        ("0.35028179606740306", "0.3502817960674032", False),
        ([1.0, [2.0]], (1.0 + 1e-9, [2.0]), True),
        ([1.0], [1.0, 1.0], False),
        ({"low": None, "value": 0.25}, {"value": 0.25 - 1e-12, "low": None}, True),
        ({"value": 0.25}, {"value": 0.25, "more": 1}, False),
    ],
)
def test_numbers_are_the_same_up_to_their_last_digits_and_all_else_is_or_is_not(
    a: object, b: object, same: bool
) -> None:
    assert nearly_equal(a, b) is nearly_equal(b, a) is same
