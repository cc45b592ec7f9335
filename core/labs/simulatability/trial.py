"""One counterfactual put to the test: what is expected, in every arm, and what the model really says."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, NamedTuple, TypeVar

from core.by_rules import ByRules
from core.events import Answered, CallFailed, Prompt
from core.labs.simulatability import doubt, fielded, metrics, prompts, steps
from core.labs.simulatability.records import (
    Answer,
    ArmSimulation,
    Counterfactual,
    Explanation,
    FurtherSimulation,
    OtherExplanation,
    Simulation,
)
from core.labs.simulatability.tasks import Arm, AskSpec, Method, Starter, explaining, simulating
from core.models.ids import is_control
from core.reading import fields
from core.runs.run import Run, together

S = TypeVar("S", bound=Simulation)


class Tested(NamedTuple):
    """A counterfactual with both halves: what was expected, and what the model really answered."""

    counterfactual: Counterfactual
    simulation: Simulation
    answer: Answer


class UnderTest(NamedTuple):
    """An explanation that is put to the test: what was asked, in which run, and what the model explained."""

    spec: AskSpec
    question: Starter
    run: Run
    starter: Explanation

    @property
    def explanation(self) -> str:
        """What generator and simulator are shown; empty where none was read."""
        return self.starter.explanation[self.spec.rules] or ""

    @property
    def choice(self) -> str:
        """The choice that shp's prompts name beside the explanation; the authors write Neither where none was read."""
        answer = self.starter.answer[self.spec.rules]
        return "Neither" if answer == "neither" else answer


async def ask_tested(spec: AskSpec, run: Run, role: str, prompt: Prompt, item: str, trial: str = "") -> Answered:
    """Ask the model under test. Raises CallFailed."""
    sampling = fields.sampling(explaining(spec), prompt)
    return await run.ask(role, prompt, spec.model, sampling=sampling, item=item, trial=trial)


def slots(spec: AskSpec, counterfactual: Counterfactual) -> dict[str, str]:
    """The counterfactual as the slots of one question."""
    if spec.task == "strategyqa":
        return {"question": counterfactual.text}
    return counterfactual.model_dump(include={"context", "response_1", "response_2"})


async def put_to_the_test(case: UnderTest, item: str, counterfactual: Counterfactual) -> Tested:
    """Simulate, in every arm, and really answer one counterfactual, at the same time. Raises CallFailed when all have
    ended.
    """
    expected = asyncio.ensure_future(_simulate(case, item, counterfactual))
    said = asyncio.ensure_future(_answer(case, item, counterfactual))
    beside: dict[str, Awaitable[Simulation | None]] = {
        f"{item}/{arm}": _simulate_in(arm, case, item, counterfactual) for arm in case.spec.control_arms
    }
    for number, who in enumerate(case.spec.further_simulators, start=2):
        place = f"{item}/simulator-{number}"
        beside[place] = _from_explanation(FurtherSimulation, who, case, place, item, counterfactual)
    await together(expected, said, *(_record(case.run, place, item, made) for place, made in beside.items()))
    return Tested(counterfactual, expected.result(), said.result())


async def _record(run: Run, place: str, item: str, simulated: Awaitable[Simulation | None]) -> None:
    """Record a simulation beside the first. Where it fails, only this one is lost."""
    try:
        simulation = await simulated
    except CallFailed as failure:
        run.drop(place, "error", failure.message, trial=item)
    else:
        if simulation is not None:
            run.record(simulation, place, trial=item)


async def _simulate(case: UnderTest, item: str, counterfactual: Counterfactual) -> Simulation:
    simulation = await _from_explanation(Simulation, case.spec.simulator, case, item, item, counterfactual)
    case.run.record(simulation, item, trial=item)
    return simulation


async def _from_explanation(
    kind: type[S], simulator: str, case: UnderTest, place: str, item: str, counterfactual: Counterfactual
) -> S:
    """A simulation from the explanation. What the simulator made up is told before any answer is seen."""
    spec, starter = case.spec, case.question.slots
    prompt = prompts.simulate(spec, starter, case.explanation, case.choice, slots(spec, counterfactual))
    votes, reply = await _vote(spec, case.run, place, prompt, item, simulator)
    said = " ".join((*starter.values(), case.explanation))
    return kind(**votes, made_up=doubt.made_up(reply, counterfactual.text, said))


async def _simulate_in(arm: Arm, case: UnderTest, item: str, counterfactual: Counterfactual) -> ArmSimulation | None:
    """Simulate one counterfactual without the explanation; None where there is nothing to swap it with."""
    spec, starter, asked = case.spec, case.question.slots, slots(case.spec, counterfactual)
    if arm == "swapped":
        other = case.run.latest(OtherExplanation, "swapped")
        if other is None:
            return None
        # All is as with the explanation but the reasons, so that nothing else tells the two apart.
        prompt = prompts.simulate(spec, starter, placebo(spec, other, case.starter), case.choice, asked)
    else:
        assert arm != "explanation"
        prompt = prompts.simulate_without(spec, arm, starter, case.choice, asked)
    votes, _ = await _vote(spec, case.run, f"{item}/{arm}", prompt, item, spec.simulator)
    return ArmSimulation(arm=arm, **votes)


def placebo(spec: AskSpec, other: Explanation, starter: Explanation) -> str:
    """The reasons of `other` without the sentences that answer, and then the answer to the starter question."""
    reasons = steps.reasons(other.explanation[spec.rules] or "", spec.task)
    own = starter.answer[spec.rules]
    # The prompts for preferences name the choice beside the explanation.
    is_told = spec.task == "strategyqa" and own != "neither"
    return f"{reasons} So the answer is {own}." if is_told else reasons


async def _vote(
    spec: AskSpec, run: Run, item: str, prompt: Prompt, trial: str, simulator: str
) -> tuple[dict[str, Any], str]:
    """The fields of a simulation, `simulator` asked as often as there are votes; and of what it wrote the first that
    the majority holds with. Raises CallFailed.
    """
    if spec.reads == "steps" and "explanation" in prompt.slots and not is_control(simulator):
        return await _step(run, item, prompt, trial, simulator)

    def ask(vote: int) -> Awaitable[Answered]:
        sampling = fields.sampling(simulating(spec.task, spec.votes, spec.seed + vote), prompt)
        return run.ask("simulator", prompt, simulator, sampling=sampling, item=item, trial=trial, repeat=vote)

    answered = await together(*map(ask, range(spec.votes)))
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


async def _answer(case: UnderTest, item: str, counterfactual: Counterfactual) -> Answer:
    spec = case.spec
    prompt = prompts.explain(spec, slots(spec, counterfactual))
    answered = await ask_tested(spec, case.run, "answerer", prompt, item, trial=item)
    method: Method = "posthoc" if spec.method == "forced" else spec.method
    given = answered.text, prompt.json_schema, method, spec.task
    readings = ByRules.of(lambda rules: fielded.answer(*given, rules))
    answer = Answer(call=answered.call, explanation=fielded.explanation(*given, "repaired"), **dict(readings))
    case.run.record(answer, item, trial=item)
    return answer
