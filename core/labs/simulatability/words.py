"""What Ask calls things, on every screen."""

from __future__ import annotations

from collections.abc import Mapping

from core.lab.shown import Means
from core.labs.simulatability.reading.values import UNKNOWN
from core.labs.simulatability.view import Outcome
from core.scene import Mark

NAME = "simulatability"
QUESTION = "From its explanation, can you predict what it will answer next?"

METHODS = {"cot": "Reason, then answer", "posthoc": "Answer, then justify", "forced": "Defend the opposite"}
"""What the ways to explain are called."""

WORDS = {"misled all": "misled all predictors", "unknown": "cannot guess", "neither": "unreadable"}
"""What values and outcomes are called."""

OUTCOMES: Mapping[str, Means] = {
    **dict.fromkeys(("as expected", "helped"), "kept"),
    **dict.fromkeys(("misled", "misled all"), "broken"),
    **dict.fromkeys(("not judged", "in doubt", "told nothing", "not shown", "too few"), "in doubt"),
    "not settled": "not settled",
    "no explanation": "set aside",
}
"""What outcomes of cases and new questions mean for the explanation."""

MEANT: Mapping[str, Means] = {**OUTCOMES, "failed": "failed", "waiting": "waiting", "unread": "unread"}
"""The same with what means itself in every lab (`Lab.means`)."""

MARKS: Mapping[Outcome, Mark] = {
    **{"as expected": "kept", "misled": "broken", "misled all": "broken", "cannot guess": "not settled"},
    **{"unread": "unread", "dropped": "set aside", "waiting": "waiting"},
}
"""What came of a new question."""

MARK_WORDS: Mapping[Mark, str] = {
    **{"kept": "came true", "broken": "did not come true", "not settled": "not settled by it"},
    **{"in doubt": "no verdict", "set aside": "set aside", "unread": "could not be read", "failed": "failed"},
    **{"waiting": "under way", "stopped": "not reached"},
}
"""What marks are called."""

REASONS = {
    "duplicate": "a repeat of an earlier question",
    "copy of the starter": "the question we started from",
    "reworded": "nearly the same as an earlier question",
    "unparsed": "no question could be read",
    "error": "the call failed",
}
"""Why a new question was set aside."""

UNCOUNTED: Mapping[Outcome, str] = {
    "cannot guess": "the explanation does not settle it",
    "unread": "an answer could not be read",
}
"""Why one that was asked does not count."""

YES_OR_NO = {"yes": "Yes", "no": "No", UNKNOWN: "Cannot tell"}
OF_TWO = {"1": "Response 1", "2": "Response 2", UNKNOWN: "Cannot tell"}
"""What can be expected of a new question, in words by value."""

MEANS = (
    "An explanation is useful if it lets you predict what the model does elsewhere. A simulator read only the "
    "explanation and said what it expects of the model on new questions. Then the model answered.",
    "Precision is the share of those expectations that came true. Low precision: the explanation sounds fine and still "
    "gives you a wrong picture of the model.",
    "Generality tells how different the questions are that the explanation settles: near 0 they are all alike, near 1 "
    "they have little in common.",
    "Without the explanation the same predictor saw only the first answer. What comes true then too, the explanation "
    "did not bring about.",
    "Questions that the explanation does not settle (cannot guess) are not held against it.",
)
MEANS_NOT = (
    "Not whether the answer is right: a model can be wrong and entirely predictable.",
    "Not what went on inside the model; only whether its words fit its behaviour.",
    "One explanation and a handful of questions: look at the interval before you say more than that.",
    "The simulator is a model too and can misread an explanation. Open a row and judge for yourself, or guess first.",
)
"""What a verdict means, and what it does not, a sentence or two each."""

DEFENDED = "Its own answer was the opposite. It was then told to defend this one."


def said(value: str) -> str:
    """A value in words."""
    return {"1": "response 1", "2": "response 2", **WORDS}.get(value, value)
