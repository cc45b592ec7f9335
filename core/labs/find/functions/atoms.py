"""The numeric atoms of FIND (paper, appendix E; docs/measuring.md §4.1): formula, parameters, their ranges.

Values follow the published metadata: with these formulas the mean of each of the 1,000 published functions over 100
evenly spaced points of its domain equals the recorded one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.events import Rules

Numbers = NDArray[Any]
"""Float values, or complex ones where paper rules take the root of a negative number."""

Parameters = dict[str, float | tuple[float, ...]]


class AtomKind(NamedTuple):
    """`draw` samples parameters, `values` computes the formula on an array of any shape, `formula` writes it out."""

    draw: Callable[[np.random.Generator, Rules], Parameters]
    values: Callable[[Numbers, Any, Rules], Numbers]
    formula: Callable[[Any, Rules], str]
    domain: tuple[float, float] = (-100.0, 100.0)
    single: bool = True
    """Whether it is sampled alone."""
    composable: bool = False
    """Whether it is sampled as a part of a sum or product."""


def tenth(rng: np.random.Generator, low: float, high: float) -> float:
    """A number from [low, high] rounded to tenths, as every real parameter of the published set."""
    return round(float(rng.uniform(low, high)), 1)


def nonzero_tenth(rng: np.random.Generator, low: float, high: float, rules: Rules) -> float:
    """Like `tenth`; repaired rules leave out 0, which would make the atom a constant or undefined."""
    value = tenth(rng, low, high)
    while rules == "repaired" and value == 0:
        value = tenth(rng, low, high)
    return value


def _scale_and_bias(rng: np.random.Generator, rules: Rules) -> Parameters:
    # The published biases all lie within ±10, though the paper speaks of ±30 for both.
    return {"scale": nonzero_tenth(rng, -30, 30, rules), "bias": tenth(rng, -10, 10)}


def _linear(rng: np.random.Generator, rules: Rules) -> Parameters:
    return {"slope": nonzero_tenth(rng, -10, 10, rules), "bias": tenth(rng, -10, 10)}


def _polynomial(rng: np.random.Generator, rules: Rules) -> Parameters:
    degree = int(rng.integers(2, 6))
    return {"coefficients": (nonzero_tenth(rng, -5, 5, rules), *(tenth(rng, -5, 5) for _ in range(degree)))}


def _root(rng: np.random.Generator, rules: Rules) -> Parameters:
    # Half of the published roots are of degree 1, that is straight lines; repaired rules draw real roots.
    low, high = (1, 3) if rules == "paper" else (2, 4)
    return {**_scale_and_bias(rng, rules), "degree": int(rng.integers(low, high))}


def _logarithm(rng: np.random.Generator, rules: Rules) -> Parameters:
    base = tenth(rng, 1, 10)
    while base <= 1:  # base 1 has no logarithm
        base = tenth(rng, 1, 10)
    return {**_scale_and_bias(rng, rules), "base": base}


def _step(rng: np.random.Generator, rules: Rules) -> Parameters:
    return {**_scale_and_bias(rng, rules), "at_zero": tenth(rng, -100, 100)}


def _relu(rng: np.random.Generator, rules: Rules) -> Parameters:
    return {**_scale_and_bias(rng, rules), "leak": tenth(rng, 0, 1)}


def _wave(rng: np.random.Generator, rules: Rules) -> Parameters:
    # Paper rules use the phase as period, so periods below 2 occur and alias on integer probes; repaired ones do not.
    return {
        "amplitude": nonzero_tenth(rng, -10, 10, rules),
        "phase": tenth(rng, 0.1, 6.3),
        "period": tenth(rng, 0.1, 6.3) if rules == "paper" else tenth(rng, 3, 30),
        "bias": tenth(rng, -10, 10),
    }


def _constant(rng: np.random.Generator, rules: Rules) -> Parameters:
    return {"value": int(rng.integers(-100, 100))}


def _reciprocal(rng: np.random.Generator, rules: Rules) -> Parameters:
    value = tenth(rng, -10, 10)
    while value == 0:
        value = tenth(rng, -10, 10)
    return {"scale": value}


def _gaussian(rng: np.random.Generator, rules: Rules) -> Parameters:
    return {"mean": tenth(rng, -50, 50), "sd": tenth(rng, 1, 10)}


def _rational(rng: np.random.Generator, rules: Rules) -> Parameters:
    # The numerator's order first: drawn the other way round, nearly half of them would have a constant one.
    above = int(rng.integers(0, 5))
    below = int(rng.integers(above + 1, 6))
    return {
        "numerator": tuple(tenth(rng, -10, 10) for _ in range(above + 1)),
        "denominator": tuple(nonzero_tenth(rng, -10, 10, rules) for _ in range(below + 1)),
    }


def _rectangle(rng: np.random.Generator, rules: Rules) -> Parameters:
    # Width 1 to 10 shows at ten of the 256 test points at most; repaired rules draw wider ones.
    return {"width": tenth(rng, 1, 10) if rules == "paper" else tenth(rng, 5, 50)}


def _square_wave(rng: np.random.Generator, rules: Rules) -> Parameters:
    return {"period": tenth(rng, 1, 10) if rules == "paper" else tenth(rng, 4, 40), "shift": tenth(rng, -5, 5)}


def _none(rng: np.random.Generator, rules: Rules) -> Parameters:
    return {}


def _period_and_shift(p: Any, rules: Rules) -> tuple[float, float]:
    """Paper rules: the arguments land one place off, so the "phase" is the period (docs/measuring.md §4.1)."""
    return (p["phase"], p["period"]) if rules == "paper" else (p["period"], p["phase"])


def _angle(x: Numbers, p: Any, rules: Rules) -> Numbers:
    period, shift = _period_and_shift(p, rules)
    return np.asarray(2 * np.pi / period * (x - shift))


def _wave_formula(name: str) -> Callable[[Any, Rules], str]:
    def formula(p: Any, rules: Rules) -> str:
        period, shift = _period_and_shift(p, rules)
        return f"{p['amplitude']} * {name}(2π / {period} * (x - {shift})) + {p['bias']}"

    return formula


def _absolute_values(x: Numbers, p: Any, rules: Rules) -> Numbers:
    # Paper rules: the script that is probed forgets the bias (docs/measuring.md §4.1); its metadata keep it.
    return np.asarray(p["scale"] * np.abs(x) + (p["bias"] if rules == "repaired" else 0.0))


def _absolute_formula(p: Any, rules: Rules) -> str:
    return f"{p['scale']} * |x|" + (f" + {p['bias']}" if rules == "repaired" else "")


def _root_values(x: Numbers, p: Any, rules: Rules) -> Numbers:
    # A root of a negative number: paper rules go on with Python's complex one, repaired rules call it undefined.
    if p["degree"] == 1:
        return np.asarray(p["scale"] * x + p["bias"])
    base = x.astype(complex) if rules == "paper" and np.any(x < 0) else x
    return np.asarray(p["scale"] * base ** (1 / p["degree"]) + p["bias"])


def _series(coefficients: tuple[float, ...]) -> str:
    """Written-out polynomial, coefficients by falling power."""
    highest = len(coefficients) - 1
    powers = ["" if k == 0 else " x" if k == 1 else f" x^{k}" for k in range(highest, -1, -1)]
    return " + ".join(f"{c}{power}" for c, power in zip(coefficients, powers, strict=True))


def bare_sign(x: Numbers) -> Numbers:
    """1 above zero, -1 at zero and below, as the published scripts have it. Shape of `x`."""
    return np.where(x > 0, 1.0, -1.0)


def gaussian_density(x: Numbers, mean: float, sd: float) -> Numbers:
    """The density of the normal distribution with mean `mean` and standard deviation `sd`. Shape of `x`."""
    return np.asarray(np.exp(-0.5 * ((x - mean) / sd) ** 2) / (sd * np.sqrt(2 * np.pi)))


ATOMS: dict[str, AtomKind] = {
    "linear": AtomKind(
        _linear,
        lambda x, p, rules: p["slope"] * x + p["bias"],
        lambda p, rules: f"{p['slope']} * x + {p['bias']}",
        composable=True,
    ),
    "polynomial": AtomKind(
        _polynomial,
        lambda x, p, rules: np.polyval(p["coefficients"], x),
        lambda p, rules: _series(p["coefficients"]),
        composable=True,
    ),
    "absolute": AtomKind(_scale_and_bias, _absolute_values, _absolute_formula),
    "root": AtomKind(
        _root,
        _root_values,
        lambda p, rules: f"{p['scale']} * x^(1/{p['degree']:g}) + {p['bias']}",
        domain=(0.0, 100.0),
    ),
    "logarithm": AtomKind(
        _logarithm,
        lambda x, p, rules: p["scale"] * np.log(x) / np.log(p["base"]) + p["bias"],
        lambda p, rules: f"{p['scale']} * log to base {p['base']} of x + {p['bias']}",
        domain=(1.0, 100.0),
    ),
    "step": AtomKind(
        _step,
        lambda x, p, rules: p["scale"] * np.heaviside(x, p["at_zero"]) + p["bias"],
        lambda p, rules: f"{p['scale']} * (0 below zero, {p['at_zero']} at zero, 1 above) + {p['bias']}",
        composable=True,
    ),
    "relu": AtomKind(
        _relu,
        lambda x, p, rules: p["scale"] * np.where(x > 0, x, p["leak"] * x) + p["bias"],
        lambda p, rules: f"{p['scale']} * (x above zero, {p['leak']} * x below) + {p['bias']}",
        composable=True,
    ),
    "tanh": AtomKind(
        _wave,
        lambda x, p, rules: p["amplitude"] * np.tanh(_angle(x, p, rules)) + p["bias"],
        _wave_formula("tanh"),
    ),
    "constant": AtomKind(
        _constant,
        lambda x, p, rules: np.full(np.shape(x), float(p["value"])),
        lambda p, rules: str(p["value"]),
        composable=True,
    ),
    "sin": AtomKind(
        _wave,
        lambda x, p, rules: p["amplitude"] * np.sin(_angle(x, p, rules)) + p["bias"],
        _wave_formula("sin"),
    ),
    "cos": AtomKind(
        _wave,
        lambda x, p, rules: p["amplitude"] * np.cos(_angle(x, p, rules)) + p["bias"],
        _wave_formula("cos"),
    ),
    "reciprocal": AtomKind(
        _reciprocal,
        lambda x, p, rules: 1 / (p["scale"] * x),
        lambda p, rules: f"1 / ({p['scale']} * x)",
    ),
    "gaussian": AtomKind(
        _gaussian,
        lambda x, p, rules: gaussian_density(x, p["mean"], p["sd"]),
        lambda p, rules: f"the density of a normal distribution with mean {p['mean']}, standard deviation {p['sd']}",
    ),
    "rational": AtomKind(
        _rational,
        lambda x, p, rules: np.polyval(p["numerator"][::-1], x) / np.polyval(p["denominator"][::-1], x),
        lambda p, rules: f"({_series(p['numerator'][::-1])}) / ({_series(p['denominator'][::-1])})",
    ),
    "rectangle": AtomKind(
        _rectangle,
        lambda x, p, rules: np.where(np.abs(x) <= p["width"] / 2, 1.0, 0.0),
        lambda p, rules: f"1 where |x| <= {p['width'] / 2:g}, 0 elsewhere",
        composable=True,
    ),
    "square_wave": AtomKind(
        _square_wave,
        lambda x, p, rules: bare_sign(np.sin(2 * np.pi / p["period"] * (x - p["shift"]))),
        lambda p, rules: f"the sign of sin(2π / {p['period']} * (x - {p['shift']})), -1 where that is 0",
        composable=True,
    ),
    "ceil": AtomKind(
        _none,
        lambda x, p, rules: np.ceil(x),
        lambda p, rules: "x rounded up to an integer",
        single=False,
        composable=True,
    ),
    "floor": AtomKind(
        _none,
        lambda x, p, rules: np.floor(x),
        lambda p, rules: "x rounded down to an integer",
        single=False,
        composable=True,
    ),
}
