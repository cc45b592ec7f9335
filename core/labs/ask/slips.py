"""How many misses a predictor's own errors explain, before an explanation is blamed for any."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ...models.ids import is_control
from ...statistics import most_errors
from .controls import Control, controls, dials
from .honest import honest
from .noisy import noisy
from .null_controls import worthless
from .records import Examined

_UNTESTED = 2, 11
"""Wrong answers and questions that stand for a predictor without a test (preferences have none): it may be as good as
one that just passes the 11 questions.
"""


@cache
def _robots() -> Mapping[str, Control]:
    return {**controls(), **dials(), **noisy(), **worthless(), **honest()}


def limit(predictor: str, exam: Examined | None) -> float:
    """The most that the predictor's error rate may be, from its qualification test: the one-sided 95 % upper limit. Of
    a robot it is known. A reader's word is taken as it is: where two readers differ, a prediction is in doubt.
    """
    if is_control(predictor):
        return float(getattr(_robots().get(predictor), "error", 0.0))
    if predictor.startswith("reader/"):
        return 0.0
    return most_errors(*(_UNTESTED if exam is None else (exam.of - exam.right, exam.of)))


def goes_by_wording(predictor: str) -> bool:
    """Whether it is a robot that knows nothing but what it is shown: without an explanation it guesses by the wording
    alone, and to err alike then says nothing of what the explanation led to.
    """
    robot = _robots().get(predictor)
    return robot is not None and robot.knows_nothing
