"""What the `fit` baseline fits: a curve as numbers and as code, and the least squares behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from core.labs.find.functions.atoms import Numbers


class Curve(NamedTuple):
    """A proposal. `values` computes it on an array, `body` are the lines of a Python function of x, `size` is how many
    numbers were fitted.
    """

    name: str
    words: str
    values: Callable[[Numbers], Numbers]
    body: tuple[str, ...]
    size: int


Family = Callable[[Numbers, Numbers], Iterator[Curve]]
"""Given x and y (finite, equal length, x rising), gives curves; it need not judge them."""


def written(value: float) -> str:
    """A number as code: short, and exact enough for a polynomial at x = 128."""
    return f"{float(value):.12g}"


def solve(features: Numbers, y: Numbers) -> Numbers:
    """The coefficients of least squares, shape (columns,), with columns brought to one scale."""
    scale = np.linalg.norm(features, axis=0)
    scale[scale == 0] = 1
    return np.asarray(np.linalg.lstsq(features / scale, y, rcond=1e-13)[0] / scale)


def series(coefficients: Sequence[float] | Numbers) -> str:
    """A polynomial as code, coefficients by rising power."""
    terms = [written(coefficients[0])]
    for power, c in enumerate(coefficients[1:], start=1):
        factor = "x" if power == 1 else f"x ** {power}"
        terms.append(factor if c == 1 else f"{written(c)} * {factor}")
    return " + ".join(terms).replace("+ -", "- ")


def refined(model: Callable[..., Numbers], start: Sequence[float], x: Numbers, y: Numbers) -> tuple[float, ...] | None:
    """The parameters of nonlinear least squares from `start`, as many as there; None where it does not converge."""
    from scipy.optimize import least_squares

    spread = float(np.std(y)) or 1.0
    try:
        fit = least_squares(lambda p: (model(x, *p) - y) / spread, start, method="lm", max_nfev=400)
    except (ValueError, RuntimeError, FloatingPointError):
        return None
    return tuple(fit.x.tolist()) if np.all(np.isfinite(fit.x)) else None
