"""The figures of a function of numbers: error, noise floor, overlap of intervals, and the error where nobody probed."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...events import Rules
from ...rulesets import RULES, PerRuleset
from ...sandbox import sandbox
from ...sandbox.rewriting import not_runnable
from ...score import Figure, Score, undefined
from . import claim_extraction, evaluate, records
from .box import Box, real
from .claim_extraction import claimed_intervals, intervals_told
from .functions.base import FindFunction, Value, as_number
from .functions.numeric import GRID, NumericFunction, with_infinite
from .functions.source import PairsFunction
from .tasks import ProbeSpec

_SPREAD = 64
"""How many observations are made at a point to measure its noise."""

_TRUTH = 10
"""The stream of random numbers for the observations that an estimate is compared with."""


def grid(function: FindFunction) -> tuple[float, ...]:
    """Return where a numeric function is compared with its estimate: the paper's 256 points, or the typed inputs."""
    if function.category != "numeric":
        return ()
    if isinstance(function, PairsFunction):
        return tuple(sorted(x for text in function.pairs if (x := as_number(text)) is not None))
    return tuple(GRID.tolist())


def values(function: FindFunction, points: Sequence[float], rng: np.random.Generator) -> list[Value | None]:
    """Return one observation at each point; typed pairs are read as numbers, None if they are not numbers."""
    if isinstance(function, PairsFunction):
        typed = {as_number(x): as_number(y) for x, y in function.pairs.items()}
        return [typed[x] for x in points]
    return function.outputs(list(points), rng)


def probed(box: Box) -> list[float]:
    """Return the numbers that were probed."""
    return [x for probe in box.probes if (x := as_number(probe.input)) is not None]


class _Truth(NamedTuple):
    """The values of a numeric function that its estimate is compared with: at the test points, and at points that
    nobody probed (`apart`). NaN if it has no value; `expected` is the function without its noise, empty if it has
    none.
    """

    points: tuple[float, ...]
    observed: list[Value]
    apart: list[float]
    observed_apart: list[Value]
    expected: list[Value]


class _CodeValues(NamedTuple):
    """What the code gave at the points of a `_Truth` and at those apart, and what affects the figures of either.
    Without a conclusion there are no values.
    """

    given: tuple[Value | None, ...]
    apart: tuple[Value | None, ...] = ()
    trouble: str = records.NOTHING
    trouble_apart: str = ""
    lacking: int = 0
    """At how many points the sandbox lacks what the code needs."""


def of_numbers(
    spec: ProbeSpec, box: Box, function: FindFunction, read: records.Interpretation
) -> Iterator[records.Outcome]:
    """Yield NMSE and success, noise floor, interval overlap, noise identification and held-out error."""
    truth = _truth_at(spec, box, function)
    floors = PerRuleset.read_by_each(lambda rules: _floor(spec, function, truth.observed, rules))
    by_code = PerRuleset.read_by_each(lambda rules: _run_code(truth, read, rules))
    for rules in RULES:
        draws = floors[rules]
        reason = "a relative error is undefined for this function" if draws else "unknown for random code of your own"
        yield Figure("noise_floor", rules, records.share(evaluate.mean_of(draws), reason))
        yield from _of_code(truth, by_code[rules], records.is_judged(read, rules), rules)
        if isinstance(function, NumericFunction):
            yield from _claims(function, read, rules)
    estimate = records.Estimate(
        paper=tuple(map(real, by_code.paper.given)),
        repaired=tuple(map(real, by_code.repaired.given)),
        trouble=PerRuleset.read_by_each(lambda rules: by_code[rules].trouble or by_code[rules].trouble_apart),
    )
    why = estimate.trouble.repaired
    if records.is_judged(read, "repaired") and why and all(value is None for value in estimate.repaired):
        yield records.NoCode(why)
    yield records.ScoreRecord("estimate", estimate)
    observed = records.Observed(
        y=_numbers(truth.observed),
        expected=_numbers(truth.expected),
        paper=_complex_ones(by_code.paper.given),
        repaired=_complex_ones(by_code.repaired.given),
        held_out_x=tuple(truth.apart),
        held_out_y=_numbers(truth.observed_apart),
        held_out=PerRuleset.read_by_each(lambda rules: _numbers(by_code[rules].apart)),
        floor=floors,
    )
    yield records.ScoreRecord("observed", observed)
    if passed := [rules for rules in RULES if _passes(truth, by_code[rules], floors[rules], rules)]:
        yield from _checked(box, function, truth, by_code, read, passed, spec.seed)


def _passes(truth: _Truth, by_code: _CodeValues, floor: Sequence[float | None], rules: Rules) -> bool:
    """Whether the code is a success on the test points, or as good there as the noise allows."""
    error = evaluate.nmse(truth.observed, by_code.given, rules)
    if error.success or not truth.expected:
        return error.success
    beyond = evaluate.excess(truth.observed, truth.expected, by_code.given, rules).value
    return beyond is not None and beyond <= evaluate.AS_GOOD * (evaluate.mean_of(floor) or 0.0)


def _checked(
    box: Box,
    function: FindFunction,
    truth: _Truth,
    by_code: PerRuleset[_CodeValues],
    read: records.Interpretation,
    passed: Sequence[Rules],
    seed: int,
) -> Iterator[records.Outcome]:
    """Yield what the code gives elsewhere, and whether its success holds there. For a person's own random code that is
    not known.
    """
    is_noisy = isinstance(function, NumericFunction) and function.is_stochastic
    if function.is_stochastic and not is_noisy:
        return
    made = ((as_number(probe.input), probe.value) for probe in box.probes)
    calls = [(x, seen) for x, seen in dict.fromkeys(made) if x is not None and seen is not None]
    points = [*truth.apart, *(x for x, _ in calls)]
    expected: list[Value] = [*truth.observed_apart, *(seen for _, seen in calls)]
    spread = [0.0] * len(points)
    if isinstance(function, NumericFunction) and is_noisy:
        at, rng = np.asarray(points, float), np.random.default_rng([seed, _TRUTH, 2])
        expected = function.expected(at).tolist()
        drawn = np.real(np.array([function.observe(at, rng) for _ in range(_SPREAD)]))
        spread = [float(sd) if np.isfinite(sd) else 0.0 for sd in drawn.std(axis=0)]
    given = {
        rules: (*by_code[rules].apart, *sandbox.evaluate(read.code[rules], [x for x, _ in calls], rules=rules).values)
        for rules in passed
    }
    n = len(truth.apart)
    yield records.ScoreRecord(
        "checked",
        records.Checked(
            inputs=tuple(f"{x:.10g}" for x in points),
            probed=tuple(place >= n for place in range(len(points))),
            truth=_numbers(expected),
            seen=(None,) * n + _numbers([seen for _, seen in calls]),
            spread=tuple(spread),
            paper=_numbers(given.get("paper", ())),
            repaired=_numbers(given.get("repaired", ())),
        ),
    )
    for rules in passed:
        sides = (slice(n), slice(n, None))
        errors = [evaluate.nmse(expected[side], given[rules][side], rules) for side in sides if expected[side]]
        holds = all(error.success for error in errors if error.n)
        if evaluate.nmse(truth.observed, by_code[rules].given, rules).success:
            yield Figure("success_confirmed", rules, Score(float(holds), 1, 1))


def _truth_at(spec: ProbeSpec, box: Box, function: FindFunction) -> _Truth:
    def observed(at: Sequence[float], rng: np.random.Generator) -> list[Value]:
        return [float("nan") if value is None else value for value in values(function, at, rng)]

    points = grid(function)
    at_points = observed(points, np.random.default_rng([spec.seed, _TRUTH]))
    rng = np.random.default_rng([spec.seed, records.HELD_OUT])
    # Typed pairs have no value anywhere else.
    apart = [] if isinstance(function, PairsFunction) else evaluate.held_out_points(probed(box), rng).tolist()
    expected: list[Value] = []
    if isinstance(function, NumericFunction) and function.is_stochastic:
        expected = function.expected(np.asarray(points)).tolist()
    return _Truth(points, at_points, apart, observed(apart, rng), expected)


def _floor(spec: ProbeSpec, function: FindFunction, true: Sequence[Value], rules: Rules) -> tuple[float | None, ...]:
    """Return the error that a perfect description would get, sample by sample. For a person's own random code it is not
    known.
    """
    if isinstance(function, NumericFunction):
        return evaluate.floor_draws(function, np.random.default_rng([spec.seed, _TRUTH, 1]), rules=rules)
    return () if function.is_stochastic else (evaluate.nmse(true, list(true), rules).value,)


def _run_code(truth: _Truth, read: records.Interpretation, rules: Rules) -> _CodeValues:
    n = len(truth.points)
    if not records.is_judged(read, rules):
        return _CodeValues((None,) * n)
    result = sandbox.evaluate(read.code[rules], [*truth.points, *truth.apart], rules=rules)
    trouble = _trouble(result.errors[:n], truth.observed, rules)
    trouble_apart = _trouble(result.errors[n:], truth.observed_apart, rules)
    lacking = sum(map(not_runnable, result.errors[:n])) if not_runnable(trouble) else 0
    return _CodeValues(result.values[:n], result.values[n:], trouble, trouble_apart, lacking)


def _trouble(errors: Sequence[str | None], observed: Sequence[Value], rules: Rules) -> str:
    """Return what affects the figures of the code: an error where the function has a value. An error of the code itself
    is preferred to something that the sandbox lacks, because the code then fails in any case. Empty if there is
    none.
    """
    counts = np.isfinite(evaluate.numbers(observed, rules))
    met = [error for error, counted in zip(errors, counts, strict=True) if error and counted]
    return min(met, key=not_runnable, default="")


def _of_code(truth: _Truth, by_code: _CodeValues, judged: bool, rules: Rules) -> Iterator[Figure]:
    """Yield the figures that rest on the code's values; they are undefined if there are none, or the code could not be
    run here.
    """
    n, apart, why = len(truth.points), len(truth.apart), by_code.trouble
    if by_code.lacking or not judged:
        detail = {"reason": why, "points": by_code.lacking}
        yield Figure("not_runnable", rules, Score(1.0, 1, 1, detail=detail) if judged else undefined(1, why))
        figures = {"nmse": n, "nmse_success": 1, "held_out_nmse": apart, **({"excess": n} if truth.expected else {})}
        yield from (Figure(metric, rules, undefined(of, why)) for metric, of in figures.items())
        return
    yield Figure("not_runnable", rules, Score(0.0, 1, 1))
    yield from _errors(truth, by_code, rules)
    if truth.expected:
        yield Figure("excess", rules, evaluate.excess(truth.observed, truth.expected, by_code.given, rules))
    held_out = evaluate.nmse(truth.observed_apart, by_code.apart, rules)
    if not_runnable(by_code.trouble_apart):
        held_out = undefined(apart, by_code.trouble_apart)
    yield Figure("held_out_nmse", rules, held_out)


def _errors(truth: _Truth, by_code: _CodeValues, rules: Rules) -> Iterator[Figure]:
    """Yield the normalized error at the test points, and whether it is small enough."""
    error = evaluate.nmse(truth.observed, by_code.given, rules)
    trouble = by_code.trouble or by_code.trouble_apart
    reason = f"{error.reason}: {trouble}" if trouble else error.reason
    why = {} if error.value is not None else {"reason": reason}
    yield Figure("nmse", rules, replace(error, detail={**error.detail, **why}))
    # The authors' evaluation counts a failure whenever it cannot compute the error (docs/measuring.md §4.7).
    is_counted = error.n > 0 or rules == "paper"
    success = Score(float(error.success), 1, 1, detail=why)
    yield Figure("nmse_success", rules, success if is_counted else undefined(1, reason))


def _claims(function: NumericFunction, read: records.Interpretation, rules: Rules) -> Iterator[Figure]:
    """Yield what the words say about the corrupted interval and the noise."""
    overlap = is_named = None
    if records.is_judged(read, rules):
        overlap = evaluate.interval_iou(function.corruption, intervals(function, read, rules))
        if rules == "repaired" and overlap is not None:
            overlap = evaluate.beyond(overlap, evaluate.whole_range(function.corruption))
        is_named = claim_extraction.noise_identified(function, read.told[rules], rules)
    figures = (
        ("interval_iou", overlap, "there is no corrupted interval, and none was claimed"),
        ("noise_identified", is_named, "there is no noise, and none was claimed"),
    )
    for metric, value, why in figures:
        reason = why if records.is_judged(read, rules) else records.NOTHING
        yield Figure(metric, rules, records.share(None if value is None else float(value), reason))


def intervals(function: FindFunction, read: records.Interpretation, rules: Rules) -> tuple[tuple[float, float], ...]:
    """Return the intervals that are said to behave differently: under the paper rules in the domain, under the updated
    ones anywhere in the words, or a person's two numbers. If nothing was replaced, stretches that are only described
    separately do not count, because they are the function's own pieces.
    """
    if rules == "paper":
        return claimed_intervals(read.domain.paper, rules)
    if read.interval is not None:
        return (with_infinite(*read.interval),)
    if isinstance(function, NumericFunction) and function.corruption is None:
        return claimed_intervals(f"{read.description.repaired}\n{read.domain.repaired}")
    return intervals_told(read.description.repaired, read.domain.repaired)


def _numbers(values: Sequence[Value | None]) -> tuple[records.Number, ...]:
    """Return values in the form that is journaled."""
    return tuple(
        (value.real, value.imag) if isinstance(value, complex) and value.imag and np.isfinite(value) else real(value)
        for value in values
    )


def _complex_ones(values: Sequence[Value | None]) -> tuple[records.Number, ...]:
    """Return the values if they include complex numbers, which an estimate leaves out; else an empty tuple."""
    numbers = _numbers(values)
    return numbers if any(isinstance(value, tuple) for value in numbers) else ()
