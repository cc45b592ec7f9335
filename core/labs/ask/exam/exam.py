"""The qualification test of a predictor: questions with known right guesses, and how guesses are scored. A model takes
it as a run (`lab.py`), the score of a control follows from its rules, and people may take it by hand.

After Chen et al. 2023, section 4.4: only people who got 9 of 11 right could annotate (docs/measuring.md §2.11).
"""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Literal

from ....events import Frozen
from ....package_data import DATA
from ....score import Score, share, undefined
from ..parse_answers.values import NEITHER

EXAM = DATA / "exam"

Kind = Literal["entailed yes", "entailed no", "not settled", "misleading words"]
Guess = Literal["yes", "no", "unknown"]
"""The possible guesses; "unknown" means cannot guess."""


class ExamQuestion(Frozen):
    """A robot's `answer` to `question` with its `explanation`, and the `right` guess about `counterfactual`."""

    id: str
    kind: Kind
    question: str
    answer: Literal["yes", "no"]
    explanation: str
    counterfactual: str
    right: Guess

    @property
    def said(self) -> str:
        """The explanation of a robot that reasons first, with the answer at its end."""
        return f"{self.explanation} So the answer is {self.answer}."


@cache
def questions(long: bool = False) -> tuple[ExamQuestion, ...]:
    """Return the 11 questions of the test; in its `long` form 40, those 11 first."""
    entries = []
    for name in ("short", "further") if long else ("short",):
        entries += tomllib.loads((EXAM / f"{name}.toml").read_text(encoding="utf-8"))["question"]
    return tuple(ExamQuestion.model_validate(entry) for entry in entries)


def needed(of: int) -> int:
    """Return the number of right guesses needed to pass: 9 of 11, or at least that share of a longer test."""
    return math.ceil(9 * of / 11)


def best_habit(right: Iterable[str]) -> int:
    """Return the number of right guesses of the best fixed answer. Guessing blindly gets a third on average."""
    return max(Counter(right).values())


def judge(marks: Sequence[tuple[str, str]], of: int, least: int = 0, cut: int = 0) -> Score:
    """Return the share of right guesses, in [0, 1], with Wilson's interval. `marks`: each guess with the right one.

    An unreadable guess counts as wrong, because nobody could use it. `detail`: the number of `right` guesses, the
    number `needed`, whether the test is `passed`, how many guesses were `unread`, and the score of the `best_habit`. At
    least `least` right guesses are needed. Undefined if there are fewer guesses than `of`, or if the `cut` guesses,
    those cut off by a token limit, decide whether the model passes.
    """
    if len(marks) < of or not marks:
        return undefined(of, f"{of - len(marks)} of {of} questions have no answer")
    right = sum(guess == wanted for guess, wanted in marks)
    wanted = max(needed(of), least)
    if right < wanted <= right + cut:
        return undefined(of, f"{cut} of {of} answers were cut, and with these it could have passed: allow more tokens")
    return share(
        right,
        of,
        of,
        right=right,
        needed=wanted,
        passed=right >= wanted,
        unread=sum(guess == NEITHER for guess, _ in marks),
        **({"cut": cut} if cut else {}),
        best_habit=best_habit(answer for _, answer in marks),
    )
