"""Score an interpretation, figure by figure. FIND, section 3; what goes beyond the paper is named in `metrics`.

An undefined figure is None with its reason in `detail`, and never 0 because there was nothing to measure. Figures are
computed here and not in the view, because they rest on the function, which only a run has. `score_numbers`
has the figures of code over numbers; this module has those over texts, of the words, the audit and the truth.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from ...events import Rules
from ...rulesets import RULES, PerRuleset
from ...runs.context import CaseContext
from ...runs.fairness import run_in_thread
from ...sandbox import sandbox
from ...sandbox.rewriting import NOT_RUNNABLE, cause, not_runnable
from ...score import Figure, Score, undefined
from . import claim_extraction, evaluate, parse, records, units
from .box import Box, real, value_text
from .exemplars import observed, pairs_for_testing
from .functions import source
from .functions.base import FindFunction, Value
from .functions.entities import EntityFunction, concepts
from .functions.numeric import NumericFunction
from .functions.relations import RelationFunction
from .functions.source import CodeFunction, PairsFunction
from .functions.strings import StringFunction
from .score_numbers import grid, intervals, of_numbers, probed, values
from .tasks import ProbeSpec
from .view import trial_of

# The figures of a function of texts: exact match on its test texts, and on texts that nobody probed.


_DRAWS = 20
"""How often a random string function is sampled again, to see how far it agrees with itself."""

Kind = Literal["test", "held out"]


class _Text(NamedTuple):
    """A text that the code is tried on, with the function's output."""

    kind: Kind
    input: str
    truth: str
    misrecorded: bool = False


class _Tried(NamedTuple):
    """A text, and what the code gave for it by one set of rules: a value, or None and the error."""

    text: _Text
    value: Value | None
    error: str | None


def of_texts(
    spec: ProbeSpec, box: Box, function: FindFunction, read: records.Interpretation
) -> Iterator[records.Outcome]:
    """Yield exact match on ten texts, and on texts that nobody probed."""
    rng = np.random.default_rng([spec.seed, records.HELD_OUT])
    tests = list(_texts_of_test(spec, function))
    texts = [*tests, *_unprobed(box, function, rng)]
    inputs = [text.input for text in texts]
    results = PerRuleset.read_by_each(lambda rules: sandbox.evaluate(read.code[rules], inputs, rules=rules))
    tried = PerRuleset.read_by_each(
        lambda rules: list(map(_Tried, texts, results[rules].values, results[rules].errors))
    )
    yield from _predictions(tried, read, len(tests))
    for rules in RULES:
        yield from _matches(tried[rules], results[rules].error, read, rules)
    if results.repaired.error and records.is_judged(read, "repaired"):
        yield records.NoCode(results.repaired.error)
    calls = dict.fromkeys((probe.input, probe.output) for probe in box.probes if not probe.problem)
    passed = _match(tried.repaired[: len(tests)], results.repaired.error, read, "repaired").value == 1
    if calls and passed and not function.is_stochastic:
        yield _checked(list(calls), read)
    if function.is_stochastic and tests:
        yield from _redrawn(function, tests, rng)


def _checked(calls: Sequence[tuple[str, str]], read: records.Interpretation) -> records.ScoreRecord:
    """Return what the code gives for the texts that the interpreter probed itself."""
    inputs, outputs = zip(*calls, strict=True)
    given = PerRuleset.read_by_each(lambda rules: sandbox.evaluate(read.code[rules], list(inputs), rules=rules).values)
    checked = records.Checked(
        inputs=inputs,
        probed=(True,) * len(calls),
        truth=outputs,
        seen=outputs,
        spread=(0.0,) * len(calls),
        paper=tuple(map(_text, given.paper)),
        repaired=tuple(map(_text, given.repaired)),
    )
    return records.ScoreRecord("checked", checked)


def _texts_of_test(spec: ProbeSpec, function: FindFunction) -> Iterator[_Text]:
    """Yield the test texts. For a published function these are the ten recorded pairs: they, not our rebuilt function,
    are the truth.
    """
    misrecorded: Sequence[str] = ()
    if spec.is_published:
        pairs = source.published_strings(str(spec.find_dir))[spec.function].pairs
        misrecorded = function.misrecorded if isinstance(function, StringFunction) else ()
    else:
        pairs = pairs_for_testing(function, spec.seed)
    for text, output in pairs:
        yield _Text("test", text, output, text in misrecorded)


def _unprobed(box: Box, function: FindFunction, rng: np.random.Generator) -> Iterator[_Text]:
    """Yield texts that nobody probed and for which the function has an output; typed pairs have no other inputs."""
    if isinstance(function, PairsFunction):
        return
    texts = evaluate.held_out_texts([probe.input for probe in box.probes], rng)
    yield from (_Text("held out", text, output) for text, output in observed(function, texts, rng))


def _predictions(
    tried: PerRuleset[list[_Tried]], read: records.Interpretation, tests: int
) -> Iterator[records.ScoreRecord]:
    """Yield one record per text; each kind is counted from 1."""
    for place, (paper, repaired) in enumerate(zip(tried.paper, tried.repaired, strict=True), start=1):
        text = paper.text
        prediction = records.Prediction(
            kind=text.kind,
            input=text.input,
            truth=text.truth,
            paper=_text(paper.value),
            repaired=_text(repaired.value),
            error=repaired.error or "" if records.is_judged(read, "repaired") else records.NOTHING,
            error_paper=paper.error or "",
            right_paper=paper.value == text.truth,
            misrecorded=text.misrecorded,
        )
        number = place if text.kind == "test" else place - tests
        yield records.ScoreRecord(f"{text.kind.replace(' ', '-')}-{number:02}", prediction)


def _matches(
    tried: Sequence[_Tried], error: str | None, read: records.Interpretation, rules: Rules
) -> Iterator[Figure]:
    """Yield how often the code is right, how often it cannot be run, and how often its input unchanged would be
    right.
    """
    tests, held_out = ([one for one in tried if one.text.kind == kind] for kind in ("test", "held out"))
    yield Figure("exact_match", rules, _match(tests, error, read, rules))
    yield Figure("held_out_match", rules, _match(held_out, error, read, rules))
    n = len(tests)
    if records.is_judged(read, rules) and tests:
        lacking = [one.error for one in tests if not_runnable(one.error)]
        detail = {"reason": lacking[0]} if lacking else {}
        yield Figure("not_runnable", rules, Score(len(lacking) / n, n, n, detail=detail))
    unchanged = [_Tried(one.text, one.text.input, None) for one in tests]
    yield Figure("exact_match_unchanged", rules, _right(unchanged, rules).over(n))


def _match(tried: Sequence[_Tried], error: str | None, read: records.Interpretation, rules: Rules) -> Score:
    """Return the share of texts that the code gets right, without those for which the sandbox lacks something. `error`
    is why the code could not be run at all.
    """
    if not records.is_judged(read, rules):
        return undefined(len(tried), records.NOTHING)
    ran = [one for one in tried if not not_runnable(one.error)]
    if tried and not any(_counts(one.text, rules) for one in ran):
        return undefined(len(tried), str(tried[0].error))
    matched = _right(ran, rules).over(len(tried))
    return replace(matched, detail={**matched.detail, "reason": error}) if error and not matched.reason else matched


def _right(tried: Sequence[_Tried], rules: Rules) -> Score:
    """Return exact match over the texts that count. Under the paper rules the number 5 is not the text "5"."""
    counted = [one for one in tried if _counts(one.text, rules)]
    given = [_text(one.value) if rules == "repaired" else one.value for one in counted]
    return evaluate.exact_match([one.text.input for one in counted], [one.text.truth for one in counted], given, rules)


def _counts(text: _Text, rules: Rules) -> bool:
    """Whether a text counts: a pair that the published set recorded wrongly counts only under the paper rules."""
    return rules == "paper" or not text.misrecorded


def _redrawn(function: FindFunction, tests: Sequence[_Text], rng: np.random.Generator) -> Iterator[records.Outcome]:
    """Yield how far a random function agrees with its own outputs when it is sampled again: no code can do better."""
    draws = [function.outputs([text.input for text in tests], rng) for _ in range(_DRAWS)]
    yield records.ScoreRecord(
        "redrawn", records.Redrawn(outputs=tuple(tuple(map(_text, outputs)) for outputs in draws))
    )
    agrees = [output == text.truth for outputs in draws for output, text in zip(outputs, tests, strict=True)]
    for rules in RULES:
        yield Figure("exact_match_ceiling", rules, Score(float(np.mean(agrees)), len(tests), len(tests)))


def _text(value: Value | None) -> str | None:
    return None if value is None else value_text(value)


_NAMED = 24
"""The most inputs of a list that are named."""


async def score(
    spec: ProbeSpec, run: CaseContext, box: Box, function: FindFunction, read: records.Interpretation
) -> None:
    """Publish every figure of the function's category; the truth comes last."""
    if spec.category == "numeric":
        await _publish(spec, run, lambda: of_numbers(spec, box, function, read))
    elif spec.category == "strings":
        await _publish(spec, run, lambda: of_texts(spec, box, function, read))
    if spec.category != "numeric":
        await units.run_tests(spec, run, function, read)
    rounds = sorted({exchange.round for exchange in run.recorded(records.Exchange).values() if exchange.invented})

    def last() -> Iterator[records.Outcome]:
        yield from _described(function, read)
        yield from _audit(box, function, read, rounds, known=spec.interpreter != "given")
        yield records.ScoreRecord("truth", _truth(spec, function))

    await _publish(spec, run, last)


async def _publish(spec: ProbeSpec, run: CaseContext, outcomes: Callable[[], Iterator[records.Outcome]]) -> None:
    """Compute in a thread, because code is run and curves are drawn; publish from here, because a run has many
    cases.
    """
    for outcome in await run_in_thread(lambda: list(outcomes())):
        match outcome:
            case Figure(metric, rules, score, item):
                run.score(metric, parse.score_of(spec, score, rules), rules, item)
            case records.ScoreRecord(item, record):
                run.record(record, item, trial=trial_of(item))
            case records.NoCode(why):
                reason = NOT_RUNNABLE if not_runnable(why) else "code cannot be run"
                run.drop("estimate", reason, cause(why), trial=trial_of("estimate"))


def _described(function: FindFunction, read: records.Interpretation) -> Iterator[records.Outcome]:
    """Yield how many of the function's parts the description names."""
    if not isinstance(function, NumericFunction | StringFunction):
        return
    # For texts the domain says for which texts something holds ("upper and lower case"), not what is done to them.
    words = read.told if isinstance(function, NumericFunction) else read.description
    claims: dict[str, object] = {}
    for rules in RULES:
        if why := _why_no_parts(function, read, rules):
            yield Figure("components_identified", rules, undefined(len(function.atoms), why))
            continue
        parts = claim_extraction.components_identified(function, words[rules], rules)
        detail = {"named": parts.present, "left_out": parts.absent, **({"wrong": parts.wrong} if parts.wrong else {})}
        of = len(function.atoms)
        yield Figure("components_identified", rules, Score(parts.score, of, of, detail=detail))
        claims |= {f"named_{rules}": parts.present, f"left_out_{rules}": parts.absent}
        if rules == "repaired":
            claims |= {"wrong_repaired": parts.wrong, "kinds_repaired": parts.kinds}
    if isinstance(function, NumericFunction):
        kinds = claim_extraction.noise_told(read.told.repaired).kinds
        claims |= {
            "intervals": PerRuleset.read_by_each(lambda rules: _ends(intervals(function, read, rules))),
            "noise_paper": claim_extraction.claimed_noise(read.told.paper),
            "noise_repaired": kinds[0] if len(kinds) == 1 else None,
            "noises_repaired": kinds,
            "overlap_of_all": evaluate.whole_range(function.corruption),
        }
    yield records.ScoreRecord("claims", records.Claims.model_validate(claims))


def _why_no_parts(function: NumericFunction | StringFunction, read: records.Interpretation, rules: Rules) -> str:
    """Return why the words are not checked for the function's parts; an empty string if they are."""
    if rules == "repaired" and not read.told.repaired.strip():
        return "there is no description"
    if isinstance(function, NumericFunction) and function.differs:
        return "the function is a network, too far from the formula it was trained on to be told by the formula's parts"
    return ""


def _audit(
    box: Box, function: FindFunction, read: records.Interpretation, invented: Sequence[int], known: bool
) -> Iterator[records.Outcome]:
    """Yield the evidence for quoted calls, and how much of the range was probed; undefined if the calls are not
    `known`.

    `invented` are the rounds in which outputs were invented.
    """
    made = [(probe.input, probe.output) for probe in box.probes]
    text = f"{read.description.repaired}\n{read.domain.repaired}"
    evidence = claim_extraction.evidence(text, made) if known else claim_extraction.QuotedPairs((), (), ())
    unknown = "" if known else "its calls were made elsewhere and are not known"
    covered = gap = in_corruption = None
    if isinstance(function, NumericFunction | CodeFunction) and function.category == "numeric":
        asked = probed(box)
        if known:
            covered, gap = claim_extraction.coverage(asked), claim_extraction.longest_gap(asked)
            if isinstance(function, NumericFunction):
                in_corruption = claim_extraction.probed_corruption(function.corruption, asked, function.rules)
        for rules in RULES:
            yield Figure("coverage", rules, records.share(covered, unknown, len(asked), len(made)))
    record = records.Audit(
        **evidence._asdict(),
        invented_rounds=tuple(invented),
        coverage=covered,
        longest_gap=gap,
        in_corruption=in_corruption,
        claimed=_ends(intervals(function, read, "repaired")),
    )
    yield records.ScoreRecord("audit", record)
    quoted = sum(map(len, evidence))
    supported = len(evidence.supported) / quoted if quoted else None
    for rules in RULES:
        reason = unknown or "it quotes no input with its output"
        yield Figure("evidence_supported", rules, records.share(supported, reason, quoted))


def _ends(intervals: Sequence[tuple[float, float]]) -> tuple[records.Ends, ...]:
    return tuple((real(low), real(high)) for low, high in intervals)


def _truth(spec: ProbeSpec, function: FindFunction) -> records.Truth:
    """Return the function as it is shown at the end; the curve has no noise."""
    points = grid(function)
    noise, corrupted = "", None
    y: Sequence[Value | None] = ()
    if isinstance(function, NumericFunction):
        y = function.expected(np.asarray(points)).tolist()
        noise = function.noise.describe(function.rules) if function.noise else ""
        corrupted = _ends([function.corruption.interval()])[0] if function.corruption else None
    elif points:
        y = values(function, points, np.random.default_rng(0))
    known = known_inputs(function) if spec.is_module and spec.backbone == "table" else ""
    return records.Truth(
        id=function.id,
        category=function.category,
        kind=function.kind,
        description=function.describe(),
        parameters=function.parameters,
        note=f"{function.note} {known}".strip() if known else function.note,
        noise=noise,
        corrupted=corrupted,
        x=points,
        y=tuple(map(real, y)),
    )


def known_inputs(function: FindFunction) -> str:
    """Return what a function that our lists carry out knows, and what it gives for everything else."""
    if isinstance(function, EntityFunction):
        words = [word for name in function.names if name in concepts() for word in (name, *concepts()[name].words)]
        return f"This box is a list. It knows {', '.join(words) or 'no word'}; any other word gives 0, however fitting."
    if isinstance(function, RelationFunction) and function.relation:
        inputs = [fact.inputs[0] for fact in function.relation.facts]
        more = f" and {len(inputs) - _NAMED} more" if len(inputs) > _NAMED else ""
        others = "an input that our lists hold as something else gives undefined; any other is called not listed"
        return f"This box is a list. It knows {', '.join(inputs[:_NAMED])}{more}; {others}."
    return ""
