"""How good an interpretation is: the paper's three scores, and ours beyond them (paper §3).

The rules: docs/measuring.md §4.7, §4.8, §4.9 and §4.10.
"""

import re
import string
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...events import Rules
from ...score import Score, undefined
from ...statistics.intervals import wilson
from .functions.base import Value
from .functions.numeric import GRID, PROBED, Corruption, Numbers, NumericFunction

ZERO = "the function is zero at every point, so a relative error is undefined"
SUCCESS = 0.1
"""An estimate with a normalized error strictly below this is a success."""

AS_GOOD = 0.1
"""Code whose error beyond the noise is at most this share of the noise floor is as good as the noise allows: on average
over the points it is off by less than a third of the noise's size.
"""

Interval = tuple[float, float]


def nmse(
    truth: Sequence[Value] | Numbers, estimate: Sequence[Value | None] | Numbers, rules: Rules = "repaired"
) -> Score:
    """Return the sum of |truth − estimate|² over the sum of |truth|² (mse_indicator.py:71-99), point by point, over any
    grid.

    `n` points counted of all; `success` is true if the value is below a tenth, and false if it is undefined.

    Points where the truth is NaN, infinite or a text are skipped. At the other points an estimate of None (an error) or
    NaN makes the score undefined. So does a truth of zero everywhere, except that the updated rules accept an estimate
    of zero. Under the updated rules a value that is not real is no number: skipped in the truth, missing in the
    estimate. Raises ValueError if the lengths differ.
    """
    f = numbers(truth, rules)
    if len(estimate) != len(f):
        raise ValueError(f"{len(f)} true values, but {len(estimate)} estimates")
    counted = np.isfinite(f)
    n = int(counted.sum())
    if n == 0:
        return undefined(len(f), "the function is defined at none of the points")
    of = len(f)

    def without(reason: str) -> Score:
        return Score(None, n, of, detail={"success": False, "reason": reason})

    g = _complex(estimate)
    doubtful = np.flatnonzero(counted & ~(np.isfinite(g) & (g.imag == 0)))
    wrong = next((k for k in doubtful.tolist() if not _is_number(estimate[k], rules)), None)
    if wrong is not None:
        return without(f"the estimate gives no number at point {wrong + 1} of {of}")
    g, f = g[counted], f[counted]
    largest = float(np.max(np.abs(f)))
    if rules == "repaired" and largest > 1e150:  # its square would overflow
        f, g = f / largest, g / largest
    with np.errstate(all="ignore"):
        error, power = float(np.sum(np.abs(f - g) ** 2)), float(np.sum(np.abs(f) ** 2))
    if power == 0:
        if rules == "repaired" and error == 0:
            return Score(0.0, n, of, detail={"success": True})
        return without(ZERO)
    value = error / power
    if not np.isfinite(value):
        return without("the estimate's error is infinite")
    return Score(value, n, of, detail={"success": value < SUCCESS})


def excess(
    observed: Sequence[Value], expected: Sequence[Value] | Numbers, estimate: Sequence[Value | None], rules: Rules
) -> Score:
    """Return what the estimate's error adds to the noise floor: the sum of |expected − estimate|² over the sum of
    |observed|², which `nmse` also divides by. `expected` is the function without its noise. Undefined if `nmse` is.
    """
    error = nmse(observed, estimate, rules)
    if error.value is None:
        return error
    y, f = numbers(observed, rules), numbers(expected, rules)
    counted = np.isfinite(y)
    g = _complex(estimate)[counted]
    power = float(np.sum(np.abs(y[counted]) ** 2))
    with np.errstate(all="ignore"):
        value = float(np.sum(np.abs(f[counted] - g) ** 2)) / power if power > 0 else 0.0
    if not np.isfinite(value):
        return Score(None, error.n, error.of, detail={"reason": "the estimate's error is infinite"})
    return Score(value, error.n, error.of)


def numbers(truth: Sequence[Value] | Numbers, rules: Rules) -> Numbers:
    """Return `truth` as complex numbers; not finite where it is no number under `rules`. Shape (n,)."""
    f = _complex(truth)
    if rules == "repaired":
        f[f.imag != 0] = np.nan
    return f


def _complex(values: Sequence[Value | None] | Numbers) -> Numbers:
    """Return the values as complex numbers, shape (n,); NaN for what is not a number."""
    if isinstance(values, np.ndarray):
        return values.astype(complex)
    return np.array([np.nan if value is None or isinstance(value, str) else value for value in values], complex)


def _is_number(value: Value | None, rules: Rules) -> bool:
    if value is None or isinstance(value, str):
        return False
    if isinstance(value, complex):
        return bool(np.isfinite(value)) and (rules == "paper" or value.imag == 0)
    return bool(np.isfinite(value)) if rules == "repaired" else not np.isnan(value)


def floor_draws(
    function: NumericFunction, rng: np.random.Generator, draws: int = 20, rules: Rules = "repaired"
) -> tuple[float | None, ...]:
    """Return the normalized errors that a perfect description would get: `expected` against the observations of each of
    `draws` samples.

    None where the error is undefined under `rules`. A function without chance has one entry, because all samples would
    be the same.
    """
    best = function.expected(GRID)
    times = draws if function.is_stochastic else 1
    return tuple(nmse(function.observe(GRID, rng), best, rules).value for _ in range(times))


def mean_of(errors: Sequence[float | None]) -> float | None:
    """Return the mean of the defined errors; None if there are none."""
    defined = [error for error in errors if error is not None]
    return float(np.mean(defined)) if defined else None


def noise_floor(
    function: NumericFunction, rng: np.random.Generator, draws: int = 20, rules: Rules = "repaired"
) -> float | None:
    """Return the mean of `floor_draws`: at 0.1 or above, no interpreter can succeed on the function."""
    return mean_of(floor_draws(function, rng, draws, rules))


def exact_match(
    inputs: Sequence[str], truths: Sequence[str], estimates: Sequence[Value | None], rules: Rules = "repaired"
) -> Score:
    """Return the share of inputs on which the estimate equals the truth exactly, with its Wilson interval; `hits` of
    the first `n` inputs, out of all.

    The updated rules count every item. Under the paper rules the test ends where `paper_stop` says; `detail` holds that
    index as `stopped`.
    """
    if not inputs:
        return undefined(0, "there are no texts to test on")
    right = [estimate == truth for truth, estimate in zip(truths, estimates, strict=True)]
    stopped = paper_stop(inputs, estimates) if rules == "paper" else None
    n, detail = len(right), {}
    if stopped is not None:
        n, detail = stopped + 1, {"stopped": stopped, "reason": f"the paper's test gave up at text {stopped + 1}"}
    hits = sum(right[:stopped])
    return Score(hits / n, n, len(inputs), *wilson(hits / n, n), hits=hits, detail=detail)


def paper_stop(inputs: Sequence[str], estimates: Sequence[Value | None]) -> int | None:
    """Return the index at which the paper's test ends early; None if it reaches the end.

    It pastes the input into a line of code: a quote or a backslash in it, or any error of the estimate (None), counts 0
    and ends the test, so the mean is over fewer items.
    """
    ends = (
        k
        for k, (text, estimate) in enumerate(zip(inputs, estimates, strict=True))
        if estimate is None or re.search(r"['\"\\\n]", text)
    )
    return next(ends, None)


def picked(verdicts: Sequence[bool | None]) -> Score:
    """Return the share of triplets in which the true pair was picked, with its Wilson interval; undefined if the
    evaluator picked nothing in any of them.
    """
    counted = [verdict for verdict in verdicts if verdict is not None]
    if not counted:
        return undefined(len(verdicts), "the evaluator settled on nothing")
    hits = sum(counted)
    low, high = wilson(hits / len(counted), len(counted))
    return Score(hits / len(counted), len(counted), len(verdicts), low, high, hits)


def interval_iou(truth: Corruption | None, claimed: Sequence[Interval]) -> float | None:
    """Return the overlap of the corrupted part with the claimed intervals: length of the intersection over that of the
    union.

    Both are limited to the probed range. None if there is neither corruption nor claim; 0 if there is only one of them.
    """
    real = [] if truth is None else [truth.interval()]
    return overlap_of(real, claimed) if _merged(real) or _merged(claimed) else None


def whole_range(truth: Corruption | None) -> float:
    """Return the overlap that claiming the whole range gives."""
    return 0.0 if truth is None else overlap_of([truth.interval()], [PROBED])


def beyond(share: float, by_all: float) -> float:
    """Rescale a share so that `by_all`, what naming everything gets, becomes 0 and 1 stays 1. Never below 0."""
    return max(0.0, (share - by_all) / (1 - by_all)) if by_all < 1 else 0.0


def overlap_of(real: Sequence[Interval], claimed: Sequence[Interval]) -> float:
    """Return the length of the intersection over that of the union, within the probed range; 0 if both are empty."""
    real, said = _merged(real), _merged(claimed)
    common = sum(max(0.0, min(a[1], b[1]) - max(a[0], b[0])) for a in real for b in said)
    union = _length(real) + _length(said) - common
    return common / union if union > 0 else 0.0


def _merged(intervals: Sequence[Interval]) -> list[Interval]:
    """Return disjoint intervals in order, limited to the probed range, without empty ones."""
    cut = sorted((max(low, PROBED[0]), min(high, PROBED[1])) for low, high in intervals)
    merged: list[Interval] = []
    for low, high in cut:
        if low >= high:
            continue
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged


def _length(intervals: Sequence[Interval]) -> float:
    return sum(high - low for low, high in intervals)


def held_out_points(probed: Sequence[float], rng: np.random.Generator) -> Numbers:
    """Return at most 64 random points that were not probed before, to test the description where nobody looked. Shape
    (n,), n ≤ 64.
    """
    points = rng.uniform(*PROBED, 128)
    near: Numbers = np.isclose(points[:, None], np.asarray(probed, float)[None, :]).any(axis=1)
    away: Numbers = points[~near]
    return away[:64]


def held_out_texts(probed: Sequence[str], rng: np.random.Generator, n: int = 10) -> tuple[str, ...]:
    """Return `n` different random texts of 3 to 14 letters, digits and spaces, none of them probed before."""
    alphabet = list(string.ascii_letters + "aeiou" + string.digits + " ")
    texts: dict[str, None] = {}
    while len(texts) < n:
        text = "".join(rng.choice(alphabet, int(rng.integers(3, 15))))
        if text not in probed:
            texts[text] = None
    return tuple(texts)


# Whether code gives a function's values, point by point: a small error over all points does not show that.


RELATIVE = 1e-5
"""Two values agree if they differ by no more than this share of the true one, …"""

ABSOLUTE = 1e-4
"""… or by no more than this; if the function stays below 1, by this share of its largest value."""


class PointAgreement(NamedTuple):
    """`agreed` of the `of` points at which the function has a value; `absolute` is the absolute bound that was used."""

    agreed: int
    of: int
    absolute: float

    @property
    def is_whole(self) -> bool:
        """Whether they agree wherever the function has a value, and it has at least one."""
        return 0 < self.of == self.agreed

    @property
    def within(self) -> str:
        """The bounds in words, for screens."""
        return f"to within {RELATIVE:.3%} of its value" + (f", or {self.absolute:.1g} near zero" * (self.absolute > 0))


def absolute_bound(truth: Sequence[float | None]) -> float:
    """Return the absolute bound for a function with these values; None stands for no value at a point."""
    return ABSOLUTE * min(1.0, max((abs(y) for y in truth if y is not None), default=0.0))


def agrees(truth: float, estimate: float | None, absolute: float) -> bool:
    """Whether `estimate` equals `truth` within the bounds. None never does."""
    if estimate is None:
        return False
    off = abs(truth - estimate)
    return off <= absolute or off <= RELATIVE * abs(truth)


def agreement(truth: Sequence[float | None], estimate: Sequence[float | None]) -> PointAgreement:
    """Count the points that agree. Points where the function has no value (truth None) are ignored.

    Raises ValueError if the lengths differ.
    """
    absolute = absolute_bound(truth)
    held = [agrees(y, g, absolute) for y, g in zip(truth, estimate, strict=True) if y is not None]
    return PointAgreement(sum(held), len(held), absolute)
