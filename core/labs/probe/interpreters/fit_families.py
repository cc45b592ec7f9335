"""Families of curves for the `fit` baseline: each proposes curves for some observations, as numbers and as code, fitted
by least squares.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..functions.numeric import Numbers

# What the `fit` baseline fits: a curve as numbers and as code, and the least squares behind it.


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


Family = Callable[[Numbers, Numbers], Iterator[CurveProposal]]
"""Yields curves for x and y (finite, equal length, x rising); it need not judge them."""

SHORTEST_PERIOD = 0.1


def polynomials(x: Numbers, y: Numbers) -> Iterator[CurveProposal]:
    """Propose a constant, a line, and polynomials up to degree 10 (a product of two polynomials of degree 5)."""
    for degree in range(min(11, len(x) - 1)):
        name = ("constant", "linear")[degree] if degree < 2 else "polynomial"
        begun = ("the constant ", "linear: ")[degree] if degree < 2 else f"a polynomial of degree {degree}: "
        yield fitted(name, lambda c, begun=begun: begun + _rough(c), [polynomial(degree)], x, y)


def _rough(c: Numbers) -> str:
    return series(float(f"{value:.4g}") for value in c)


def split_at_zero(x: Numbers, y: Numbers) -> Iterator[CurveProposal]:
    """Propose two polynomials, one on each side of zero: absolute value, ReLU, step, and their sums and products with
    polynomials.
    """
    if min(np.sum(x < 0), np.sum(x > 0)) < 8:
        return
    named = {0: ("step", _step), 1: ("relu", _bend)}
    for degree in (0, 1, 2, 3, 4, 5, 6, 10):
        name, words = named.get(degree, ("split", _split))
        below, above = CurvePart("(x < 0)", lambda t: t < 0, degree), CurvePart("(x >= 0)", lambda t: t >= 0, degree)
        yield fitted(name, words, [below, above, CurvePart("(x == 0)", lambda t: t == 0)], x, y)


def _step(below: Numbers, above: Numbers, at_zero: Numbers) -> str:
    return f"a step at zero, from {below[0]:.4g} to {above[0]:.4g}"


def _bend(below: Numbers, above: Numbers, at_zero: Numbers) -> str:
    slopes = f"slope {below[1]:.4g} below zero and {above[1]:.4g} above, {above[0] + at_zero[0]:.4g} at zero"
    is_mirrored = np.isclose(below[1], -above[1], rtol=0.02)
    return f"{'proportional to the absolute value |x|' if is_mirrored else 'piecewise linear, as a ReLU'}: {slopes}"


def _split(below: Numbers, above: Numbers, at_zero: Numbers) -> str:
    return f"one polynomial below zero, {series(below)}, and another above, {series(above)}"


def half_line(x: Numbers, y: Numbers) -> Iterator[CurveProposal]:
    """Propose root and logarithm, if nothing is defined below zero."""
    if np.any(x < 0):
        return
    for name, text, words, function in (
        ("root", "x ** 0.5", "{:.4g} times the square root of x, plus {:.4g}", np.sqrt),
        ("root", "x ** (1 / 3)", "{:.4g} times the cube root of x, plus {:.4g}", np.cbrt),
        ("logarithm", "math.log(x)", "a logarithm: {:.4g} * ln(x) + {:.4g}", np.log),
    ):
        yield fitted(
            name, lambda a, b, words=words: words.format(a[0], b[0]), [CurvePart(text, function), polynomial(0)], x, y
        )


def reciprocals(x: Numbers, y: Numbers) -> Iterator[CurveProposal]:
    """Propose a / x."""
    yield fitted(
        "reciprocal", lambda a: f"a reciprocal: 1 / ({1 / a[0]:.4g} * x)", [CurvePart("1 / x", np.reciprocal)], x, y
    )


def bells(x: Numbers, y: Numbers) -> Iterator[CurveProposal]:
    """Propose the density of a normal distribution, scaled."""

    def parts(mean: float, sd: float) -> list[CurvePart]:
        text = f"math.exp(-0.5 * ((x - {number_code(mean)}) / {number_code(sd)}) ** 2)"
        return [CurvePart(text, lambda t: np.exp(-0.5 * ((t - mean) / sd) ** 2))]

    peak = x[np.argmax(np.abs(y - np.median(y)))]
    mean, sd = refined(parts, [(peak, start) for start in (2.0, 5.0, 10.0)], x, y)
    words = f"a bell curve (Gaussian density) around {mean:.4g} with standard deviation {abs(sd):.4g}"
    yield fitted("gaussian", lambda a: f"{words}, {a[0]:.4g} high", parts(mean, sd), x, y, 2)


def smooth_steps(x: Numbers, y: Numbers) -> Iterator[CurveProposal]:
    """Propose a hyperbolic tangent: a smooth step anywhere."""

    def parts(slope: float, middle: float) -> list[CurvePart]:
        text = f"math.tanh({number_code(slope)} * (x - {number_code(middle)}))"
        return [CurvePart(text, lambda t: np.tanh(slope * (t - middle))), polynomial(0)]

    steepest = x[np.argmax(np.abs(np.diff(y)))]
    slope, middle = refined(parts, [(start, steepest) for start in (0.3, 1.0, 4.0)], x, y)

    def words(a: Numbers, b: Numbers) -> str:
        return f"a hyperbolic tangent (smooth step) around {middle:.4g}, from {b[0] - a[0]:.4g} to {b[0] + a[0]:.4g}"

    yield fitted("tanh", words, parts(slope, middle), x, y, 2)


def waves(x: Numbers, y: Numbers) -> Iterator[CurveProposal]:
    """Propose sine waves of any period from 0.1, and square waves."""
    if len(x) >= 16:
        frequencies = _strongest_frequencies(x, y, 4)
        yield _sine(x, y, frequencies)
        yield _square(x, y, *_best_square(x, y, frequencies))


def _sine(x: Numbers, y: Numbers, frequencies: list[float]) -> CurveProposal:
    def parts(w: float) -> list[CurvePart]:
        sine = CurvePart(f"math.sin({number_code(w)} * x)", lambda t: np.sin(w * t))
        return [sine, CurvePart(f"math.cos({number_code(w)} * x)", lambda t: np.cos(w * t)), polynomial(0)]

    [w] = refined(parts, [(start,) for start in frequencies], x, y)
    period = 2 * np.pi / abs(w)

    def words(a: Numbers, b: Numbers, c: Numbers) -> str:
        size = np.hypot(a[0], b[0])
        return f"a sine wave (sin) of amplitude {size:.4g} and period {period:.4g} around {c[0]:.4g}"

    return fitted("sin", words, parts(w), x, y, 1)


def _square(x: Numbers, y: Numbers, period: float, shift: float) -> CurveProposal:
    text = f"(1 if math.sin(2 * math.pi / {number_code(period)} * (x - {number_code(shift)})) > 0 else -1)"
    wave = CurvePart(text, lambda t: _squares(t, period, np.array([shift]))[0])

    def words(a: Numbers, b: Numbers) -> str:
        low, high = b[0] - abs(a[0]), b[0] + abs(a[0])
        return f"a square wave between {low:.4g} and {high:.4g} with period {period:.4g}"

    return fitted("square_wave", words, [wave, polynomial(0)], x, y, 2)


def _strongest_frequencies(x: Numbers, y: Numbers, n: int) -> list[float]:
    """Return the angular frequencies at which sin and cos explain most of y; the x must be unevenly spaced, or they
    alias.
    """
    finest = np.pi / (4 * (x[-1] - x[0]))
    centred = y - y.mean()
    steps = finest * np.arange(4096)
    # The same factors serve every block of 4096 frequencies, after a rotation to where the block begins.
    turning = np.exp(-1j * np.outer(steps, x))
    peaks = []
    for start in np.arange(finest, 2 * np.pi / SHORTEST_PERIOD, finest * 4096):
        power = np.abs(turning @ (np.exp(-1j * start * x) * centred))
        peaks += [(float(power[k]), float(start + steps[k])) for k in np.argsort(power)[-n:]]
    return [frequency for _, frequency in sorted(peaks, reverse=True)[:n]]


def _squares(x: Numbers, period: float, shifts: Numbers) -> Numbers:
    """Return 1 and -1 in turn, shape (shifts, points)."""
    return np.where(np.sin(2 * np.pi / period * (x - shifts[:, None])) > 0, 1.0, -1.0)


def _best_square(x: Numbers, y: Numbers, frequencies: list[float]) -> tuple[float, float]:
    """Return period and shift of the square wave that explains most of y; one of the `frequencies` must be near its
    own. Round numbers are tried first, because edges that fall exactly on scored points need them.
    """
    centred = y - y.mean()
    width = np.pi / (x[-1] - x[0])
    best = (-1.0, 1.0, 0.0)
    for w in frequencies:
        periods = 2 * np.pi / np.linspace(max(w - width, w / 2), w + width, 61)
        for period in [*np.unique(np.round(periods, 1).clip(SHORTEST_PERIOD)), *periods]:
            turn = 2 * np.pi / period
            phase = (np.pi / 2 - np.angle(np.sum(centred * np.exp(-1j * turn * x)))) / turn
            near = np.remainder(phase - period / 2 + period * np.linspace(-0.1, 0.1, 13), period) - period / 2
            shifts = np.concatenate([np.round(near, 1), near])
            signs = _squares(x, period, shifts)
            signs -= signs.mean(axis=1, keepdims=True)
            explained = (signs @ centred) ** 2 / np.maximum(np.sum(signs**2, axis=1), 1e-9)
            k = int(np.argmax(explained))
            if explained[k] > best[0] * (1 + 1e-9):
                best = (float(explained[k]), float(period), float(shifts[k]))
    return best[1:]


def boxes(x: Numbers, y: Numbers) -> Iterator[CurveProposal]:
    """Propose a rectangle around zero, added to a polynomial or cutting one out."""
    rising = np.unique(np.abs(x))
    # Its edge is between two probes; trying every place settles it if the values jump on both sides.
    places = (rising[1:] + rising[:-1])[rising[1:] <= 26] / 2
    for degree in (0, 1, 5):
        for is_cut in (False, True):

            def parts(half: float, degree: int = degree, is_cut: bool = is_cut) -> list[CurvePart]:
                inside = CurvePart(
                    f"(abs(x) < {number_code(half)})", lambda t: np.abs(t) < half, degree if is_cut else 0
                )
                return [inside] if is_cut else [inside, polynomial(degree)]

            half = min(places, key=lambda half: squared_error(parts(half), x, y))
            effect = "it is " if is_cut else "it is raised by "
            words = f"a rectangle: where |x| < {half:.4g} {effect}"
            yield fitted("rectangle", lambda c, *_, words=words: words + series(c), parts(half), x, y, 1)


def ratios(x: Numbers, y: Numbers) -> Iterator[CurveProposal]:
    """Propose quotients of polynomials, with a numerator of lower degree than the denominator (at most 5)."""
    for below in range(1, 6):
        for above in range(below):
            p, q = _ratio(x, y, above, below)
            words = f"a rational function, the ratio of a polynomial of degree {above} to one of degree {below}"
            body = (f"return ({series(p)}) / ({series(q)})",)
            values = lambda t, p=p, q=q: np.polyval(p[::-1], t) / np.polyval(q[::-1], t)  # noqa: E731
            yield CurveProposal("rational", words, values, body, above + below + 1)


def _ratio(x: Numbers, y: Numbers, above: int, below: int) -> tuple[Numbers, Numbers]:
    """Return p and q, by rising power, that minimize |p − y q| with weights brought near 1/|q| in a few rounds."""
    scale = 16.0
    t = x / scale
    weight = 1 / (1 + np.abs(t)) ** below
    for _ in range(6):
        features = np.hstack(
            [np.vander(t, above + 1, increasing=True), -y[:, None] * np.vander(t, below + 1, increasing=True)]
        )
        features *= weight[:, None]
        size = np.linalg.norm(features, axis=0)
        size[size == 0] = 1
        c = np.linalg.svd(features / size, full_matrices=False)[2][-1] / size
        p, q = c[: above + 1], c[above + 1 :]
        # Scaled by the largest coefficient: next to values of 1e55 the squares of anything else overflow.
        largest = np.max(np.abs(q))
        weight = 1 / np.maximum(np.abs(np.polyval(q[::-1], t)) / largest, 1e-9)
    return p / largest / scale ** np.arange(above + 1), q / largest / scale ** np.arange(below + 1)


def interpolated(x: Numbers, y: Numbers, bins: int) -> CurveProposal:
    """Propose straight lines between observations, or, with noise, between the means of `bins` groups of them."""
    groups = np.array_split(np.arange(len(x)), min(bins, len(x)))
    knots, heights = (np.array([float(np.mean(v[group])) for group in groups]) for v in (x, y))
    body = (
        f"knots = [{', '.join(f'{v:.5g}' for v in knots)}]",
        f"heights = [{', '.join(f'{v:.6g}' for v in heights)}]",
        "k = 0",
        "while k < len(knots) - 2 and x > knots[k + 1]:",
        "    k += 1",
        "share = (x - knots[k]) / (knots[k + 1] - knots[k])",
        "return heights[k] + share * (heights[k + 1] - heights[k])",
    )

    def values(t: Numbers) -> Numbers:
        k = np.clip(np.searchsorted(knots, t) - 1, 0, len(knots) - 2)
        share = (t - knots[k]) / (knots[k + 1] - knots[k])
        return np.asarray(heights[k] + share * (heights[k + 1] - heights[k]))

    words = "none of the simple formulas that were tried; it is drawn as straight lines between observed points"
    return CurveProposal("interpolated", words, values, body, len(knots))


FAMILIES: tuple[Family, ...] = (
    polynomials,
    split_at_zero,
    reciprocals,
    half_line,
    bells,
    smooth_steps,
    waves,
    boxes,
    ratios,
)
