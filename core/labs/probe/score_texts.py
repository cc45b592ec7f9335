"""The figures of a function of texts: exact match on its test texts, and on texts that nobody probed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from ...events import Rules
from ...rulesets import RULES, PerRuleset
from ...sandbox import sandbox
from ...sandbox.unsupported import not_runnable
from ...score import Figure, Score, undefined
from . import evaluate
from .box import Box, value_text
from .exemplars import pairs_for_testing
from .functions import source
from .functions.base import FindFunction, Value
from .functions.own import PairsFunction
from .functions.strings import StringFunction
from .records import Checked, Interpretation, Prediction, Redrawn
from .score_events import HELD_OUT, NOTHING, NoCode, Outcome, ScoreRecord, is_judged
from .tasks import ProbeSpec

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


def of_texts(spec: ProbeSpec, box: Box, function: FindFunction, read: Interpretation) -> Iterator[Outcome]:
    """Yield exact match on ten texts, and on texts that nobody probed."""
    rng = np.random.default_rng([spec.seed, HELD_OUT])
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
    if results.repaired.error and is_judged(read, "repaired"):
        yield NoCode(results.repaired.error)
    calls = dict.fromkeys((probe.input, probe.output) for probe in box.probes if not probe.problem)
    passed = _match(tried.repaired[: len(tests)], results.repaired.error, read, "repaired").value == 1
    if calls and passed and not function.is_stochastic:
        yield _checked(list(calls), read)
    if function.is_stochastic and tests:
        yield from _redrawn(function, tests, rng)


def _checked(calls: Sequence[tuple[str, str]], read: Interpretation) -> ScoreRecord:
    """Return what the code gives for the texts that the interpreter probed itself."""
    inputs, outputs = zip(*calls, strict=True)
    given = PerRuleset.read_by_each(lambda rules: sandbox.evaluate(read.code[rules], list(inputs), rules=rules).values)
    checked = Checked(
        inputs=inputs,
        probed=(True,) * len(calls),
        truth=outputs,
        seen=outputs,
        spread=(0.0,) * len(calls),
        paper=tuple(map(_text, given.paper)),
        repaired=tuple(map(_text, given.repaired)),
    )
    return ScoreRecord("checked", checked)


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
    for text, output in zip(texts, function.outputs(texts, rng), strict=True):
        if isinstance(output, str):
            yield _Text("held out", text, output)


def _predictions(tried: PerRuleset[list[_Tried]], read: Interpretation, tests: int) -> Iterator[ScoreRecord]:
    """Yield one record per text; each kind is counted from 1."""
    for place, (paper, repaired) in enumerate(zip(tried.paper, tried.repaired, strict=True), start=1):
        text = paper.text
        prediction = Prediction(
            kind=text.kind,
            input=text.input,
            truth=text.truth,
            paper=_text(paper.value),
            repaired=_text(repaired.value),
            error=repaired.error or "" if is_judged(read, "repaired") else NOTHING,
            error_paper=paper.error or "",
            right_paper=paper.value == text.truth,
            misrecorded=text.misrecorded,
        )
        number = place if text.kind == "test" else place - tests
        yield ScoreRecord(f"{text.kind.replace(' ', '-')}-{number:02}", prediction)


def _matches(tried: Sequence[_Tried], error: str | None, read: Interpretation, rules: Rules) -> Iterator[Figure]:
    """Yield how often the code is right, how often it cannot be run, and how often its input unchanged would be
    right.
    """
    tests, held_out = ([one for one in tried if one.text.kind == kind] for kind in ("test", "held out"))
    yield Figure("exact_match", rules, _match(tests, error, read, rules))
    yield Figure("held_out_match", rules, _match(held_out, error, read, rules))
    n = len(tests)
    if is_judged(read, rules) and tests:
        lacking = [one.error for one in tests if not_runnable(one.error)]
        detail = {"reason": lacking[0]} if lacking else {}
        yield Figure("not_runnable", rules, Score(len(lacking) / n, n, n, detail=detail))
    unchanged = [_Tried(one.text, one.text.input, None) for one in tests]
    yield Figure("exact_match_unchanged", rules, _right(unchanged, rules).over(n))


def _match(tried: Sequence[_Tried], error: str | None, read: Interpretation, rules: Rules) -> Score:
    """Return the share of texts that the code gets right, without those for which the sandbox lacks something. `error`
    is why the code could not be run at all.
    """
    if not is_judged(read, rules):
        return undefined(len(tried), NOTHING)
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


def _redrawn(function: FindFunction, tests: Sequence[_Text], rng: np.random.Generator) -> Iterator[Outcome]:
    """Yield how far a random function agrees with its own outputs when it is sampled again: no code can do better."""
    draws = [function.outputs([text.input for text in tests], rng) for _ in range(_DRAWS)]
    yield ScoreRecord("redrawn", Redrawn(outputs=tuple(tuple(map(_text, outputs)) for outputs in draws)))
    agrees = [output == text.truth for outputs in draws for output, text in zip(outputs, tests, strict=True)]
    for rules in RULES:
        yield Figure("exact_match_ceiling", rules, Score(float(np.mean(agrees)), len(tests), len(tests)))


def _text(value: Value | None) -> str | None:
    return None if value is None else value_text(value)
