"""Dials: robots whose description is right on a known share of the function's domain, and wrong on the rest.

For numbers, the code gives what the robot saw on that share of the test points, and zero elsewhere; for texts, it does
what the function does on that share of all texts. For subjects and facts, the description says of each word or fact
whether it belongs to the function, and is right for that share of them: as an evaluator the dial picks what is said to
belong, never what is said not to.

The noisy dials can fail: the share is sampled again for each draw, as an evaluator they err at random, and the wording
of their answers is sampled. A test comes out right if the description is right and the evaluator does not err, or if it
errs and hits the right example by chance. So unit tests must give (1 - e) p + e (1 - p) / 2, and the interval must
cover that as often as it claims.
"""

from collections.abc import Sequence

from ...models.robot import Erring, Graded, erring, graded
from ...text.stable_random import EXAMPLES, paraphrase, unit_number
from .controls import Observations, Straight, conclusion, fitting, found_relation, found_subject
from .functions.base import as_number
from .functions.numeric import GRID
from .interpreters.fit_strings import code_of

NOTHING_TOLD = "The description does not tell."

_BELONG, _NOT = "These belong to it: ", ". These do not: "
_APART = " | "

_RIGHT = "return right(x)"
_KEPT = "sum(k * ord(c) for k, c in enumerate(x, 1)) % 100 < {hundredths}"
"""Whether a text is among those on which the code is right, as Python."""


class ProbeDial(Graded, Straight, named="dial-probe"):
    """Right on a known share of the domain. A hash of each place decides which, the same for every share."""

    def keeps(self, *place: str) -> bool:
        """Whether it is right at this place of the domain: an input with its output, or a word of a subject."""
        return unit_number("|".join(place)) < self.share

    def keeps_text(self, text: str) -> bool:
        """Whether its code is right on this text, by the same sum as in the code."""
        return sum(k * ord(c) for k, c in enumerate(text, 1)) % 100 < round(100 * self.share)

    def is_found(self, said: str) -> bool:
        """Whether one of its own descriptions or codes shows that it found the function."""
        return said.startswith(_BELONG) or _RIGHT in said

    def _wanted(self, category: str, seen: Observations) -> Sequence[str]:
        return [f"{x:g}" for x in GRID] if category == "numeric" else super()._wanted(category, seen)

    def conclude(self, category: str, seen: Observations) -> str:
        if category == "numeric":
            known = {float(x): y for x, text in seen if self.keeps(x, text) and (y := as_number(text)) is not None}
            code = f"KNOWN = {known!r}\n\ndef f(x):\n    return KNOWN.get(x, 0.0)"
            return conclusion("Its values are in the table of the code, and zero elsewhere.", "Its test points.", code)
        if category == "strings":
            return self._of_texts(seen)
        places: list[tuple[str, ...]] = []
        if category == "entities" and (subject := found_subject(seen)):
            places = [(word,) for word in subject.related_words()]
        if category == "relations" and (found := found_relation(seen)) and found.relation:
            places = [(fact.inputs[0], found.output(fact)) for fact in found.relation.facts]
        if not places:
            return super().conclude(category, seen)
        belong, others = (
            _APART.join(" ".join(place) for place in places if self.keeps(*place) is kept) for kept in (True, False)
        )
        return conclusion(f"{_BELONG}{belong or 'none'}{_NOT}{others or 'none'}", "", "")

    def _of_texts(self, seen: Observations) -> str:
        from .functions.synthesis import synthesize

        function = synthesize(seen) if seen else None
        if function is None:
            return super().conclude("strings", seen)
        kept = _KEPT.format(hundredths=round(100 * self.share))
        code = f"{code_of(function)}\n\nright = f\n\ndef f(x):\n    {_RIGHT} if {kept} else '?' + right(x)"
        return conclusion(function.describe(), "Texts by the weighted sum of their characters.", code)

    def evaluate(self, category: str, description: str, options: Sequence[tuple[str, ...]]) -> str:
        number = self.pick(category, description, options)
        return f"[ANSWER]: {number}" if number else NOTHING_TOLD

    def pick(self, category: str, description: str, options: Sequence[tuple[str, ...]]) -> int | None:
        """Return the option (from 1) that a dial's description says belongs to the function, else one that it does not
        say is foreign. For another description, return the option that fits it; None if none is known to fit.
        """
        if not description.startswith(_BELONG):
            return fitting(category, description, options)
        belong, _, others = description.removeprefix(_BELONG).partition(_NOT)
        said = {_BELONG: belong.strip().split(_APART), _NOT: others.strip().split(_APART)}
        named = [" ".join(option) for option in options]
        left = [number for number, name in enumerate(named, start=1) if name in said[_BELONG]]
        left = left or [number for number, name in enumerate(named, start=1) if name not in said[_NOT]] or [1]
        return left[int(unit_number(_APART.join(named)) * len(left))]


class NoisyProbe(Erring, ProbeDial, named="noisy-probe"):
    """Right on `share` of the domain, sampled by `draw`; as an evaluator it errs on `error` of the tests."""

    @property
    def must_read(self) -> float:
        """The expected share of unit tests that come out right."""
        return (1 - self.error) * self.share + self.error * (1 - self.share) / 2

    def keeps(self, *place: str) -> bool:
        return super().keeps(str(self.draw), *place)

    def evaluate(self, category: str, description: str, options: Sequence[tuple[str, ...]]) -> str:
        number = self.pick(category, description, options)
        if number is None:
            return NOTHING_TOLD
        about = f"{self.draw}|{description}|{options}"
        if unit_number(f"{about}|error") < self.error:
            others = [one for one in range(1, len(options) + 1) if one != number]
            number = others[int(unit_number(f"{about}|which") * len(others))]
        return paraphrase(str(number), EXAMPLES, about)


def dials() -> dict[str, ProbeDial]:
    """Return the robots that are right on a share of the domain, from 0 to 1 in eleven steps, by id."""
    return graded(ProbeDial)


def noisy() -> dict[str, NoisyProbe]:
    """Return noisy dials by id: each share in several draws."""
    return erring(NoisyProbe)
