"""One counterfactual put to the test: what is expected, in every arm, and what the model really says."""

from __future__ import annotations

import asyncio
import re
from typing import Any, NamedTuple

from core.by_rules import ByRules
from core.events import CallFailed, Prompt
from core.labs.simulatability import doubt, fielded, metrics, parse, prompts, steps
from core.labs.simulatability.records import (
    Answer,
    ArmSimulation,
    Counterfactual,
    Explanation,
    FurtherSimulation,
    OtherExplanation,
    Simulation,
)
from core.labs.simulatability.tasks import Arm, AskSpec, Starter, explaining, simulating
from core.models.ids import is_control
from core.reading import fields
from core.runs.run import Run, together


class Tested(NamedTuple):
    """A counterfactual with both halves: what was expected, and what the model really answered."""

    counterfactual: Counterfactual
    simulation: Simulation
    answer: Answer


def choice_of(spec: AskSpec, starter: Explanation) -> str:
    """The choice that shp's prompts name beside the explanation; the authors write Neither where none was read."""
    answer = starter.answer[spec.rules]
    return "Neither" if answer == "neither" else answer


def slots(spec: AskSpec, counterfactual: Counterfactual) -> dict[str, str]:
    """The counterfactual as the slots of one question."""
    if spec.task == "strategyqa":
        return {"question": counterfactual.text}
    return counterfactual.model_dump(include={"context", "response_1", "response_2"})


async def put_to_the_test(
    spec: AskSpec, question: Starter, run: Run, item: str, counterfactual: Counterfactual, starter: Explanation
) -> Tested:
    """Simulate, in every arm, and really answer one counterfactual, at the same time. Raises CallFailed when all have
    ended.
    """
    expected = asyncio.ensure_future(_simulate(spec, question, run, item, counterfactual, starter))
    said = asyncio.ensure_future(_answer(spec, run, item, counterfactual))
    controls = [_simulate_in(arm, spec, question, run, item, counterfactual, starter) for arm in spec.control_arms]
    others = [
        _simulate_too(number, spec, question, run, item, counterfactual, starter)
        for number in range(2, len(spec.simulators) + 1)
    ]
    await together(expected, said, *controls, *others)
    return Tested(counterfactual, expected.result(), said.result())


async def _simulate(
    spec: AskSpec, question: Starter, run: Run, item: str, counterfactual: Counterfactual, starter: Explanation
) -> Simulation:
    simulation = Simulation(
        **await _from_explanation(spec.simulator, spec, question, run, item, item, counterfactual, starter)
    )
    run.record(simulation, item, trial=item)
    return simulation


async def _simulate_too(
    number: int,
    spec: AskSpec,
    question: Starter,
    run: Run,
    item: str,
    counterfactual: Counterfactual,
    starter: Explanation,
) -> None:
    """The simulation by one of the further predictors. Where that fails, only theirs is lost."""
    place, who = f"{item}/simulator-{number}", spec.simulators[number - 1]
    try:
        found = await _from_explanation(who, spec, question, run, place, item, counterfactual, starter)
    except CallFailed as failure:
        run.drop(place, "error", failure.message, trial=item)
    else:
        run.record(FurtherSimulation(**found), place, trial=item)


async def _from_explanation(
    simulator: str,
    spec: AskSpec,
    question: Starter,
    run: Run,
    place: str,
    trial: str,
    counterfactual: Counterfactual,
    starter: Explanation,
) -> dict[str, Any]:
    """The fields of a simulation from the explanation. What the simulator made up is told before any answer is seen."""
    explanation = starter.explanation[spec.rules] or ""
    prompt = prompts.simulate(spec, question.slots, explanation, choice_of(spec, starter), slots(spec, counterfactual))
    votes, reply = await _vote(spec, run, place, prompt, trial, simulator)
    said = " ".join((*question.slots.values(), explanation))
    return {**votes, "made_up": doubt.made_up(reply, counterfactual.text, said)}


async def _simulate_in(
    arm: Arm,
    spec: AskSpec,
    question: Starter,
    run: Run,
    item: str,
    counterfactual: Counterfactual,
    starter: Explanation,
) -> None:
    """Simulate one counterfactual without the explanation. Where that fails, only the control is lost."""
    place, asked = f"{item}/{arm}", slots(spec, counterfactual)
    if arm == "swapped":
        other = run.latest(OtherExplanation, "swapped")
        if other is None:
            return
        # All is as with the explanation but the reasons, so that nothing else tells the two apart.
        prompt = prompts.simulate(spec, question.slots, placebo(spec, other, starter), choice_of(spec, starter), asked)
    else:
        assert arm != "explanation"
        prompt = prompts.simulate_without(spec, arm, question.slots, choice_of(spec, starter), asked)
    try:
        votes, _ = await _vote(spec, run, place, prompt, item, spec.simulator)
    except CallFailed as failure:
        run.drop(place, "error", failure.message, trial=item)
    else:
        run.record(ArmSimulation(arm=arm, **votes), place, trial=item)


_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def placebo(spec: AskSpec, other: Explanation, starter: Explanation) -> str:
    """The reasons of `other` without the sentences that answer, and then the answer to the starter question."""
    sentences = _SENTENCE.split(other.explanation[spec.rules] or "")
    answers = [parse.answer(one, method="cot", task=spec.task, rules="repaired") for one in sentences]
    reasons = " ".join(one for one, answer in zip(sentences, answers, strict=True) if answer == "neither")
    own = starter.answer[spec.rules]
    # The prompts for preferences name the choice beside the explanation.
    is_told = spec.task == "strategyqa" and own != "neither"
    return f"{reasons.strip()} So the answer is {own}." if is_told else reasons.strip()


async def _vote(
    spec: AskSpec, run: Run, item: str, prompt: Prompt, trial: str, simulator: str
) -> tuple[dict[str, Any], str]:
    """The fields of a simulation, `simulator` asked as often as there are votes; and of what it wrote the first that
    the majority holds with. Raises CallFailed.
    """
    if spec.reads == "steps" and "explanation" in prompt.slots and not is_control(simulator):
        return await _step(run, item, prompt, trial, simulator)
    answered = await together(
        *(
            run.ask(
                "simulator",
                prompt,
                simulator,
                sampling=fields.sampling(simulating(spec.task, spec.votes, spec.seed + vote), prompt),
                item=item,
                trial=trial,
                repeat=vote,
            )
            for vote in range(spec.votes)
        )
    )
    votes = ByRules.of(
        lambda rules: tuple(fielded.simulation(one.text, prompt.json_schema, spec.task, rules) for one in answered)
    )
    # Each tie is drawn for itself: one coin for all of a run would decide its precision.
    most = ByRules.of(lambda rules: metrics.majority(votes[rules], seed=f"{spec.seed}|{run.case}|{item}"))
    reply = next(one.text for one, vote in zip(answered, votes[spec.rules], strict=True) if vote == most[spec.rules])
    calls, own = tuple(one.call for one in answered), {"votes": votes.repaired, "votes_paper": votes.paper}
    return {"simulator": simulator, "calls": calls, **own, **dict(most)}, fielded.reason(reply, prompt.json_schema)


async def _step(run: Run, item: str, prompt: Prompt, trial: str, simulator: str) -> tuple[dict[str, Any], str]:
    """The same by small steps, with the claim that was read; whose rules read the answers makes no difference."""
    slots = prompt.slots
    found = await steps.predict(run, simulator, slots["explanation"], slots["counterfactual"], item, trial)
    votes = {"votes": (found.guess,), "votes_paper": (found.guess,), "paper": found.guess, "repaired": found.guess}
    return {"simulator": simulator, "calls": (found.call,), **votes}, f"It claims “{found.claim}”."


async def _answer(spec: AskSpec, run: Run, item: str, counterfactual: Counterfactual) -> Answer:
    prompt = prompts.explain(spec, slots(spec, counterfactual))
    answered = await run.ask(
        "answerer",
        prompt,
        spec.model,
        sampling=fields.sampling(explaining(spec), prompt),
        item=item,
        trial=item,
    )
    method = "posthoc" if spec.method == "forced" else spec.method
    given = answered.text, prompt.json_schema, method, spec.task
    readings = ByRules.of(lambda rules: fielded.answer(*given, rules))
    explanation = fielded.explanation(*given, "repaired")
    answer = Answer(call=answered.call, explanation=explanation, **dict(readings))
    run.record(answer, item, trial=item)
    return answer
