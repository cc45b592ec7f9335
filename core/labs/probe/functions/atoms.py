"""The numeric atoms of FIND (paper, appendix E; docs/measuring.md §4.1): how parameters are sampled, values, formula.

Values follow the published metadata: with these formulas the mean of each of the 1,000 published functions over 100
evenly spaced points of its domain equals the recorded one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ....events import Frozen, Rules
from ....package_data import table

Numbers = NDArray[Any]
"""Float values, or complex ones if the paper rules take the root of a negative number."""

Parameters = dict[str, float | tuple[float, ...]]


class ParameterRange(Frozen):
    """The range from which a parameter is sampled (data/find/numeric_atoms.toml). Parameters with `first` are sampled
    before the others.
    """

    range: tuple[float, float]
    repaired: tuple[float, float] | None = None
    whole: bool = False
    never: float | None = None
    never_repaired: float | None = None
    first: bool = False

    def sample(self, rng: np.random.Generator, rules: Rules) -> float:
        """Return a number rounded to tenths, like every real parameter of the published set, or a whole one."""
        low, high = self.repaired if self.repaired and rules == "repaired" else self.range
        if self.whole:
            return int(rng.integers(int(low), int(high)))
        while True:
            value = round(float(rng.uniform(low, high)), 1)
            if value != self.never and (rules == "paper" or value != self.never_repaired):
                return value


class AtomKind(Frozen):
    """What is known of an atom besides its values: `formula` writes it out, `draws` says how parameters are sampled."""

    formula: str
    paper_formula: str = ""
    draws: dict[str, ParameterRange] = Field(default_factory=dict)
    domain: tuple[float, float] = (-100.0, 100.0)
    single: bool = True
    """Whether it is sampled alone."""
    composable: bool = False
    """Whether it is sampled as a part of a sum or product."""


ATOMS = {name: AtomKind.model_validate(entry) for name, entry in table("find/numeric_atoms").items()}


def sample_parameters(name: str, rng: np.random.Generator, rules: Rules) -> Parameters:
    """Return parameters of the atom `name`, sampled from the ranges of `rules`."""
    draws = ATOMS[name].draws

    def several(parameter: str, number: int) -> tuple[float, ...]:
        return tuple(draws[parameter].sample(rng, rules) for _ in range(number))

    if name == "polynomial":
        degree = int(rng.integers(2, 6))
        return {"coefficients": (*several("leading", 1), *several("others", degree))}
    if name == "rational":
        # The numerator's order first: sampled the other way round, nearly half of the numerators would be constant.
        above = int(rng.integers(0, 5))
        below = int(rng.integers(above + 1, 6))
        return {"numerator": several("numerator", above + 1), "denominator": several("denominator", below + 1)}
    in_turn = sorted(draws, key=lambda parameter: not draws[parameter].first)
    drawn = {parameter: draws[parameter].sample(rng, rules) for parameter in in_turn}
    return {parameter: drawn[parameter] for parameter in draws}


def values(name: str, x: Numbers, parameters: Parameters, rules: Rules) -> Numbers:
    """Return the values of the atom `name` at `x`, by the script that `rules` name. Shape of `x`."""
    p = parameters
    if rules == "paper":
        p = _as_scripted(name, parameters)
        # For the root of a negative number the paper rules use Python's complex one, and the updated rules call it
        # undefined.
        if name == "root" and p["degree"] != 1 and np.any(x < 0):
            x = x.astype(complex)
    return np.asarray(_VALUES[name](x, p))


def formula(name: str, parameters: Parameters, rules: Rules) -> str:
    """Return the atom `name` as a formula of x, with its parameters filled in."""
    kind = ATOMS[name]
    p: dict[str, Any] = _as_scripted(name, parameters) if rules == "paper" else {**parameters}
    if name == "polynomial":
        p = {"coefficients": _series(p["coefficients"])}
    if name == "rational":
        p = {part: _series(coefficients[::-1]) for part, coefficients in p.items()}
    if name == "rectangle":
        p["half"] = p["width"] / 2
    template = kind.paper_formula if rules == "paper" and kind.paper_formula else kind.formula
    return template.format(**p)


def _as_scripted(name: str, p: Parameters) -> Parameters:
    """Return the parameters with which the authors' script computes: the arguments of waves are shifted by one
    position, so that the "phase" is the period, and `absolute` loses its bias (docs/measuring.md §4.1).
    """
    if name in ("sin", "cos", "tanh"):
        return {**p, "phase": p["period"], "period": p["phase"]}
    return {**p, "bias": 0.0} if name == "absolute" else {**p}


def _series(coefficients: tuple[float, ...]) -> str:
    """Write out a polynomial; the coefficients are by falling power."""
    highest = len(coefficients) - 1
    powers = ["" if k == 0 else " x" if k == 1 else f" x^{k}" for k in range(highest, -1, -1)]
    return " + ".join(f"{c}{power}" for c, power in zip(coefficients, powers, strict=True))


def bare_sign(x: Numbers) -> Numbers:
    """Return 1 above zero, -1 at zero and below, as in the published scripts. Shape of `x`."""
    return np.where(x > 0, 1.0, -1.0)


def _wave(function: Callable[[Numbers], Numbers]) -> Callable[[Numbers, Any], Numbers]:
    return lambda x, p: p["amplitude"] * function(2 * np.pi / p["period"] * (x - p["phase"])) + p["bias"]


def _gaussian(x: Numbers, p: Any) -> Numbers:
    """Return the density of the normal distribution with mean `mean` and standard deviation `sd`."""
    return np.asarray(np.exp(-0.5 * ((x - p["mean"]) / p["sd"]) ** 2) / (p["sd"] * np.sqrt(2 * np.pi)))


_VALUES: dict[str, Callable[[Numbers, Any], Numbers]] = {
    "linear": lambda x, p: p["slope"] * x + p["bias"],
    "polynomial": lambda x, p: np.polyval(p["coefficients"], x),
    "absolute": lambda x, p: p["scale"] * np.abs(x) + p["bias"],
    "root": lambda x, p: p["scale"] * x ** (1 / p["degree"]) + p["bias"],
    "logarithm": lambda x, p: p["scale"] * np.log(x) / np.log(p["base"]) + p["bias"],
    "step": lambda x, p: p["scale"] * np.heaviside(x, p["at_zero"]) + p["bias"],
    "relu": lambda x, p: p["scale"] * np.where(x > 0, x, p["leak"] * x) + p["bias"],
    "tanh": _wave(np.tanh),
    "constant": lambda x, p: np.full(np.shape(x), float(p["value"])),
    "sin": _wave(np.sin),
    "cos": _wave(np.cos),
    "reciprocal": lambda x, p: 1 / (p["scale"] * x),
    "gaussian": _gaussian,
    "rational": lambda x, p: np.polyval(p["numerator"][::-1], x) / np.polyval(p["denominator"][::-1], x),
    "rectangle": lambda x, p: np.where(np.abs(x) <= p["width"] / 2, 1.0, 0.0),
    "square_wave": lambda x, p: bare_sign(np.sin(2 * np.pi / p["period"] * (x - p["shift"]))),
    "ceil": lambda x, p: np.ceil(x),
    "floor": lambda x, p: np.floor(x),
}
