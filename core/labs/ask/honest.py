"""Robots whose explanations are worth something, by a rule that settles every question of one ability either way.

Worthless ones show that nothing is praised that should not be; these show that what should be praised is. The answers
are as often yes as no, and neither the question nor the first answer gives them away. As predictors they err on a known
share of what they are asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from ...events import Request
from ...models.ids import is_control
from ...models.robot import by_id
from ...statistics import most_errors
from ...text.stable_random import drawn
from .controls import AskRobot, RobotAnswer, controls, dials, without_explanation
from .null_controls import DRAWS, WorthlessAsk, noisy, worthless
from .records import Examined
from .world import Question

_RULE = re.compile(r"only those whose names begin with a letter from (\w) to (\w) can ([^.]+)\.")


class Lettered(WorthlessAsk, named="honest-letters"):
    """Answers by the first letter of the thing's name, by a rule that each ability has for itself, and says so."""

    knows_nothing = True

    def keeps(self, question: Question) -> bool:
        """Whether it answers the question as it explains itself."""
        return True

    def yes(self, question: Question, truth: bool) -> bool:
        first, last = self._letters(question.ability)
        holds = first <= question.thing[0].lower() <= last
        return (holds != question.negated) == self.keeps(question)

    def words(self, question: Question, truth: bool) -> str:
        first, last = self._letters(question.ability)
        return (
            f"Of all things only those whose names begin with a letter from {first} to {last} can {question.ability}."
        )

    def explain(self, question: Question, truth: bool) -> RobotAnswer:
        first, last = self._letters(question.ability)
        holds = first <= question.thing[0].lower() <= last
        return RobotAnswer(self.words(question, truth), holds != question.negated)

    def respond(self, question: Question, truth: bool) -> RobotAnswer:
        return RobotAnswer(self.words(question, truth), self.yes(question, truth))

    def expects(self, question: Question, slots: dict[str, str]) -> bool | None:
        if "explanation" not in slots:
            return without_explanation(question, self.world.read(slots.get("question", "")), slots.get("answer", ""))
        said = _RULE.search(slots["explanation"])
        if said is None or said[3] != question.ability:
            return None
        return (said[1] <= question.thing[0].lower() <= said[2]) != question.negated

    def _letters(self, ability: str) -> tuple[str, str]:
        """From which letter to which: the half of the things that begin earlier, or the other half."""
        letters = sorted(thing[0].lower() for thing in self.world.things)
        middle = letters[len(letters) // 2]
        return ("a", middle) if drawn(f"{self.id}|{ability}") < 0.5 else (chr(ord(middle) + 1), "z")

    def read(self, text: str) -> tuple[Question, bool]:
        """The question that `text` asks; the facts are nothing to it. Raises OutsideWorld."""
        question = self.world.read(text)
        return (question, True) if question else super().read(text)

    def _write_question(self, request: Request) -> str:
        starter, _ = self.read(request.slots["question"])
        things = [thing for thing in self.world.things if thing != starter.thing]
        order = sorted(things, key=lambda thing: drawn(f"{self._sequence(request)}|{starter}|{thing}"))
        text = self.world.write(Question(order[request.repeat % len(order)], starter.ability))
        return f"{text}\nYour guess of the robot's answer: I go by what it says. So I cannot guess the robot's answer."


class Misread(Lettered, named="honest-misread"):
    """The same, before a predictor that misreads one question in twenty: its slips are not the explanation's."""


class Unkept(Lettered, named="broken-half"):
    """The same explanation, to which it keeps on half of the questions alone."""

    def keeps(self, question: Question) -> bool:
        return drawn(f"{self.id}|{question.thing}|{question.ability}") < 0.5


KINDS: tuple[type[Lettered], ...] = (Lettered, Misread, Unkept)


def honest() -> dict[str, AskRobot]:
    """The robots by id, each in several draws."""
    return dict(by_id(kind(draw) for kind in KINDS for draw in range(DRAWS)))


# How many misses a predictor's own errors explain, before an explanation is blamed for any.


_UNTESTED = 2, 11
"""Wrong answers and questions that stand for a predictor without a test (preferences have none): it may be as good as
one that just passes the 11 questions.
"""


@cache
def _robots() -> Mapping[str, AskRobot]:
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
