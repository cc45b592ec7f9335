"""What an interpretation is worth, figure by figure. FIND, section 3; what goes beyond the paper is named in `metrics`.

A figure that is undefined is None with its reason in `detail`; it is never 0 for want of anything to measure.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np

from core.events import Rules
from core.labs.find import audit, claims, evaluate, sandbox, units
from core.labs.find.box import Box, real, written
from core.labs.find.exemplars import pairs_for_testing
from core.labs.find.functions import source
from core.labs.find.functions.base import FindFunction, Value, as_number
from core.labs.find.functions.entities import EntityFunction, concepts
from core.labs.find.functions.numeric import GRID, NumericFunction
from core.labs.find.functions.own import CodeFunction, PairsFunction
from core.labs.find.functions.relations import RelationFunction
from core.labs.find.functions.strings import StringFunction
from core.labs.find.records import Audit, Estimate, Exchange, Interpretation, Prediction, Truth
from core.labs.find.tasks import ProbeSpec
from core.runs.run import Run

RULES: tuple[Rules, ...] = ("paper", "repaired")

_DRAWS = 20
"""So often a random string function is drawn again, to see how far it agrees with itself."""

_NAMED = 24
"""So many inputs of a list are named."""

_TRUTH, _HELD_OUT = 10, 11
"""Streams of random numbers: the observations that an estimate is held against, and the points nobody probed."""


async def score(spec: ProbeSpec, run: Run, box: Box, function: FindFunction, found: Interpretation) -> None:
    """Publish every figure of the function's category; the truth comes last."""
    points = grid(function)
    if spec.category == "numeric":
        await asyncio.to_thread(_numeric, spec, run, box, function, found, points)
    elif spec.category == "strings":
        await asyncio.to_thread(_strings, spec, run, box, function, found)
    if spec.category != "numeric":
        await units.run_tests(spec, run, function, found)
    _described(run, function, found)
    _audit(run, box, function, found, known=spec.interpreter != "given")
    told = await asyncio.to_thread(truth, function, points)
    if spec.is_module and spec.backbone == "table":
        told = told.model_copy(update={"note": f"{told.note} {known_inputs(function)}".strip()})
    run.record(told, "truth")


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


def _publish(
    run: Run, metric: str, value: float | None, rules: Rules, *, n: int, of: int, reason: str | None = None
) -> None:
    run.score(metric, value, n=n, of=of, rules=rules, detail={"reason": reason} if reason else {})


def _numeric(
    spec: ProbeSpec, run: Run, box: Box, function: FindFunction, found: Interpretation, points: tuple[float, ...]
) -> None:
    """NMSE and success, noise floor, interval overlap, noise identification, held-out error."""
    seen = values(function, points, np.random.default_rng([spec.seed, _TRUTH]))
    told: list[Value] = [float("nan") if value is None else value for value in seen]
    rng = np.random.default_rng([spec.seed, _HELD_OUT])
    asked = [x for probe in box.probes if (x := as_number(probe.input)) is not None]
    apart = [] if isinstance(function, PairsFunction) else evaluate.held_out_points(asked, rng).tolist()
    apart_seen: list[Value] = [float("nan") if y is None else y for y in values(function, apart, rng)]
    _floor(spec, run, function, told)
    estimates: dict[Rules, list[float | None]] = {}
    troubles: dict[Rules, str] = {}
    for rules in RULES:
        code = getattr(found, f"code_{rules}")
        result = sandbox.evaluate(code, [*points, *apart], rules=rules)
        guesses = list(result.values)
        estimates[rules] = [real(value) for value in guesses[: len(points)]]
        known = np.isfinite(evaluate.numbers([*told, *apart_seen], rules))
        errors = [error for error, counts in zip(result.errors, known, strict=True) if error and counts]
        troubles[rules] = result.error or next(iter(errors), "")
        score = evaluate.nmse(told, guesses[: len(points)], rules)
        reason = score.reason if not troubles[rules] else f"{score.reason}: {troubles[rules]}"
        why = reason if score.value is None else None
        _publish(run, "nmse", score.value, rules, n=score.n, of=len(points), reason=why)
        # The authors' evaluation counts a failure wherever it cannot compute the error (protocol §6).
        judged = score.n > 0 or rules == "paper"
        success = float(score.success) if judged else None
        _publish(run, "nmse_success", success, rules, n=int(judged), of=1, reason=why)
        held = evaluate.nmse(apart_seen, guesses[len(points) :], rules)
        _publish(run, "held_out_nmse", held.value, rules, n=held.n, of=len(apart), reason=held.reason)
        if isinstance(function, NumericFunction):
            _claims(run, function, found, rules)
    if troubles["repaired"] and all(value is None for value in estimates["repaired"]):
        run.drop("estimate", "code cannot be run", troubles["repaired"])
    run.record(
        Estimate(
            paper=tuple(estimates["paper"]),
            repaired=tuple(estimates["repaired"]),
            trouble_paper=troubles["paper"],
            trouble_repaired=troubles["repaired"],
        ),
        "estimate",
    )


def _floor(spec: ProbeSpec, run: Run, function: FindFunction, told: Sequence[Value]) -> None:
    """What a perfect description would get."""
    for rules in RULES:
        floor, reason = None, "a relative error is undefined for this function"
        if isinstance(function, NumericFunction):
            rng = np.random.default_rng([spec.seed, _TRUTH, 1])
            floor = evaluate.noise_floor(function, rng, rules=rules)
        elif function.is_stochastic:
            reason = "unknown for random code of your own"
        else:
            floor = evaluate.nmse(told, list(told), rules).value
        known = floor is not None
        _publish(run, "noise_floor", floor, rules, n=int(known), of=1, reason=None if known else reason)


def _claims(run: Run, function: NumericFunction, found: Interpretation, rules: Rules) -> None:
    claimed = claims.claimed_intervals(getattr(found, f"domain_{rules}"))
    overlap = evaluate.interval_iou(function.corruption, claimed)
    reason = None if overlap is not None else "there is no corrupted interval, and none was claimed"
    _publish(run, "interval_iou", overlap, rules, n=int(overlap is not None), of=1, reason=reason)
    named = evaluate.noise_identified(function, getattr(found, f"told_{rules}"))
    reason = None if named is not None else "there is no noise, and none was claimed"
    value = None if named is None else float(named)
    _publish(run, "noise_identified", value, rules, n=int(named is not None), of=1, reason=reason)


def _strings(spec: ProbeSpec, run: Run, box: Box, function: FindFunction, found: Interpretation) -> None:
    """Exact match on ten texts, and on texts that nobody probed."""
    tests = _recorded_pairs(spec) if spec.is_published else pairs_for_testing(function, spec.seed)
    rng = np.random.default_rng([spec.seed, _HELD_OUT])
    texts: tuple[str, ...] = ()
    if not isinstance(function, PairsFunction):
        texts = evaluate.held_out_texts([probe.input for probe in box.probes], rng)
    outputs = function.outputs(texts, rng)
    apart = tuple((text, output) for text, output in zip(texts, outputs, strict=True) if isinstance(output, str))
    pairs = (*tests, *apart)
    results = {
        rules: sandbox.evaluate(getattr(found, f"code_{rules}"), [text for text, _ in pairs], rules=rules)
        for rules in RULES
    }
    for place, (text, true) in enumerate(pairs):
        kind = "test" if place < len(tests) else "held out"
        readings = {rules: _text(results[rules].values[place]) for rules in RULES}
        error = results["repaired"].errors[place] or ""
        number = place + 1 if kind == "test" else place + 1 - len(tests)
        prediction = Prediction.model_validate({"kind": kind, "input": text, "truth": true, "error": error, **readings})
        run.record(prediction, f"{kind.replace(' ', '-')}-{number:02}")
    for rules in RULES:
        guesses = [_text(value) if rules == "repaired" else value for value in results[rules].values]
        for metric, some, chosen in (
            ("exact_match", tests, guesses[: len(tests)]),
            ("held_out_match", apart, guesses[len(tests) :]),
        ):
            matches = evaluate.exact_match([x for x, _ in some], [y for _, y in some], chosen, rules)
            reason = results[rules].error
            if matches.value is None:
                reason = "there are no texts to test on"
            elif matches.stopped is not None:
                reason = f"the paper's test gave up at text {matches.stopped + 1}"
            _publish(run, metric, matches.value, rules, n=matches.n, of=matches.of, reason=reason)
    if results["repaired"].error:
        run.drop("estimate", "code cannot be run", results["repaired"].error)
    if function.is_stochastic and tests:
        again = [function.outputs([text for text, _ in tests], rng) for _ in range(_DRAWS)]
        agreed = np.mean(
            [output == true for outputs in again for output, (_, true) in zip(outputs, tests, strict=True)]
        )
        for rules in RULES:
            _publish(run, "exact_match_ceiling", float(agreed), rules, n=len(tests), of=len(tests))


def _recorded_pairs(spec: ProbeSpec) -> tuple[tuple[str, str], ...]:
    """The ten pairs that the published set recorded; they, not our rebuilt function, are the truth."""
    return source.published_strings(str(spec.find_dir))[spec.function].pairs


def _text(value: Value | None) -> str | None:
    return None if value is None else written(value)


def _described(run: Run, function: FindFunction, found: Interpretation) -> None:
    """How many of the function's parts the description names."""
    if not isinstance(function, NumericFunction | StringFunction):
        return
    if isinstance(function, NumericFunction) and function.differs:
        reason = (
            "the function is a network, too far from the formula it was trained on to be told by the formula's parts"
        )
        for rules in RULES:
            _publish(run, "components_identified", None, rules, n=0, of=len(function.atoms), reason=reason)
        return
    for rules in RULES:
        named, of = evaluate.components_identified(function, getattr(found, f"told_{rules}"))
        _publish(run, "components_identified", named / of, rules, n=of, of=of)


def _audit(run: Run, box: Box, function: FindFunction, found: Interpretation, known: bool) -> None:
    """Evidence for what is quoted, and how much of the range was looked at; undefined where no calls are `known`."""
    made = [audit.Probe(probe.input, probe.output) for probe in box.probes]
    text = f"{found.description_repaired}\n{found.domain_repaired}"
    evidence = audit.evidence(text, made) if known else audit.Evidence((), (), ())
    unknown = None if known else "its calls were made elsewhere and are not known"
    rounds = [Exchange.model_validate(event.data) for event in run.records if event.record == "exchange"]
    fields: dict[str, object] = {}
    if isinstance(function, NumericFunction | CodeFunction) and function.category == "numeric":
        asked = [x for probe in box.probes if (x := as_number(probe.input)) is not None]
        covered = audit.coverage(asked) if known else None
        fields["coverage"] = covered
        fields["longest_gap"] = audit.longest_gap(asked) if known else None
        if isinstance(function, NumericFunction) and known:
            fields["in_corruption"] = audit.probed_corruption(function.corruption, asked, function.rules)
        for rules in RULES:
            _publish(run, "coverage", covered, rules, n=len(asked), of=len(box.probes), reason=unknown)
    claimed = claims.claimed_intervals(found.domain_repaired)
    run.record(
        Audit.model_validate(
            {
                "supported": evidence.supported,
                "contradicted": evidence.contradicted,
                "unseen": evidence.unseen,
                "invented_rounds": tuple(sorted({one.round for one in rounds if one.invented})),
                "claimed": tuple((_finite(low), _finite(high)) for low, high in claimed),
                **fields,
            }
        ),
        "audit",
    )
    quoted = len(evidence.supported) + len(evidence.contradicted) + len(evidence.unseen)
    share = len(evidence.supported) / quoted if quoted else None
    reason = unknown or (None if quoted else "it quotes no input with its output")
    for rules in RULES:
        _publish(run, "evidence_supported", share, rules, n=quoted, of=quoted, reason=reason)


def known_inputs(function: FindFunction) -> str:
    """What a function that is carried out by our lists knows, and what it gives for everything else."""
    if isinstance(function, EntityFunction):
        words = [word for name in function.names if name in concepts() for word in (name, *concepts()[name].words)]
        return f"This box is a list. It knows {', '.join(words) or 'no word'}; any other word gives 0, however fitting."
    if isinstance(function, RelationFunction) and function.relation:
        inputs = [fact.inputs[0] for fact in function.relation.facts]
        more = f" and {len(inputs) - _NAMED} more" if len(inputs) > _NAMED else ""
        return f"This box is a list. It knows {', '.join(inputs[:_NAMED])}{more}; any other input gives undefined."
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
