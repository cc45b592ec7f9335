"""The run: explain, vary, simulate, answer, score. Chen et al. 2023, sections 3 and 4."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import takewhile
from typing import Any, Literal, NamedTuple

from core.events import CallFailed, Rules
from core.labs.simulatability import metrics, parse, prompts
from core.labs.simulatability.records import Answer, Counterfactual, Explanation, Simulation
from core.labs.simulatability.tasks import OPERATIONS, AskSpec, explaining, generating, simulating
from core.runs.run import Lab, Run, together
from core.text import embed

RULES: tuple[Rules, ...] = ("paper", "repaired")
SIMILARITIES: tuple[Literal["bleu", "jaccard", "cosine"], ...] = ("bleu", "jaccard", "cosine")
"""In this order: the encoder takes seconds to load, and the other figures need not wait for it."""


class Draw(NamedTuple):
    """One counterfactual to be written: by whom, in which blind operation if any, and which of that model's draws."""

    generator: str
    operation: str | None
    repeat: int


class Tested(NamedTuple):
    """A counterfactual with both halves: what was expected, and what the model really answered."""

    counterfactual: Counterfactual
    simulation: Simulation
    answer: Answer


async def measure(spec: AskSpec, run: Run) -> None:
    """Test one explanation. Raises CallFailed where the starter question itself gets no answer."""
    # The encoder takes seconds to start, so it starts beside the run; without one, the cosine says so.
    asyncio.get_running_loop().run_in_executor(None, embed.start)
    starter = await _explain(spec, run)
    explanation = starter.explanation_repaired
    draws = draws_of(spec)
    if explanation is None:
        run.drop("starter", "unparsed", "there is no explanation to read in the model's answer")
        await _score(run, {}, len(draws))
        return

    tested: dict[str, Tested] = {}
    written: dict[str, Counterfactual] = {}
    turns: dict[str, asyncio.Event] = {}

    async def draw(item: str, how: Draw) -> None:
        try:
            answered = await run.ask(
                "generator",
                prompts.generate(spec, explanation, _choice(starter), how.operation),
                how.generator,
                sampling=generating(spec.task, spec.seed + how.repeat),
                item=item,
                repeat=how.repeat,
            )
            # Duplicates are told in the order of the draws, so that the same answers always make the same run.
            for earlier in takewhile(lambda other: other != item, turns):
                await turns[earlier].wait()
            counterfactual = _read(spec, run, item, how, answered.call, answered.text, starter, written)
            if counterfactual is None:
                return
            written[item] = counterfactual
        finally:
            turns[item].set()
        run.record(counterfactual, item)
        tested[item] = await _test(spec, run, item, counterfactual, starter)

    for number, text in enumerate(spec.extra, start=1):
        run.record(Counterfactual(text=text, origin="hand"), f"hand-{number:02}")
    by_hand = {
        record.item: Counterfactual.model_validate(record.data)
        for record in run.records
        if record.record == "counterfactual" and record.data["origin"] == "hand"
    }

    async def hand(item: str, counterfactual: Counterfactual) -> None:
        await _test(spec, run, item, counterfactual, starter)
        run.drop(item, "added by hand", "chosen after reading the explanation, so shown and not counted")

    waiting = dict(draws)
    while waiting and (short := spec.counterfactuals - len(written)) > 0:
        wave = {item: waiting.pop(item) for item in list(waiting)[:short]}
        turns.update((item, asyncio.Event()) for item in wave)
        await run.each(wave, draw)
    await run.each(by_hand, hand)
    for item in waiting:
        del draws[item]
    tested = dict(sorted(tested.items()))
    _drop_uncounted(run, tested)
    await _score(run, tested, len(draws))


def draws_of(spec: AskSpec) -> dict[str, Draw]:
    """Which counterfactuals may be written, in order; drawing stops once enough are kept.

    One generator: as many draws as are wanted, as the authors'. Two: by turns, each with as many draws as are wanted in
    all, so that one's repeats are made up for. The authors draw at random from each one's pool
    (strategyqa/simulate_qg.py:70-87); taking like samples as they come is the same.
    """
    draws = [
        Draw(generator, OPERATIONS[repeat % len(OPERATIONS)] if spec.blind else None, repeat)
        for repeat in range(spec.counterfactuals)
        for generator in spec.generators
    ]
    return {f"cf-{number:02}": draw for number, draw in enumerate(draws, start=1)}


async def _explain(spec: AskSpec, run: Run) -> Explanation:
    """Answer and explanation of the starter question. `forced` first asks which answer to argue against."""
    force = None
    method = spec.method
    if method == "forced":
        natural = await run.ask(
            "explainer", prompts.explain(spec, spec.starter), spec.model, sampling=explaining(spec.task), item="natural"
        )
        chosen = parse.answer(natural.text, method="posthoc", task=spec.task, rules="repaired")
        if chosen == "neither":
            raise CallFailed(
                "The model gave no answer that could be read, so there is no opposite answer to make it defend.",
                "Try another question, or another way to explain.",
            )
        force = _opposite(chosen)
    answered = await run.ask(
        "explainer",
        prompts.explain(spec, spec.starter, force),
        spec.model,
        sampling=explaining(spec.task),
        item="starter",
    )
    readings: dict[str, Any] = {}
    for rules in RULES:
        readings[f"answer_{rules}"] = force or parse.answer(answered.text, method=method, task=spec.task, rules=rules)
        readings[f"explanation_{rules}"] = parse.explanation(answered.text, method=method, task=spec.task, rules=rules)
    starter = Explanation(call=answered.call, task=spec.task, method=method, gold=spec.gold, **spec.starter, **readings)
    run.record(starter, "starter")
    return starter


def _opposite(answer: str) -> str:
    return {"yes": "no", "no": "yes", "1": "2", "2": "1"}[answer]


def _choice(starter: Explanation) -> str:
    """The choice that shp's prompts name beside the explanation; the authors write Neither where none was read."""
    return "Neither" if starter.answer_repaired == "neither" else starter.answer_repaired


def _read(
    spec: AskSpec,
    run: Run,
    item: str,
    how: Draw,
    call: str,
    text: str,
    starter: Explanation,
    written: Mapping[str, Counterfactual],
) -> Counterfactual | None:
    """The counterfactual in a generator's raw text; None, and dropped with its reason, where it cannot be used."""
    readings = {rules: parse.counterfactual(text, task=spec.task, rules=rules) for rules in RULES}
    found = readings["repaired"] or readings["paper"]
    if found is None:
        run.drop(item, "unparsed", "no counterfactual could be read in the generator's answer")
        return None
    counterfactual = Counterfactual(
        call=call,
        generator=how.generator,
        operation=how.operation,
        paper=readings["paper"] is not None,
        repaired=readings["repaired"] is not None,
        text=found if isinstance(found, str) else parse.text_of(found),
        **({} if isinstance(found, str) else dict(found)),
    )
    if slots(spec, counterfactual) == spec.starter:
        run.drop(item, "copy of the starter", counterfactual.text)
        return None
    if earlier := next((other for other, kept in written.items() if kept.text == counterfactual.text), None):
        run.drop(item, "duplicate", f"the same as {earlier}")
        return None
    if not counterfactual.paper:
        run.drop(item, "unparsed", "not in the exact form that the authors' code wants", "paper")
    if not counterfactual.repaired:
        run.drop(item, "unparsed", "not a question that yes or no could answer", "repaired")
    return counterfactual


def slots(spec: AskSpec, counterfactual: Counterfactual) -> dict[str, str]:
    """The counterfactual as the slots of one question."""
    if spec.task == "strategyqa":
        return {"question": counterfactual.text}
    return counterfactual.model_dump(include={"context", "response_1", "response_2"})


async def _test(spec: AskSpec, run: Run, item: str, counterfactual: Counterfactual, starter: Explanation) -> Tested:
    """Simulate and really answer one counterfactual, at the same time. Raises CallFailed when both have ended."""
    expected = asyncio.ensure_future(_simulate(spec, run, item, counterfactual, starter))
    said = asyncio.ensure_future(_answer(spec, run, item, counterfactual))
    await together(expected, said)
    return Tested(counterfactual, expected.result(), said.result())


async def _simulate(
    spec: AskSpec, run: Run, item: str, counterfactual: Counterfactual, starter: Explanation
) -> Simulation:
    prompt = prompts.simulate(spec, starter.explanation_repaired or "", _choice(starter), slots(spec, counterfactual))
    answered = await together(
        *(
            run.ask(
                "simulator",
                prompt,
                spec.simulator,
                sampling=simulating(spec.task, spec.votes, spec.seed + vote),
                item=item,
                repeat=vote,
            )
            for vote in range(spec.votes)
        )
    )
    readings: dict[str, str] = {}
    votes: list[str] = []
    for rules in RULES:
        votes = [parse.simulation(one.text, task=spec.task, rules=rules) for one in answered]
        readings[rules] = metrics.majority(votes, seed=spec.seed)
    simulation = Simulation(
        simulator=spec.simulator, calls=tuple(one.call for one in answered), votes=tuple(votes), **readings
    )
    run.record(simulation, item)
    return simulation


async def _answer(spec: AskSpec, run: Run, item: str, counterfactual: Counterfactual) -> Answer:
    answered = await run.ask(
        "answerer",
        prompts.explain(spec, slots(spec, counterfactual)),
        spec.model,
        sampling=explaining(spec.task),
        item=item,
    )
    method = "posthoc" if spec.method == "forced" else spec.method
    readings = {rules: parse.answer(answered.text, method=method, task=spec.task, rules=rules) for rules in RULES}
    explanation = parse.explanation(answered.text, method=method, task=spec.task, rules="repaired")
    answer = Answer(call=answered.call, explanation=explanation, **readings)
    run.record(answer, item)
    return answer


def _drop_uncounted(run: Run, tested: Mapping[str, Tested]) -> None:
    """Say of every counterfactual that precision does not count, under either rules, why not."""
    for item, (counterfactual, simulation, answer) in tested.items():
        for rules in RULES:
            if not getattr(counterfactual, rules):
                continue
            expected, said = getattr(simulation, rules), getattr(answer, rules)
            if expected == "unknown":
                run.drop(item, "not simulatable", "the simulator cannot guess from this explanation", rules)
            elif expected == "neither":
                run.drop(item, "unparsed", "the simulator's answer could not be read", rules)
            elif said == "neither" and rules == "repaired":
                run.drop(item, "unparsed", "the model's answer could not be read", rules)


async def _score(run: Run, tested: Mapping[str, Tested], of: int) -> None:
    """Precision and generality under both rules. `of` counts every draw, also those that were dropped."""
    kept = {rules: [one for one in tested.values() if getattr(one.counterfactual, rules)] for rules in RULES}
    for rules in RULES:
        expected = [getattr(one.simulation, rules) for one in kept[rules]]
        said = [getattr(one.answer, rules) for one in kept[rules]]
        _publish(run, "precision", metrics.precision(expected, said, rules=rules), of, rules)
    for similarity in SIMILARITIES:
        for rules in RULES:
            expected = [getattr(one.simulation, rules) for one in kept[rules]]
            counted = metrics.simulatable(expected, rules, "generality")
            texts = [one.counterfactual.text for one, yes in zip(kept[rules], counted, strict=True) if yes]
            score = await asyncio.to_thread(metrics.generality, texts, similarity=similarity, rules=rules)
            _publish(run, f"generality_{similarity}", score, of, rules)


def _publish(run: Run, metric: str, score: metrics.Score, of: int, rules: Rules) -> None:
    run.score(metric, score.value, n=score.n, of=of, low=score.low, high=score.high, rules=rules, detail=score.detail)


LAB = Lab("simulatability", AskSpec, measure, prompts.hashes)
