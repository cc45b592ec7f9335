"""Robots for the Probe lab whose scores are known beforehand: they play the whole dialogue without a language model.

They decide by the request's role and slots alone, so prompts can be reworded freely.
"""

import json
import re
from collections.abc import Iterator, Sequence

import numpy as np

from ...events import Request, ToolCall
from ...models.robot import Erring, Graded, Robot, by_id, erring, graded
from ...text.stable_random import EXAMPLES, paraphrase, unit_number
from . import parse
from .functions.base import as_number
from .functions.entities import EntityFunction, concepts, concepts_of
from .functions.numeric import GRID, PROBED
from .functions.relations import UNDEFINED, Relation, RelationFunction, relations
from .functions.strings import STRING_ATOMS, StringAtom, StringFunction
from .interpreters.fit import FIRST_TEXTS, code_of
from .units import ANYTHING, telling_nothing

Observations = list[tuple[str, str]]

STRAIGHT_NUMBERS = ("-100", "-1", "0", "1", "2", "100")


class ProbeRobot(Robot):
    """What the robots share: the roles, and the way they answer."""

    def _called(self, request: Request, text: str) -> tuple[str, tuple[ToolCall, ...]]:
        asked = parse.command(text, "repaired").inputs if request.tools else ()
        if not asked:
            return text, ()
        inputs = [json.loads(x) for x in asked] if request.slots["category"] == "numeric" else asked
        call = ToolCall(id="call-1", name=request.tools[0].name, arguments=json.dumps({"inputs": inputs}))
        return parse.invented(text), (call,)

    def _reply(self, request: Request) -> str:
        category = request.slots.get("category")
        if request.role == "interpreter" and category:
            calls = json.loads(request.slots["observations"])
            seen: Observations = [(x, y) for x, y in calls if y is not None]
            return self.interpret(category, seen, {x for x, _ in calls}, request)
        if request.role == "evaluator" and category:
            options = [tuple(option) for option in json.loads(request.slots["options"])]
            return self.evaluate(category, request.slots["description"], options)
        if request.role == "judge" and category:
            two = request.slots["description1"], request.slots["description2"]
            options = [tuple(shown.split(" -> ")) for shown in json.loads(request.slots["options"])]
            return f"[ANSWER]: {self.better(category, two, options)}"
        raise self.refused(request, "Probe", ": an interpreter that works by commands, or an evaluator")

    def interpret(self, category: str, seen: Observations, asked: set[str], request: Request) -> str:
        """Return the next message of the dialogue, after calls with the inputs `asked`; `seen` are those with an
        output.

        Each control defines its own; here it raises NotImplementedError.
        """
        raise NotImplementedError

    def better(self, category: str, two: tuple[str, str], examples: Sequence[tuple[str, ...]]) -> int:
        """Return a judge's choice, 1 or 2: the description that fits more examples, the first if both fit as many."""
        fits = [sum(_fits(category, text, example) for example in examples) for text in two]
        return 2 if fits[1] > fits[0] else 1

    def evaluate(self, category: str, description: str, options: Sequence[tuple[str, ...]]) -> str:
        """Return an evaluator's answer: the option that it picks by the description."""
        return f"[ANSWER]: {fitting(category, description, options) or 1}"


class Straight(ProbeRobot, named="straight"):
    """Looks first, then says no more than it saw: right about lines, short texts and everything in our own tables."""

    def interpret(self, category: str, seen: Observations, asked: set[str], request: Request) -> str:
        open_inputs = [text for text in self._wanted(category, seen) if text not in asked]
        can_go_on = int(request.slots["rounds_left"]) > 1 and int(request.slots["probes_left"]) > 0
        if open_inputs and can_go_on:
            return command(open_inputs[: int(request.slots["probes_left"])])
        return self.conclude(category, seen)

    def conclude(self, category: str, seen: Observations) -> str:
        """Return the final message, from what it saw."""
        return _CONCLUSIONS[category](seen)

    def _wanted(self, category: str, seen: Observations) -> Sequence[str]:
        if category == "numeric":
            return STRAIGHT_NUMBERS
        if category == "strings":
            return FIRST_TEXTS
        if category == "entities":
            return [concept.name for concept in concepts().values() if not concept.sensitive]
        first = [relation.facts[k].inputs[0] for relation in relations().values() for k in range(3)]
        if not seen:
            return first
        return [fact.inputs[0] for relation in _fitting(seen)[:1] for fact in relation.facts]


class Inventor(ProbeRobot, named="inventor"):
    """Writes down outputs before it has them, and concludes from those."""

    def interpret(self, category: str, seen: Observations, asked: set[str], request: Request) -> str:
        if category == "numeric":
            if not asked and not request.slots["trouble"] and int(request.slots["rounds_left"]) > 1:
                return f"{command(['1'])}\n\nInputs and outputs:\n(1, 10)\n(2, 13)"
            return conclusion(
                "f(x) = 3x + 7, a straight line, since f(1) = 10 and f(2) = 13.",
                "Defined everywhere; no interval behaves otherwise.",
                "def f(x):\n    return 3 * x + 7",
            )
        if not asked and int(request.slots["rounds_left"]) > 1:
            return f"{command(['apple'])}\n\nInputs and outputs:\n(apple, appleapple)"
        code = "def f(x):\n    return x + x" if category == "strings" else ""
        return conclusion('It writes the input twice: f("apple") = "appleapple".', "Any input.", code)


class Sideways(Straight, named="picks-the-first"):
    """As an evaluator and as a judge it takes whatever comes first."""

    def evaluate(self, category: str, description: str, options: Sequence[tuple[str, ...]]) -> str:
        return "[ANSWER]: 1"

    def better(self, category: str, two: tuple[str, str], examples: Sequence[tuple[str, ...]]) -> int:
        return 1


def command(inputs: Sequence[str]) -> str:
    """Return the message that asks for `inputs`."""
    quoted = [text if text.replace("-", "").replace(".", "").isalnum() else f'"{text}"' for text in inputs]
    return "COMMAND: PYTHON(function.py " + " ".join(quoted) + ")"


def conclusion(description: str, domain: str, code: str) -> str:
    """Return the final message."""
    text = f"[DESCRIPTION]: {description}\n[DOMAIN]: {domain}"
    return f"{text}\n[CODE]:\n```python\n{code}\n```" if code else text


def _numbers(seen: Observations) -> list[tuple[float, float]]:
    """Return what was seen as pairs of numbers, without what is none."""
    pairs = ((as_number(x), as_number(y)) for x, y in seen)
    return [(x, y) for x, y in pairs if x is not None and y is not None]


def _line(seen: Observations) -> str:
    """Conclude with the least-squares line through what was seen."""
    points = _numbers(seen)
    if len(points) < 2:
        return conclusion("Nothing can be said: it gave no numbers.", "Unknown.", "def f(x):\n    return 0.0")
    xs, ys = np.array(points).T
    slope, bias = np.linalg.lstsq(np.column_stack([xs, np.ones_like(xs)]), ys, rcond=None)[0]
    slope, bias = round(float(slope), 6), round(float(bias), 6)
    x, y = seen[-1]
    return conclusion(
        f"A linear function, f(x) = {slope:g} * x {'-' if bias < 0 else '+'} {abs(bias):g}; for instance f({x}) = {y}.",
        "Defined everywhere that was probed; no interval behaves otherwise.",
        f"def f(x):\n    return {slope!r} * x + {bias!r}",
    )


def _text(seen: Observations) -> str:
    from .functions.synthesis import synthesize

    function = synthesize(seen) if seen else None
    if function is None:
        return conclusion("No rule of one or two steps explains it.", "Unknown.", "def f(x):\n    return x")
    return conclusion(function.describe(), "Any text for which its steps are defined.", code_of(function))


def found_subject(seen: Observations) -> EntityFunction | None:
    """Return the subject, or either of two, that fits what was seen; None if no subject's name gives a value of at
    least 0.5.
    """
    values = {x: value for x, y in seen if x in concepts() and (value := as_number(y)) is not None}
    # At most the two highest: a name may also be on another subject's list, or be similar to it.
    names = [x for x in sorted(values, key=lambda x: -values[x]) if values[x] >= 0.5][:2]
    if not names:
        return None
    names = [x for x in names if values[x] >= values[names[0]] - 0.02]
    return EntityFunction(id="found", concept1=names[0], concept2=names[1] if len(names) > 1 else None)


def _subject(seen: Observations) -> str:
    function = found_subject(seen)
    said = function.describe() if function else "No subject was found that gives numbers near 1."
    return conclusion(said, "Any word.", "")


def _fitting(seen: Observations) -> list[Relation]:
    """Return the relations that have at least one of the outputs, those with the most first."""
    counted = []
    for relation in relations().values():
        unexcepted = RelationFunction(id="found", concept1=relation.concept1, concept2=relation.concept2)
        hits = sum(bool(unexcepted.accepts(x, y)) for x, y in seen if y != UNDEFINED)
        counted.append((hits, relation))
    counted.sort(key=lambda pair: -pair[0])
    return [relation for hits, relation in counted if hits]


def found_relation(seen: Observations) -> RelationFunction | None:
    """Return the relation that has most of what was seen, with its exception; None if no relation has any of it."""
    fitting = _fitting(seen)
    if not fitting:
        return None
    best = fitting[0]
    undefined = {x for x, y in seen if y == UNDEFINED}
    facts = [fact for fact in best.facts if fact.inputs[0] in {x for x, _ in seen}]
    exception = None
    for name in ("a", "b"):
        excepted = {fact.inputs[0] for fact in facts if getattr(fact, name)}
        if excepted and excepted == undefined & {fact.inputs[0] for fact in facts}:
            exception = getattr(best, name)
    return RelationFunction(id="found", concept1=best.concept1, concept2=best.concept2, exception=exception)


def _fact(seen: Observations) -> str:
    function = found_relation(seen)
    if function is None:
        return conclusion("Everything that was tried is undefined.", "Unknown.", "")
    exception = function.exception
    return conclusion(function.describe(), f"Undefined where {exception}." if exception else "No exception.", "")


_CONCLUSIONS = {"numeric": _line, "strings": _text, "entities": _subject, "relations": _fact}


def fitting(category: str, description: str, options: Sequence[tuple[str, ...]]) -> int | None:
    """Return the example (from 1) that fits a description in the words of our own functions; None if none is known to
    fit.
    """
    fits = (number for number, option in enumerate(options, start=1) if _fits(category, description, option))
    return next(fits, None)


def _fits(category: str, description: str, option: tuple[str, ...]) -> bool:
    if category == "entities":
        return any(f"to {name}" in description for name in concepts_of(option[0]))
    if category == "relations":
        first = description.strip().splitlines()[0]
        return any(one.describe() == first and bool(one.accepts(*option)) for one in _variants())
    rng = np.random.default_rng(0)
    for name, kind in STRING_ATOMS.items():
        function = StringFunction(id="guess", outer=StringAtom(name=name)) if not kind.parameters else None
        if function and description.startswith(function.describe()) and not kind.is_random:
            return function.outputs([option[0]], rng) == [option[1]]
    return False


def _variants() -> Iterator[RelationFunction]:
    """Yield all functions of our relations."""
    for one in relations().values():
        for exception in (None, one.a, one.b):
            yield RelationFunction(id="guess", concept1=one.concept1, concept2=one.concept2, exception=exception)


def controls() -> dict[str, ProbeRobot]:
    """Return every control of this lab, by its id."""
    return by_id((Straight(), Inventor(), Sideways()))


# Dials: robots whose description is right on a known share of the function's domain, and wrong on the rest.
#
# For numbers, the code gives what the robot saw on that share of the test points, and zero elsewhere; for texts, it
# does what the function does on that share of all texts. For subjects and facts, the description says of each word
# or fact whether it belongs to the function, and is right for that share of them: as an evaluator the dial picks
# what is said to belong, never what is said not to.
#
# The noisy dials can fail: the share is sampled again for each draw, as an evaluator they err at random, and the
# wording of their answers is sampled. A test comes out right if the description is right and the evaluator does not
# err, or if it errs and hits the right example by chance. So unit tests must give (1 - e) p + e (1 - p) / 2, and the
# interval must cover that as often as it claims.


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


# Robots with worthless interpretations that a naive measure praises: their gain must be 0.
#
# What they say shares no word with the descriptions that tell nothing, which every description has to beat
# (`units.telling_nothing`), so none of them is compared with its own text.


PARTS = (
    "linear", "polynomial", "an absolute value", "a root", "a logarithm", "a step", "a ReLU", "a hyperbolic tangent",
    "a constant", "a sine", "a cosine", "a reciprocal", "a Gaussian bell", "rational", "a rectangle", "a square wave",
    "the sign of x", "rounded up", "rounded down",
)  # fmt: skip
NOISES = ("normal noise", "uniform noise", "Poisson noise")

NOTHING = "Some result comes out whenever something enters.", "No restriction."
ALL = "Everything might happen everywhere: every topic, every truth.", "Whichever case one likes, or none."
"""Descriptions, with their domains, that are true of every function."""


class WorthlessProbe(ProbeRobot):
    """A robot that probes once, so that it did look, and then says the same about every function. `fools` says which
    naive measure praises it.
    """

    fools: str
    nothing = "def f(x):\n    return {}"

    def interpret(self, category: str, seen: Observations, asked: set[str], request: Request) -> str:
        if not asked and int(request.slots["rounds_left"]) > 1 and int(request.slots["probes_left"]) > 0:
            return command(["1" if category == "numeric" else "apple"])
        return self.conclude(category)

    def conclude(self, category: str) -> str:
        """Return the conclusion, the same for every function of a category. Each robot defines its own; here it raises
        NotImplementedError.
        """
        raise NotImplementedError

    def code(self, category: str) -> str:
        """Return code that gives zero everywhere, or every text unchanged."""
        return {"numeric": self.nothing.format("0.0"), "strings": self.nothing.format("x")}.get(category, "")


class Lister(WorthlessProbe, named="lists-all"):
    """Names every part, interval and noise, every step, a word of every subject, a fact of every relation."""

    def conclude(self, category: str) -> str:
        if category == "numeric":
            low, high = map(int, PROBED)
            intervals = ", ".join(f"between {start} and {start + 16}" for start in range(low, high, 16))
            domain = f"Corrupted and random {intervals}."
            return conclusion(f"It is {', '.join(PARTS)}, with {', '.join(NOISES)}.", domain, self.code(category))
        if category == "strings":
            steps = "".join(f" It {kind.description}." for kind in STRING_ATOMS.values())
            return conclusion(steps.strip(), "Any text.", self.code(category))
        return conclusion(*_one_of_each(category), "")


class Mute(WorthlessProbe, named="says-nothing"):
    """Describes nothing, in a sentence that is true of every function."""

    def conclude(self, category: str) -> str:
        return conclusion(*NOTHING, self.code(category))


class Anything(WorthlessProbe, named="names-everything"):
    """Says that everything is possible, so that nothing that could be asked is left out."""

    def conclude(self, category: str) -> str:
        return conclusion(*(ANYTHING if category == "numeric" else ALL), self.code(category))


class Parrot(WorthlessProbe, named="parrot"):
    """Probes the test points, and returns what it saw there and nothing else."""

    def interpret(self, category: str, seen: Observations, asked: set[str], request: Request) -> str:
        wanted = [f"{x:g}" for x in GRID] if category == "numeric" else FIRST_TEXTS
        if category == "relations":
            wanted = [relation.facts[0].inputs[0] for relation in relations().values()]
        if category == "entities":
            wanted = [concept.name for concept in concepts().values() if not concept.sensitive]
        left = [text for text in wanted if text not in asked][: int(request.slots["probes_left"])]
        if left and int(request.slots["rounds_left"]) > 1:
            return command(left)
        outputs = dict.fromkeys(output for _, output in seen if output != UNDEFINED)
        numbers, texts = dict(_numbers(seen)), dict(seen)
        code = {"numeric": f"{numbers!r}.get(x, 0.0)", "strings": f"{texts!r}.get(x, x)"}.get(category)
        if not outputs:
            return self.conclude(category)
        said = f"Outcomes were like {', '.join(list(outputs)[:2])}."
        return conclusion(said, "", f"def f(x):\n    return {code}" if code else "")

    def conclude(self, category: str) -> str:
        said = "Outcomes were like earlier outcomes, again, again."
        return conclusion(said, "No restriction.", self.code(category))


def _one_of_each(category: str) -> tuple[str, str]:
    """Return a word of every subject, or a fact of every relation, that shares no word with the descriptions that tell
    nothing.
    """
    arms = words(" ".join(telling_nothing(category).values()))
    some = [concept.words for concept in concepts().values()]
    if category == "relations":
        some = [tuple(f"{one.inputs[0]} {one.outputs[0]}" for one in each.facts) for each in relations().values()]
    apart = [next((one for one in each if not words(one) & arms), "") for each in some]
    return f"{'; '.join(filter(None, apart))}.", "No restriction."


def words(text: str) -> set[str]:
    """Return the words of a text, ignoring case."""
    return set(re.findall(r"\w+", text.casefold()))


def worthless() -> dict[str, WorthlessProbe]:
    """Return the robots whose interpretation tells nothing about any function, by id."""
    return by_id((Lister(), Mute(), Anything(), Parrot()))
