"""Robots of known faithfulness for the Ask lab, over the small world of `data/controls/`.

They can play every role of the lab. They use only the request's role and slots, so prompts can be reworded freely. As
explainer and answerer they differ; as generator they draw different questions; as simulator they are all alike.
"""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from ...events import Request
from ...models.errors import RequestRefusedError, UnknownQuestionError
from ...models.ids import is_control
from ...models.robot import ERROR, Erring, Graded, Robot, by_id, erring, graded
from ...package_data import rows
from ...statistics.intervals import most_errors
from ...text.stable_random import ANSWERS, GUESSES, VAGUE, VAGUE_REASONS, paraphrase, unit_number
from . import world
from .records import CounterfactualPair, Examined
from .world import Question, World, sentence_case

# Preference pairs of the controls: two responses to one context, and the rules by which robots choose and predict.


_FIGURE = re.compile(r"\d|^\s*[-*•]\s", re.MULTILINE)
_LENGTH = re.compile(r"\b(longer|shorter) response\b", re.IGNORECASE)


@cache
def load() -> tuple[CounterfactualPair, ...]:
    """Return the shipped pairs."""
    return rows("controls/preferences", "pairs", CounterfactualPair)


def longer(response_1: str, response_2: str) -> int:
    """Return the number of the response with more words; 1 if they have equally many."""
    return 2 if len(response_2.split()) > len(response_1.split()) else 1


def by_length(which: str, response_1: str, response_2: str) -> int:
    """Return the choice of a robot that prefers the "longer" or the "shorter" response. Of equally long ones, 1 counts
    as longer.
    """
    chosen = longer(response_1, response_2)
    return chosen if which == "longer" else 3 - chosen


def with_figures(response_1: str, response_2: str) -> int | None:
    """Return which response contains a digit or a list; None if both do or neither does."""
    has = [bool(_FIGURE.search(response)) for response in (response_1, response_2)]
    return None if has[0] == has[1] else 1 + has.index(True)


def guess_choice(explanation: str, response_1: str, response_2: str) -> tuple[int, str] | None:
    """Return the choice that `explanation` implies, and the length it prefers; None if it names no preferred length, or
    both.
    """
    preferred = {match.lower() for match in _LENGTH.findall(explanation)}
    if len(preferred) != 1:
        return None
    which = preferred.pop()
    return by_length(which, response_1, response_2), which


class RobotAnswer(NamedTuple):
    """An answer to a question, and its explanation in whole sentences."""

    words: str
    yes: bool


class PreferenceChoice(NamedTuple):
    """The chosen response (1 or 2), and why: a clause in lower case that can follow "because"."""

    why: str
    number: int


class AskRobot(Robot):
    """The base of the robots: roles, formats, writing counterfactuals and simulating.

    A robot's behaviour is `explain` (the starter), `respond` (a counterfactual) and `defend` (an answer it is told to
    give: the slot `answer`, or `choice`), and the same for preference pairs. How far `respond` agrees with `explain` is
    the robot's faithfulness. By default a robot responds as it explains, and chooses the longer response; `explain` and
    `defend` raise NotImplementedError.
    """

    knows_nothing = True
    """As a predictor: it has no facts of its own, so without an explanation it goes by the wording."""
    has_preferences = True
    """Whether it chooses between responses; if not, it answers only yes-or-no questions."""

    def __init__(self, named: str = "") -> None:
        super().__init__(named)
        self.world = world.load()
        self.pairs = load()

    def _reply(self, request: Request) -> str:
        slots = request.slots
        match request.role, slots.get("task"):
            case "explainer" | "answerer", "strategyqa":
                return self._answer_question(request.role, slots)
            case "generator", "strategyqa":
                return self._write_question(request)
            case "simulator", "strategyqa":
                return self._simulate_answer(slots)
            case "explainer" | "answerer", "shp":
                return self._answer_pair(request.role, slots)
            case "generator", "shp":
                return self._write_pair(request)
            case "simulator", "shp":
                return self._simulate_choice(slots)
        raise self.refused(request, "Ask")

    # Behaviour that differs between robots

    def explain(self, question: Question, truth: bool) -> RobotAnswer:
        """Return the answer to the starter question, with its explanation. `truth`: whether yes is the correct
        answer.
        """
        raise NotImplementedError

    def respond(self, question: Question, truth: bool) -> RobotAnswer:
        """Return the answer to a counterfactual. `truth`: whether yes is the correct answer."""
        return self.explain(question, truth)

    def defend(self, question: Question, truth: bool, yes: bool) -> RobotAnswer:
        """Return an explanation for the answer that the robot is told to give."""
        raise NotImplementedError

    def explain_choice(self, response_1: str, response_2: str) -> PreferenceChoice:
        """Return the choice between the starter's responses, with its explanation."""
        return _by_length("longer", response_1, response_2)

    def respond_choice(self, response_1: str, response_2: str) -> PreferenceChoice:
        """Return the choice between a counterfactual's responses."""
        return self.explain_choice(response_1, response_2)

    def defend_choice(self, response_1: str, response_2: str, number: int) -> PreferenceChoice:
        """Return an explanation for the choice that the robot is told to make, as if it had a rule about length."""
        which = "longer" if number == longer(response_1, response_2) else "shorter"
        return _by_length(which, response_1, response_2)

    # Yes-or-no questions

    def read(self, text: str) -> tuple[Question, bool]:
        """Return the question that `text` asks, and whether yes is its correct answer. Raises UnknownQuestionError."""
        question = self.world.read(text)
        truth = self.world.truth(question) if question else None
        if question and truth is not None:
            return question, truth
        suggested = self.world.suggestions(text)
        if question:
            message = f"In its small world, {self.id} does not know whether {self._whether(question)}."
        else:
            message = (
                f"{self.id} knows a small world of animals, foods, vehicles, places and tools. This is outside it."
            )
        raise UnknownQuestionError(message, f"It can answer these: {' · '.join(suggested)}", suggested)

    def _whether(self, question: Question) -> str:
        return world.clause(self.world, question.thing, question.ability, not question.negated)

    def _answer_question(self, role: str, slots: dict[str, str]) -> str:
        question, truth = self.read(slots["question"])
        if role == "answerer":
            verdict = self.respond(question, truth)
        elif "answer" in slots:
            verdict = self.defend(question, truth, yes=slots["answer"].strip().lower().startswith("yes"))
        else:
            verdict = self.explain(question, truth)
        answer = _yes(verdict.yes)
        asked = f"The question is whether {self._whether(question)}. " if question.negated else ""
        reasons = f"{asked}{verdict.words} So the answer is {answer}."
        return reasons if slots["method"] == "cot" else f"{answer}\nJustification: {reasons}"

    def _write_question(self, request: Request) -> str:
        starter, _ = self.read(request.slots["question"])
        key = self._sequence(request)
        if "operation" in request.slots:
            text = world.blind(self.world, starter, request.slots["operation"], request.repeat, key)
        else:
            text = self.world.write(world.aware(self.world, starter, request.repeat, key))
        question, truth = self.read(text)
        guess = world.guess(request.slots.get("explanation", ""), question, self.world)
        why = "Its explanation says so." if guess else "Its explanation leaves this open; I go by what I know."
        guessed = guess.yes if guess else truth
        return f"{text}\nYour guess of the robot's answer: {why} So the robot will likely answer {_yes(guessed)}."

    def _sequence(self, request: Request) -> str:
        """Return the key of the sequence that a draw belongs to. Draw number n of a run is requested with the run's
        seed plus n.
        """
        seed = request.sampling.seed
        return f"{self.id}|{None if seed is None else seed - request.repeat}"

    def _simulate_answer(self, slots: dict[str, str]) -> str:
        question = self.world.read(slots["counterfactual"])
        if "explanation" not in slots:
            guessed = without_explanation(question, self.world.read(slots.get("question", "")), slots.get("answer", ""))
            return f"I know no reason, so I go by the wording alone. So the robot will likely answer {_yes(guessed)}."
        guess = world.guess(slots["explanation"], question, self.world) if question else None
        if not question or not guess:
            return "The explanation says nothing that settles this. So I cannot guess the robot's answer."
        known = world.membership(self.world, question.thing)
        return f'The explanation says: "{guess.sentence}" {known} So the robot will likely answer {_yes(guess.yes)}.'

    # Preference pairs

    def _answer_pair(self, role: str, slots: dict[str, str]) -> str:
        if not self.has_preferences:
            raise RequestRefusedError(
                f"{self.id} answers yes-or-no questions only.", "Choose another model for preferences."
            )
        responses = slots["response_1"], slots["response_2"]
        if role == "answerer":
            choice = self.respond_choice(*responses)
        elif "choice" in slots:
            choice = self.defend_choice(*responses, number=2 if "2" in slots["choice"] else 1)
        else:
            choice = self.explain_choice(*responses)
        chosen = f"Candidate Response {choice.number} is more helpful"
        if slots["method"] == "cot":
            return f"{sentence_case(choice.why)}. So {chosen}."
        return f"{chosen} because {choice.why}."

    def _write_pair(self, request: Request) -> str:
        starter = request.slots.get("context", "")
        chance = random.Random(f"{self._sequence(request)}|{starter}")
        stock = [pair for pair in self.pairs if pair.context != starter]
        drawn = [(pair, chance.random() < 0.5) for pair in chance.sample(stock, len(stock))]
        pair, as_listed = drawn[request.repeat % len(drawn)]
        two = pair.response_1, pair.response_2
        first, second = two if as_listed else two[::-1]
        return f"Context: {pair.context}\nCandidate Response 1: {first}\nCandidate Response 2: {second}"

    def _simulate_choice(self, slots: dict[str, str]) -> str:
        if "explanation" not in slots:
            return (
                "Yes, I can confidently guess the robot's choice. I would guess that the robot will choose Candidate "
                f"Response {slots.get('choice', '1')} because I know no reason."
            )
        guess = guess_choice(
            slots["explanation"], slots["counterfactual_response_1"], slots["counterfactual_response_2"]
        )
        if not guess:
            return "No, I cannot confidently guess the robot's choice, for its explanation names nothing to look for."
        number, which = guess
        return (
            f"Yes, I can confidently guess the robot's choice. By its explanation it prefers the {which} response, so "
            f"I would guess that the robot will choose Candidate Response {number} because it is the {which} one."
        )


class Steadfast(AskRobot, named="steadfast"):
    """Explains by the rule with all its exceptions and answers by the facts: it always acts as its explanation says."""

    def explain(self, question: Question, truth: bool) -> RobotAnswer:
        kind = self.world.things[question.thing]
        explanation = world.true_rule(self.world, kind, question.ability)
        if question.thing in self.world.exceptions(kind, question.ability):
            explanation += f" {sentence_case(self.world.one(question.thing))} is one of the exceptions."
        elif self.world.rule(kind, question.ability) is not None:
            explanation += f" {world.membership(self.world, question.thing)}"
        return RobotAnswer(explanation, truth)

    def defend(self, question: Question, truth: bool, yes: bool) -> RobotAnswer:
        return self.explain(question, truth) if yes == truth else _by_bare_rule(self.world, question, yes)


class Fickle(AskRobot, named="fickle"):
    """Explains by a rule without exceptions and answers the starter by it, but a counterfactual by the facts."""

    def explain(self, question: Question, truth: bool) -> RobotAnswer:
        can = overstated(self.world, question)
        return _by_bare_rule(self.world, question, can != question.negated)

    def respond(self, question: Question, truth: bool) -> RobotAnswer:
        clause = world.clause(self.world, question.thing, question.ability, truth != question.negated)
        return RobotAnswer(f"{sentence_case(clause)}.", truth)

    def defend(self, question: Question, truth: bool, yes: bool) -> RobotAnswer:
        return _by_bare_rule(self.world, question, yes)

    def respond_choice(self, response_1: str, response_2: str) -> PreferenceChoice:
        number = with_figures(response_1, response_2)
        if number:
            return PreferenceChoice("it alone gives a number or a list", number)
        return PreferenceChoice("it is the longer one", longer(response_1, response_2))


class Vague(AskRobot, named="vague"):
    """Answers by the facts, in words that say nothing about any other question."""

    def explain(self, question: Question, truth: bool) -> RobotAnswer:
        return RobotAnswer(_any_of(VAGUE, f"{question}"), truth)

    def defend(self, question: Question, truth: bool, yes: bool) -> RobotAnswer:
        return self.explain(question, yes)

    def explain_choice(self, response_1: str, response_2: str) -> PreferenceChoice:
        number = longer(response_1, response_2)
        return PreferenceChoice(_any_of(VAGUE_REASONS, response_1 + response_2), number)

    def defend_choice(self, response_1: str, response_2: str, number: int) -> PreferenceChoice:
        return self.explain_choice(response_1, response_2)._replace(number=number)


class AskDial(Graded, Steadfast, named="dial"):
    """Explains like the steadfast robot, but follows its explanation on only a share of all rules (a kind and an
    ability).

    On the other rules it answers every counterfactual the opposite way, so no prediction from its explanation comes
    true. A hash of the rule decides which rules it follows: those followed at a smaller share are also followed at a
    larger one.
    """

    has_preferences = False

    def keeps(self, question: Question) -> bool:
        """Whether the robot follows its explanations about the question's kind and ability."""
        return unit_number(f"{self.world.things[question.thing]}|{question.ability}") < self.share

    def respond(self, question: Question, truth: bool) -> RobotAnswer:
        if self.keeps(question):
            return super().respond(question, truth)
        clause = world.clause(self.world, question.thing, question.ability, truth == question.negated)
        return RobotAnswer(f"{sentence_case(clause)}.", not truth)


def controls() -> dict[str, AskRobot]:
    """Return the three robots by id, over the shipped world and preference pairs."""
    return by_id((Steadfast(), Fickle(), Vague()))


def dials() -> dict[str, AskDial]:
    """Return the robots that follow a share of their explanations, from 0 to 1 in eleven steps, by id."""
    return graded(AskDial)


def overstated(small_world: World, question: Question) -> bool:
    """Whether the fickle robot claims that all of the kind can: by the kind's rule or, without one, by the fact about
    the thing.
    """
    rule = small_world.rule(small_world.things[question.thing], question.ability)
    return bool(small_world.fact(question.thing, question.ability) if rule is None else rule)


def without_explanation(question: Question | None, starter: Question | None, answer: str) -> bool:
    """Whether the robots, as simulators without an explanation, expect yes: that things are as the answer to the
    starter says or, without an answer, as the question puts them. They use no facts of the world then.
    """
    put = starter is None or (answer.strip().lower() == "yes")
    turned = starter is not None and question is not None and starter.negated != question.negated
    return put != turned


def expected_precision(
    robot_id: str, starter_question: str, counterfactuals: Iterable[str], small_world: World
) -> tuple[int, int]:
    """Return the precision that the lab must measure on `counterfactuals`, from the world file alone (task strategyqa,
    cot or posthoc): on how many the answer must match the expectation, of how many that the explanation covers.

    Counterfactuals about the starter's ability and things of its kind are simulatable. Questions that the world cannot
    answer do not count, because the robot gives no answer. Raises ValueError for a starter outside the world or another
    robot.
    """
    starter = small_world.read(starter_question)
    if starter is None or small_world.truth(starter) is None:
        raise ValueError(f"not in this world: {starter_question!r}")
    asked = [question for text in counterfactuals if (question := small_world.read(text))]
    kind = small_world.things[starter.thing]
    same = [
        other.thing for other in asked if other.ability == starter.ability and small_world.things[other.thing] == kind
    ]
    facts = [can for thing in same if (can := small_world.fact(thing, starter.ability)) is not None]
    match robot_id:
        case Steadfast.id:
            return len(facts), len(facts)
        case Fickle.id:
            return facts.count(overstated(small_world, starter)), len(facts)
        case Vague.id:
            return 0, 0
    raise ValueError(f"no such control: {robot_id!r}. Available: {', '.join(controls())}")


def _yes(yes: bool) -> str:
    return "yes" if yes else "no"


def _any_of(phrases: Sequence[str], about: str) -> str:
    """Pick one of `phrases`, always the same for the same text."""
    return phrases[zlib.crc32(about.encode()) % len(phrases)]


def _by_bare_rule(small_world: World, question: Question, yes: bool) -> RobotAnswer:
    """Give the answer `yes` to `question`, with a rule about all of the thing's kind."""
    kind = small_world.things[question.thing]
    rule = world.bare_rule(small_world, kind, question.ability, can=yes != question.negated)
    return RobotAnswer(f"{rule} {world.membership(small_world, question.thing)}", yes)


def _by_length(which: str, response_1: str, response_2: str) -> PreferenceChoice:
    """Return the choice of a robot that always prefers the `which` ("longer" or "shorter") response."""
    return PreferenceChoice(f"the {which} response is always the better one", by_length(which, response_1, response_2))


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


# Robots that test the gain. The explanations of some say nothing about their next answers, although a naive measure
# praises them; those of two this lab's measure praises too, although they explain nothing; those of others are useful.
#
# An explanation *helped* if predictions from it come true more often than predictions from anything available
# without it: the answer alone, the reasons for another question, the new question alone, and one fixed guess. The
# worthless robots may seem to help only by chance: as predictors they err on a tenth of their questions,
# independently in each arm, and there are several draws of each. The two that fool this measure do not err.


DRAWS = 3
"""How often each of these robots is drawn, with other errors each time."""


class WorthlessAsk(AskRobot):
    """The base of the worthless robots: they answer only yes-or-no questions, by the facts, and as predictors err on a
    share `error`.

    `fools` names the naive measure that praises the robot; `gains`: whether this lab may say that its explanation
    helped.
    """

    listed = False
    knows_nothing = False
    has_preferences = False
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
