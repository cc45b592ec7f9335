"""Periodic curves for the `fit` baseline: sine and square waves of any period."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from core.labs.find.functions.atoms import Numbers
from core.labs.find.interpreters.fit_curves import Curve, refined, solve, written

SHORTEST_PERIOD = 0.1


def _strongest_frequencies(x: Numbers, y: Numbers, n: int) -> list[float]:
    """Angular frequencies at which sin and cos explain most of y; the x must be unevenly spaced, or they alias."""
    fine = np.pi / (4 * (x[-1] - x[0]))
    centred = y - y.mean()
    highest = 2 * np.pi / SHORTEST_PERIOD
    peaks = []
    steps = fine * np.arange(4096)
    # The same for every 4096 frequencies, which are turned to where they begin.
    turning = np.exp(-1j * np.outer(steps, x))
    for start in np.arange(fine, highest, fine * 4096):
        power = np.abs(turning @ (np.exp(-1j * start * x) * centred))
        for k in np.argsort(power)[-n:]:
            peaks.append((float(power[k]), float(start + steps[k])))
    return [w for _, w in sorted(peaks, reverse=True)[:n]]


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
        fitted = refined(model, (w, a, b, c), x, y)
        if fitted:
            error = float(np.sum((model(x, *fitted) - y) ** 2))
            best = min(best, (error, fitted)) if best else (error, fitted)
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
        key=lambda square: square[0],
    )
    for step in (width / 60, width / 600):
        _, w, phase = best
        centred = phase - float(np.angle(np.sum((y - y.mean()) * np.exp(1j * w * x))))
        shifts = centred + np.linspace(-0.15, 0.15, 31)
        best = min(best, _nearest_square(x, y, np.linspace(w - 2 * step, w + 2 * step, 61), shifts))
    _, w, phase = best
    period = 2 * np.pi / w
    shift = float(np.remainder((phase - np.pi / 2) / w + period / 2, period) - period / 2)
    exact, rounded = (period, shift), (round(period, 1), round(shift, 1))
    # Edges that fall on the very points that are scored ask for round numbers, where these fit as well.
    period, shift = min((rounded, exact), key=lambda wave: _error(x, y, *wave) if wave[0] > 0 else np.inf)
    a, b = solve(np.column_stack([_square(x, period, shift), np.ones_like(x)]), y)
    body = (
        f"wave = math.sin(2 * math.pi / {written(period)} * (x - {written(shift)}))",
        f"return {written(a)} * ((wave > 0) - (wave < 0)) + {written(b)}",
    )
    words = f"a square wave between {b - abs(a):.4g} and {b + abs(a):.4g} with period {period:.4g}"
    yield Curve("square_wave", words, lambda t: a * _square(t, period, shift) + b, body, 4)


def _square(x: Numbers, period: float, shift: float) -> Numbers:
    return np.asarray(np.sign(np.sin(2 * np.pi / period * (x - shift))))


def _error(x: Numbers, y: Numbers, period: float, shift: float) -> float:
    """Squared error of the best square wave of this period and shift, to nine digits."""
    features = np.column_stack([_square(x, period, shift), np.ones_like(x)])
    return round(float(np.sum((features @ solve(features, y) - y) ** 2)), 9)


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
