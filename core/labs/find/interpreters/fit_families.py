"""Families of curves for the `fit` baseline: each proposes curves for some observations, as numbers and as code."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from core.labs.find.functions.atoms import Numbers
from core.labs.find.interpreters.fit_curves import Curve, Family, refined, series, solve, written
from core.labs.find.interpreters.fit_waves import waves


def _polynomial(x: Numbers, y: Numbers, degree: int) -> Numbers:
    """Coefficients by rising power of the least-squares polynomial."""
    return np.asarray(solve(np.vander(x / 128, degree + 1, increasing=True), y) / 128.0 ** np.arange(degree + 1))


def polynomial_values(c: Numbers) -> Callable[[Numbers], Numbers]:
    """The polynomial with coefficients `c` by rising power; it keeps the shape of its argument."""
    return lambda t: np.polyval(c[::-1], t)


def root_values(degree: int) -> Callable[[Numbers], Numbers]:
    """The function t -> |t| ** (1 / degree), which keeps the shape of its argument."""
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


def bells(x: Numbers, y: Numbers) -> Iterator[Curve]:
    """The density of a normal distribution, scaled."""
    peak = int(np.argmax(np.abs(y - np.median(y))))

    def model(t: Numbers, a: float, m: float, s: float) -> Numbers:
        return a * np.exp(-0.5 * ((t - m) / s) ** 2)

    best = None
    for start in (2.0, 5.0, 10.0):
        fitted = refined(model, (float(y[peak]), float(x[peak]), start), x, y)
        if fitted and fitted[2] != 0:
            error = float(np.sum((model(x, *fitted) - y) ** 2))
            best = min(best, (error, fitted)) if best else (error, fitted)
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
            fitted = refined(model, ((high - low) / 2 or 1.0, k, m, (high + low) / 2), x, y)
            if fitted:
                error = float(np.sum((model(x, *fitted) - y) ** 2))
                best = min(best, (error, fitted)) if best else (error, fitted)
    if best:
        a, k, m, b = best[1]
        body = (f"return {written(a)} * math.tanh({written(k)} * (x - {written(m)})) + {written(b)}",)
        words = f"a hyperbolic tangent (smooth step) around {m:.4g}, from {b - a:.4g} to {b + a:.4g}"
        yield Curve("tanh", words, lambda t: model(t, a, k, m, b), body, 4)


def boxes(x: Numbers, y: Numbers) -> Iterator[Curve]:
    """A rectangle around zero: alone, added to a polynomial, or cutting one out."""
    rising = np.unique(np.abs(x))
    # Its edge lies between two probes; where the values jump on both sides is settled by trying every place.
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
        # Of the largest coefficient's size: beside values of 1e55 the squares of anything else overflow.
        weight = 1 / np.maximum(np.abs(np.polyval(q[::-1], t)) / np.max(np.abs(q)), 1e-9)
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

    words = "none of the simple formulas that were tried; it is drawn as straight lines between observed points"
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
