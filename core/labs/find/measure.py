"""The run: let the interpreter loose on the black box, then hold what it says against the truth (FIND, section 3)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from core.events import CallFailed
from core.labs.find import parse, prompts, scoring
from core.labs.find.box import Box
from core.labs.find.exemplars import exemplars
from core.labs.find.functions.base import FindFunction, Value, as_number
from core.labs.find.functions.own import PairsFunction
from core.labs.find.interpreters.agent import Conclusion, agent, milan
from core.labs.find.interpreters.fit import fit_numeric
from core.labs.find.interpreters.fit_strings import fit_string
from core.labs.find.interpreters.nearest import BUDGET as NEAREST_PROBES
from core.labs.find.interpreters.nearest import nearest
from core.labs.find.records import Interpretation, Probe, Submission, Wish
from core.labs.find.tasks import ProbeSpec
from core.runs.run import Lab, Run
from core.text import embed
from core.text.embed import NoEncoder

ITEM = "interpretation"


class NoFunction(CallFailed):
    """The black box that a run is about cannot be had."""


async def measure(spec: ProbeSpec, run: Run) -> None:
    """Probe, conclude, score. Where the reader is the interpreter, go as far as their wishes do.

    Raises NoFunction, and CallFailed where the interpreter's model cannot be reached.
    """
    try:
        function = await asyncio.to_thread(spec.load)
    except ValueError as error:
        raise NoFunction(str(error), "Choose another function, or name the folder of the published set.") from error
    if spec.category in ("entities", "relations") and not spec.evaluator:
        # The encoder that will judge takes seconds to start, so it starts beside the run.
        asyncio.get_running_loop().run_in_executor(None, embed.start)
    box = Box(spec, run, function)
    found = await _interpret(spec, run, box, function)
    if found is None:
        return
    run.record(found, ITEM)
    await scoring.score(spec, run, box, function, found)


async def _interpret(spec: ProbeSpec, run: Run, box: Box, function: FindFunction) -> Interpretation | None:
    """What the interpreter concludes; None where the reader has not yet."""
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
    if spec.interpreter != "aia":
        await box.probe(exemplars(function), 0)
    if spec.interpreter == "milan":
        return _read(spec, run, await milan(spec, run, box))
    return _read(spec, run, await agent(spec, run, box))


def _read(spec: ProbeSpec, run: Run, conclusion: Conclusion) -> Interpretation:
    """Both readings of the final answer. A reading without a description is dropped with its reason."""
    paper = parse.interpretation(conclusion.text, "paper")
    repaired = parse.interpretation(conclusion.text, "repaired")
    if not repaired.description:
        run.drop(ITEM, "no description", conclusion.trouble or "the final answer has no [DESCRIPTION]", "repaired")
    if not paper.description:
        run.drop(ITEM, "no description", conclusion.trouble or "the final answer has no [DESCRIPTION]", "paper")
    return Interpretation(
        interpreter=spec.model or spec.interpreter,
        call=conclusion.call,
        description_paper=paper.description,
        description_repaired=repaired.description,
        domain_paper=paper.domain,
        domain_repaired=repaired.domain,
        code_paper=paper.code,
        code_repaired=repaired.code,
        told_paper=paper.told,
        told_repaired=repaired.told,
    )


def _plainly(interpreter: str, description: str, domain: str, code: str) -> Interpretation:
    """Parts that came apart already read the same by all rules."""
    told = f"{description}\n{domain}".strip()
    return Interpretation(
        interpreter=interpreter,
        description_paper=description,
        description_repaired=description,
        domain_paper=domain,
        domain_repaired=domain,
        code_paper=code,
        code_repaired=code,
        told_paper=told,
        told_repaired=told,
    )


async def _reader(run: Run, box: Box) -> Interpretation | None:
    """Call the function on all that the reader wished for; their conclusion, where they have submitted one."""
    wishes = [Wish.model_validate(event.data) for event in run.records if event.record == "wish"]
    for round, wish in enumerate(wishes, start=1):
        await box.probe(wish.inputs, round)
    said = [Submission.model_validate(event.data) for event in run.records if event.record == "submission"]
    return _plainly("you", said[-1].description, said[-1].domain, said[-1].code) if said else None


async def _fit(spec: ProbeSpec, box: Box, function: FindFunction) -> str:
    """The baseline asks from another thread; what it asked is recorded when it is done. Of typed pairs it asks for the
    inputs that were typed: the function has no value anywhere else.
    """
    pairs = isinstance(function, PairsFunction)
    if spec.category == "numeric":

        def numbers(xs: Sequence[float]) -> list[Value | None]:
            return [probe.value for probe in box.look([repr(float(x)) for x in xs], 1)]

        typed = scoring.grid(function) if pairs else None
        found = await asyncio.to_thread(fit_numeric, numbers, budget=spec.probes, seed=spec.seed, inputs=typed)
        text = found.text
    else:

        def texts(xs: Sequence[str]) -> list[str | None]:
            return [None if probe.problem else probe.output for probe in box.look(xs, 1)]

        known = exemplars(function) if pairs else None
        text = (await asyncio.to_thread(fit_string, texts, budget=spec.probes, inputs=known)).text
    box.keep(box.probes)
    return text


async def _nearest(spec: ProbeSpec, box: Box, function: FindFunction) -> Interpretation:
    rounds = 0

    async def probe(words: Sequence[str]) -> list[float | None]:
        nonlocal rounds
        rounds += 1
        return [one.value if one.value is not None else _share(one) for one in await box.probe(words, rounds)]

    try:
        found = await nearest(
            probe, min(spec.probes, NEAREST_PROBES), exemplars=exemplars(function), sensitive=spec.is_published
        )
    except NoEncoder as missing:
        raise CallFailed(str(missing), "This baseline compares words by their sentence vectors.") from missing
    if all(value is None for _, value in found.probes):
        return _plainly(
            "nearest", f"It found nothing: none of the {len(found.probes)} words it tried had a value.", "", ""
        )
    return _plainly("nearest", found.description, "", "")


def _share(probe: Probe) -> float | None:
    """The output that someone typed for an input, where it is a number in 0…1 as an entity function gives."""
    number = None if probe.problem else as_number(probe.output)
    return number if number is not None and 0 <= number <= 1 else None


LAB = Lab("find", ProbeSpec, measure, prompts.hashes)
