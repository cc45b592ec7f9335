"""The `fit` baseline for numeric functions: no language model, only least squares over families of curves.

It shows what the observations alone give away, which is what an interpreter's result should be compared with.
"""

import ast
import contextlib
import inspect
import string
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ....package_data import table
from ..functions import string_atoms
from ..functions.base import Value
from ..functions.numeric import PROBED, NoiseKind, Numbers
from ..functions.strings import STRING_ATOMS, StringAtom, StringFunction
from .fit_families import FAMILIES, CurveProposal, Family, interpolated, number_code

Observe = Callable[[Sequence[float]], Sequence[Value | None]]
"""The black box: an observation for each input, None or NaN if there is none."""

BUDGET = 500
"""How many observations it may ask for, counting repeated ones."""

EXACT = 1e-7
"""A curve whose residuals are this small compared with the values is taken to be the function itself."""

FEW = 20
"""With fewer inputs than these it can detect neither a corrupted interval nor a kind of noise; the words then say how
few.
"""

LARGEST = 1e100
"""Values from here on are not fitted, because their squares would overflow."""


class FitResult(NamedTuple):
    """What the baseline says: the three parts as text to be parsed, each (input, output) that it saw, and the family of
    curves or the kind of string function ("none" if it found none).
    """

    description: str
    domain: str
    code: str
    probes: tuple[tuple[float | str, Value | None], ...]
    family: str

    @property
    def text(self) -> str:
        """The result in the form of an agent's final answer."""
        return f"[DESCRIPTION]: {self.description}\n[DOMAIN]: {self.domain}\n[CODE]:\n```python\n{self.code}\n```"


class _Box:
    """The black box with a counter."""

    def __init__(self, observe: Observe, budget: int) -> None:
        self._observe, self._left = observe, budget
        self.probes: list[tuple[float, Value | None]] = []

    @property
    def tried(self) -> int:
        """How many different inputs it was asked for."""
        return len({x for x, _ in self.probes})

    def ask(self, xs: Sequence[float]) -> Numbers:
        """Return real observations; NaN where there is none, where it is not real, and beyond the budget."""
        asked = list(xs[: self._left])
        self._left -= len(asked)
        values = self._observe(asked) if asked else []
        self.probes += zip(asked, values, strict=True)
        return np.array([_real(value) for value in values] + [np.nan] * (len(xs) - len(asked)))


def _real(value: Value | None) -> float:
    """Return `value` as a number to compute with; NaN if it is no number, not real, or its square would overflow."""
    if isinstance(value, complex) and value.imag == 0:
        value = value.real
    usable = isinstance(value, int | float) and abs(value) < LARGEST
    return float(value) if usable else float("nan")  # type: ignore[arg-type]


class _Twice(NamedTuple):
    """Two observations at each of the rising inputs `x` at which the function has a value."""

    x: Numbers
    first: Numbers
    second: Numbers

    @property
    def mean(self) -> Numbers:
        return (self.first + self.second) / 2

    @property
    def gaps(self) -> Numbers:
        return self.first - self.second


def fit_numeric(
    observe: Observe, *, budget: int = BUDGET, seed: int = 0, inputs: Sequence[float] | None = None
) -> FitResult:
    """Fit the function from probes over the range, every point twice: points that differ on an otherwise steady
    function are corrupted, a function that differs everywhere is noisy. Return the simplest curve that leaves no
    more than the noise.

    If the function is known to have values only at `inputs`, these are probed and nothing between them. Never raises,
    whatever the function gives.
    """
    box = _Box(observe, budget)
    most = max(budget // 2, 4)
    if inputs is None:
        x = _first_points(np.random.default_rng(seed), min(max(budget // 3, 24), most))
    else:
        x = _spread(np.unique(np.asarray(inputs, float)), most)
    first, second = box.ask(x.tolist()), box.ask(x.tolist())
    defined = np.isfinite(first) & np.isfinite(second)
    seen = _Twice(x[defined], first[defined], second[defined])
    if len(seen.x) < 4:
        return _too_few(box)
    where = _where(x, defined)
    if _is_noisy(seen.gaps != 0):
        return _of_noisy(box, seen, where)
    return _of_steady(box, seen, where, may_look_between=inputs is None)


def _too_few(box: _Box) -> FitResult:
    usable = len({x for x, value in box.probes if np.isfinite(_real(value))})
    where = f"{usable} of the {box.tried} inputs tried gave a usable number."
    where = f"Only {where}" if box.tried >= FEW else f"Too few calls to tell: {where}"
    code = "import math\n\ndef f(x):\n    return 0.0"
    return FitResult("Nothing can be said about the function.", where, code, tuple(box.probes), "none")


def _of_noisy(box: _Box, seen: _Twice, where: str) -> FitResult:
    """Find the curve behind the noise, and the kind of noise."""
    curve = _best(seen.x, seen.mean, spread=float(np.std(seen.gaps) / 2))
    residuals = np.concatenate([seen.first, seen.second]) - np.tile(curve.values(seen.x), 2)
    noise = _noise_words(residuals, seen.gaps)
    return _finding(box, curve, f"{where} {_nothing_unexpected(seen)}", noise=noise)


def _of_steady(box: _Box, seen: _Twice, where: str, may_look_between: bool) -> FitResult:
    """Find the curve, leaving out the interval in which two observations differ, because it is corrupted."""
    differs = seen.gaps != 0
    x, y, corrupted = seen.x, seen.mean, None
    if differs.any() and np.count_nonzero(~differs) >= 4:
        corrupted = _edges(box, x, differs)
        x, y = x[~differs], y[~differs]
    if may_look_between:
        x, y = _look_closer(box, x, y, corrupted)
    curve = _best(x, y)
    if corrupted is not None:
        mean = float(np.mean(seen.mean[differs]))
        condition, interval = _interval(*corrupted)
        where = f"Corrupted {interval}: there the values are random around {mean:.4g}. Elsewhere it is as described."
        return _finding(box, curve, where, [f"if {condition}:", f"    return {number_code(mean)}"])
    if differs.any():
        return _finding(box, curve, f"{where} Two calls with one input did not agree at {differs.sum()} of the inputs.")
    return _finding(box, curve, f"{where} {_nothing_unexpected(seen)}")


def _nothing_unexpected(seen: _Twice) -> str:
    return "Too few calls to tell more." if len(seen.x) < FEW else "No interval with unexpected behavior was found."


def _spread(x: Numbers, n: int) -> Numbers:
    """Return at most `n` of the points, evenly chosen."""
    return x if len(x) <= n else x[np.linspace(0, len(x) - 1, n).round().astype(int)]


def _where(x: Numbers, defined: Numbers) -> str:
    """Return a sentence on where the function gave numbers (below LARGEST), among the rising points `x` at which it was
    tried.
    """
    places = np.flatnonzero(defined)
    if len(places) in (0, len(x)):
        return "Defined everywhere that was probed." if len(places) else "It gave no usable number."
    low, high, last = x[places[0]], x[places[-1]], len(x) - 1
    if not defined[places[0] : places[-1] + 1].all():
        without = x[~defined]
        such = f"such as {without[0]:.4g}" if len(without) > 1 else f"namely {without[0]:.4g}"
        return f"It gave no usable number at {len(without)} of the {len(x)} inputs first tried, {such}."
    if places[-1] == last:
        return f"Defined from about {low:.3g} on; it gave no usable number below."
    if places[0] == 0:
        return f"Defined up to about {high:.3g}; it gave no usable number above."
    return f"Defined from about {low:.3g} to about {high:.3g}; it gave no usable number below and above."


def _first_points(rng: np.random.Generator, n: int) -> Numbers:
    """Return `n` rising points: a random one in each of equal bins, so that no period is missed, and more around
    zero.
    """
    near = np.linspace(-8, 8, n // 5 | 1)
    near += np.where(near == 0, 0, rng.uniform(-0.2, 0.2, len(near)))
    bins = np.linspace(*PROBED, n - len(near) + 1)
    far = rng.uniform(bins[:-1], bins[1:])
    far[0], far[-1] = PROBED
    return np.unique(np.round(np.concatenate([near, far]), 3))


def _edges(box: _Box, x: Numbers, differs: Numbers) -> tuple[float, float]:
    """Return the ends of the corrupted part by bisection, to within 0.1; infinite if it reaches the end of the
    range.
    """
    places = np.flatnonzero(differs)
    # Two samples that happen to agree leave a hole in the corrupted part, so its outermost points count.
    low, high = int(places[0]), int(places[-1])

    def boundary(steady: float, corrupted: float) -> float:
        while abs(steady - corrupted) > 0.1:
            middle = (steady + corrupted) / 2
            a, b = box.ask([middle, middle])
            if np.isnan(a) or np.isnan(b):
                break
            steady, corrupted = (middle, corrupted) if a == b else (steady, middle)
        return (steady + corrupted) / 2

    start = -np.inf if low == 0 else boundary(float(x[low - 1]), float(x[low]))
    end = np.inf if high == len(x) - 1 else boundary(float(x[high + 1]), float(x[high]))
    return start, end


def _look_closer(box: _Box, x: Numbers, y: Numbers, corrupted: tuple[float, float] | None) -> tuple[Numbers, Numbers]:
    """Add points where neighbours differ most: edges, peaks and poles."""
    low, high = corrupted or (np.inf, -np.inf)
    for _ in range(5):
        gaps = np.abs(np.diff(y)) * (np.diff(x) > 0.02)
        if corrupted:
            gaps[(x[:-1] <= low) & (x[1:] >= high)] = 0
        widest = np.argsort(gaps)[-8:]
        widest = widest[gaps[widest] > 0]
        between = (x[widest] + x[widest + 1]) / 2
        values = box.ask(between.tolist())
        usable = np.isfinite(values) & ~((between >= low) & (between <= high))
        x, y = np.concatenate([x, between[usable]]), np.concatenate([y, values[usable]])
        order = np.argsort(x)
        x, y = x[order], y[order]
    return x, y


def _best(x: Numbers, y: Numbers, spread: float = 0.0) -> CurveProposal:
    """Return the smallest curve that is exact (or as good as the noise can show), else the best by size and error;
    straight lines if no formula is about as good as these.

    `spread` is the standard deviation of the noise that is left in y.
    """
    exact = EXACT * (_size(y) or 1.0)
    smallest = max(spread, exact)
    judged: list[tuple[float, float, CurveProposal]] = []
    with np.errstate(all="ignore"):
        for family in FAMILIES:
            for curve in _proposed(family, x, y):
                error = _size(curve.values(x) - y)
                if np.isfinite(error):
                    cost = len(x) * np.log(max(error, smallest) ** 2) + curve.size * np.log(len(x))
                    judged.append((cost, error, curve))
            if spread == 0 and judged and min(judged, key=lambda item: item[:2])[1] <= exact:
                break  # later families could only be as exact with more fitted numbers
    bins = len(x) if spread == 0 else max(len(x) // 6, 4)
    # A formula has to beat straight lines through half of the points, judged by the other half.
    lines = interpolated(x[::2], y[::2], max(bins // 2, 2))
    left = _size(lines.values(x[1::2]) - y[1::2])
    _, error, best = min(judged, key=lambda item: item[:2], default=(0.0, np.inf, lines))
    return best if error <= 1.5 * max(left, smallest) else interpolated(x, y, bins)


def _size(values: Numbers) -> float:
    """Return the root mean square."""
    return float(np.sqrt(np.mean(values**2)))


def _proposed(family: Family, x: Numbers, y: Numbers) -> Iterator[CurveProposal]:
    """Yield the curves of a family up to the first that cannot be computed: values near 1e100 overflow in many ways."""
    with contextlib.suppress(ArithmeticError, ValueError, IndexError):
        yield from family(x, y)


def _is_noisy(differs: Numbers) -> bool:
    """Whether there is noise on the whole function. Corruption differs at (nearly) all points from its first to its
    last; Poisson noise gives the same value twice at a third of them.
    """
    places = np.flatnonzero(differs)
    if len(places) < 4:
        return False
    return bool(differs.mean() > 0.9 or differs[places[0] : places[-1] + 1].mean() < 0.9)


def _noise_words(residuals: Numbers, gaps: Numbers) -> str:
    """Return which noise it is: whole steps are Poisson's, and uniform noise has no tails (kurtosis 1.8, normal noise
    3).
    """
    if len(gaps) < FEW:
        return " Two calls with one input differ, so there is noise; too few calls to tell which."
    kind: NoiseKind = "normal"
    steps = np.abs(gaps) / max(np.min(np.abs(gaps[gaps != 0])), 1e-12)
    if np.allclose(steps, np.round(steps), atol=1e-4):
        kind = "poisson"
    elif np.mean(residuals**4) < 2.3 * np.mean(residuals**2) ** 2:
        kind = "uniform"
    return (
        f" Every observation carries {kind} noise with a standard deviation of about {np.std(gaps) / np.sqrt(2):.3g}."
    )


def _interval(low: float, high: float) -> tuple[str, str]:
    """Return an interval as code and in words."""
    if np.isinf(low) and np.isinf(high):
        return "True", "everywhere"
    if np.isinf(low):
        return f"x <= {number_code(high)}", f"below {high:.4g}"
    if np.isinf(high):
        return f"x >= {number_code(low)}", f"above {low:.4g}"
    return f"{number_code(low)} <= x <= {number_code(high)}", f"between {low:.4g} and {high:.4g}"


def _finding(box: _Box, curve: CurveProposal, domain: str, lines: Sequence[str] = (), noise: str = "") -> FitResult:
    """Return the result of a curve; `lines` of code go before those of the curve."""
    code = "\n".join(["import math", "", "def f(x):", *(f"    {line}" for line in [*lines, *curve.body])])
    begun = "The function is" if box.tried >= FEW else f"As far as {box.tried} inputs tell, the function is"
    return FitResult(f"{begun} {curve.words}.{noise}", domain, code, tuple(box.probes), curve.name)


# The `fit` baseline for string functions: it asks about informative texts, and searches atoms and pairs of atoms.
#
# No language model. What it finds is written as Python that needs no other module of ours.


ObserveTexts = Callable[[Sequence[str]], Sequence[str | None]]
"""The black box: an output for each text, None if it gives none."""

_EXPLAINED = (string_atoms.rotate, string_atoms.rotate_at, string_atoms.map_string)
"""Atoms whose names do not say enough: their docstring stays in the code that is written."""

_CODED = tuple(
    "".join(letter for place, letter in enumerate(alphabet, start=1) if place >> bit & 1)
    for alphabet in (string.ascii_lowercase, string.ascii_uppercase)
    for bit in range(5)
)
"""Ten texts in which every letter occurs in a different combination: the texts that react identify the letter."""

_INPUTS = table("find/inputs")

FIRST_TEXTS = (*_INPUTS["fit"], *_CODED)
"""Every letter in both cases, digits, spaces, vowels alone and none, odd and even lengths, texts of one and two."""

TEXTS = (*FIRST_TEXTS, *FIRST_TEXTS[:3], *_INPUTS["fit_more"])
"""All texts that are asked if the budget allows; a few twice, because that reveals a random function."""

STRING_BUDGET = len(TEXTS)

FEW_TEXTS = 10
"""Fewer texts than these leave many rules open; the words then say how few."""


def fit_string(observe: ObserveTexts, *, budget: int = STRING_BUDGET, inputs: Sequence[str] | None = None) -> FitResult:
    """Ask about the texts, and find an atom or a pair of atoms that gives everything that was seen.

    At most `budget` calls. If the function is known to have outputs only for `inputs`, it asks only about these.
    """
    from ..functions.synthesis import synthesize

    asked = (TEXTS if inputs is None else (*inputs, *inputs[:3]))[:budget]
    probes = tuple(zip(asked, observe(asked), strict=True))
    pairs = [(text, output) for text, output in probes if output is not None]
    function = synthesize(pairs) if pairs else None
    answers = dict(probes)
    refused = [text for text, output in answers.items() if output is None]
    domain = f"It gave an output for every text tried ({len(answers)})."
    if refused:
        domain = f"It gave no output for {len(refused)} of the {len(answers)} texts tried, such as {refused[0]!r}."
    description = _description(function, len(answers) - len(refused))
    code = code_of(function) if function else "def f(x):\n    return x"
    return FitResult(description, domain, code, probes, function.kind if function else "none")


def _description(function: StringFunction | None, answered: int) -> str:
    """Return what the function does, or why that is not said, given the number of texts it `answered`."""
    if answered == 0:
        return "It gave nothing to explain."
    if function is None:
        return (
            "Too few calls to tell." if answered < FEW_TEXTS else "No rule of one or two steps explains what was seen."
        )
    few = f"Seen for {answered} text{'s' * (answered > 1)} only: " if answered < FEW_TEXTS else ""
    return few + function.describe()


# Code


def code_of(function: StringFunction) -> str:
    """Return `function` as Python that needs only the standard library's `string` and `random`."""
    needed: dict[str, str] = {}
    expression = "x"
    for atom in function.atoms:
        expression = _call(atom, expression, needed)
    parts = ["import string", "import random", *needed.values(), f"def f(x):\n    return {expression}"]
    return "\n\n".join(parts)


def _call(atom: StringAtom, argument: str, needed: dict[str, str]) -> str:
    kind = STRING_ATOMS[atom.name]
    if kind.code:
        return kind.code.format(x=argument)
    if kind.is_random:
        sign = 1 if atom.name.startswith("add") else -1
        _collect(string_atoms.rotate_at, needed)
        needed["at_random"] = (
            "def at_random(text, sign):\n"
            "    return rotate_at(text, random.randrange(len(text)), sign) if text else text"
        )
        return f"at_random({argument}, {sign})"
    _collect(kind.apply, needed)
    values = [repr(atom.parameters[name]) for name in kind.parameters]
    return f"{kind.apply.__name__}({', '.join([argument, *values])})"


def _collect(function: Callable[..., Any], needed: dict[str, str]) -> None:
    """Add the source of `function`, and of everything it uses from its module, to `needed`; what is used comes
    first.
    """
    if function.__name__ in needed:
        return
    source = inspect.getsource(function).strip()
    [tree] = ast.parse(source).body
    for name in [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]:
        value = vars(string_atoms).get(name)
        if inspect.isfunction(value):
            _collect(value, needed)
        elif isinstance(value, str | dict) and name not in needed:
            needed[name] = f"{name} = {value!r}"
    if isinstance(tree, ast.FunctionDef) and ast.get_docstring(tree) and function not in _EXPLAINED:
        docstring, lines = tree.body[0], source.split("\n")
        source = "\n".join(lines[: docstring.lineno - 1] + lines[docstring.end_lineno :])
    needed[function.__name__] = source
