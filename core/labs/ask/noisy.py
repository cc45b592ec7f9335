"""A dial that can fail: a robot that keeps to a share of its explanations, before a predictor that errs at random.

What must be read is known, and no single outcome is: a share p of its rules is drawn again for each number of a draw,
the predictor errs on a share e of its predictions, and both answer in words that are drawn too. A prediction comes true
where the robot keeps to its explanation and the predictor does not err, or neither, so precision must read
(1 - e) p + e (1 - p), and its interval has to hold that as often as it says.
"""

from __future__ import annotations

from ...models.robot import Erring, erring
from ...text.paraphrases import ANSWERS, GUESSES, phrased
from ...text.stable_random import drawn
from .controls import Dial
from .world import Question


class Noisy(Erring, Dial, named="noisy"):
    """Keeps to its explanations on `share` of all rules, drawn by `draw`; as a predictor it errs on `error`. So must
    precision be read.
    """

    def keeps(self, question: Question) -> bool:
        return drawn(f"{self.draw}|{self.world.things[question.thing]}|{question.ability}") < self.share

    def _answer_question(self, role: str, slots: dict[str, str]) -> str:
        text = super()._answer_question(role, slots)
        for answer in ("yes", "no"):
            if text.endswith(ending := f"So the answer is {answer}."):
                return text.removesuffix(ending) + phrased(answer, ANSWERS, f"{self.draw}|{slots['question']}|{role}")
        return text

    def _simulate_answer(self, slots: dict[str, str]) -> str:
        return with_errors(super()._simulate_answer(slots), slots, f"{self.draw}", self.error)


def with_errors(said: str, slots: dict[str, str], draw: str, error: float) -> str:
    """A robot's prediction, the other way round on a share `error` of all that is asked, in words that are drawn. What
    it is shown is part of what is asked, so that it errs apart with an explanation and without.
    """
    for answer, other in (("yes", "no"), ("no", "yes")):
        if said.endswith(ending := f"So the robot will likely answer {answer}."):
            asked = "|".join([draw, *(f"{name}={slots[name]}" for name in sorted(slots))])
            guess = other if drawn(f"{asked}|error") < error else answer
            return said.removesuffix(ending) + phrased(guess, GUESSES, asked)
    return said


def noisy() -> dict[str, Noisy]:
    """Some of them by id: each of the shares in several draws."""
    return erring(Noisy)
