"""Robots with worthless interpretations that a naive measure praises: their gain must be 0.

What they say shares no word with the descriptions that tell nothing, which every description has to beat
(`units.telling_nothing`), so none of them is compared with its own text.

They decide by the request's role and slots alone, so prompts can be reworded freely.
"""

import re

from ...events import Request
from ...models.robot import by_id
from .controls import Observations, ProbeRobot, command, conclusion
from .functions.base import as_number
from .functions.entities import concepts
from .functions.numeric import GRID, PROBED
from .functions.relations import UNDEFINED, relations
from .functions.strings import STRING_ATOMS
from .interpreters.fit_strings import FIRST_TEXTS
from .units import ANYTHING, telling_nothing

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
        known = dict(seen)
        pairs = [(as_number(x), as_number(y)) for x, y in seen]
        numbers = {x: y for x, y in pairs if x is not None and y is not None}
        code = {"numeric": f"{numbers!r}.get(x, 0.0)", "strings": f"{known!r}.get(x, x)"}.get(category)
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
