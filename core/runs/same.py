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


def is_same(a: object, b: object) -> bool:
    """Whether two values of JSON are equal, but for numbers that are closer than `APART`. Whole numbers, which count
    something, words and shape are equal or not.
    """
    match a, b:
        case dict(), dict():
            return a.keys() == b.keys() and all(is_same(a[key], b[key]) for key in a)
        case (list() | tuple(), list() | tuple()):
            return len(a) == len(b) and all(map(is_same, a, b))
        case (bool(), _) | (_, bool()) | (int(), int()):
            return type(a) is type(b) and a == b
        case (int() | float(), int() | float()):
            return math.isclose(a, b, rel_tol=APART, abs_tol=APART) or (math.isnan(a) and math.isnan(b))
        case _:
            return a == b
