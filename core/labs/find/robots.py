"""Robots of known truth that interpret: worthless ones, which must gain nothing, and a dial, right on a known share.

They decide by the request's role and slots alone, so prompts can be reworded freely.
"""

from __future__ import annotations

from core.events import Request
from core.labs.find.controls import Control, Observations, command, conclusion
from core.labs.find.functions.base import as_number
from core.labs.find.functions.numeric import GRID, PROBED
from core.labs.find.functions.strings import STRING_ATOMS
from core.labs.find.metrics import HEADLINE
from core.labs.find.units import ANYTHING, NOTHING, everything
from core.labs.find.view import ProbeView
from core.text.drawn import drawn

PARTS = (
    "linear", "polynomial", "an absolute value", "a root", "a logarithm", "a step", "a ReLU", "a hyperbolic tangent",
    "a constant", "a sine", "a cosine", "a reciprocal", "a Gaussian bell", "rational", "a rectangle", "a square wave",
    "the sign of x", "rounded up", "rounded down",
)  # fmt: skip
NOISES = ("normal noise", "uniform noise", "Poisson noise")

_AT_ONCE = 100
"""Inputs that one command of the dial names, as many as a box takes."""


class Worthless(Control):
    """Looks once, so that nobody can say it never did, and then says what it says of every function."""

    nothing = "def f(x):\n    return {}"

    def interpret(self, category: str, seen: Observations, asked: set[str], request: Request) -> str:
        if not asked and int(request.slots["rounds_left"]) > 1 and int(request.slots["probes_left"]) > 0:
            return command(["1" if category == "numeric" else "apple"])
        return self.conclude(category)

    def conclude(self, category: str) -> str:
        """The same for every function of a category. Each robot has its own; here it raises NotImplementedError."""
        raise NotImplementedError

    def code(self, category: str) -> str:
        """Zero everywhere, or every text as it is."""
        return {"numeric": self.nothing.format("0.0"), "strings": self.nothing.format("x")}.get(category, "")


class Lister(Worthless):
    """Names every part, interval and noise, every step, subject or fact there is."""

    id = "control/lists-all"
    title = "lists all there is"
    about = "Looks once and lists every part, interval and noise there is: whatever the function has is among them."

    def conclude(self, category: str) -> str:
        if category == "numeric":
            low, high = map(int, PROBED)
            intervals = ", ".join(f"between {start} and {start + 16}" for start in range(low, high, 16))
            domain = f"Corrupted and random {intervals}."
            return conclusion(f"It is {', '.join(PARTS)}, with {', '.join(NOISES)}.", domain, self.code(category))
        if category == "strings":
            steps = "".join(f" It {kind.description}." for kind in STRING_ATOMS.values())
            return conclusion(steps.strip(), "Any text.", self.code(category))
        return conclusion(*everything(category), "")


class Mute(Worthless):
    """Describes nothing, in a sentence that is true of every function."""

    id = "control/says-nothing"
    title = "describes nothing"
    about = "Looks once and says what holds of every function: that it gives something for what goes in."

    def conclude(self, category: str) -> str:
        return conclusion(*NOTHING, self.code(category))


class Anything(Worthless):
    """Says that all of it may be anything, so that nothing it could be asked is left out."""

    id = "control/names-everything"
    title = "names everything at once"
    about = "Looks once and says that everything may happen everywhere: nothing that one finds can contradict it."

    def conclude(self, category: str) -> str:
        return conclusion(*ANYTHING, self.code(category))


class Dial(Control):
    """Right on a known share of the domain of a function of numbers: it asks for every test point, and its code gives
    what it saw on that share of them and 0 on the others.

    Which points is drawn by a hash of input and output, the same for every share. `share` is from 0 to 1.
    """

    listed = False
    """There are eleven: they are found by their ids, and in no list to choose from."""

    def __init__(self, share: float) -> None:
        self.share = share
        self.id = f"control/dial-probe-{share:.1f}"
        self.title = f"right on {share:.0%} of the test points"
        self.about = f"Asks for every test point; what it says is right on {share:.0%} of them and zero on the others."

    def keeps(self, x: str, y: str) -> bool:
        """Whether its code is right at this point."""
        return drawn(f"{x}|{y}") < self.share

    def interpret(self, category: str, seen: Observations, asked: set[str], request: Request) -> str:
        wanted = [f"{x:g}" for x in GRID] if category == "numeric" else []
        left = [text for text in wanted if text not in asked][: min(_AT_ONCE, int(request.slots["probes_left"]))]
        if left and int(request.slots["rounds_left"]) > 1:
            return command(left)
        known = {float(x): y for x, text in seen if self.keeps(x, text) and (y := as_number(text)) is not None}
        code = f"KNOWN = {known!r}\n\ndef f(x):\n    return KNOWN.get(x, 0.0)"
        return conclusion("Its values are in the table of the code, and zero elsewhere.", "Its test points.", code)


def dials() -> dict[str, Dial]:
    """The robots that are right on a share of the domain, from 0 to 1 in eleven steps, by id."""
    return {robot.id: robot for robot in (Dial(step / 10) for step in range(11))}


def worthless() -> dict[str, Worthless]:
    """The robots whose interpretation tells nothing of any function, by id."""
    return {robot.id: robot for robot in (Lister(), Mute(), Anything())}


def truth(view: ProbeView) -> float | None:
    """The error (NMSE) that a dial must come to: the size of the function on the points that it does not keep, as a
    share of its size on all. None for every other interpreter, for functions with noise, and where it saw too little.
    """
    robot = dials().get(view.spec.model) if view.spec else None
    true, known = view.truth, {probe.input: probe.output for probe in view.probes}
    if robot is None or true is None or view.headline != HEADLINE["numeric"] or true.noise or true.corrupted:
        return None
    points = [(f"{x:g}", y) for x, y in zip(true.x, true.y, strict=True) if y is not None]
    size = sum(y * y for _, y in points)
    if not size or any(x not in known for x, _ in points):
        return None
    return sum(y * y for x, y in points if not robot.keeps(x, known[x])) / size
