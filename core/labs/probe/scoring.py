"""Score an interpretation, figure by figure. FIND, section 3; what goes beyond the paper is named in `metrics`.

An undefined figure is None with its reason in `detail`, and never 0 because there was nothing to measure. Figures are
computed here and not in the view, because they rest on the function, which only a run has. `score_numbers` and
`score_texts` have the figures of the code; this module has those of the words, the audit and the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ...events import Rules
from ...rulesets import RULES, PerRuleset
from ...runs.context import CaseContext
from ...runs.fairness import run_in_thread
from ...sandbox.unsupported import NOT_RUNNABLE, cause, not_runnable
from ...score import Figure, Score, undefined
from . import audit, component_mentions, evaluate, json_answers, units
from .box import Box, real
from .functions.base import FindFunction, Value
from .functions.entities import EntityFunction, concepts
from .functions.numeric import NumericFunction
from .functions.own import CodeFunction
from .functions.relations import RelationFunction
from .functions.strings import StringFunction
from .records import Audit, Claims, Ends, Exchange, Interpretation, Truth
from .score_events import NoCode, Outcome, ScoreRecord, share
from .score_numbers import grid, intervals, of_numbers, probed, values
from .score_texts import of_texts
from .tasks import ProbeSpec
from .view import trial_of

_NAMED = 24
"""The most inputs of a list that are named."""


async def score(spec: ProbeSpec, run: CaseContext, box: Box, function: FindFunction, read: Interpretation) -> None:
    """Publish every figure of the function's category; the truth comes last."""
    if spec.category == "numeric":
        await _publish(spec, run, lambda: of_numbers(spec, box, function, read))
    elif spec.category == "strings":
        await _publish(spec, run, lambda: of_texts(spec, box, function, read))
    if spec.category != "numeric":
        await units.run_tests(spec, run, function, read)
    rounds = sorted({exchange.round for exchange in run.recorded(Exchange).values() if exchange.invented})

    def last() -> Iterator[Outcome]:
        yield from _described(function, read)
        yield from _audit(box, function, read, rounds, known=spec.interpreter != "given")
        yield ScoreRecord("truth", _truth(spec, function))

    await _publish(spec, run, last)


async def _publish(spec: ProbeSpec, run: CaseContext, outcomes: Callable[[], Iterator[Outcome]]) -> None:
    """Compute in a thread, because code is run and curves are drawn; publish from here, because a run has many
    cases.
    """
    for outcome in await run_in_thread(lambda: list(outcomes())):
        match outcome:
            case Figure(metric, rules, score, item):
                run.score(metric, json_answers.score_of(spec, score, rules), rules, item)
            case ScoreRecord(item, record):
                run.record(record, item, trial=trial_of(item))
            case NoCode(why):
                reason = NOT_RUNNABLE if not_runnable(why) else "code cannot be run"
                run.drop("estimate", reason, cause(why), trial=trial_of("estimate"))


def _described(function: FindFunction, read: Interpretation) -> Iterator[Outcome]:
    """Yield how many of the function's parts the description names."""
    if not isinstance(function, NumericFunction | StringFunction):
        return
    # For texts the domain says for which texts something holds ("upper and lower case"), not what is done to them.
    words = read.told if isinstance(function, NumericFunction) else read.description
    parts = PerRuleset.read_by_each(
        lambda rules: component_mentions.components_identified(function, words[rules], rules)
    )
    unasked = PerRuleset.read_by_each(lambda rules: _why_no_parts(function, read, rules))
    for rules in RULES:
        yield Figure("components_identified", rules, _of_parts(parts[rules], unasked[rules]))
    of_noise: dict[str, object] = {}
    if isinstance(function, NumericFunction):
        kinds = component_mentions.noise_told(read.told.repaired).kinds
        of_noise = {
            "intervals": PerRuleset.read_by_each(lambda rules: _ends(intervals(function, read, rules))),
            "noise": PerRuleset(
                paper=component_mentions.claimed_noise(read.told.paper), repaired=kinds[0] if len(kinds) == 1 else None
            ),
            "noises_repaired": kinds,
            "overlap_of_all": evaluate.whole_range(function.corruption),
        }
    claims = Claims.model_validate(
        {
            "named": PerRuleset.read_by_each(lambda rules: () if unasked[rules] else parts[rules].present),
            "left_out": PerRuleset.read_by_each(lambda rules: () if unasked[rules] else parts[rules].absent),
            "wrong_repaired": () if unasked.repaired else parts.repaired.wrong,
            "kinds_repaired": 0 if unasked.repaired else parts.repaired.kinds,
            **of_noise,
        }
    )
    yield ScoreRecord("claims", claims)


def _why_no_parts(function: NumericFunction | StringFunction, read: Interpretation, rules: Rules) -> str:
    """Return why the words are not checked for the function's parts; an empty string if they are."""
    if rules == "repaired" and not read.told.repaired.strip():
        return "there is no description"
    if isinstance(function, NumericFunction) and function.differs:
        return "the function is a network, too far from the formula it was trained on to be told by the formula's parts"
    return ""


def _of_parts(parts: component_mentions.Components, unasked: str) -> Score:
    of = len(parts.present) + len(parts.absent)
    if unasked:
        return undefined(of, unasked)
    detail = {"named": parts.present, "left_out": parts.absent, **({"wrong": parts.wrong} if parts.wrong else {})}
    return Score(parts.score, of, of, detail=detail)


def _audit(
    box: Box, function: FindFunction, read: Interpretation, invented: Sequence[int], known: bool
) -> Iterator[Outcome]:
    """Yield the evidence for quoted calls, and how much of the range was probed; undefined if the calls are not
    `known`.

    `invented` are the rounds in which outputs were invented.
    """
    made = [audit.Observation(probe.input, probe.output) for probe in box.probes]
    text = f"{read.description.repaired}\n{read.domain.repaired}"
    evidence = audit.evidence(text, made) if known else audit.QuotedPairs((), (), ())
    unknown = "" if known else "its calls were made elsewhere and are not known"
    covered = gap = in_corruption = None
    if isinstance(function, NumericFunction | CodeFunction) and function.category == "numeric":
        asked = probed(box)
        if known:
            covered, gap = audit.coverage(asked), audit.longest_gap(asked)
            if isinstance(function, NumericFunction):
                in_corruption = audit.probed_corruption(function.corruption, asked, function.rules)
        for rules in RULES:
            yield Figure("coverage", rules, share(covered, unknown, len(asked), len(made)))
    record = Audit(
        **evidence._asdict(),
        invented_rounds=tuple(invented),
        coverage=covered,
        longest_gap=gap,
        in_corruption=in_corruption,
        claimed=_ends(intervals(function, read, "repaired")),
    )
    yield ScoreRecord("audit", record)
    quoted = sum(map(len, evidence))
    supported = len(evidence.supported) / quoted if quoted else None
    for rules in RULES:
        reason = unknown or "it quotes no input with its output"
        yield Figure("evidence_supported", rules, share(supported, reason, quoted))


def _ends(intervals: Sequence[tuple[float, float]]) -> tuple[Ends, ...]:
    return tuple((real(low), real(high)) for low, high in intervals)


def _truth(spec: ProbeSpec, function: FindFunction) -> Truth:
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
    return Truth(
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
        others = "what our lists know as something else gives undefined, and of other inputs it says that it lacks them"
        return f"This box is a list. It knows {', '.join(inputs[:_NAMED])}{more}; {others}."
    return ""
