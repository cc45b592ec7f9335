"""Robots for the Probe lab whose scores are known beforehand: they play the whole dialogue without a language model.

They decide by the request's role and slots alone, so prompts can be reworded freely.
"""

import json
from collections.abc import Sequence

import numpy as np

from ...events import Request, ToolCall
from ...models.robot import Robot, by_id
from . import parse
from .functions.base import as_number
from .functions.entities import EntityFunction, concepts, concepts_of
from .functions.relations import UNDEFINED, Relation, RelationFunction, relations
from .functions.strings import STRING_ATOMS, StringAtom, StringFunction
from .interpreters.fit_strings import FIRST_TEXTS, code_of

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


class Denier(Straight, named="denies-its-calls"):
    """Follows the straight line everywhere, except at the inputs that it tried itself."""

    listed = False

    def conclude(self, category: str, seen: Observations) -> str:
        said = super().conclude(category, seen)
        if category != "numeric" or "```" not in said:
            return said
        places = [float(x) for x, _ in seen]
        denied = f"\n\nright = f\n\ndef f(x):\n    return right(x) + 9 if x in {places!r} else right(x)\n```"
        return said.removesuffix("\n```") + denied


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


def _line(seen: Observations) -> str:
    """Conclude with the least-squares line through what was seen."""
    points = []
    for x, y in seen:
        try:
            points.append((float(x), float(y)))
        except ValueError:
            continue
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
    if function is None:
        return conclusion("No subject was found that gives numbers near 1.", "Any word.", "")
    return conclusion(function.describe(), "Any word.", "")


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
    for number, option in enumerate(options, start=1):
        if _fits(category, description, option):
            return number
    return None


def _fits(category: str, description: str, option: tuple[str, ...]) -> bool:
    if category == "entities":
        return any(f"to {name}" in description for name in concepts_of(option[0]))
    if category == "relations":
        return any(
            function.describe() == description.strip().splitlines()[0] and bool(function.accepts(*option))
            for relation in relations().values()
            for function in _variants(relation)
        )
    rng = np.random.default_rng(0)
    for name, kind in STRING_ATOMS.items():
        function = StringFunction(id="guess", outer=StringAtom(name=name)) if not kind.parameters else None
        if function and description.startswith(function.describe()) and not kind.is_random:
            return function.outputs([option[0]], rng) == [option[1]]
    return False


def _variants(relation: Relation) -> list[RelationFunction]:
    return [
        RelationFunction(id="guess", concept1=relation.concept1, concept2=relation.concept2, exception=exception)
        for exception in (None, relation.a, relation.b)
    ]


def controls() -> dict[str, ProbeRobot]:
    """Return every control of this lab, by its id."""
    return by_id((Straight(), Inventor(), Denier(), Sideways()))
