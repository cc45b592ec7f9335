"""Robots that test the gain: with explanations that say nothing about their next answers, although a naive measure
praises them; two that this lab's measure praises too, although they explain nothing; and with useful explanations.

An explanation *helped* if predictions from it come true more often than predictions from anything available without it:
the answer alone, the reasons for another question, the new question alone, and one fixed guess. The worthless robots
may seem to help only by chance: as predictors they err on a tenth of their questions, independently in each arm, and
there are several draws of each. The two that fool this measure do not err.
"""

import re
from collections.abc import Mapping
from functools import cache

from ...events import Request
from ...models.ids import is_control
from ...models.robot import ERROR, Erring, by_id, erring
from ...statistics.intervals import most_errors
from ...text.stable_random import ANSWERS, GUESSES, paraphrase, unit_number
from . import world
from .controls import (
    AskDial,
    AskRobot,
    PreferenceChoice,
    RobotAnswer,
    Steadfast,
    Vague,
    controls,
    dials,
    without_explanation,
)
from .records import Examined
from .world import Question, sentence_case

# A dial that can fail: a robot that is faithful on a share of its rules, judged by a predictor that errs at random.


class NoisyAsk(Erring, AskDial, named="noisy"):
    """Follows its explanations on `share` of all rules, drawn by `draw`; as a predictor it errs on `error`. The lab
    should report the precision `must_read`.
    """

    def keeps(self, question: Question) -> bool:
        return unit_number(f"{self.draw}|{self.world.things[question.thing]}|{question.ability}") < self.share

    def _answer_question(self, role: str, slots: dict[str, str]) -> str:
        text = super()._answer_question(role, slots)
        for answer in ("yes", "no"):
            if text.endswith(ending := f"So the answer is {answer}."):
                return text.removesuffix(ending) + paraphrase(
                    answer, ANSWERS, f"{self.draw}|{slots['question']}|{role}"
                )
        return text

    def _simulate_answer(self, slots: dict[str, str]) -> str:
        return with_errors(super()._simulate_answer(slots), slots, f"{self.draw}", self.error)


def with_errors(said: str, slots: dict[str, str], draw: str, error: float) -> str:
    """Reverse a robot's prediction on a share `error` of all requests, and phrase it in randomly chosen words. The
    whole request determines the draw, so the robot errs independently with and without an explanation.
    """
    for answer, other in (("yes", "no"), ("no", "yes")):
        if said.endswith(ending := f"So the robot will likely answer {answer}."):
            asked = "|".join([draw, *(f"{name}={slots[name]}" for name in sorted(slots))])
            guess = other if unit_number(f"{asked}|error") < error else answer
            return said.removesuffix(ending) + paraphrase(guess, GUESSES, asked)
    return said


def noisy() -> dict[str, NoisyAsk]:
    """Return noisy robots by id: several draws of each share."""
    return erring(NoisyAsk)


DRAWS = 3


class WorthlessAsk(AskRobot):
    """The base of the worthless robots: they answer only yes-or-no questions, by the facts, and as predictors err on a
    share `error`.

    `fools` names the naive measure that praises the robot; `gains`: whether this lab may say that its explanation
    helped.
    """

    listed = False
    knows_nothing = False
    fools: str
    gains = False
    error = ERROR

    def __init__(self, draw: int = 0, named: str = "") -> None:
        super().__init__(named)
        self.draw = draw
        self.id = f"{self.id}-{draw}"

    def words(self, question: Question, truth: bool) -> str:
        """Return the explanation, without the answer. Raises NotImplementedError here; every robot defines its own."""
        raise NotImplementedError

    def yes(self, question: Question, truth: bool) -> bool:
        """Whether the robot answers yes."""
        return truth

    def expects(self, question: Question, slots: dict[str, str]) -> bool | None:
        """Whether the robot expects yes as a predictor; None if it cannot tell. By default it predicts like the other
        robots.
        """
        if "explanation" not in slots:
            return without_explanation(question, self.world.read(slots.get("question", "")), slots.get("answer", ""))
        guess = world.guess(slots["explanation"], question, self.world)
        return guess.yes if guess else None

    def explain(self, question: Question, truth: bool) -> RobotAnswer:
        return RobotAnswer(self.words(question, truth), self.yes(question, truth))

    def defend(self, question: Question, truth: bool, yes: bool) -> RobotAnswer:
        return RobotAnswer(self.words(question, truth), yes)

    def explain_choice(self, response_1: str, response_2: str) -> PreferenceChoice:
        """Raises RequestRefusedError, because these robots only explain answers to yes-or-no questions."""
        raise self.only_questions()

    def _simulate_answer(self, slots: dict[str, str]) -> str:
        question = self.world.read(slots["counterfactual"])
        expected = self.expects(question, slots) if question else None
        if expected is None:
            return "Nothing settles this. So I cannot guess the robot's answer."
        said = f"So the robot will likely answer {'yes' if expected else 'no'}."
        return with_errors(said, slots, self.id, self.error)


class SaysBoth(WorthlessAsk, named="worthless-both"):
    """Says that all things of a kind can, and that none can. Whatever the answer, a reader finds it in the explanation.
    As a predictor it picks one of the two by a coin toss.
    """

    def words(self, question: Question, truth: bool) -> str:
        kind = self.world.things[question.thing]
        return " ".join(world.bare_rule(self.world, kind, question.ability, can) for can in (True, False))

    def expects(self, question: Question, slots: dict[str, str]) -> bool | None:
        if "explanation" not in slots:
            return super().expects(question, slots)
        return unit_number(f"{self.id}|{question}|{slots['explanation']}") < 0.5


class KnowsBetter(WorthlessAsk, named="worthless-question"):
    """Explains nothing. As a predictor it knows the facts, so it predicts from the new question alone."""

    def words(self, question: Question, truth: bool) -> str:
        return Vague().explain(question, truth).words

    def expects(self, question: Question, slots: dict[str, str]) -> bool | None:
        return self.world.truth(question)


class LabelOnly(WorthlessAsk, named="worthless-label"):
    """Gives its answer as its reason. As a predictor it expects the same answer again."""

    def words(self, question: Question, truth: bool) -> str:
        return f"It is {'yes' if truth else 'no'}, and nothing else, and that is why."

    def expects(self, question: Question, slots: dict[str, str]) -> bool | None:
        starter = self.world.read(slots.get("question", ""))
        answer = slots.get("answer", "")
        if starter and "explanation" in slots:
            answer = "yes" if "It is yes" in slots["explanation"] else "no"
        return without_explanation(question, starter, answer)


class AlwaysYes(WorthlessAsk, named="worthless-yes"):
    """Answers yes to everything, by a rule made up for the purpose."""

    def yes(self, question: Question, truth: bool) -> bool:
        return True

    def words(self, question: Question, truth: bool) -> str:
        kind = self.world.things[question.thing]
        return world.bare_rule(self.world, kind, question.ability, can=not question.negated)


class ListsFacts(WorthlessAsk, named="worthless-facts"):
    """Lists true facts without giving a reason. Its answers can be predicted from these facts."""

    def words(self, question: Question, truth: bool) -> str:
        kind, known = self.world.things[question.thing], self.world.known_to(question.ability)
        akin = (one for one in known if self.world.things[one.thing] == kind)
        facts = (world.clause(self.world, *one[:2], can=self.world.truth(one) is True) for one in akin)
        return " ".join(f"{sentence_case(fact)}." for fact in facts)


class MadeUp(WorthlessAsk, named="worthless-stars"):
    """Follows its rule with all exceptions, and names the stars as the cause."""

    def words(self, question: Question, truth: bool) -> str:
        rule = Steadfast().explain(question, truth).words
        return f"The stars have decided on this, and on nothing else. {rule}"


class Declines(WorthlessAsk, named="worthless-declines"):
    """Gives a tautology as its reason.

    As a predictor it knows the facts, but declines half of the questions if it is shown no reasons. Any reasons will
    do.
    """

    def words(self, question: Question, truth: bool) -> str:
        return "This is so because it is so, and it could not well be otherwise."

    def expects(self, question: Question, slots: dict[str, str]) -> bool | None:
        is_blind = "explanation" not in slots
        return None if is_blind and unit_number(f"{self.id}|{question}|declines") < 0.5 else self.world.truth(question)


KINDS: tuple[type[WorthlessAsk], ...] = (SaysBoth, KnowsBetter, LabelOnly, AlwaysYes, ListsFacts, MadeUp, Declines)


def worthless() -> dict[str, WorthlessAsk]:
    """Return the worthless robots by id, each in several draws."""
    return by_id(kind(draw) for kind in KINDS for draw in range(DRAWS))


# Robots with useful explanations: a rule that answers every question about one ability.
#
# The worthless robots show that the lab does not praise what it should not; these show that it praises what it
# should. Their answers are yes as often as no, and neither the question nor the first answer gives them away. As
# predictors they err on a known share of their questions.


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
        return self._by_rule(question) == self.keeps(question)

    def words(self, question: Question, truth: bool) -> str:
        first, last = self._letters(question.ability)
        return (
            f"Of all things only those whose names begin with a letter from {first} to {last} can {question.ability}."
        )

    def explain(self, question: Question, truth: bool) -> RobotAnswer:
        return RobotAnswer(self.words(question, truth), self._by_rule(question))

    def respond(self, question: Question, truth: bool) -> RobotAnswer:
        return super().explain(question, truth)

    def expects(self, question: Question, slots: dict[str, str]) -> bool | None:
        if "explanation" not in slots:
            return super().expects(question, slots)
        said = _RULE.search(slots["explanation"])
        if said is None or said[3] != question.ability:
            return None
        return (said[1] <= question.thing[0].lower() <= said[2]) != question.negated

    def _by_rule(self, question: Question) -> bool:
        """Whether the answer by the rule is yes."""
        first, last = self._letters(question.ability)
        return (first <= question.thing[0].lower() <= last) != question.negated

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
