"""What an interpretation is worth, figure by figure. FIND, section 3; what goes beyond the paper is named in `metrics`.

A figure that is undefined is None with its reason in `detail`; it is never 0 for want of anything to measure. Figures
are computed here and not in the view, for they rest on the function, which only a run has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from core.by_rules import RULES, ByRules
from core.events import Frozen, Rules
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
    Ends,
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
    return rules == "paper" or bool(read.description.repaired or read.code.repaired)


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
    rounds = sorted({exchange.round for exchange in run.recorded(Exchange).values() if exchange.invented})

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
    for outcome in await beside(lambda: list(outcomes())):
        match outcome:
            case Figure(metric, rules, score, item):
                run.score(metric, fielded.score_of(spec, score, rules), rules, item)
            case Entry(item, record):
                run.record(record, item, trial=trial_of(item))
            case NoCode(why):
                reason = NOT_RUNNABLE if not_runnable(why) else "code cannot be run"
                run.drop("estimate", reason, cause(why), trial=trial_of("estimate"))


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


class _Truth(NamedTuple):
    """A numeric function where its estimate is held against it: at the test points, and apart from them at points that
    nobody probed. NaN where it has no value; `expected` is the function without its noise, empty where it has none.
    """

    points: tuple[float, ...]
    observed: list[Value]
    apart: list[float]
    observed_apart: list[Value]
    expected: list[Value]


class _CodeValues(NamedTuple):
    """What the code gave at the points of a `_Truth` and apart from them, and what spoils the figures of either."""

    given: tuple[Value | None, ...]
    apart: tuple[Value | None, ...]
    trouble: str
    trouble_apart: str
    lacking: int
    """At how many points the sandbox lacks what the code needs."""


def _numeric(
    spec: ProbeSpec, box: Box, function: FindFunction, read: Interpretation, points: tuple[float, ...]
) -> Iterator[Outcome]:
    """NMSE and success, noise floor, interval overlap, noise identification, held-out error."""
    truth = _truth_at(spec, box, function, points)
    floors = ByRules.of(lambda rules: _floor(spec, function, truth.observed, rules))
    for rules in RULES:
        draws = floors[rules]
        reason = "a relative error is undefined for this function" if draws else "unknown for random code of your own"
        yield Figure("noise_floor", rules, _share(evaluate.mean_of(draws), reason))
    by_code = ByRules.of(lambda rules: _run_code(truth, read, rules))
    for rules in RULES:
        if is_judged(read, rules):
            yield from _of_code(truth, by_code[rules], rules)
            if isinstance(function, NumericFunction):
                yield from _claims(function, read, rules)
        else:
            yield from _unjudged(function, truth)
    estimate = _estimate(by_code)
    gave_nothing = all(value is None for value in estimate.repaired)
    if is_judged(read, "repaired") and estimate.trouble.repaired and gave_nothing:
        yield NoCode(estimate.trouble.repaired)
    yield Entry("estimate", estimate)
    yield Entry("observed", _observed(truth, by_code, floors))


def _truth_at(spec: ProbeSpec, box: Box, function: FindFunction, points: tuple[float, ...]) -> _Truth:
    def observed(at: Sequence[float], rng: np.random.Generator) -> list[Value]:
        return [float("nan") if value is None else value for value in values(function, at, rng)]

    at_points = observed(points, np.random.default_rng([spec.seed, _TRUTH]))
    rng = np.random.default_rng([spec.seed, _HELD_OUT])
    apart: list[float] = []
    if not isinstance(function, PairsFunction):  # typed pairs have no value anywhere else
        apart = evaluate.held_out_points(_inputs(box), rng).tolist()
    expected: list[Value] = []
    if isinstance(function, NumericFunction) and function.is_stochastic:
        expected = function.expected(np.asarray(points)).tolist()
    return _Truth(points, at_points, apart, observed(apart, rng), expected)


def _inputs(box: Box) -> list[float]:
    """The numbers that were probed."""
    return [x for probe in box.probes if (x := as_number(probe.input)) is not None]


def _run_code(truth: _Truth, read: Interpretation, rules: Rules) -> _CodeValues:
    n = len(truth.points)
    if not is_judged(read, rules):
        return _CodeValues((None,) * n, (), NOTHING, "", 0)
    result = sandbox.evaluate(read.code[rules], [*truth.points, *truth.apart], rules=rules)
    trouble = _trouble(result.errors[:n], truth.observed, rules)
    trouble_apart = _trouble(result.errors[n:], truth.observed_apart, rules)
    lacking = sum(map(not_runnable, result.errors[:n])) if not_runnable(trouble) else 0
    return _CodeValues(result.values[:n], result.values[n:], trouble, trouble_apart, lacking)


def _trouble(errors: Sequence[str | None], observed: Sequence[Value], rules: Rules) -> str:
    """What spoils the figures of the code: an error where the function has a value. One of the code's own comes before
    what the sandbox lacks, for it fails either way then. Empty where there is none.
    """
    counts = np.isfinite(evaluate.numbers(observed, rules))
    met = [error for error, counted in zip(errors, counts, strict=True) if error and counted]
    return min(met, key=not_runnable, default="")


def _of_code(truth: _Truth, by_code: _CodeValues, rules: Rules) -> Iterator[Figure]:
    """The figures that rest on what the code gives."""
    detail = {"reason": by_code.trouble, "points": by_code.lacking} if by_code.lacking else {}
    yield Figure("not_runnable", rules, Score(float(by_code.lacking > 0), 1, 1, detail=detail))
    if by_code.lacking:
        for metric, of in _figures_of_code(truth).items():
            yield Figure(metric, rules, undefined(of, by_code.trouble))
        return
    yield from _errors(truth, by_code, rules)
    if truth.expected:
        yield Figure("excess", rules, evaluate.excess(truth.observed, truth.expected, by_code.given, rules))
    held_out = evaluate.nmse(truth.observed_apart, by_code.apart, rules)
    if not_runnable(by_code.trouble_apart):
        held_out = undefined(len(truth.apart), by_code.trouble_apart)
    yield Figure("held_out_nmse", rules, held_out)


def _errors(truth: _Truth, by_code: _CodeValues, rules: Rules) -> Iterator[Figure]:
    """The normalized error at the test points, and whether it is small enough."""
    error = evaluate.nmse(truth.observed, by_code.given, rules)
    trouble = by_code.trouble or by_code.trouble_apart
    reason = f"{error.reason}: {trouble}" if trouble else error.reason
    why = {} if error.value is not None else {"reason": reason}
    yield Figure("nmse", rules, replace(error, detail={**error.detail, **why}))
    # The authors' evaluation counts a failure wherever it cannot compute the error (docs/measuring.md §4.7).
    is_counted = error.n > 0 or rules == "paper"
    success = Score(float(error.success), 1, 1, detail=why)
    yield Figure("nmse_success", rules, success if is_counted else undefined(1, reason))


def _figures_of_code(truth: _Truth) -> dict[str, int]:
    """The figures of `_of_code`, with the number of things that each should count."""
    excess = {"excess": len(truth.points)} if truth.expected else {}
    return {"nmse": len(truth.points), "nmse_success": 1, "held_out_nmse": len(truth.apart), **excess}


def _unjudged(function: FindFunction, truth: _Truth) -> Iterator[Figure]:
    """No figure by repaired rules, and no zero either."""
    metrics = {**_figures_of_code(truth), "not_runnable": 1}
    if isinstance(function, NumericFunction):
        metrics |= {"interval_iou": 1, "noise_identified": 1}
    for metric, of in metrics.items():
        yield Figure(metric, "repaired", undefined(of, NOTHING))


def _estimate(by_code: ByRules[_CodeValues]) -> Estimate:
    return Estimate(
        paper=tuple(map(real, by_code.paper.given)),
        repaired=tuple(map(real, by_code.repaired.given)),
        trouble=ByRules.of(lambda rules: by_code[rules].trouble or by_code[rules].trouble_apart),
    )


def _observed(truth: _Truth, by_code: ByRules[_CodeValues], floors: ByRules[tuple[float | None, ...]]) -> Observed:
    def given(rules: Rules) -> tuple[Number, ...]:
        """Complex numbers, which an estimate leaves out, and what is among them."""
        numbers = _numbers(by_code[rules].given)
        return numbers if any(isinstance(value, tuple) for value in numbers) else ()

    return Observed(
        y=_numbers(truth.observed),
        expected=_numbers(truth.expected),
        paper=given("paper"),
        repaired=given("repaired"),
        held_out_x=tuple(truth.apart),
        held_out_y=_numbers(truth.observed_apart),
        held_out=ByRules.of(lambda rules: _numbers(by_code[rules].apart)),
        floor=floors,
    )


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
    is_named = named.noise_identified(function, read.told[rules], rules)
    value = None if is_named is None else float(is_named)
    yield Figure("noise_identified", rules, _share(value, "there is no noise, and none was claimed"))


def _intervals(function: FindFunction, read: Interpretation, rules: Rules) -> tuple[tuple[float, float], ...]:
    """The intervals that are said to behave otherwise: by paper rules in the domain, by repaired ones wherever it is
    said, or in a person's two numbers. Stretches of which something is said apart are the function's own pieces where
    nothing was replaced.
    """
    if rules == "paper":
        return claimed_intervals(read.domain.paper, rules)
    if read.interval is not None:
        low, high = read.interval
        return ((float("-inf") if low is None else low, float("inf") if high is None else high),)
    if isinstance(function, NumericFunction) and function.corruption is None:
        return claimed_intervals(f"{read.description.repaired}\n{read.domain.repaired}")
    return intervals_told(read.description.repaired, read.domain.repaired)


class _Text(NamedTuple):
    """A text that the code is tried on, with the function's output; `number` counts those of its kind from 1."""

    kind: Literal["test", "held out"]
    number: int
    input: str
    truth: str
    misrecorded: bool = False

    def counts(self, rules: Rules) -> bool:
        """A pair that the published set recorded wrongly counts by paper rules alone."""
        return rules == "paper" or not self.misrecorded


def _strings(spec: ProbeSpec, box: Box, function: FindFunction, read: Interpretation) -> Iterator[Outcome]:
    """Exact match on ten texts, and on texts that nobody probed."""
    rng = np.random.default_rng([spec.seed, _HELD_OUT])
    texts = [*_texts_of_test(spec, function), *_unprobed(box, function, rng)]
    inputs = [text.input for text in texts]
    results = ByRules.of(lambda rules: sandbox.evaluate(read.code[rules], inputs, rules=rules))
    yield from _predictions(texts, results, read)
    for rules in RULES:
        yield from _matches(texts, results[rules], read, rules)
    if results.repaired.error and is_judged(read, "repaired"):
        yield NoCode(results.repaired.error)
    tests = [text for text in texts if text.kind == "test"]
    if function.is_stochastic and tests:
        yield from _redrawn(function, tests, rng)


def _texts_of_test(spec: ProbeSpec, function: FindFunction) -> Iterator[_Text]:
    pairs = _recorded_pairs(spec) if spec.is_published else pairs_for_testing(function, spec.seed)
    misrecorded = function.misrecorded if isinstance(function, StringFunction) and spec.is_published else ()
    for number, (text, output) in enumerate(pairs, start=1):
        yield _Text("test", number, text, output, text in misrecorded)


def _unprobed(box: Box, function: FindFunction, rng: np.random.Generator) -> Iterator[_Text]:
    """Texts that nobody probed, where the function has an output for them; typed pairs have no other inputs."""
    if isinstance(function, PairsFunction):
        return
    texts = evaluate.held_out_texts([probe.input for probe in box.probes], rng)
    pairs = [pair for pair in zip(texts, function.outputs(texts, rng), strict=True) if isinstance(pair[1], str)]
    for number, (text, output) in enumerate(pairs, start=1):
        yield _Text("held out", number, text, str(output))


def _predictions(texts: Sequence[_Text], results: ByRules[sandbox.Result], read: Interpretation) -> Iterator[Entry]:
    paper, repaired = results.paper, results.repaired
    for place, text in enumerate(texts):
        prediction = Prediction(
            kind=text.kind,
            input=text.input,
            truth=text.truth,
            paper=_text(paper.values[place]),
            repaired=_text(repaired.values[place]),
            error=repaired.errors[place] or "" if is_judged(read, "repaired") else NOTHING,
            error_paper=paper.errors[place] or "",
            right_paper=paper.values[place] == text.truth,
            misrecorded=text.misrecorded,
        )
        yield Entry(f"{text.kind.replace(' ', '-')}-{text.number:02}", prediction)


def _matches(texts: Sequence[_Text], result: sandbox.Result, read: Interpretation, rules: Rules) -> Iterator[Figure]:
    """How often the code is right, how often it cannot be run, and how often its input unchanged would be right."""
    yield Figure("exact_match", rules, _match(texts, "test", result, read, rules))
    yield Figure("held_out_match", rules, _match(texts, "held out", result, read, rules))
    tests = [text for text in texts if text.kind == "test"]
    n = len(tests)
    if is_judged(read, rules) and tests:
        lacking = [str(error) for error in result.errors[:n] if not_runnable(error)]
        detail = {"reason": lacking[0]} if lacking else {}
        yield Figure("not_runnable", rules, Score(len(lacking) / n, n, n, detail=detail))
    counted = [text for text in tests if text.counts(rules)]
    inputs = [text.input for text in counted]
    unchanged = evaluate.exact_match(inputs, [text.truth for text in counted], inputs, rules)
    yield Figure("exact_match_unchanged", rules, unchanged.over(n))


def _match(texts: Sequence[_Text], kind: str, result: sandbox.Result, read: Interpretation, rules: Rules) -> Score:
    """The share of the texts of a kind that the code gets right; those for which the sandbox lacks something are left
    out.
    """
    tried = zip(texts, result.values, result.errors, strict=True)
    of_kind = [(text, value, error) for text, value, error in tried if text.kind == kind]
    if not is_judged(read, rules):
        return undefined(len(of_kind), NOTHING)
    counted = [(text, value) for text, value, error in of_kind if text.counts(rules) and not not_runnable(error)]
    if of_kind and not counted:
        return undefined(len(of_kind), str(of_kind[0][2]))
    matched = evaluate.exact_match(
        [text.input for text, _ in counted],
        [text.truth for text, _ in counted],
        [_text(value) if rules == "repaired" else value for _, value in counted],
        rules,
    ).over(len(of_kind))
    if result.error and not matched.reason:
        return replace(matched, detail={**matched.detail, "reason": result.error})
    return matched


def _redrawn(function: FindFunction, tests: Sequence[_Text], rng: np.random.Generator) -> Iterator[Outcome]:
    """How far a random function agrees with its own outputs when it is drawn again: no code can do better."""
    draws = [function.outputs([text.input for text in tests], rng) for _ in range(_DRAWS)]
    yield Entry("redrawn", Redrawn(outputs=tuple(tuple(map(_text, outputs)) for outputs in draws)))
    agrees = [output == text.truth for outputs in draws for output, text in zip(outputs, tests, strict=True)]
    for rules in RULES:
        yield Figure("exact_match_ceiling", rules, Score(float(np.mean(agrees)), len(tests), len(tests)))


def _recorded_pairs(spec: ProbeSpec) -> tuple[tuple[str, str], ...]:
    """The ten pairs that the published set recorded; they, not our rebuilt function, are the truth."""
    return source.published_strings(str(spec.find_dir))[spec.function].pairs


def _text(value: Value | None) -> str | None:
    return None if value is None else written(value)


def _described(function: FindFunction, read: Interpretation) -> Iterator[Outcome]:
    """How many of the function's parts the description names."""
    if not isinstance(function, NumericFunction | StringFunction):
        return
    # A domain says of which texts something holds ("upper and lower case"), not what is done to them.
    words = read.told if isinstance(function, NumericFunction) else read.description
    found = ByRules.of(lambda rules: named.components_identified(function, words[rules], rules))
    unasked = ByRules.of(lambda rules: _why_no_parts(function, read, rules))
    for rules in RULES:
        yield Figure("components_identified", rules, _of_parts(found[rules], unasked[rules]))
    claims: dict[str, object] = {
        "named": ByRules.of(lambda rules: () if unasked[rules] else found[rules].present),
        "left_out": ByRules.of(lambda rules: () if unasked[rules] else found[rules].absent),
    }
    if not unasked.repaired:
        claims |= {"wrong_repaired": found.repaired.wrong, "kinds_repaired": found.repaired.kinds}
    if isinstance(function, NumericFunction):
        kinds = named.noise_told(read.told.repaired).kinds
        one_kind = kinds[0] if len(kinds) == 1 else None
        claims |= {
            "intervals": ByRules.of(lambda rules: _ends(_intervals(function, read, rules))),
            "noise": ByRules(paper=named.claimed_noise(read.told.paper), repaired=one_kind),
            "noises_repaired": kinds,
            "overlap_of_all": evaluate.whole_range(function.corruption),
        }
    yield Entry("claims", Claims.model_validate(claims))


def _why_no_parts(function: NumericFunction | StringFunction, read: Interpretation, rules: Rules) -> str:
    """Why the words are not asked for the function's parts; empty where they are."""
    if rules == "repaired" and not read.told.repaired.strip():
        return "there is no description"
    if isinstance(function, NumericFunction) and function.differs:
        return "the function is a network, too far from the formula it was trained on to be told by the formula's parts"
    return ""


def _of_parts(found: named.Components, unasked: str) -> Score:
    of = len(found.present) + len(found.absent)
    if unasked:
        return undefined(of, unasked)
    detail = {"named": found.present, "left_out": found.absent, **({"wrong": found.wrong} if found.wrong else {})}
    return Score(found.score, of, of, detail=detail)


def _audit(
    box: Box, function: FindFunction, read: Interpretation, invented: Sequence[int], known: bool
) -> Iterator[Outcome]:
    """Evidence for what is quoted, and how much of the range was looked at; undefined where no calls are `known`.

    `invented` are the rounds in which outputs were made up.
    """
    made = [audit.Observation(probe.input, probe.output) for probe in box.probes]
    text = f"{read.description.repaired}\n{read.domain.repaired}"
    evidence = audit.evidence(text, made) if known else audit.Evidence((), (), ())
    unknown = "" if known else "its calls were made elsewhere and are not known"
    fields: dict[str, object] = {}
    if isinstance(function, NumericFunction | CodeFunction) and function.category == "numeric":
        asked = _inputs(box)
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
            "claimed": _ends(claimed),
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


def _ends(intervals: Sequence[tuple[float, float]]) -> tuple[Ends, ...]:
    return tuple((_finite(low), _finite(high)) for low, high in intervals)


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
