"""Generate new functions by seed, in the proportions of the published set (docs/measuring.md §4.1, §4.2)."""

from __future__ import annotations

import numpy as np

from ....events import Rules
from ..evaluate import SUCCESS, noise_floor
from . import mlp
from .atoms import ATOMS, sample_parameters
from .base import FindFunction
from .names import Category, Difficulty
from .numeric import GRID, Atom, Corruption, Noise, NoiseKind, NumericFunction, Operation
from .strings import INNER, OUTER, StringAtom, StringFunction, avoided, draw_atom

MLP_SHARE = 0.15
COMPOSED_SHARE = 0.15
"""Shares of all 1,000 numeric functions."""

PLAIN, CORRUPTED, NOISED = 483 / 850, 191 / 850, 176 / 850
"""Shares of the numeric functions that are not networks: plain, corrupted, with noise."""

NOISE_SHARES: dict[NoiseKind, float] = {"normal": 0.33, "uniform": 0.44, "poisson": 0.23}
NOISES = tuple(NOISE_SHARES)
OPERATIONS: tuple[Operation, ...] = ("sum", "product")
WHERE_SHARES = {"inside": 0.5, "above": 0.25, "below": 0.25}

SINGLE_SHARE = 0.3
"""Of string functions."""

SINGLES = tuple(name for name, kind in ATOMS.items() if kind.single)
PARTS = tuple(name for name, kind in ATOMS.items() if kind.composable)


def generate(
    category: Category, seed: int, *, rules: Rules = "repaired", difficulty: Difficulty | None = None
) -> FindFunction:
    """Return the function that `seed` stands for, the same at every call. With `difficulty` None it is sampled from all
    of them.

    Numeric: easy is one clean atom; medium one atom with noise or corruption; hard a composition or a network. Strings:
    easy is one atom; medium two; hard two of which one is random when called or both have parameters. The updated rules
    sample again if noise or corruption make success impossible. Raises ValueError for categories whose functions are
    listed, not generated (entities, relations).
    """
    if category not in ("numeric", "strings"):
        raise ValueError(f"{category} functions are listed, not drawn from a seed; choose numeric or strings")
    rng = np.random.default_rng([seed, 0 if category == "numeric" else 1])
    name = f"{category}-{seed}" + (f"-{difficulty}" if difficulty else "") + ("-paper" if rules == "paper" else "")
    while True:
        drawn = draw_numeric(name, rng, rules) if category == "numeric" else draw_string(name, rng)
        fits = difficulty is None or difficulty_of(drawn) == difficulty
        if fits and (isinstance(drawn, StringFunction) or rules == "paper" or can_be_won(drawn)):
            return drawn


def can_be_won(function: NumericFunction) -> bool:
    """Whether a perfect description stays below half the limit of success. Half, because the floor is a mean, and each
    run is compared with one sample.
    """
    if not function.is_stochastic:
        return True
    floor = noise_floor(function, np.random.default_rng(0), 5)
    return floor is not None and floor < SUCCESS / 2


def difficulty_of(function: NumericFunction | StringFunction) -> Difficulty:
    """Return the difficulty as defined in `generate`."""
    if isinstance(function, NumericFunction):
        if function.operation is not None or function.mlp is not None:
            return "hard"
        return "medium" if function.noise is not None or function.corruption is not None else "easy"
    if function.inner is None:
        return "easy"
    both_drawn = bool(function.outer.parameters) and bool(function.inner.parameters)
    return "hard" if function.is_stochastic or both_drawn else "medium"


def draw_numeric(name: str, rng: np.random.Generator, rules: Rules) -> NumericFunction:
    """Return one numeric function: atom or composition, then network, noise, corruption or nothing."""
    composed = rng.random() < COMPOSED_SHARE
    atoms = tuple(
        draw_numeric_atom(str(rng.choice(PARTS if composed else SINGLES)), rng, rules) for _ in range(1 + composed)
    )
    domain = (-100.0, 100.0) if composed else ATOMS[atoms[0].name].domain
    base = NumericFunction(
        id=name,
        atoms=atoms,
        operation=OPERATIONS[int(rng.integers(2))] if composed else None,
        low=domain[0],
        high=domain[1],
        rules=rules,
    )
    if rng.random() < MLP_SHARE:
        return base.model_copy(update={"mlp": mlp.fit(base.ideal, *domain, rng)})
    fate = rng.random()
    if fate < CORRUPTED:
        return base.model_copy(update={"corruption": draw_corruption(base, rng, rules)})
    if fate < CORRUPTED + NOISED:
        return base.model_copy(update={"noise": draw_noise(base, rng, rules)})
    return base


def draw_numeric_atom(name: str, rng: np.random.Generator, rules: Rules) -> Atom:
    """Return the atom `name` with newly sampled parameters, from the ranges of `rules` (docs/measuring.md §4.1)."""
    return Atom(name=name, parameters=sample_parameters(name, rng, rules))


def draw_noise(function: NumericFunction, rng: np.random.Generator, rules: Rules) -> Noise:
    """Sample a noise of size 1 as published; the updated rules limit it to a fifth of the signal, so that success is
    possible.
    """
    kind = NOISES[int(rng.choice(len(NOISES), p=list(NOISE_SHARES.values())))]
    size = 1.0
    if rules == "repaired":
        signal = _size(function)
        size = min(1.0, 0.2 * signal) if signal > 0 else 1.0
    return Noise(kind=kind, size=float(f"{size:.3g}"))


def _size(function: NumericFunction) -> float:
    """Return the root mean square over the scored points."""
    y = function.clean(GRID)
    return float(np.sqrt(np.mean(y[np.isfinite(y)] ** 2)))


def mean_on_domain(function: NumericFunction) -> float:
    """Return the mean over 100 evenly spaced points, the centre of corrupted values (docs/measuring.md §4.1)."""
    x = np.linspace(function.low, function.high, 100)
    with np.errstate(all="ignore"):
        y = np.real(function.ideal(x))
    return float(np.mean(y[np.isfinite(y)]))


def draw_corruption(function: NumericFunction, rng: np.random.Generator, rules: Rules) -> Corruption:
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
    return Corruption(low=low, high=high, mean=mean, sd=sd)


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
