"""One counterfactual put to the test: what is expected, in every arm, and what the model really says."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

from core.events import CallFailed, Prompt
from core.lab import RULES
from core.labs.simulatability import metrics, parse, prompts
from core.labs.simulatability.records import (
    Answer,
    ArmSimulation,
    Counterfactual,
    Explanation,
    OtherExplanation,
    Simulation,
)
from core.labs.simulatability.tasks import Arm, AskSpec, Starter, explaining, simulating
from core.runs.run import Run, together


class Tested(NamedTuple):
    """A counterfactual with both halves: what was expected, and what the model really answered."""

    counterfactual: Counterfactual
    simulation: Simulation
    answer: Answer


def choice_of(spec: AskSpec, starter: Explanation) -> str:
    """The choice that shp's prompts name beside the explanation; the authors write Neither where none was read."""
    answer = starter.answer(spec.rules)
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
    await together(expected, said, *controls)
    return Tested(counterfactual, expected.result(), said.result())


async def _simulate(
    spec: AskSpec, question: Starter, run: Run, item: str, counterfactual: Counterfactual, starter: Explanation
) -> Simulation:
    explanation = starter.explanation(spec.rules) or ""
    prompt = prompts.simulate(spec, question.slots, explanation, choice_of(spec, starter), slots(spec, counterfactual))
    simulation = Simulation(**await _vote(spec, run, item, prompt, item))
    run.record(simulation, item, trial=item)
    return simulation


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
        of_other = other.model_dump(include=set(question.slots))
        prompt = prompts.simulate(spec, of_other, other.explanation(spec.rules) or "", choice_of(spec, other), asked)
    else:
        assert arm != "explanation"
        prompt = prompts.simulate_without(spec, arm, question.slots, choice_of(spec, starter), asked)
    try:
        votes = await _vote(spec, run, place, prompt, item)
    except CallFailed as failure:
        run.drop(place, "error", failure.message, trial=item)
    else:
        run.record(ArmSimulation(arm=arm, **votes), place, trial=item)


async def _vote(spec: AskSpec, run: Run, item: str, prompt: Prompt, trial: str) -> dict[str, Any]:
    """The fields of a simulation: the simulator asked as often as there are votes. Raises CallFailed."""
    answered = await together(
        *(
            run.ask(
                "simulator",
                prompt,
                spec.simulator,
                sampling=simulating(spec.task, spec.votes, spec.seed + vote),
                item=item,
                trial=trial,
                repeat=vote,
            )
            for vote in range(spec.votes)
        )
    )
    votes = {
        rules: tuple(parse.simulation(one.text, task=spec.task, rules=rules) for one in answered) for rules in RULES
    }
    return {
        "simulator": spec.simulator,
        "calls": tuple(one.call for one in answered),
        "votes": votes["repaired"],
        "votes_paper": votes["paper"],
        # Each tie is drawn for itself: one coin for all of a run would decide its precision.
        **{rules: metrics.majority(votes[rules], seed=f"{spec.seed}|{run.case}|{item}") for rules in RULES},
    }


async def _answer(spec: AskSpec, run: Run, item: str, counterfactual: Counterfactual) -> Answer:
    answered = await run.ask(
        "answerer",
        prompts.explain(spec, slots(spec, counterfactual)),
        spec.model,
        sampling=explaining(spec.task),
        item=item,
        trial=item,
    )
    method = "posthoc" if spec.method == "forced" else spec.method
    readings = {rules: parse.answer(answered.text, method=method, task=spec.task, rules=rules) for rules in RULES}
    explanation = parse.explanation(answered.text, method=method, task=spec.task, rules="repaired")
    answer = Answer(call=answered.call, explanation=explanation, **readings)
    run.record(answer, item, trial=item)
    return answer
