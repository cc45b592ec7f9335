"""Whether two findings say the same: numbers need not agree beyond the digits that they have.

Sums come out otherwise in the last digits on another processor, by another order or number of threads. What a journal
says is not said again for that.
"""

from __future__ import annotations

import math

APART = 1e-5
"""Numbers that differ by no more, in themselves or as a share of the larger, are one number. Likeness by sentence
vectors has 6 digits (`core.text.embed.DIGITS`), and the ends of an interval move by several times as much as what they
stand on. No figure is shown with so many.
"""


def is_same(a: object, b: object, apart: float = APART) -> bool:
    """Whether two values of JSON are equal, but for numbers that are no more than `apart` from each other. Whole
    numbers, which count something, words and shape are equal or not.
    """
    match a, b:
        case dict(), dict():
            return a.keys() == b.keys() and all(is_same(a[key], b[key], apart) for key in a)
        case (list() | tuple(), list() | tuple()):
            return len(a) == len(b) and all(is_same(*pair, apart) for pair in zip(a, b, strict=True))
        case (bool(), _) | (_, bool()) | (int(), int()):
            return type(a) is type(b) and a == b
        case (int() | float(), int() | float()):
            return math.isclose(a, b, rel_tol=apart, abs_tol=apart) or (math.isnan(a) and math.isnan(b))
        case _:
            return a == b
