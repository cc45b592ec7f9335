"""Measure one case: let the interpreter probe the black box, then compare what it says with the truth (FIND, section
3).
"""

import asyncio
from collections.abc import Sequence

from ...events import CallError, Rules
from ...parsers.fields import REASON as CUT
from ...rulesets import RULES, PerRuleset
from ...runs.context import CaseContext
from ...runs.fairness import run_in_thread
from ...text.embed import NoEncoderError
from ..base.report import Case
from ..base.spec import BadInputError
from . import box, parse, scoring
from .box import Box, ModuleCalls
from .exemplars import exemplars
from .functions import source
from .functions.base import FindFunction, Value, as_number
from .functions.modules import ModuleFunction
from .functions.source import PairsFunction
from .interpreters.agent import Conclusion, agent, milan
from .interpreters.fit import fit_numeric, fit_string
from .interpreters.nearest import NEAREST_PROBES, nearest
from .records import Fidelity, Interpretation, Probe, Submission, Truth, Wish
from .score_numbers import grid
from .tasks import ProbeSpec

ITEM = "interpretation"


async def measure(spec: ProbeSpec, case: Case, run: CaseContext) -> None:
    """Probe, conclude and score one function. If a person interprets, go as far as their wishes do.

    Raises BadInputError if the function cannot be loaded, and CallError if the interpreter's model cannot be reached.
    """
    one: ProbeSpec = case.about
    if _is_done(one, run):
        return
    try:
        function = await run_in_thread(source.load, one)
    except ValueError as error:
        raise BadInputError(str(error), "Choose another function, or name the folder of the published set.") from error
    box = Box(one, run, function)
    if box.is_another() or _is_other_module(one, run, function):
        raise BadInputError(
            "This run was started by a version of the app that drew another function for this seed, so it cannot be "
            "resumed. You can still look at it.",
            "Begin a new run.",
        )
    await _check_box(one, run, function)
    interpretation = await _interpret(one, run, box, function)
    if interpretation is None:
        return
    run.record(interpretation, ITEM)
    await scoring.score(one, run, box, function, interpretation)


def _is_other_module(spec: ProbeSpec, run: CaseContext, function: FindFunction) -> bool:
    """Whether the box was measured with inputs that the function which the seed now stands for does not have."""
    measured = run.recorded(Fidelity).values()
    return isinstance(function, ModuleFunction) and not all(box.is_fidelity_of(one, spec, function) for one in measured)


async def _check_box(spec: ProbeSpec, run: CaseContext, function: FindFunction) -> None:
    """Measure once, before use, whether the box agrees with the function's own truth. Raises CallError if it gives
    nothing at all.
    """
    if not isinstance(function, ModuleFunction) or spec.interpreter == "given" or run.recorded(Fidelity):
        return
    found = await box.measure_fidelity(spec, function, ModuleCalls(run, spec.module, about="stated"))
    run.record(found, "fidelity")


def _is_done(spec: ProbeSpec, run: CaseContext) -> bool:
    """Whether nothing is left to do: the truth, which comes last, is recorded, and no call failed that might now
    succeed.

    A person may conclude again. Fits and code runs take seconds per function, and a resumed run may have a thousand
    functions.
    """
    place = run.run_state.transcript.places.get(run.case)
    failed = place is not None and any(call.answered is None for call in place.calls.values())
    return spec.interpreter != "you" and not failed and bool(run.recorded(Truth))


async def _interpret(spec: ProbeSpec, run: CaseContext, box: Box, function: FindFunction) -> Interpretation | None:
    """Return what the interpreter concludes; None if a person has not concluded yet."""
    match spec.interpreter:
        case "you":
            return await _reader(run, box)
        case "given":
            assert spec.given is not None
            return _plainly("given", spec.given.description, spec.given.domain, spec.given.code)
        case "fit":
            text = await _fit(spec, box, function)
            return _read(spec, run, Conclusion(text, None))
        case "nearest":
            return await _nearest(spec, box, function)
    if spec.interpreter != "aia" and not spec.prompts:
        await box.probe(exemplars(function), 0)
    if spec.interpreter == "milan":
        return _read(spec, run, await milan(spec, run, box))
    return _read(spec, run, await agent(spec, run, box))


def _read(spec: ProbeSpec, run: CaseContext, conclusion: Conclusion) -> Interpretation:
    """Return both readings of the final answer. A reading without a description is dropped with its reason. If the
    answer was cut, the updated parser reads nothing, which excludes the case. The original one reads no fields.
    """

    def parts(rules: Rules) -> parse.Parts:
        is_unread = bool(conclusion.cut) if rules == "repaired" else spec.answers == "schema"
        return parse.interpretation("" if is_unread else conclusion.text, rules, conclusion.asked)

    read = PerRuleset.read_by_each(parts)
    if conclusion.cut:
        run.drop("", CUT, conclusion.cut, "repaired")
    for rules in RULES[::-1]:
        if rules == "repaired" and conclusion.cut:
            continue
        if not read[rules].description and (rules == "repaired" or spec.answers == "prose"):
            run.drop(ITEM, "no description", conclusion.trouble or "the final answer has no [DESCRIPTION]", rules)
    return _interpretation(spec.model or spec.interpreter, read, conclusion.call)


def _interpretation(interpreter: str, read: PerRuleset[parse.Parts], call: str | None = None) -> Interpretation:
    parts = {f"{name}_{rules}": part for rules in RULES for name, part in read[rules]._asdict().items()}
    return Interpretation(interpreter=interpreter, call=call, **parts)


def _plainly(interpreter: str, description: str, domain: str, code: str) -> Interpretation:
    """Return an interpretation whose parts are separate already, so that both parsers read the same; the authors'
    evaluator sees no domain.
    """
    said = parse.Parts(description, domain, code, parse.paper_told(description))
    return _interpretation(interpreter, PerRuleset(paper=said, repaired=parse.of_parts(description, domain, code)))


async def _reader(run: CaseContext, box: Box) -> Interpretation | None:
    """Call the function on everything that the person wished for; return their conclusion, or None before they
    submitted one.
    """
    for round, wish in enumerate(run.recorded(Wish).values(), start=1):
        await box.probe(wish.inputs, round)
    submissions = list(run.recorded(Submission).values())
    if not submissions:
        return None
    last = submissions[-1]
    said = _plainly("you", last.description, last.domain, last.code)
    return said.model_copy(update={"interval": last.interval})


async def _fit(spec: ProbeSpec, box: Box, function: FindFunction) -> str:
    """Run the baseline in another thread, and record its calls when it is done. For typed pairs it asks only for the
    typed inputs, because the function has no other values.
    """
    pairs = isinstance(function, PairsFunction)
    if spec.category == "numeric":

        def numbers(xs: Sequence[float]) -> list[Value | None]:
            return [probe.value for probe in box.call([repr(float(x)) for x in xs], 1)]

        typed = grid(function) if pairs else None
        found = await asyncio.to_thread(fit_numeric, numbers, budget=spec.probes, seed=spec.seed, inputs=typed)
    else:

        def texts(xs: Sequence[str]) -> list[str | None]:
            return [None if probe.problem else probe.output for probe in box.call(xs, 1)]

        known = exemplars(function) if pairs else None
        found = await asyncio.to_thread(fit_string, texts, budget=spec.probes, inputs=known)
    box.record(box.probes)
    return found.text


async def _nearest(spec: ProbeSpec, box: Box, function: FindFunction) -> Interpretation:
    rounds = 0

    async def probe(words: Sequence[str]) -> list[float | None]:
        nonlocal rounds
        rounds += 1
        return [one.value if one.value is not None else _share(one) for one in await box.probe(words, rounds)]

    try:
        result = await nearest(
            probe, min(spec.probes, NEAREST_PROBES), exemplars=exemplars(function), sensitive=spec.is_published
        )
    except NoEncoderError as missing:
        raise CallError(str(missing), "This baseline compares words by their sentence vectors.") from missing
    if all(value is None for _, value in result.probes):
        return _plainly(
            "nearest", f"It found nothing: none of the {len(result.probes)} words it tried had a value.", "", ""
        )
    return _plainly("nearest", result.description, "", "")


def _share(probe: Probe) -> float | None:
    """Return the output that someone typed for an input if it is a number in 0…1, as an entity function gives; else
    None.
    """
    number = None if probe.problem else as_number(probe.output)
    return number if number is not None and 0 <= number <= 1 else None
