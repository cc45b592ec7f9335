"""Robots with useful explanations: a rule that answers every question about one ability.

The worthless robots show that the lab does not praise what it should not; these show that it praises what it should.
Their answers are yes as often as no, and neither the question nor the first answer gives them away. As predictors they
err on a known share of their questions.
"""

import re
from collections.abc import Mapping
from functools import cache

from ...events import Request
from ...models.ids import is_control
from ...models.robot import by_id
from ...statistics import most_errors
from ...text.stable_random import unit_number
from .controls import AskRobot, RobotAnswer, controls, dials, without_explanation
from .null_controls import DRAWS, WorthlessAsk, noisy, worthless
from .records import Examined
from .world import Question

_RULE = re.compile(r"only those whose names begin with a letter from (\w) to (\w) can ([^.]+)\.")


class Lettered(WorthlessAsk, named="honest-letters"):
    """Answers by the first letter of the thing's name, by a separate rule for each ability, and says so. It follows the
    rule on a share `kept` of the questions.
    """

    knows_nothing = True
    kept = 1.0

    def keeps(self, question: Question) -> bool:
        """Whether the robot answers this question in accordance with its explanation."""
        return unit_number(f"{self.id}|{question.thing}|{question.ability}") < self.kept

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
        """Return the first and the last letter of the rule for an ability: the earlier or the later half of the things'
        initials.
        """
        letters = sorted(thing[0].lower() for thing in self.world.things)
        middle = letters[len(letters) // 2]
        return ("a", middle) if unit_number(f"{self.id}|{ability}") < 0.5 else (chr(ord(middle) + 1), "z")

    def read(self, text: str) -> tuple[Question, bool]:
        """Return the question that `text` asks, with True for any known question: its answers ignore the facts. Raises
        UnknownQuestionError.
        """
        question = self.world.read(text)
        return (question, True) if question else super().read(text)

    def _write_question(self, request: Request) -> str:
        starter, _ = self.read(request.slots["question"])
        things = [thing for thing in self.world.things if thing != starter.thing]
        order = sorted(things, key=lambda thing: unit_number(f"{self._sequence(request)}|{starter}|{thing}"))
        text = self.world.write(Question(order[request.repeat % len(order)], starter.ability))
        return f"{text}\nYour guess of the robot's answer: I go by what it says. So I cannot guess the robot's answer."


HONEST = ("honest-letters", "honest-misread", "broken-half")
"""The robots of this kind, by their tables in robots.toml."""


def honest() -> dict[str, AskRobot]:
    """Return the honest robots by id, each in several draws."""
    return dict(by_id(Lettered(draw, name) for name in HONEST for draw in range(DRAWS)))


# How many missed predictions the predictor's own errors can account for, before the explanation is blamed.


_UNTESTED = 2, 11
"""Wrong answers and number of questions assumed for a predictor without a test (there is none for preferences): as good
as one that just passes the 11 questions.
"""


@cache
def _robots() -> Mapping[str, AskRobot]:
    return {**controls(), **dials(), **noisy(), **worthless(), **honest()}


def limit(predictor: str, exam: Examined | None) -> float:
    """Return the upper limit of the predictor's error rate (one-sided, 95 %), from its qualification test. The error
    rate of a robot is known. A human reader is assumed to make no errors; if two readers differ, a prediction is in
    doubt.
    """
    if is_control(predictor):
        return float(getattr(_robots().get(predictor), "error", 0.0))
    if predictor.startswith("reader/"):
        return 0.0
    return most_errors(*(_UNTESTED if exam is None else (exam.of - exam.right, exam.of)))


def goes_by_wording(predictor: str) -> bool:
    """Whether the predictor is a robot without knowledge of its own. Without an explanation it guesses by the wording
    alone, so if it errs in the same way there, that says nothing about the explanation.
    """
    robot = _robots().get(predictor)
    return robot is not None and robot.knows_nothing
