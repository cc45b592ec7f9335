"""What an interpretation is worth, figure by figure. FIND, section 3; what goes beyond the paper is named in `metrics`.

A figure that is undefined is None with its reason in `detail`; it is never 0 for want of anything to measure. Figures
are computed here and not in the view, for they rest on the function, which only a run has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from core.events import Frozen, Rules
from core.lab import RULES
from core.labs.find import audit, evaluate, fielded, named, units
from core.labs.find.box import Box, real, written
from core.labs.find.claimed_and_quoted import claimed_intervals, intervals_told
from core.labs.find.exemplars import pairs_for_testing
from core.labs.find.functions import source
from core.labs.find.functions.base import FindFunction, Value, as_number
from core.labs.find.functions.entities import EntityFunction, concepts
from core.labs.find.functions.numeric import GRID, NumericFunction
from core.labs.find.functions.own import CodeFunction, PairsFunction
from core.labs.find.functions.relations import RelationFunction
from core.labs.find.functions.strings import StringFunction
from core.labs.find.records import (
    Audit,
    Claims,
    Estimate,
    Exchange,
    Interpretation,
    Number,
    Observed,
    Prediction,
    Redrawn,
    Truth,
)
from core.labs.find.tasks import ProbeSpec
from core.labs.find.trials import trial_of
from core.runs.run import Run
from core.runs.turns import beside
from core.sandbox import sandbox
from core.sandbox.lacking import NOT_RUNNABLE, cause, not_runnable
from core.score import Figure, Score, undefined

_DRAWS = 20
"""So often a random string function is drawn again, to see how far it agrees with itself."""

_NAMED = 24
"""So many inputs of a list are named."""

NOTHING = "nothing was concluded"
"""Why there is no figure where no description and no code came."""

_TRUTH, _HELD_OUT = 10, 11
"""Streams of random numbers: the observations that an estimate is held against, and the points nobody probed."""


def is_judged(read: Interpretation, rules: Rules) -> bool:
    """Whether `rules` judge it. Where nothing was concluded the authors' evaluation counts a failure; by repaired rules
    there is nothing to judge (docs/measuring.md §4.7).
    """
    return rules == "paper" or bool(read.description_repaired or read.code_repaired)


class Entry(NamedTuple):
    """A record to be kept."""

    item: str
    record: Frozen


class NoCode(NamedTuple):
    """Why the interpretation's code cannot be run."""

    why: str


Outcome = Figure | Entry | NoCode


async def score(spec: ProbeSpec, run: Run, box: Box, function: FindFunction, read: Interpretation) -> None:
    """Publish every figure of the function's category; the truth comes last."""
    points = grid(function)
    if spec.category == "numeric":
        await _publish(spec, run, lambda: _numeric(spec, box, function, read, points))
    elif spec.category == "strings":
        await _publish(spec, run, lambda: _strings(spec, box, function, read))
    if spec.category != "numeric":
        await units.run_tests(spec, run, function, read)
    rounds = sorted({one.round for one in run.recorded(Exchange).values() if one.invented})

    def last() -> Iterator[Outcome]:
        yield from _described(function, read)
        yield from _audit(box, function, read, rounds, known=spec.interpreter != "given")
        true = truth(function, points)
        if spec.is_module and spec.backbone == "table":
            true = true.model_copy(update={"note": f"{true.note} {known_inputs(function)}".strip()})
        yield Entry("truth", true)

    await _publish(spec, run, last)


async def _publish(spec: ProbeSpec, run: Run, outcomes: Callable[[], Iterator[Outcome]]) -> None:
    """Compute in a thread, for programs run and curves are drawn; publish from here, for a run has many cases."""
    for one in await beside(lambda: list(outcomes())):
        match one:
            case Figure():
                run.score(one.metric, fielded.score_of(spec, one.score, one.rules), one.rules, one.item)
            case Entry():
                run.record(one.record, one.item, trial=trial_of(one.item))
            case NoCode():
                reason = NOT_RUNNABLE if not_runnable(one.why) else "code cannot be run"
                run.drop("estimate", reason, cause(one.why), trial=trial_of("estimate"))


def grid(function: FindFunction) -> tuple[float, ...]:
    """Where a numeric function is compared with its estimate: the paper's 256 points, or the inputs that were typed."""
    if function.category != "numeric":
        return ()
    if isinstance(function, PairsFunction):
        return tuple(sorted(x for text in function.pairs if (x := as_number(text)) is not None))
    return tuple(GRID.tolist())


def values(function: FindFunction, points: Sequence[float], rng: np.random.Generator) -> list[Value | None]:
    """One observation at each point; typed pairs are read as numbers, None where they are none."""
    if isinstance(function, PairsFunction):
        typed = {as_number(x): as_number(y) for x, y in function.pairs.items()}
        return [typed[x] for x in points]
    return function.outputs(list(points), rng)


def _share(value: float | None, reason: str, n: int = 1, of: int | None = None) -> Score:
    """A figure of `n` things; where it is undefined, of none, and why."""
    of = n if of is None else of
    return undefined(of, reason) if value is None else Score(value, n, of)


def _numeric(
    spec: ProbeSpec, box: Box, function: FindFunction, read: Interpretation, points: tuple[float, ...]
) -> Iterator[Outcome]:
    """NMSE and success, noise floor, interval overlap, noise identification, held-out error."""
    seen = values(function, points, np.random.default_rng([spec.seed, _TRUTH]))
    true: list[Value] = [float("nan") if value is None else value for value in seen]
    rng = np.random.default_rng([spec.seed, _HELD_OUT])
    asked = [x for probe in box.probes if (x := as_number(probe.input)) is not None]
    apart = [] if isinstance(function, PairsFunction) else evaluate.held_out_points(asked, rng).tolist()
    apart_true: list[Value] = [float("nan") if y is None else y for y in values(function, apart, rng)]
    floors = {rules: _floor(spec, function, true, rules) for rules in RULES}
    for rules, draws in floors.items():
        reason = "a relative error is undefined for this function" if draws else "unknown for random code of your own"
        yield Figure("noise_floor", rules, _share(evaluate.mean_of(draws), reason))
    expected: list[Value] = []
    if isinstance(function, NumericFunction) and function.is_stochastic:
        expected = function.expected(np.asarray(points)).tolist()
    observed: dict[str, object] = {
        "y": _numbers(true),
        "expected": _numbers(expected),
        "held_out_x": tuple(apart),
        "held_out_y": _numbers(apart_true),
        **{f"floor_{rules}": draws for rules, draws in floors.items()},
    }
    estimates: dict[Rules, tuple[float | None, ...]] = {}
    troubles: dict[Rules, str] = {}
    for rules in RULES:
        if not is_judged(read, rules):
            estimates[rules], troubles[rules] = (None,) * len(points), NOTHING
            yield from _unjudged(function, len(points), len(apart))
            continue
        result = sandbox.evaluate(getattr(read, f"code_{rules}"), [*points, *apart], rules=rules)
        guesses = list(result.values)
        estimates[rules] = tuple(real(value) for value in guesses[: len(points)])
        given = _numbers(guesses)
        observed[f"held_out_{rules}"] = given[len(points) :]
        if given[: len(points)] != estimates[rules]:
            observed[rules] = given[: len(points)]
        of_points, of_apart = (
            _trouble(result.errors[start:][: len(some)], np.isfinite(evaluate.numbers(some, rules)))
            for start, some in ((0, true), (len(points), apart_true))
        )
        troubles[rules] = of_points or of_apart
        lacking = not_runnable(of_points)
        unrun = sum(map(not_runnable, result.errors[: len(points)])) if lacking else 0
        detail = {"reason": of_points, "points": unrun} if lacking else {}
        yield Figure("not_runnable", rules, Score(float(lacking), 1, 1, detail=detail))
        if lacking:
            for metric, of in _figures_of_code(function, len(points), len(apart)).items():
                yield Figure(metric, rules, undefined(of, of_points))
            if isinstance(function, NumericFunction):
                yield from _claims(function, read, rules)
            continue
        error = evaluate.nmse(true, guesses[: len(points)], rules)
        why = f"{error.reason}: {troubles[rules]}" if troubles[rules] else error.reason
        if error.value is None:
            error = Score(None, error.n, error.of, detail={**error.detail, "reason": why})
        yield Figure("nmse", rules, error)
        # The authors' evaluation counts a failure wherever it cannot compute the error (docs/measuring.md §4.7).
        judged = error.n > 0 or rules == "paper"
        success = Score(float(error.success), 1, 1, detail={"reason": why} if error.value is None else {})
        yield Figure("nmse_success", rules, success if judged else undefined(1, why))
        if expected:
            yield Figure("excess", rules, evaluate.excess(true, expected, guesses[: len(points)], rules))
        elsewhere = evaluate.nmse(apart_true, guesses[len(points) :], rules)
        yield Figure("held_out_nmse", rules, undefined(len(apart), of_apart) if not_runnable(of_apart) else elsewhere)
        if isinstance(function, NumericFunction):
            yield from _claims(function, read, rules)
    if is_judged(read, "repaired") and troubles["repaired"] and all(value is None for value in estimates["repaired"]):
        yield NoCode(troubles["repaired"])
    yield Entry(
        "estimate",
        Estimate(
            paper=estimates["paper"],
            repaired=estimates["repaired"],
            trouble_paper=troubles["paper"],
            trouble_repaired=troubles["repaired"],
        ),
    )
    yield Entry("observed", Observed.model_validate(observed))


def _trouble(errors: Sequence[str | None], counts: Iterable[bool]) -> str:
    """What spoils the figures of the code, of all that went wrong where it counts: an error of its own before what the
    sandbox lacks, for it fails either way then. Empty where nothing does.
    """
    met = [error for error, counted in zip(errors, counts, strict=True) if error and counted]
    return min(met, key=not_runnable, default="")


def _figures_of_code(function: FindFunction, points: int, apart: int) -> dict[str, int]:
    """The figures that rest on what the code gives, with the number of things that each should count."""
    counted = {"nmse": points, "nmse_success": 1, "held_out_nmse": apart}
    if isinstance(function, NumericFunction) and function.is_stochastic:
        counted["excess"] = points
    return counted


def _unjudged(function: FindFunction, points: int, apart: int) -> Iterator[Figure]:
    """No figure by repaired rules, and no zero either."""
    counted = {**_figures_of_code(function, points, apart), "not_runnable": 1}
    if isinstance(function, NumericFunction):
        counted |= {"interval_iou": 1, "noise_identified": 1}
    for metric, of in counted.items():
        yield Figure(metric, "repaired", undefined(of, NOTHING))


def _floor(spec: ProbeSpec, function: FindFunction, true: Sequence[Value], rules: Rules) -> tuple[float | None, ...]:
    """What a perfect description would get, draw by draw; of random code of one's own nobody knows."""
    if isinstance(function, NumericFunction):
        return evaluate.floor_draws(function, np.random.default_rng([spec.seed, _TRUTH, 1]), rules=rules)
    return () if function.is_stochastic else (evaluate.nmse(true, list(true), rules).value,)


def _numbers(values: Sequence[Value | None]) -> tuple[Number, ...]:
    """As they are journaled."""
    return tuple(
        (value.real, value.imag) if isinstance(value, complex) and value.imag and np.isfinite(value) else real(value)
        for value in values
    )


def _claims(function: NumericFunction, read: Interpretation, rules: Rules) -> Iterator[Figure]:
    overlap = evaluate.interval_iou(function.corruption, _intervals(function, read, rules))
    if rules == "repaired" and overlap is not None:
        overlap = evaluate.beyond(overlap, evaluate.whole_range(function.corruption))
    yield Figure("interval_iou", rules, _share(overlap, "there is no corrupted interval, and none was claimed"))
    is_named = named.noise_identified(function, getattr(read, f"told_{rules}"), rules)
    value = None if is_named is None else float(is_named)
    yield Figure("noise_identified", rules, _share(value, "there is no noise, and none was claimed"))


def _intervals(function: FindFunction, read: Interpretation, rules: Rules) -> tuple[tuple[float, float], ...]:
    """The intervals that are said to behave otherwise: by paper rules in the domain, by repaired ones wherever it is
    said, or in a person's two numbers. Stretches of which something is said apart are the function's own pieces where
    nothing was replaced.
    """
    if rules == "paper":
        return claimed_intervals(read.domain_paper, rules)
    if read.interval is not None:
        low, high = read.interval
        return ((float("-inf") if low is None else low, float("inf") if high is None else high),)
    if isinstance(function, NumericFunction) and function.corruption is None:
        return claimed_intervals(f"{read.description_repaired}\n{read.domain_repaired}")
    return intervals_told(read.description_repaired, read.domain_repaired)


def _strings(spec: ProbeSpec, box: Box, function: FindFunction, read: Interpretation) -> Iterator[Outcome]:
    """Exact match on ten texts, and on texts that nobody probed."""
    tests = _recorded_pairs(spec) if spec.is_published else pairs_for_testing(function, spec.seed)
    rng = np.random.default_rng([spec.seed, _HELD_OUT])
    texts: tuple[str, ...] = ()
    if not isinstance(function, PairsFunction):
        texts = evaluate.held_out_texts([probe.input for probe in box.probes], rng)
    outputs = function.outputs(texts, rng)
    apart = tuple((text, output) for text, output in zip(texts, outputs, strict=True) if isinstance(output, str))
    pairs = (*tests, *apart)
    misrecorded = function.misrecorded if isinstance(function, StringFunction) and spec.is_published else ()
    counted = {rules: [rules == "paper" or text not in misrecorded for text, _ in tests] for rules in RULES}
    results = {
        rules: sandbox.evaluate(getattr(read, f"code_{rules}"), [text for text, _ in pairs], rules=rules)
        for rules in RULES
    }
    for place, (text, true) in enumerate(pairs):
        kind = "test" if place < len(tests) else "held out"
        number = place + 1 if kind == "test" else place + 1 - len(tests)
        prediction = Prediction.model_validate(
            {
                "kind": kind,
                "input": text,
                "truth": true,
                "paper": _text(results["paper"].values[place]),
                "repaired": _text(results["repaired"].values[place]),
                "error": results["repaired"].errors[place] or "" if is_judged(read, "repaired") else NOTHING,
                "error_paper": results["paper"].errors[place] or "",
                "right_paper": results["paper"].values[place] == true,
                "misrecorded": kind == "test" and text in misrecorded,
            }
        )
        yield Entry(f"{kind.replace(' ', '-')}-{number:02}", prediction)
    for rules in RULES:
        result = results[rules]
        ran = [not not_runnable(error) for error in result.errors]
        guesses = [_text(value) if rules == "repaired" else value for value in result.values]
        for metric, first, some in (("exact_match", 0, tests), ("held_out_match", len(tests), apart)):
            here = range(first, first + len(some))
            places = [place for place in here if ran[place] and (place >= len(tests) or counted[rules][place])]
            matched = evaluate.exact_match(
                [pairs[place][0] for place in places],
                [pairs[place][1] for place in places],
                [guesses[place] for place in places],
                rules,
            ).over(len(some))
            if not is_judged(read, rules):
                matched = undefined(len(some), NOTHING)
            elif some and not places:
                matched = undefined(len(some), str(result.errors[first]))
            elif result.error and not matched.reason:
                matched = replace(matched, detail={**matched.detail, "reason": result.error})
            yield Figure(metric, rules, matched)
        if is_judged(read, rules) and tests:
            lacking = [str(error) for error in result.errors[: len(tests)] if not_runnable(error)]
            detail = {"reason": lacking[0]} if lacking else {}
            share = len(lacking) / len(tests)
            yield Figure("not_runnable", rules, Score(share, len(tests), len(tests), detail=detail))
        those = [pair for pair, counts in zip(tests, counted[rules], strict=True) if counts]
        inputs = [text for text, _ in those]
        unchanged = evaluate.exact_match(inputs, [true for _, true in those], inputs, rules).over(len(tests))
        yield Figure("exact_match_unchanged", rules, unchanged)
    if results["repaired"].error and is_judged(read, "repaired"):
        yield NoCode(results["repaired"].error)
    if function.is_stochastic and tests:
        again = [function.outputs([text for text, _ in tests], rng) for _ in range(_DRAWS)]
        yield Entry("redrawn", Redrawn(outputs=tuple(tuple(map(_text, outputs)) for outputs in again)))
        agreed = np.mean(
            [output == true for outputs in again for output, (_, true) in zip(outputs, tests, strict=True)]
        )
        for rules in RULES:
            yield Figure("exact_match_ceiling", rules, Score(float(agreed), len(tests), len(tests)))


def _recorded_pairs(spec: ProbeSpec) -> tuple[tuple[str, str], ...]:
    """The ten pairs that the published set recorded; they, not our rebuilt function, are the truth."""
    return source.published_strings(str(spec.find_dir))[spec.function].pairs


def _text(value: Value | None) -> str | None:
    return None if value is None else written(value)


def _described(function: FindFunction, read: Interpretation) -> Iterator[Outcome]:
    """How many of the function's parts the description names."""
    if not isinstance(function, NumericFunction | StringFunction):
        return
    differs = isinstance(function, NumericFunction) and function.differs
    claims: dict[str, object] = {}
    for rules in RULES:
        if isinstance(function, NumericFunction):
            intervals = _intervals(function, read, rules)
            claims[f"intervals_{rules}"] = tuple((_finite(low), _finite(high)) for low, high in intervals)
            if rules == "paper":
                claims["noise_paper"] = named.claimed_noise(read.told_paper)
            else:
                kinds = named.noise_told(read.told_repaired).kinds
                claims["overlap_of_all"] = evaluate.whole_range(function.corruption)
                claims |= {"noises_repaired": kinds, "noise_repaired": kinds[0] if len(kinds) == 1 else None}
        # A domain says of which texts something holds ("upper and lower case"), not what is done to them.
        words = "told" if isinstance(function, NumericFunction) else "description"
        found = named.components_identified(function, getattr(read, f"{words}_{rules}") or "", rules)
        present, absent = found.present, found.absent
        of = len(present) + len(absent)
        detail = {"named": present, "left_out": absent, **({"wrong": found.wrong} if found.wrong else {})}
        counted = Score(found.score, of, of, detail=detail)
        if rules == "repaired" and not read.told_repaired.strip():
            counted = undefined(of, "there is no description")
        elif differs:
            counted = undefined(
                of,
                "the function is a network, too far from the formula it was trained on to be told by the formula's "
                "parts",
            )
        else:
            claims |= {f"named_{rules}": present, f"left_out_{rules}": absent}
            if rules == "repaired":
                claims |= {"wrong_repaired": found.wrong, "kinds_repaired": found.kinds}
        yield Figure("components_identified", rules, counted)
    yield Entry("claims", Claims.model_validate(claims))


def _audit(
    box: Box, function: FindFunction, read: Interpretation, invented: Sequence[int], known: bool
) -> Iterator[Outcome]:
    """Evidence for what is quoted, and how much of the range was looked at; undefined where no calls are `known`.

    `invented` are the rounds in which outputs were made up.
    """
    made = [audit.Observation(probe.input, probe.output) for probe in box.probes]
    text = f"{read.description_repaired}\n{read.domain_repaired}"
    evidence = audit.evidence(text, made) if known else audit.Evidence((), (), ())
    unknown = "" if known else "its calls were made elsewhere and are not known"
    fields: dict[str, object] = {}
    if isinstance(function, NumericFunction | CodeFunction) and function.category == "numeric":
        asked = [x for probe in box.probes if (x := as_number(probe.input)) is not None]
        covered = audit.coverage(asked) if known else None
        fields["coverage"] = covered
        fields["longest_gap"] = audit.longest_gap(asked) if known else None
        if isinstance(function, NumericFunction) and known:
            fields["in_corruption"] = audit.probed_corruption(function.corruption, asked, function.rules)
        for rules in RULES:
            yield Figure("coverage", rules, _share(covered, unknown, len(asked), len(box.probes)))
    claimed = _intervals(function, read, "repaired")
    record = Audit.model_validate(
        {
            "supported": evidence.supported,
            "contradicted": evidence.contradicted,
            "unseen": evidence.unseen,
            "invented_rounds": tuple(invented),
            "claimed": tuple((_finite(low), _finite(high)) for low, high in claimed),
            **fields,
        }
    )
    yield Entry("audit", record)
    quoted = len(evidence.supported) + len(evidence.contradicted) + len(evidence.unseen)
    share = len(evidence.supported) / quoted if quoted else None
    for rules in RULES:
        reason = unknown or "it quotes no input with its output"
        yield Figure("evidence_supported", rules, _share(share, reason, quoted))


def known_inputs(function: FindFunction) -> str:
    """What a function that is carried out by our lists knows, and what it gives for everything else."""
    if isinstance(function, EntityFunction):
        words = [word for name in function.names if name in concepts() for word in (name, *concepts()[name].words)]
        return f"This box is a list. It knows {', '.join(words) or 'no word'}; any other word gives 0, however fitting."
    if isinstance(function, RelationFunction) and function.relation:
        inputs = [fact.inputs[0] for fact in function.relation.facts]
        more = f" and {len(inputs) - _NAMED} more" if len(inputs) > _NAMED else ""
        others = "what our lists know as something else gives undefined, and of other inputs it says that it lacks them"
        return f"This box is a list. It knows {', '.join(inputs[:_NAMED])}{more}; {others}."
    return ""


def _finite(end: float) -> float | None:
    return float(end) if np.isfinite(end) else None


def truth(function: FindFunction, points: Sequence[float]) -> Truth:
    """The function as it is shown at the end; no noise on the curve."""
    fields: dict[str, object] = {}
    if isinstance(function, NumericFunction):
        y: Sequence[Value | None] = function.expected(np.asarray(points)).tolist()
        if function.noise is not None:
            fields["noise"] = function.noise.describe(function.rules)
        if function.corruption is not None:
            low, high = function.corruption.interval()
            fields["corrupted"] = (_finite(low), _finite(high))
    else:
        y = values(function, points, np.random.default_rng(0)) if points else []
    return Truth.model_validate(
        {
            "id": function.id,
            "category": function.category,
            "kind": function.kind,
            "description": function.describe(),
            "parameters": function.parameters,
            "note": function.note,
            "x": tuple(points),
            "y": tuple(real(value) for value in y),
            **fields,
        }
    )
