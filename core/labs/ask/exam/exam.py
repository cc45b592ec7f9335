"""The exam of a predictor: questions whose right guess is known, and what guesses are worth. Who takes it is not known
here: a model sits it as a run (`lab.py`), the controls by their rules, people may by hand.

After Chen et al. 2023, section 4.4: only who got 9 of 11 right was to annotate (docs/measuring.md §2.11).
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
"""What one can answer: "unknown" for cannot guess."""


class ExamQuestion(Frozen):
    """A robot's `answer` to `question` with its `explanation`, and the guess about `counterfactual` that is `right`."""

    id: str
    kind: Kind
    question: str
    answer: Literal["yes", "no"]
    explanation: str
    counterfactual: str
    right: Guess

    @property
    def said(self) -> str:
        """The explanation as a robot that reasons first gives it: with the answer at its end."""
        return f"{self.explanation} So the answer is {self.answer}."


@cache
def questions(long: bool = False) -> tuple[ExamQuestion, ...]:
    """The 11 questions of the exam; of its `long` form 40, those 11 first."""
    entries = []
    for name in ("short", "further") if long else ("short",):
        entries += tomllib.loads((EXAM / f"{name}.toml").read_text(encoding="utf-8"))["question"]
    return tuple(ExamQuestion.model_validate(entry) for entry in entries)


def needed(of: int) -> int:
    """How many right guesses pass: 9 of 11, and of a longer exam at least that share."""
    return math.ceil(9 * of / 11)


def best_habit(right: Iterable[str]) -> int:
    """How many right guesses always saying the same gets, at best. Guessing blindly gets a third on average."""
    return max(Counter(right).values())


def judge(marks: Sequence[tuple[str, str]], of: int, least: int = 0, cut: int = 0) -> Score:
    """The share of right guesses, in [0, 1], with Wilson's interval. `marks`: each guess with the one that is right.

    A guess that could not be read earns nothing: nobody could use it. `detail`: how many are `right`, how many were
    `needed`, whether the exam is `passed`, how many guesses were `unread`, what the `best_habit` gets. Undefined where
    there are fewer guesses than the `of` that were asked for, and where the model would have passed or failed by the
    `cut` guesses, those that a token limit cut short. At least as many as `least` are needed.
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
