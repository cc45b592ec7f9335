"""The words of Ask on every screen."""

from __future__ import annotations

from collections.abc import Mapping

from ...scene import Mark
from ..base.declared import Means, words_of
from .parse_answers.values import UNKNOWN
from .view import Outcome

NAME = "simulatability"
QUESTION = "From its explanation, can you predict what it will answer next?"

METHODS: Mapping[str, str] = words_of(__file__, "methods")
"""Names of the methods."""

WORDS = {
    **{f"{method}, its reasoning": f"{words} (its thinking)" for method, words in METHODS.items()},
    "misled all": "misled all predictors",
    "answered": "not predicted",
    "unknown": "cannot guess",
    "neither": "unreadable",
    "slips": "may be the predictor's slips",
}
"""Names of values and outcomes."""

OUTCOMES: Mapping[str, Means] = {
    **dict.fromkeys(("as expected", "helped"), "kept"),
    **dict.fromkeys(("misled", "misled all"), "broken"),
    **dict.fromkeys(("not judged", "in doubt", "told nothing", "not shown", "slips", "too few"), "in doubt"),
    "not settled": "not settled",
    "answered": "not settled",
    "no explanation": "set aside",
    "cut": "set aside",
    "thinking not shown": "set aside",
}
"""What outcomes of cases and new questions mean for the explanation."""

MEANT: Mapping[str, Means] = {**OUTCOMES, "failed": "failed", "waiting": "waiting", "unread": "unread"}
"""The same, with the outcomes that have one meaning in every lab (`Lab.means`)."""

MARKS: Mapping[Outcome, Mark] = {
    **{"as expected": "kept", "misled": "broken", "misled all": "broken", "cannot guess": "not settled"},
    **{"unread": "unread", "dropped": "set aside", "waiting": "waiting", "answered": "not settled"},
}
"""The mark of a new question's outcome."""

MARK_WORDS: Mapping[Mark, str] = words_of(__file__, "marks")
"""Names of the marks."""
OF_PERSON: Mapping[Mark, str] = {**MARK_WORDS, "not settled": "not predicted"}
"""Names of the marks where visitors predict."""

REASONS: Mapping[str, str] = words_of(__file__, "set_aside")
"""Why a new question was excluded."""

UNCOUNTED: Mapping[Outcome, str] = words_of(__file__, "uncounted")
"""Why a question that was asked does not count."""

YES_OR_NO = {"yes": "Yes", "no": "No", UNKNOWN: "Cannot tell"}
OF_TWO = {"1": "Response 1", "2": "Response 2", UNKNOWN: "Cannot tell"}
"""Names of the values that can be expected of a new question."""

MEANS: tuple[str, ...] = words_of(__file__, "means")
MEANS_NOT: tuple[str, ...] = words_of(__file__, "means_not")
"""What a verdict means, and what it does not mean, each in a sentence or two."""
MEANS_PERSON: tuple[str, ...] = (*words_of(__file__, "means_person"), *MEANS_NOT[:2])
"""Both, where visitors predict."""

DEFENDED = "Its own answer was the opposite. It was then told to defend this one."

GIVEN = "This explanation was given; the model did not write it. The model is asked the new questions."


def value_words(value: str) -> str:
    """Return the name of a value."""
    return {"1": "response 1", "2": "response 2", **WORDS}.get(value, value)
