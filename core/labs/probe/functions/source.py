"""Where a function comes from: drawn from a seed, looked up by its id in the published set, or brought by a person.

Generators, synthesis and the sandbox are imported only when a function is created: a form needs none of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .... import files
from ....events import Rules
from ....policy import NotAllowedError
from ....sandbox import sandbox
from ...base.report import Case
from ..evaluate import SUCCESS, noise_floor
from ..tasks import OWN, ProbeSpec
from . import base, numeric
from .entities import EntityFunction, EntityKind, draw_entity, published_entities
from .relations import RelationKind, draw_relation, published_relations
from .strings import INNER, OUTER, StringAtom, StringFunction, avoided, draw_atom

if TYPE_CHECKING:
    from .synthesis import StringTask


# Functions that a person writes: a formula, a few lines of Python, or typed pairs.


TRIED: dict[str, tuple[float | str, ...]] = {
    "numeric": (-100.0, -1.0, 0.0, 0.5, 1.0, 3.0, 100.0),
    "strings": ("banana", "Hello, World!", "a1 b2", "x"),
}
"""Inputs of which new code must work on at least one."""


class CodeFunction(base.FindFunction):
    """Python that someone wrote, run only in the sandbox. `source` is what they typed."""

    code: str
    source: str

    @property
    def kind(self) -> str:
        return "own code"

    @property
    def parameters(self) -> dict[str, Any]:
        return {"code": self.code}

    @property
    def is_stochastic(self) -> bool:
        return "random" in self.code

    def describe(self) -> str:
        return self.source

    def read(self, text: str) -> Any:
        return base.read_number(text) if self.category == "numeric" else text

    def outputs(self, inputs: Sequence[Any], rng: np.random.Generator) -> list[base.Value | None]:
        values = sandbox.evaluate(self.code, inputs, seed=int(rng.integers(2**31))).values
        return [self.typed(value) for value in values]

    def typed(self, value: base.Value | None) -> base.Value | None:
        """Return a value of the function's type: a text function that returns a number gives it as a text."""
        return f"{value:g}" if self.category == "strings" and isinstance(value, float) else value

    def __call__(self, x: Any, rng: np.random.Generator) -> base.Value:
        result = sandbox.evaluate(self.code, [x], seed=int(rng.integers(2**31)))
        if (value := self.typed(result.values[0])) is None:
            raise base.UndefinedInputError(f"your code has no value here: {result.errors[0]}")
        return value


def from_code(name: str, category: base.Category, text: str) -> CodeFunction:
    """Return the function that `text` defines: lines of Python with a `def`, or a formula of x such as "3 * x^2 +
    sin(x)".

    Raises FunctionError, with the sandbox's reason, if it works on none of a few inputs.
    """
    if why := trouble(category, text):
        raise base.FunctionError(f"This function gives no value: {why}")
    return CodeFunction(id=name, category=category, code=as_code(text), source=text)


def why_it_fails(category: base.Category, code: str) -> str:
    """Return why `code` works on none of a few inputs; an empty string if it works on some."""
    result = sandbox.evaluate(code, TRIED[category])
    return "" if any(value is not None for value in result.values) else str(result.errors[0])


def trouble(category: base.Category, text: str) -> str:
    """Return why `text`, a formula or Python, works on none of a few inputs; an empty string if it works on some."""
    code = as_code(text)
    why = why_it_fails(category, code)
    if not why or code == text:
        return why
    mended = _TIMES.sub(r"\1 * ", text)
    if mended != text and not why_it_fails(category, as_code(mended)):
        return f"a multiplication needs its sign. Write {mended.strip()}"
    # The parser's message mentions the parentheses that we put around a formula.
    return "it cannot be read as a formula of x; look at its signs and parentheses" if "SyntaxError" in why else why


_TIMES = re.compile(r"((?<![\w.])\d{1,40}(?:\.\d{1,40})?(?![\d.eE])|\)|\bx\b(?=\s*[\d(x]))[ \t]{0,9}(?=[A-Za-z(])")
"""A number, a closing parenthesis or x with a name or a parenthesis right behind it: 3 x, 2(x + 1), (x)(x)."""


def as_code(text: str) -> str:
    """Return `text` if it defines a function, else code for the function of x that it writes as a formula."""
    return text if sandbox.tested_function(text, "repaired") else _from_formula(text)


_OF_MATH = "sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, exp, log, log2, log10, sqrt, floor, ceil, pi, e"


def _from_formula(text: str) -> str:
    formula = re.sub(r"^\s*(?:f\s*\(\s*x\s*\)|y)\s*=(?!=)", "", text.strip()).replace("^", "**")
    return f"from math import {_OF_MATH}\ndef f(x):\n    return ({formula.strip()})\n"


class PairsFunction(base.FindFunction):
    """A function of typed pairs; other inputs have no value."""

    pairs: dict[str, str]

    @property
    def kind(self) -> str:
        return "own pairs"

    @property
    def parameters(self) -> dict[str, Any]:
        return {"pairs": dict(self.pairs)}

    def describe(self) -> str:
        pairs = "One pair that was" if len(self.pairs) == 1 else f"{len(self.pairs)} pairs that were"
        return f"{pairs} typed in; other inputs have no value."

    def __call__(self, x: str, rng: np.random.Generator) -> str:
        typed = {_input(self.category, key): output for key, output in self.pairs.items()}
        try:
            return typed[_input(self.category, x)]
        except KeyError:
            raise base.UndefinedInputError("it is not among the pairs") from None


def _input(category: base.Category, text: str) -> float | str:
    """Return the key of an input: for a numeric function 1, 1.0 and 1e0 are the same."""
    number = base.as_number(text) if category == "numeric" else None
    return text.strip() if number is None else number


def from_pairs(name: str, category: base.Category, pairs: Mapping[str, str]) -> PairsFunction:
    """Return a function of `pairs` alone; if an input occurs twice, the last pair is used."""
    unique = {_input(category, key): (key.strip(), output) for key, output in pairs.items()}
    return PairsFunction(id=name, category=category, pairs=dict(unique.values()))


# Generate new functions by seed, in the proportions of the published set (docs/measuring.md §4.1, §4.2).


MLP_SHARE = 0.15
COMPOSED_SHARE = 0.15
"""Shares of all 1,000 numeric functions."""

PLAIN, CORRUPTED, NOISED = 483 / 850, 191 / 850, 176 / 850
"""Shares of the numeric functions that are not networks: plain, corrupted, with noise."""

NOISE_SHARES: dict[numeric.NoiseKind, float] = {"normal": 0.33, "uniform": 0.44, "poisson": 0.23}
NOISES = tuple(NOISE_SHARES)
OPERATIONS: tuple[numeric.Operation, ...] = ("sum", "product")
WHERE_SHARES = {"inside": 0.5, "above": 0.25, "below": 0.25}

SINGLE_SHARE = 0.3
"""Of string functions."""

SINGLES = tuple(name for name, kind in numeric.ATOMS.items() if kind.single)
PARTS = tuple(name for name, kind in numeric.ATOMS.items() if kind.composable)


def generate(
    category: base.Category, seed: int, difficulty: base.Difficulty | None = None, rules: Rules = "repaired"
) -> base.FindFunction:
    """Return the function that `seed` stands for, the same at every call. With `difficulty` None it is sampled from all
    of them.

    Numeric: easy is one clean atom; medium one atom with noise or corruption; hard a composition or a network. Strings:
    easy is one atom; medium two; hard two of which one is random when called or both have parameters. The updated rules
    sample again if noise or corruption make success impossible. Raises FunctionError for a difficulty that the category
    lacks.
    """
    if difficulty is not None and difficulty not in base.difficulties(category):
        known = " or ".join(base.difficulties(category))
        raise base.FunctionError(f"{category} functions are {known}, not {difficulty}.")
    if category == "entities":
        return draw_entity(seed, kind=cast(EntityKind | None, difficulty and base.SHAPES[category][difficulty]))
    if category == "relations":
        return draw_relation(seed, kind=cast(RelationKind | None, difficulty and base.SHAPES[category][difficulty]))
    rng = np.random.default_rng([seed, 0 if category == "numeric" else 1])
    name = base.name_of(category, seed, difficulty, rules)
    while True:
        drawn = draw_numeric(name, rng, rules) if category == "numeric" else draw_string(name, rng)
        fits = difficulty is None or difficulty_of(drawn) == difficulty
        if fits and (isinstance(drawn, StringFunction) or rules == "paper" or can_be_won(drawn)):
            return drawn


def can_be_won(function: numeric.NumericFunction) -> bool:
    """Whether a perfect description stays below half the limit of success. Half, because the floor is a mean, and each
    run is compared with one sample.
    """
    if not function.is_stochastic:
        return True
    floor = noise_floor(function, np.random.default_rng(0), 5)
    return floor is not None and floor < SUCCESS / 2


def difficulty_of(function: numeric.NumericFunction | StringFunction) -> base.Difficulty:
    """Return the difficulty as defined in `generate`."""
    if isinstance(function, numeric.NumericFunction):
        if function.operation is not None or function.mlp is not None:
            return "hard"
        return "medium" if function.noise is not None or function.corruption is not None else "easy"
    if function.inner is None:
        return "easy"
    both_drawn = bool(function.outer.parameters) and bool(function.inner.parameters)
    return "hard" if function.is_stochastic or both_drawn else "medium"


def draw_numeric(name: str, rng: np.random.Generator, rules: Rules) -> numeric.NumericFunction:
    """Return one numeric function: atom or composition, then network, noise, corruption or nothing."""
    composed = rng.random() < COMPOSED_SHARE
    atoms = tuple(
        draw_numeric_atom(str(rng.choice(PARTS if composed else SINGLES)), rng, rules) for _ in range(1 + composed)
    )
    domain = (-100.0, 100.0) if composed else numeric.ATOMS[atoms[0].name].domain
    function = numeric.NumericFunction(
        id=name,
        atoms=atoms,
        operation=OPERATIONS[int(rng.integers(2))] if composed else None,
        low=domain[0],
        high=domain[1],
        rules=rules,
    )
    if rng.random() < MLP_SHARE:
        return function.model_copy(update={"mlp": numeric.fit(function.ideal, *domain, rng)})
    fate = rng.random()
    if fate < CORRUPTED:
        return function.model_copy(update={"corruption": draw_corruption(function, rng, rules)})
    if fate < CORRUPTED + NOISED:
        return function.model_copy(update={"noise": draw_noise(function, rng, rules)})
    return function


def draw_numeric_atom(name: str, rng: np.random.Generator, rules: Rules) -> numeric.Atom:
    """Return the atom `name` with newly sampled parameters, from the ranges of `rules` (docs/measuring.md §4.1)."""
    draws = numeric.ATOMS[name].draws

    def several(parameter: str, number: int) -> tuple[float, ...]:
        return tuple(draws[parameter].sample(rng, rules) for _ in range(number))

    if name == "polynomial":
        degree = int(rng.integers(2, 6))
        drawn: numeric.Parameters = {"coefficients": (*several("leading", 1), *several("others", degree))}
    elif name == "rational":
        # The numerator's order first: sampled the other way round, nearly half of the numerators would be constant.
        above = int(rng.integers(0, 5))
        below = int(rng.integers(above + 1, 6))
        drawn = {"numerator": several("numerator", above + 1), "denominator": several("denominator", below + 1)}
    else:
        in_turn = sorted(draws, key=lambda parameter: not draws[parameter].first)
        values = {parameter: draws[parameter].sample(rng, rules) for parameter in in_turn}
        drawn = {parameter: values[parameter] for parameter in draws}
    return numeric.Atom(name=name, parameters=drawn)


def draw_noise(function: numeric.NumericFunction, rng: np.random.Generator, rules: Rules) -> numeric.Noise:
    """Sample a noise of size 1 as published; the updated rules limit it to a fifth of the signal, so that success is
    possible.
    """
    kind = NOISES[int(rng.choice(len(NOISES), p=list(NOISE_SHARES.values())))]
    size = 1.0
    if rules == "repaired":
        signal = _size(function)
        size = min(1.0, 0.2 * signal) if signal > 0 else 1.0
    return numeric.Noise(kind=kind, size=float(f"{size:.3g}"))


def _size(function: numeric.NumericFunction) -> float:
    """Return the root mean square over the scored points."""
    y = function.clean(numeric.GRID)
    return float(np.sqrt(np.mean(y[np.isfinite(y)] ** 2)))


def mean_on_domain(function: numeric.NumericFunction) -> float:
    """Return the mean over 100 evenly spaced points, the centre of corrupted values (docs/measuring.md §4.1)."""
    x = np.linspace(function.low, function.high, 100)
    with np.errstate(all="ignore"):
        y = np.real(function.ideal(x))
    return float(np.mean(y[np.isfinite(y)]))


def draw_corruption(function: numeric.NumericFunction, rng: np.random.Generator, rules: Rules) -> numeric.Corruption:
    """Sample a corruption inside an interval, or above or below a point. The published lengths are 5 to 25; the paper
    says 5 to 20.

    The updated rules keep finite intervals within the domain, so that there is something to find, and the spread of the
    corrupted values (0.1 as published) below a fifth of the signal.
    """
    mean = mean_on_domain(function)
    sd = 0.1
    if rules == "repaired" and (size := _size(function)) > 0:
        sd = float(f"{min(sd, 0.2 * size):.3g}")
    where = str(rng.choice(list(WHERE_SHARES), p=list(WHERE_SHARES.values())))
    longest = 25.0 if rules == "paper" else 20.0
    length = float(rng.uniform(5, longest))
    last = function.high if rules == "paper" or where != "inside" else function.high - length
    start = round(float(rng.uniform(function.low, last)), 1)
    low, high = {"inside": (start, start + length), "above": (start, None), "below": (None, start)}[where]
    return numeric.Corruption(low=low, high=high, mean=mean, sd=sd)


def draw_string(name: str, rng: np.random.Generator) -> StringFunction:
    """Return one atom of 67 (3 in 10), or an outer atom with an inner one that may be combined with it."""
    outer: StringAtom = draw_atom(str(rng.choice(OUTER)), rng)
    if rng.random() < SINGLE_SHARE:
        return StringFunction(id=name, outer=outer)
    avoid = avoided(outer.name)
    inner = str(rng.choice(INNER))
    while inner in avoid:
        inner = str(rng.choice(INNER))
    return StringFunction(id=name, outer=outer, inner=draw_atom(inner, rng))


_CHOICE = 12
"""Separates the random numbers that choose published functions from the other streams of a seed."""


def cases(spec: ProbeSpec) -> Iterator[Case]:
    """Yield one case per function, whose `about` is the specification for it alone. Raises BenchmarkError if the
    published set cannot be read.
    """
    for name in names_of(spec):
        one = spec.alone(name)
        yield Case(name, one, one.title)


def names_of(spec: ProbeSpec) -> Iterator[str]:
    """Yield the functions' names, which are the cases' ids, without loading them. Raises BenchmarkError if the
    published set cannot be read.
    """
    if spec.own:
        yield OWN
    elif spec.function or spec.functions:
        yield from (name.replace("/", "-") for name in spec.functions or (spec.function,))
    elif spec.is_category:
        ids = sorted(published_ids(spec.category, str(spec.find_dir)))
        places = np.random.default_rng([spec.seed, _CHOICE]).permutation(len(ids))[: spec.limit]
        yield from (ids[place] for place in places)
    else:
        for seed in range(spec.seed, spec.seed + spec.count):
            yield base.name_of(spec.category, seed, spec.difficulty, spec.rules)


def load(spec: ProbeSpec) -> base.FindFunction:
    """Return the black box of a specification about one. Raises FunctionError (or its subclass BenchmarkError) with
    a message for the person; a specification about several raises it too, and `cases` gives each its own.
    """
    if spec.is_several:
        raise base.FunctionError("Several functions are named here: name only one.")
    if spec.own:
        return brought(spec.category, spec.own_kind, spec.own)
    if spec.function:
        return by_id(spec.category, spec.function, Path(spec.find_dir) if spec.find_dir else None)
    return generate(spec.category, spec.seed, spec.difficulty, spec.rules)


def published_ids(category: base.Category, find_dir: str) -> list[str]:
    """Return the names of all published functions of a category. Raises BenchmarkError if they cannot be read."""
    return list(published_strings(find_dir) if category == "strings" else published(category, find_dir))


def by_id(category: base.Category, id: str, find_dir: Path | None) -> base.FindFunction:
    """Return the published function `id`, or a generated one by its name ("numeric-7-hard").

    Raises BenchmarkError if there is none, or if the published folder is not as expected.
    """
    if match := base.DRAWN.fullmatch(id):
        return _ours(category, id, match)
    if find_dir is None:
        raise base.BenchmarkError(
            f"{id!r} is not the name of a drawn function. If it is one of the published set, name the folder that "
            "holds numeric/ and strings/ (--find-dir)."
        )
    ids = published_ids(category, str(find_dir))
    if id not in ids:
        known = f"{min(ids)} to {max(ids)}" if ids else "none"
        raise base.BenchmarkError(f"The published {category} functions are {known}; there is no {id!r}.")
    if category == "strings":
        return _published_string(str(find_dir), id)
    return published(category, str(find_dir))[id]


def _ours(category: base.Category, id: str, match: re.Match[str]) -> base.FindFunction:
    if match["category"] != category:
        raise base.BenchmarkError(f"{id} is one of the {match['category']} functions, not of {category}.")
    by_shape = {shape: difficulty for difficulty, shape in base.shapes(category).items()}
    shape, rules = match["shape"], "paper" if match["paper"] else "repaired"
    if shape not in (*by_shape, None) or (rules == "paper" and category in base.SHAPES):
        raise base.BenchmarkError(f"{id!r} names no {category} function.")
    return generate(category, int(match["seed"]), by_shape.get(shape), cast(Rules, rules))


def _folder(find_dir: str) -> Path:
    try:
        return files.resolve_named(find_dir)
    except (files.FileError, NotAllowedError) as error:
        raise base.BenchmarkError(str(error)) from None


@lru_cache(maxsize=8)
def published(category: base.Category, find_dir: str) -> dict[str, base.FindFunction]:
    """Return the published functions of any category but strings, by id. Raises BenchmarkError if they cannot be
    read.
    """
    return dict(_PUBLISHED[category](_folder(find_dir)))


_PUBLISHED: dict[str, Callable[[Path], Mapping[str, base.FindFunction]]] = {
    "numeric": numeric.load_numeric,
    "entities": published_entities,
    "relations": published_relations,
}


@lru_cache(maxsize=2)
def published_strings(find_dir: str) -> dict[str, StringTask]:
    """Return the published string functions as far as they were published, by id. Raises BenchmarkError if they cannot
    be read.
    """
    from .synthesis import load_strings

    return load_strings(_folder(find_dir))


@lru_cache(maxsize=64)
def _published_string(find_dir: str, id: str) -> base.FindFunction:
    from .synthesis import string_function

    function = string_function(published_strings(find_dir)[id])
    if function is None:
        raise base.BenchmarkError(
            f"No function of one or two steps gives the recorded pairs of {id}, so it cannot be run."
        )
    return function


def brought(category: base.Category, kind: base.OwnKind, text: str) -> base.FindFunction:
    """Return a function that a person wrote: code or a formula, pairs one per line, or a concept ("birds or ships").

    Raises FunctionError with a message for the person.
    """
    if kind == "pairs":
        return from_pairs("own", category, read_pairs(text))
    if kind == "code":
        if category not in ("numeric", "strings"):
            raise base.FunctionError("Code makes numeric and string functions. Type pairs or a concept instead.")
        return from_code("own", category, text)
    if category != "entities":
        raise base.FunctionError("A concept makes an entity function. Type pairs instead.")
    first, _, second = text.strip().partition(" or ")
    return EntityFunction(id="own", concept1=first.strip(), concept2=second.strip() or None)


def read_pairs(text: str) -> dict[str, str]:
    """Read pairs typed one per line as "input -> output" ("=>", "→" and tabs work too). Raises FunctionError if a line
    is not a pair.
    """
    pairs = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        parts = re.split(r"\s*(?:->|=>|→|\t)\s*", line, maxsplit=1)
        if len(parts) != 2 or not parts[0].strip():
            raise base.FunctionError(f"Line {number} is not a pair. Write it as: input -> output.")
        pairs[parts[0].strip()] = parts[1].strip()
    return pairs
