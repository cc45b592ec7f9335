"""Families of curves for the `fit` baseline: each proposes curves for some observations, as numbers and as code."""

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
    """Least squares with columns brought to one scale."""
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


def _polynomial(x: Numbers, y: Numbers, degree: int) -> Numbers:
    """Coefficients by rising power of the least-squares polynomial."""
    return np.asarray(solve(np.vander(x / 128, degree + 1, increasing=True), y) / 128.0 ** np.arange(degree + 1))


def polynomial_values(c: Numbers) -> Callable[[Numbers], Numbers]:
    """The polynomial with coefficients `c` by rising power."""
    return lambda t: np.polyval(c[::-1], t)


def root_values(degree: int) -> Callable[[Numbers], Numbers]:
    return lambda t: np.abs(t) ** (1 / degree)


def polynomials(x: Numbers, y: Numbers) -> Iterator[Curve]:
    """Constant, linear, and up to degree 10 (a product of two polynomials of degree 5)."""
    for degree in range(min(11, len(x) - 1)):
        c = _polynomial(x, y, degree)
        name = ("constant", "linear")[degree] if degree < 2 else "polynomial"
        rough = series([float(f"{v:.4g}") for v in c])
        words = {"constant": f"the constant {rough}", "linear": f"linear: {rough}"}.get(
            name, f"a polynomial of degree {degree}: {rough}"
        )
        yield Curve(name, words, polynomial_values(c), (f"return {series(c)}",), degree + 1)


def split_at_zero(x: Numbers, y: Numbers) -> Iterator[Curve]:
    """Two polynomials, one a side of zero: absolute value, ReLU, step, and their sums and products with polynomials."""
    left, right = x < 0, x > 0
    if min(left.sum(), right.sum()) < 8:
        return
    for degrees in ((0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (10, 10)):
        a, b = (_polynomial(x[side], y[side], degree) for side, degree in zip((left, right), degrees, strict=True))
        at_zero = y[x == 0]
        middle = float(at_zero[0]) if len(at_zero) else float(b[0])
        if max(degrees) == 0:
            name, words = "step", f"a step at zero, from {a[0]:.4g} to {b[0]:.4g}"
        elif max(degrees) == 1:
            mirrored = np.isclose(a[1], -b[1], rtol=0.02)
            name = "absolute" if mirrored else "relu"
            slopes = f"slope {a[1]:.4g} below zero and {b[1]:.4g} above, {b[0]:.4g} at zero"
            words = (
                f"proportional to the absolute value |x|: {slopes}"
                if mirrored
                else f"piecewise linear, as a ReLU: {slopes}"
            )
        else:
            name, words = "split", f"one polynomial below zero, {series(a)}, and another above, {series(b)}"
        body = (
            "if x < 0:",
            f"    return {series(a)}",
            "if x == 0:",
            f"    return {written(middle)}",
            f"return {series(b)}",
        )

        def values(t: Numbers, a: Numbers = a, b: Numbers = b, middle: float = middle) -> Numbers:
            return np.where(t < 0, np.polyval(a[::-1], t), np.where(t > 0, np.polyval(b[::-1], t), middle))

        yield Curve(name, words, values, body, sum(degrees) + 3)


_ROUNDED: dict[str, Callable[[Numbers], Numbers]] = {"math.floor(x)": np.floor, "math.ceil(x)": np.ceil}


def rounded(x: Numbers, y: Numbers) -> Iterator[Curve]:
    """Sums and products of x rounded up or down with a polynomial, one a side of zero."""
    for factor, function in _ROUNDED.items():
        for degree in (0, 1, 2, 5):
            for product in (False, True):
                if product:
                    features = np.vander(x / 128, degree + 1, increasing=True) * function(x)[:, None]
                else:
                    features = np.column_stack([np.vander(x / 128, degree + 1, increasing=True), function(x)])
                c = solve(features, y)
                last = c[-1]
                c = (c if product else c[:-1]) / 128.0 ** np.arange(degree + 1)
                text = f"({series(c)}) * {factor}" if product else f"{series(c)} + {written(last)} * {factor}"

                def values(
                    t: Numbers,
                    c: Numbers = c,
                    last: float = last,
                    f: Callable[..., Numbers] = function,
                    p: bool = product,
                ) -> Numbers:
                    return np.polyval(c[::-1], t) * f(t) if p else np.polyval(c[::-1], t) + last * f(t)

                words = f"x rounded {'down' if 'floor' in factor else 'up'} (a staircase), as in {text}"
                yield Curve(factor[5:-3], words, values, (f"return {text}",), degree + 3)
    both = solve(np.column_stack([np.floor(x) * np.ceil(x), np.ones_like(x)]), y)
    yield Curve(
        "ceil",
        "x rounded down times x rounded up",
        lambda t: both[0] * np.floor(t) * np.ceil(t) + both[1],
        (f"return {written(both[0])} * math.floor(x) * math.ceil(x) + {written(both[1])}",),
        2,
    )


def _scaled(name: str, words: str, feature: Numbers, y: Numbers, f: Callable[[Numbers], Numbers], text: str) -> Curve:
    """`a * feature + b` by least squares."""
    a, b = solve(np.column_stack([feature, np.ones_like(y)]), y)
    return Curve(
        name,
        words.format(a=f"{a:.4g}", b=f"{b:.4g}"),
        lambda t: a * f(t) + b,
        (f"return {written(a)} * {text} + {written(b)}",),
        2,
    )


def half_line(x: Numbers, y: Numbers) -> Iterator[Curve]:
    """Root and logarithm, where nothing is defined below zero, or where something else stands there."""
    positive = x > 0
    if positive.sum() < 8 or np.any(x < 0):
        return
    x, y = x[positive], y[positive]
    for degree, text in ((2, "x ** 0.5"), (3, "x ** (1 / 3)")):
        words = f"{{a}} times the {'square' if degree == 2 else 'cube'} root of x, plus {{b}}"
        yield _scaled("root", words, x ** (1 / degree), y, root_values(degree), text)
    log = "a logarithm: {a} * ln(x) + {b}"
    yield _scaled("logarithm", log, np.log(x), y, lambda t: np.log(np.abs(t) + (t == 0)), "math.log(x)")


def reciprocals(x: Numbers, y: Numbers) -> Iterator[Curve]:
    """a / x."""
    away = x != 0
    if away.sum() < 4:
        return
    a = float(np.dot(1 / x[away], y[away]) / np.dot(1 / x[away], 1 / x[away]))
    if a != 0:
        values = lambda t: a / np.where(t == 0, np.inf, t)  # noqa: E731
        yield Curve("reciprocal", f"a reciprocal: 1 / ({1 / a:.4g} * x)", values, (f"return {written(a)} / x",), 1)


def _refined(model: Callable[..., Numbers], start: Sequence[float], x: Numbers, y: Numbers) -> tuple[float, ...] | None:
    """Nonlinear least squares from `start`; None where it does not converge."""
    from scipy.optimize import least_squares

    spread = float(np.std(y)) or 1.0
    try:
        found = least_squares(lambda p: (model(x, *p) - y) / spread, start, method="lm", max_nfev=400)
    except (ValueError, RuntimeError, FloatingPointError):
        return None
    return tuple(found.x.tolist()) if np.all(np.isfinite(found.x)) else None


def bells(x: Numbers, y: Numbers) -> Iterator[Curve]:
    """The density of a normal distribution, scaled."""
    peak = int(np.argmax(np.abs(y - np.median(y))))

    def model(t: Numbers, a: float, m: float, s: float) -> Numbers:
        return a * np.exp(-0.5 * ((t - m) / s) ** 2)

    best = None
    for start in (2.0, 5.0, 10.0):
        found = _refined(model, (float(y[peak]), float(x[peak]), start), x, y)
        if found and found[2] != 0:
            error = float(np.sum((model(x, *found) - y) ** 2))
            best = min(best, (error, found)) if best else (error, found)
    if best:
        a, m, s = best[1]
        body = (f"return {written(a)} * math.exp(-0.5 * ((x - {written(m)}) / {written(s)}) ** 2)",)
        words = f"a bell curve (Gaussian density) around {m:.4g} with standard deviation {abs(s):.4g}, {a:.4g} high"
        yield Curve("gaussian", words, lambda t: model(t, a, m, s), body, 3)


def steps(x: Numbers, y: Numbers) -> Iterator[Curve]:
    """Hyperbolic tangent: a smooth step anywhere."""

    def model(t: Numbers, a: float, k: float, m: float, b: float) -> Numbers:
        return a * np.tanh(k * (t - m)) + b

    size = max(len(x) // 8, 1)
    low, high = float(np.mean(y[:size])), float(np.mean(y[-size:]))
    middle = float(x[int(np.argmin(np.abs(np.cumsum(y - low) - np.cumsum((high - y)[::-1])[::-1])))])
    crossing = float(x[int(np.argmax(np.abs(np.diff(y))))]) if len(y) > 1 else middle
    best = None
    for m in (crossing, middle):
        for k in (0.3, 1.0, 4.0):
            found = _refined(model, ((high - low) / 2 or 1.0, k, m, (high + low) / 2), x, y)
            if found:
                error = float(np.sum((model(x, *found) - y) ** 2))
                best = min(best, (error, found)) if best else (error, found)
    if best:
        a, k, m, b = best[1]
        body = (f"return {written(a)} * math.tanh({written(k)} * (x - {written(m)})) + {written(b)}",)
        words = f"a hyperbolic tangent (smooth step) around {m:.4g}, from {b - a:.4g} to {b + a:.4g}"
        yield Curve("tanh", words, lambda t: model(t, a, k, m, b), body, 4)


SHORTEST_PERIOD = 0.1


def _strongest_frequencies(x: Numbers, y: Numbers, n: int) -> list[float]:
    """Angular frequencies at which sin and cos explain most of y; the x must be unevenly spaced, or they alias."""
    fine = np.pi / (4 * (x[-1] - x[0]))
    centred = y - y.mean()
    highest = 2 * np.pi / SHORTEST_PERIOD
    found = []
    for start in np.arange(fine, highest, fine * 4096):
        w = start + fine * np.arange(4096)
        power = np.abs(np.exp(-1j * np.outer(w, x)) @ centred)
        for k in np.argsort(power)[-n:]:
            found.append((float(power[k]), float(w[k])))
    return [w for _, w in sorted(found, reverse=True)[:n]]


def waves(x: Numbers, y: Numbers) -> Iterator[Curve]:
    """Sine waves of any period from 0.1, and square waves."""
    if len(x) < 16 or np.ptp(y) == 0:
        return

    def model(t: Numbers, w: float, a: float, b: float, c: float) -> Numbers:
        return a * np.sin(w * t) + b * np.cos(w * t) + c

    best = None
    strongest = _strongest_frequencies(x, y, 4)
    for w in strongest:
        a, b, c = solve(np.column_stack([np.sin(w * x), np.cos(w * x), np.ones_like(x)]), y)
        found = _refined(model, (w, a, b, c), x, y)
        if found:
            error = float(np.sum((model(x, *found) - y) ** 2))
            best = min(best, (error, found)) if best else (error, found)
    if best:
        w, a, b, c = best[1]
        size, phase = float(np.hypot(a, b)), float(np.arctan2(b, a))
        body = (f"return {written(size)} * math.sin({written(w)} * x + {written(phase)}) + {written(c)}",)
        words = f"a sine wave (sin) of amplitude {size:.4g} and period {2 * np.pi / abs(w):.4g} around {c:.4g}"
        yield Curve("sin", words, lambda t: model(t, w, a, b, c), body, 4)
    yield from _square_waves(x, y, strongest)


def _square_waves(x: Numbers, y: Numbers, frequencies: Sequence[float]) -> Iterator[Curve]:
    width = np.pi / (x[-1] - x[0])
    best = min(
        (
            _nearest_square(x, y, np.linspace(w - width, w + width, 121), np.linspace(-0.6, 0.6, 13))
            for w in frequencies
        ),
        key=lambda found: found[0],
    )
    _, w, phase = best
    step = width / 60
    centred = phase - float(np.angle(np.sum((y - y.mean()) * np.exp(1j * w * x))))
    _, w, phase = min(
        best, _nearest_square(x, y, np.linspace(w - step, w + step, 41), centred + np.linspace(-0.1, 0.1, 21))
    )
    a, b = solve(np.column_stack([np.sign(np.cos(w * x - phase)), np.ones_like(x)]), y)
    wave = f"({written(a)} if math.cos({written(w)} * x - {written(phase)}) > 0 else {written(-a)})"
    words = f"a square wave between {b - abs(a):.4g} and {b + abs(a):.4g} with period {2 * np.pi / abs(w):.4g}"
    values = lambda t: a * np.sign(np.cos(w * t - phase)) + b  # noqa: E731
    yield Curve("square_wave", words, values, (f"return {wave} + {written(b)}",), 4)


def _nearest_square(x: Numbers, y: Numbers, frequencies: Numbers, shifts: Numbers) -> tuple[float, float, float]:
    """(squared error, angular frequency, phase) of the best square wave; shifts count from the sine's phase."""
    centred = y - y.mean()
    best = (np.inf, 1.0, 0.0)
    for w in frequencies:
        phase = float(np.angle(np.sum(centred * np.exp(1j * w * x))))
        signs = np.sign(np.cos((w * x - phase)[None, :] - shifts[:, None]))
        sizes = signs @ centred / len(x)
        errors = np.sum((centred - sizes[:, None] * signs) ** 2, axis=1)
        k = int(np.argmin(errors))
        best = min(best, (float(errors[k]), float(w), phase + float(shifts[k])))
    return best


def boxes(x: Numbers, y: Numbers) -> Iterator[Curve]:
    """A rectangle around zero: alone, added to a polynomial, or cutting one out."""
    rising = np.unique(np.abs(x))
    # Its edge lies between two probes; where the values jump on both sides is found by trying every place.
    places = (rising[1:] + rising[:-1])[rising[1:] <= 26] / 2
    for degree in (0, 1, 5):
        best = None
        for half in places:
            inside = np.abs(x) < half
            if inside.sum() < degree + 1 or (~inside).sum() < degree + 3:
                continue
            for cut in (False, True):
                powers = np.vander(x / 128, degree + 1, increasing=True)
                features = powers * inside[:, None] if cut else np.column_stack([powers, inside])
                c = solve(features, y)
                error = float(np.sum((features @ c - y) ** 2))
                if best is None or error < best[0]:
                    best = (error, float(half), cut, c)
        if best is None:
            continue
        _, half, cut, c = best
        poly = c[: degree + 1] / 128.0 ** np.arange(degree + 1)
        extra = 0.0 if cut else float(c[-1])

        def values(t: Numbers, p: Numbers = poly, h: float = half, e: float = extra, cut: bool = cut) -> Numbers:
            base, inside = np.polyval(p[::-1], t), np.abs(t) < h
            return np.where(inside, base, 0.0) if cut else base + e * inside

        condition = f"if abs(x) < {written(half)} else"
        text = f"({series(poly)} {condition} 0)" if cut else f"{series(poly)} + ({written(extra)} {condition} 0)"
        effect = series(poly) if cut else f"raised by {written(extra)}"
        words = f"a rectangle: where |x| < {half:.4g} it is {effect}"
        yield Curve("rectangle", words, values, (f"return {text}",), degree + 3)


def ratios(x: Numbers, y: Numbers) -> Iterator[Curve]:
    """Quotients of polynomials, numerator of lower degree than the denominator (at most 5)."""
    scale = 16.0
    t = x / scale
    for below in range(1, 6):
        for above in range(below):
            p, q = _ratio(t, y, above, below)
            p, q = p / scale ** np.arange(above + 1), q / scale ** np.arange(below + 1)
            words = f"a rational function, the ratio of a polynomial of degree {above} to one of degree {below}"

            def values(t: Numbers, p: Numbers = p, q: Numbers = q) -> Numbers:
                with np.errstate(all="ignore"):
                    return np.polyval(p[::-1], t) / np.polyval(q[::-1], t)

            body = (f"return ({series(p)}) / ({series(q)})",)
            yield Curve("rational", words, values, body, above + below + 1)


def _ratio(t: Numbers, y: Numbers, above: int, below: int) -> tuple[Numbers, Numbers]:
    """p and q, by rising power, that minimize |p − y q| with weights brought near 1/|q| in a few rounds."""
    weight = 1 / (1 + np.abs(t)) ** below
    for _ in range(6):
        features = np.column_stack(
            [np.vander(t, above + 1, increasing=True), -y[:, None] * np.vander(t, below + 1, increasing=True)]
        )
        features *= weight[:, None]
        size = np.linalg.norm(features, axis=0)
        size[size == 0] = 1
        c = np.linalg.svd(features / size, full_matrices=False)[2][-1] / size
        p, q = c[: above + 1], c[above + 1 :]
        weight = 1 / np.maximum(np.abs(np.polyval(q[::-1], t)), 1e-9 * np.max(np.abs(q)))
    return p / np.max(np.abs(q)), q / np.max(np.abs(q))


def interpolated(x: Numbers, y: Numbers, bins: int) -> Curve:
    """Straight lines between observations, or between the means of `bins` groups of them where there is noise."""
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

    words = "no simple formula was found; it is drawn as straight lines between observed points"
    return Curve("interpolated", words, values, body, len(knots))


FAMILIES: tuple[Family, ...] = (
    polynomials,
    split_at_zero,
    reciprocals,
    half_line,
    bells,
    steps,
    waves,
    boxes,
    rounded,
    ratios,
)
