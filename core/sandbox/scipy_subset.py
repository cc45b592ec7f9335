"""The parts of scipy that a sandboxed program may use: densities, special functions and two waves, by name.

Densities are written out here, because importing scipy.stats takes longer than a program may run. Formulas and
parameters are scipy's, including `loc` and `scale`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .unsupported import NAMED

Row = NDArray[Any]

SPECIAL = NAMED["special"]
SIGNAL = ("square", "sawtooth")


class Distribution(NamedTuple):
    """A distribution in standard form: `density` and `below` (the cumulative share) are functions of a point and
    `shapes` further numbers.
    """

    density: Callable[..., Row]
    below: Callable[..., Row]
    shapes: int = 0
    discrete: bool = False


def _special(name: str) -> Callable[..., Row]:
    from scipy import special

    function: Callable[..., Row] = getattr(special, name)
    return function


def _poisson(k: Row, mean: Row) -> Row:
    return np.asarray(np.exp(_special("xlogy")(k, mean) - mean - _special("gammaln")(k + 1)))


def _binomial(k: Row, n: Row, p: Row) -> Row:
    log = _special("gammaln")
    ways = log(n + 1) - log(k + 1) - log(n - k + 1)
    some = np.exp(ways + _special("xlogy")(k, p) + _special("xlog1py")(n - k, -p))
    return np.where(k <= n, some, 0.0)


DISTRIBUTIONS = {
    "norm": Distribution(lambda z: np.exp(-z * z / 2) / np.sqrt(2 * np.pi), lambda z: _special("ndtr")(z)),
    "uniform": Distribution(lambda z: np.where((z >= 0) & (z <= 1), 1.0, 0.0), lambda z: np.clip(z, 0, 1)),
    "expon": Distribution(
        lambda z: np.where(z >= 0, np.exp(-np.abs(z)), 0.0), lambda z: np.where(z >= 0, -np.expm1(-np.abs(z)), 0.0)
    ),
    "logistic": Distribution(
        lambda z: np.exp(-np.abs(z)) / (1 + np.exp(-np.abs(z))) ** 2, lambda z: _special("expit")(z)
    ),
    "laplace": Distribution(
        lambda z: np.exp(-np.abs(z)) / 2,
        lambda z: np.where(z > 0, 1 - np.exp(-np.abs(z)) / 2, np.exp(-np.abs(z)) / 2),
    ),
    "cauchy": Distribution(lambda z: 1 / (np.pi * (1 + z * z)), lambda z: 0.5 + np.arctan(z) / np.pi),
    "t": Distribution(
        lambda z, df: np.exp(
            _special("gammaln")((df + 1) / 2)
            - _special("gammaln")(df / 2)
            - np.log(df * np.pi) / 2
            - (df + 1) / 2 * np.log1p(z * z / df)
        ),
        lambda z, df: _special("stdtr")(df, z),
        1,
    ),
    "gamma": Distribution(
        lambda z, a: np.where(
            z >= 0, np.exp(_special("xlogy")(a - 1, np.abs(z)) - np.abs(z) - _special("gammaln")(a)), 0.0
        ),
        lambda z, a: _special("gammainc")(a, np.maximum(z, 0)),
        1,
    ),
    "poisson": Distribution(_poisson, lambda k, mean: _special("pdtr")(k, mean), 1, discrete=True),
    "binom": Distribution(_binomial, lambda k, n, p: _special("bdtr")(np.minimum(k, n), n, p), 2, discrete=True),
}
"""The distributions by scipy's names."""

NAMES: dict[str, tuple[str, ...]] = {"stats": tuple(DISTRIBUTIONS), "special": SPECIAL, "signal": SIGNAL}
"""The names that are lent from each part of scipy."""

LONGEST_LIST = 1_000

_SHAPES = {"t": ("df",), "gamma": ("a",), "poisson": ("mu",), "binom": ("n", "p")}


def caller(part: str, safe: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a function that accepts one of `NAMES[part]` (for stats with the method, "norm.pdf") and arguments, each
    passed through `safe` first. Raises NotImplementedError for what is not lent, TypeError for arguments that scipy
    does not accept either.
    """

    def call(name: Any, *args: Any, **named: Any) -> Any:
        base, _, what = str(name).partition(".")
        if base not in NAMES[part]:
            raise NotImplementedError(f"scipy.{part} does not lend {base!r} here")
        given = [np.asarray(safe(value), dtype=float) for value in args]
        options = {key: np.asarray(safe(value), dtype=float) for key, value in named.items()}
        with np.errstate(all="ignore"):
            if part == "stats":
                result = _of_distribution(base, what, given, options)
            elif part == "signal":
                result = _wave(base, *given, **options)
            else:
                if options:
                    raise NotImplementedError(f"scipy.special.{base} takes no argument {min(options)!r} here")
                result = np.asarray(_special(base)(*given))
        if result.size > LONGEST_LIST or result.ndim > 1 or result.dtype.kind not in "biufc":
            raise NotImplementedError(f"scipy.{part}.{base} cannot be used like this here")
        return result.tolist()

    return call


def _of_distribution(name: str, what: str, given: list[Row], options: dict[str, Row]) -> Row:
    """Evaluate `what` (pdf, pmf, cdf, sf) of the distribution at the first of `given`. Raises TypeError, and
    NotImplementedError for what is not lent.
    """
    distribution = DISTRIBUTIONS[name]
    parameters = ["x", *_SHAPES.get(name, ()), "loc", *(() if distribution.discrete else ("scale",))]
    if distribution.discrete and "k" in options:
        options["x"] = options.pop("k")
    values = dict(zip(parameters, given, strict=False)) | options
    if len(given) > len(parameters) or set(values) - set(parameters) or "x" not in values:
        raise TypeError(f"scipy.stats.{name}.{what} takes {', '.join(parameters)} here")
    if what not in ("pmf" if distribution.discrete else "pdf", "cdf", "sf"):
        raise NotImplementedError(f"scipy.stats.{name} has no {what!r} here")
    if missing := [shape for shape in parameters[1 : 1 + distribution.shapes] if shape not in values]:
        raise TypeError(f"scipy.stats.{name}.{what} lacks {missing[0]}")
    shapes = [values[shape] for shape in parameters[1 : 1 + distribution.shapes]]
    scale = np.asarray(values.get("scale", 1.0))
    z = (values["x"] - values.get("loc", 0.0)) / scale
    if distribution.discrete:
        return _of_counts(distribution, what, z, shapes)
    found = distribution.density(z, *shapes) / scale if what == "pdf" else distribution.below(z, *shapes)
    return np.asarray(np.where(scale > 0, 1 - found if what == "sf" else found, np.nan))


def _of_counts(distribution: Distribution, what: str, z: Row, shapes: list[Row]) -> Row:
    if what == "pmf":
        whole = (z >= 0) & (z == np.floor(z))
        return np.asarray(np.where(whole, distribution.density(np.where(whole, z, 0.0), *shapes), 0.0))
    below = np.where(z >= 0, distribution.below(np.maximum(np.floor(z), 0.0), *shapes), 0.0)
    return np.asarray(1 - below if what == "sf" else below)


def _wave(name: str, t: Row, duty: Row | None = None, width: Row | None = None) -> Row:
    """Return scipy.signal's square wave or sawtooth; their period is 2π."""
    share = duty if duty is not None else width
    turn = np.mod(t, 2 * np.pi) / (2 * np.pi)
    if name == "square":
        return np.where(turn < (0.5 if share is None else share), 1.0, -1.0)
    rising = np.asarray(1.0 if share is None else share)
    safe_up, safe_down = np.where(rising > 0, rising, 1.0), np.where(rising < 1, 1 - rising, 1.0)
    return np.where(turn < rising, 2 * turn / safe_up - 1, 1 - 2 * (turn - rising) / safe_down)
