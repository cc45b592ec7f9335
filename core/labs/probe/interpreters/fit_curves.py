"""What the `fit` baseline fits: a curve as numbers and as code, and the least squares behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..functions.numeric import Numbers

NEGLIGIBLE = 1e-12
"""A term that is nowhere larger than this share of the largest value is left out of a curve."""


class CurveProposal(NamedTuple):
    """A proposed curve. `values` computes it on an array, `body` is the lines of a Python function of x, `size` is how
    many numbers were fitted.
    """

    name: str
    words: str
    values: Callable[[Numbers], Numbers]
    body: tuple[str, ...]
    size: int


class CurvePart(NamedTuple):
    """A factor, as code and as a function of an array, times a polynomial whose coefficients are fitted."""

    factor: str
    values: Callable[[Numbers], Numbers]
    degree: int = 0


def polynomial(degree: int) -> CurvePart:
    """Return a polynomial without a factor."""
    return CurvePart("1", np.ones_like, degree)


def number_code(value: float) -> str:
    """Return a number as code: short, and exact enough for a polynomial at x = 128."""
    return f"{float(value):.12g}"


def series(coefficients: Iterable[float]) -> str:
    """Return a polynomial as code; the coefficients are by rising power."""
    powers = ["", " * x", *(f" * x ** {power}" for power in range(2, 11))]
    terms = [f"{number_code(c)}{power}" for c, power in zip(coefficients, powers, strict=False) if c != 0]
    return " + ".join(terms).replace("+ -", "- ") or "0"


def fitted(
    name: str, words: Callable[..., str], parts: Sequence[CurvePart], x: Numbers, y: Numbers, parameters: int = 0
) -> CurveProposal:
    """Fit the sum of `parts` by least squares; `words` describes it from the coefficients, one array per part.
    `parameters` of the parts themselves were fitted before.
    """
    features = _features(parts, x)
    c = solve(features, y)
    c[np.abs(c) * np.max(np.abs(features), axis=0) < NEGLIGIBLE * np.max(np.abs(y))] = 0
    split = np.split(c, np.cumsum([part.degree + 1 for part in parts])[:-1])
    terms = [_term(some, part.factor) for some, part in zip(split, parts, strict=True) if some.any()]
    body = f"return {' + '.join(terms) or '0.0'}"
    return CurveProposal(name, words(*split), lambda t: _features(parts, t) @ c, (body,), len(c) + parameters)


def _term(coefficients: Numbers, factor: str) -> str:
    text = series(coefficients)
    if factor == "1":
        return text
    return f"({text}) * {factor}" if " " in text or text.startswith("-") else f"{text} * {factor}"


def refined(
    parts: Callable[..., Sequence[CurvePart]], starts: Iterable[Sequence[float]], x: Numbers, y: Numbers
) -> list[float]:
    """Return the parameters of `parts` with the least squared error, searched from each of `starts`. The coefficients
    are solved for at every step (variable projection: Golub and Pereyra 1973).
    """
    from scipy.optimize import least_squares

    spread = float(np.std(y)) or 1.0

    def residuals(parameters: Sequence[float]) -> Numbers:
        features = _features(parts(*parameters), x)
        return np.asarray((features @ solve(features, y) - y) / spread)

    fits = [least_squares(residuals, start, method="lm", max_nfev=400) for start in starts]
    return [float(value) for value in min(fits, key=lambda fit: fit.cost).x]


def squared_error(parts: Sequence[CurvePart], x: Numbers, y: Numbers) -> float:
    """Return the squared error of y that the best sum of `parts` leaves."""
    features = _features(parts, x)
    return float(np.sum((features @ solve(features, y) - y) ** 2))


def _features(parts: Sequence[CurvePart], x: Numbers) -> Numbers:
    """Return the features, shape (points, coefficients)."""
    return np.hstack([part.values(x)[:, None] * np.vander(x, part.degree + 1, increasing=True) for part in parts])


def solve(features: Numbers, y: Numbers) -> Numbers:
    """Return the least-squares coefficients, shape (columns,), with columns brought to one scale. Raises ValueError if
    a feature is not finite.
    """
    if not np.isfinite(features).all():
        raise ValueError("a feature is not finite at one of the points")
    scale = np.linalg.norm(features, axis=0)
    scale[scale == 0] = 1
    return np.asarray(np.linalg.lstsq(features / scale, y, rcond=1e-13)[0] / scale)
