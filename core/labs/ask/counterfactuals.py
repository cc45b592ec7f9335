"""New questions: who writes them, how they are parsed, which are excluded and which are tested, and the test of
one.
"""

import asyncio
import random
import re
from collections.abc import Awaitable, Mapping, Sequence
from functools import partial
from itertools import takewhile
from typing import Any, NamedTuple, TypeVar

from ...events import Answered, CallError, Prompt
from ...models.ids import is_control
from ...parsers import fields
from ...rulesets import PerRuleset
from ...runs.context import CaseContext, gather
from ...runs.fairness import run_in_thread as in_thread
from ...text.compare import content_words, stem
from ...text.embed import SMALL, NoEncoderError, encoder, likeness
from ..base.report import Result
from . import metrics, parse, prompts, records
from .tasks import Arm, AskSpec, Draw, Method, Starter, draws_of, explaining, generating, simulating

# Test one counterfactual: what is expected, in every arm, and what the model really says.


# Whether a prediction is based on what the explanation says.


_WHO = r"(?:it|he|she|they|robot|model|explanation|reason|reasoning|rule|statement|text)"
_SAYS = (
    r"(?:claim|say|state|tell|think|believe|assert|argue|mention|explain|hold|assume|suggest|impl(?:y|ie)|maintain|note)"
    r"(?:s|es|d|ed)?|said|told|thought|held"
)
_CLAIM = re.compile(
    rf"\b(?:{_WHO} (?:also |clearly |only |even )?(?:{_SAYS})(?: us| me)?"
    rf"|according to (?:its|the|his|their)(?: robot's)? \w+|(?:its|the|his|their) (?:claim|statement|rule)(?: is)?)\b"
    r"(?: that\b)?[,:]?\s*",
    re.IGNORECASE,
)
"""The words with which a predictor introduces a claim of the explanation."""

_END = re.compile(
    r"[.;!?\n]|,|\s(?:so|because|thus|hence|therefore|while|whereas|which|but)\b"
    r"|\sand\s+(?:an?|the|this|that|it|so|\w+\s+(?:is|are|was|were|has|have|does|do))\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r'["“]([^"“”]*)["”]')

LONGEST = 400
"""How many characters of one claim are examined."""

_NOTHING = frozenset({"yes", "no", "answer", "answers", "question", "robot", "likely", "true", "false", "ones"})
"""Words that belong to the form in which predictions are written."""


def claims(reply: str) -> list[str]:
    """Return the claims that a predictor's `reply` attributes to the explanation, in the reply's own words."""
    found = []
    for start in _CLAIM.finditer(reply):
        rest = reply[start.end() : start.end() + LONGEST]
        if quoted := _QUOTED.match(rest):
            found.append(quoted[1])
        else:
            end = _END.search(rest)
            found.append(rest[: end.start()] if end else rest)
    return found


def invented_premises(reply: str, question: str, said: str) -> tuple[str, ...]:
    """Return the content words that a predictor attributes to the explanation but took from the new `question`: they
    occur nowhere in what the model `said` (the starter question and its explanation). Sorted; words with the same stem
    count as the same word. The first reply with a claim waits some seconds while the stemmer loads.
    """
    if not (claimed_of_it := claims(reply)):
        return ()
    known = {stem(word) for word in content_words(said)}
    asked = {stem(word) for word in content_words(question) - _NOTHING}
    claimed = {word for claim in claimed_of_it for word in content_words(claim) - _NOTHING}
    return tuple(sorted(word for word in claimed if stem(word) in asked and stem(word) not in known))


S = TypeVar("S", bound=records.Simulation)


class Tested(NamedTuple):
    """A counterfactual with the expected answer and the model's actual answer."""

    counterfactual: records.Counterfactual
    simulation: records.Simulation | None
    """None if a person predicts."""
    answer: records.Answer
    is_cut: bool = False
    """Whether the updated parser excludes it because one of the two was cut off."""


class UnderTest(NamedTuple):
    """An explanation under test: the specification, the question, the run, and the model's explanation."""

    spec: AskSpec
    question: Starter
    run: CaseContext
    starter: records.Explanation

    @property
    def explanation(self) -> str:
        """The text that generator and simulator see; empty if no explanation could be parsed."""
        return self.starter.explanation[self.spec.rules] or ""

    @property
    def choice(self) -> str:
        """The choice that the prompts for shp name next to the explanation; like the authors, Neither if it could not
        be parsed.
        """
        answer = self.starter.answer[self.spec.rules]
        return "Neither" if answer == "neither" else answer


async def ask_tested(
    spec: AskSpec, run: CaseContext, role: str, prompt: Prompt, item: str, trial: str = ""
) -> Answered:
    """Ask the model under test. Raises CallError."""
    sampling = fields.sampling(explaining(spec), prompt)
    return await run.ask(role, prompt, spec.model, sampling=sampling, item=item, trial=trial)


def slots(spec: AskSpec, counterfactual: records.Counterfactual) -> dict[str, str]:
    """Return the counterfactual as the slots of one question."""
    if spec.task == "strategyqa":
        return {"question": counterfactual.text}
    return counterfactual.model_dump(include=records.PAIR)


async def run_trial(case: UnderTest, item: str, counterfactual: records.Counterfactual) -> Tested:
    """Simulate one counterfactual in every arm, unless a person predicts, and have the model answer it, all
    concurrently. Raises CallError after all have finished.
    """
    if case.spec.is_by_person:
        answer, unanswered = await _answer(case, item, counterfactual)
        return _finished(case, item, Tested(counterfactual, None, answer), unanswered, "")
    expected = asyncio.ensure_future(_simulate(case, item, counterfactual))
    said = asyncio.ensure_future(_answer(case, item, counterfactual))
    beside: dict[str, Awaitable[tuple[records.Simulation, str] | None]] = {
        f"{item}/{arm}": _simulate_in(arm, case, item, counterfactual) for arm in case.spec.control_arms
    }
    for number, who in enumerate(case.spec.further_simulators, start=2):
        place = f"{item}/simulator-{number}"
        beside[place] = _from_explanation(records.FurtherSimulation, who, case, place, item, counterfactual)
    await gather(expected, said, *(_record(case.run, place, item, made) for place, made in beside.items()))
    simulation, unpredicted = expected.result()
    answer, unanswered = said.result()
    return _finished(case, item, Tested(counterfactual, simulation, answer), unanswered, unpredicted)


def _finished(case: UnderTest, item: str, tested: Tested, unanswered: str, unpredicted: str) -> Tested:
    """Drop a counterfactual for which the answer or the prediction was cut off, and return it with that noted."""
    if note := unanswered or unpredicted:
        who = "answer" if unanswered else "prediction"
        case.run.drop(item, fields.REASON, f"the {who} was {note}", "repaired", trial=item)
    return tested._replace(is_cut=bool(note))


async def _record(
    run: CaseContext, place: str, item: str, simulated: Awaitable[tuple[records.Simulation, str] | None]
) -> None:
    """Record a simulation other than the first. If it fails, only this one is lost."""
    try:
        made = await simulated
    except CallError as failure:
        run.drop(place, "error", failure.message, trial=item)
    else:
        if made is None:
            return
        simulation, note = made
        run.record(simulation, place, trial=item)
        if note:
            run.drop(place, fields.REASON, f"the prediction was {note}", "repaired", trial=item)


async def _simulate(
    case: UnderTest, item: str, counterfactual: records.Counterfactual
) -> tuple[records.Simulation, str]:
    simulation, note = await _from_explanation(
        records.Simulation, case.spec.simulator, case, item, item, counterfactual
    )
    case.run.record(simulation, item, trial=item)
    return simulation, note


async def _from_explanation(
    kind: type[S], simulator: str, case: UnderTest, place: str, item: str, counterfactual: records.Counterfactual
) -> tuple[S, str]:
    """Return a simulation from the explanation, and a note on where it was cut off (empty if it was not). Words that
    the simulator made up are recorded before any answer is seen.
    """
    spec, starter = case.spec, case.question.slots
    prompt = prompts.simulate(spec, starter, case.explanation, case.choice, slots(spec, counterfactual))
    votes, reply, note = await _vote(spec, case.run, place, prompt, item, simulator)
    said = " ".join((*starter.values(), case.explanation))
    return kind(**votes, made_up=await in_thread(invented_premises, reply, counterfactual.text, said)), note


async def _simulate_in(
    arm: Arm, case: UnderTest, item: str, counterfactual: records.Counterfactual
) -> tuple[records.ArmSimulation, str] | None:
    """Simulate one counterfactual without the explanation; None if there is no other explanation to swap it with."""
    spec, starter, asked = case.spec, case.question.slots, slots(case.spec, counterfactual)
    if arm == "swapped":
        other = case.run.latest(records.OtherExplanation, "swapped")
        if other is None:
            return None
        # Only the reasons differ from the arm with the explanation, so nothing else can explain a difference.
        prompt = prompts.simulate(spec, starter, swapped_explanation(spec, other, case.starter), case.choice, asked)
    else:
        assert arm != "explanation"
        prompt = prompts.simulate_without(spec, arm, starter, case.choice, asked)
    votes, _, note = await _vote(spec, case.run, f"{item}/{arm}", prompt, item, spec.simulator)
    return records.ArmSimulation(arm=arm, **votes), note


def swapped_explanation(spec: AskSpec, other: records.Explanation, starter: records.Explanation) -> str:
    """Return the reasons of `other` without its answer sentences, followed by the answer to the starter question."""
    reasons = parse.without_answer(other.explanation[spec.rules] or "", spec.task)
    own = starter.answer[spec.rules]
    # The prompts for preferences name the choice separately.
    is_told = spec.task == "strategyqa" and own != "neither"
    return f"{reasons} So the answer is {own}." if is_told else reasons


async def _vote(
    spec: AskSpec, run: CaseContext, item: str, prompt: Prompt, trial: str, simulator: str
) -> tuple[dict[str, Any], str, str]:
    """Ask `simulator` once per vote. Return the fields of the simulation, the first reply that agrees with the
    majority, and a note on where a reply was cut off, if that is why there is no vote. Raises CallError.
    """
    if spec.reads == "steps" and "explanation" in prompt.slots and not is_control(simulator):
        return await _step(run, item, prompt, trial, simulator)

    def ask(vote: int) -> Awaitable[Answered]:
        sampling = fields.sampling(simulating(spec.task, spec.votes, spec.seed + vote), prompt)
        return run.ask("simulator", prompt, simulator, sampling=sampling, item=item, trial=trial, repeat=vote)

    answered = await gather(*map(ask, range(spec.votes)))
    schema = prompt.json_schema
    votes = PerRuleset.read_by_each(
        lambda rules: tuple(
            parse.simulation(fields.readable(one, rules, schema), spec.task, rules, schema) for one in answered
        )
    )
    # Each tie has its own draw: one coin toss for a whole run would decide its precision.
    most = PerRuleset.read_by_each(lambda rules: metrics.majority(votes[rules], seed=f"{spec.seed}|{run.case}|{item}"))
    reply = next(one for one, vote in zip(answered, votes[spec.rules], strict=True) if vote == most[spec.rules])
    note = _cut_note(prompt, *answered) if most.repaired == records.NEITHER else ""
    calls, own = tuple(one.call for one in answered), {"votes": votes.repaired, "votes_paper": votes.paper}
    text = fields.readable(reply, spec.rules, prompt.json_schema)
    words = parse.simulation_reason(text, prompt.json_schema) if text else ""
    return {"simulator": simulator, "calls": calls, **own, **dict(most)}, words, note


def _cut_note(prompt: Prompt, *answered: Answered) -> str:
    """Return where the first answer that the updated parser cannot use was cut off; an empty string if there is
    none.
    """
    unread = (one for one in answered if fields.readable(one, "repaired", prompt.json_schema) is None)
    return next((one.cut_note for one in unread), "")


async def _step(
    run: CaseContext, item: str, prompt: Prompt, trial: str, simulator: str
) -> tuple[dict[str, Any], str, str]:
    """Simulate in small steps. Returns the same as `_vote`, with the parsed claim as the reply. Both parsers have the
    same result unless a step was cut off.
    """
    slots = prompt.slots
    found = await prompts.predict(run, simulator, slots["explanation"], slots["counterfactual"], item, trial)
    guess = found.by_rules()
    votes = {"votes": (guess.repaired,), "votes_paper": (guess.paper,), **dict(guess)}
    return {"simulator": simulator, "calls": (found.call,), **votes}, f"It claims “{found.claim}”.", found.cut


async def _answer(case: UnderTest, item: str, counterfactual: records.Counterfactual) -> tuple[records.Answer, str]:
    """Return the model's answer to the new question, and a note on where it was cut off (empty if it was not)."""
    spec = case.spec
    prompt = prompts.explain(spec, slots(spec, counterfactual))
    answered = await ask_tested(spec, case.run, "answerer", prompt, item, trial=item)
    method: Method = "posthoc" if spec.method == "forced" else spec.method
    asked = prompt.json_schema
    text = PerRuleset.read_by_each(lambda rules: fields.readable(answered, rules, asked))
    readings = PerRuleset.read_by_each(lambda rules: parse.answer(text[rules], method, spec.task, rules, asked))
    explanation = parse.explanation(text.repaired, method, spec.task, "repaired", asked)
    answer = records.Answer(call=answered.call, explanation=explanation, **dict(readings))
    case.run.record(answer, item, trial=item)
    return answer, _cut_note(prompt, answered)


REWORDED = 0.94
"""The cosine of two counterfactuals' sentence vectors from which on they count as nearly the same question. With
all-MiniLM-L6-v2, eight rewordings have 0.945 or more, and seven other pairs at most 0.92. Four pairs with a reversed
meaning ("before" for "after") have 0.96 or more and are excluded too.
"""


_NUMBERS = re.compile(r"\d+")


async def one_after_another(case: UnderTest) -> dict[str, Tested]:
    """Write counterfactuals until enough are usable or all draws are made. Each is tested immediately."""
    spec, run = case.spec, case.run
    tested: dict[str, Tested] = {}
    written: dict[str, records.Counterfactual] = {}
    turns: dict[str, asyncio.Event] = {}

    async def draw(item: str, how: Draw) -> None:
        try:
            answered = await _generate(case, item, how)
            # Duplicates are recognised in the order of the draws, so that the same answers always lead to the same run.
            for earlier in takewhile(lambda other: other != item, turns):
                await turns[earlier].wait()
            counterfactual = _read(case, item, how, answered, written)
            if counterfactual is None:
                return
            written[item] = counterfactual
        finally:
            turns[item].set()
        tested[item] = await _test(case, item, counterfactual)

    waiting = draws_of(spec)
    while waiting and (short := spec.counterfactuals - len(written)) > 0:
        wave = {item: waiting.pop(item) for item in list(waiting)[:short]}
        turns.update((item, asyncio.Event()) for item in wave)
        await run.map_items(wave, draw)
    await _drop_rewordings(spec, run, tested)
    return tested


async def _test(case: UnderTest, item: str, counterfactual: records.Counterfactual) -> Tested:
    case.run.record(counterfactual, item, trial=item)
    return await run_trial(case, item, counterfactual)


async def given(case: UnderTest) -> dict[str, Tested]:
    """Test the counterfactuals given in the specification, unchanged."""
    asked = enumerate(case.spec.given, start=1)
    as_given = {f"cf-{number:02}": records.Counterfactual(origin="given", **dict(one)) for number, one in asked}
    return await case.run.map_items(as_given, partial(_test, case))


async def _drop_rewordings(spec: AskSpec, run: CaseContext, tested: Mapping[str, Tested]) -> None:
    """For the updated parser, drop questions that ask nearly the same as an earlier one and contain the same numbers.

    Robots are exempt, because they ask about a different thing each time; so are cases that already have a result.
    Whatever encoder the run names, the small one decides, because REWORDED was set with it. Without it nothing is
    dropped.
    """
    texts = {item: one.counterfactual.text for item, one in sorted(tested.items()) if one.counterfactual.repaired}
    if run.recorded(Result) or len(texts) < 2 or all(is_control(one) for one in spec.generators):
        return
    try:
        vectors = await asyncio.to_thread(lambda: encoder(SMALL).encode(list(texts.values())))
    except NoEncoderError:
        return
    cosines = likeness(vectors, vectors)
    rows = {item: row for row, item in enumerate(texts)}
    kept: list[str] = []
    for item, text in texts.items():
        alike = {
            earlier: float(cosines[rows[item], rows[earlier]])
            for earlier in kept
            if _NUMBERS.findall(text) == _NUMBERS.findall(texts[earlier])
        }
        nearest = max(alike, key=lambda earlier: alike[earlier], default="")
        if nearest and alike[nearest] >= REWORDED:
            said = f"asks nearly the same as {nearest} (cosine {alike[nearest]:.3f}; a repeat from {REWORDED} on)"
            run.drop(item, "reworded", said, "repaired", trial=item)
        else:
            kept.append(item)


async def pooled(case: UnderTest) -> dict[str, Tested]:
    """Write counterfactuals as the authors do: make all draws first, then sample those to test from the generators'
    pools (strategyqa/simulate_qg.py:47-87, shp/simulate_qg.py:58-85). A copy of the starter question is not removed.
    """
    spec, run = case.spec, case.run
    draws = draws_of(spec)

    async def draw(item: str, how: Draw) -> records.Counterfactual | None:
        return _read_as_authors(spec, run, item, how, await _generate(case, item, how))

    # Questions tested before the run was interrupted stay, whatever the pools contain now.
    before = run.recorded(records.Counterfactual)
    read = {item: one for item, one in (await run.map_items(draws, draw)).items() if one is not None}
    pools = {
        generator: {item: read[item].text for item, how in draws.items() if how.generator == generator and item in read}
        for generator in spec.generators
    }
    if spec.task == "strategyqa":
        pools = {generator: _without_repeats(run, pool) for generator, pool in pools.items()}
    chance = random.Random(f"{spec.seed}|{run.case}")
    taken = mixed(list(pools.values()), spec.counterfactuals, chance, [item for item in read if item in before])
    for pool in pools.values():
        for item in pool.keys() - set(taken):
            run.drop(item, "not drawn", "written, and not among those drawn from what the generators wrote", trial=item)
    return await run.map_items({item: read[item] for item in sorted(taken)}, partial(_test, case))


def mixed(
    pools: Sequence[Mapping[str, str]], wanted: int, chance: random.Random, first: Sequence[str] = ()
) -> list[str]:
    """Choose `wanted` items from `pools`, each the texts of one generator by item. From a single pool the first are
    chosen. From two pools one is chosen at random in alternation, and its text is then removed from both
    (`mix_sim_inputs`). Items in `first` are chosen before any others.
    """
    if len(pools) == 1:
        return list(pools[0])[:wanted]
    left = [dict(pool) for pool in pools]
    taken: list[str] = []
    for number in range(wanted):
        side = number % 2 if left[number % 2] else 1 - number % 2
        if not left[side]:
            break
        given = [item for item in first if item in left[0] | left[1]]
        item = given[0] if given else chance.choice(list(left[side]))
        text = (left[0] | left[1])[item]
        taken.append(item)
        left = [{other: same for other, same in pool.items() if same != text} for pool in left]
    return taken


def _without_repeats(run: CaseContext, pool: Mapping[str, str]) -> dict[str, str]:
    first: dict[str, str] = {}
    for item, text in pool.items():
        if first.setdefault(text, item) != item:
            run.drop(item, "duplicate", f"the same as {first[text]}", trial=item)
    return {item: text for text, item in first.items()}


async def _generate(case: UnderTest, item: str, how: Draw) -> Answered:
    spec = case.spec
    prompt = prompts.generate(spec, case.question.slots, case.explanation, case.choice, how.operation)
    sampling = fields.sampling(generating(spec.task, spec.seed + how.repeat), prompt)
    return await case.run.ask(
        "generator", prompt, how.generator, sampling=sampling, item=item, trial=item, repeat=how.repeat
    )


def _read_as_authors(
    spec: AskSpec, run: CaseContext, item: str, how: Draw, answered: Answered
) -> records.Counterfactual | None:
    """Parse the counterfactual as the authors' code does; if there is none, drop it and return None."""
    usable = parse.counterfactual(answered.text, task=spec.task, rules="paper")
    if usable is None:
        run.drop(item, "unparsed", "not in the exact form that the authors' code wants", trial=item)
        return None
    text = _readable(spec, answered, None)
    same = text is not None and parse.counterfactual(text, task=spec.task, rules="repaired") == usable
    if text is None:
        run.drop(item, fields.REASON, f"the question was {answered.cut_note}", "repaired", trial=item)
    elif not same:
        run.drop(
            item, "unparsed", "the updated parser finds no question there, or not the one asked", "repaired", trial=item
        )
    return _counterfactual(how, answered, text, usable, None, paper=True, repaired=same)


def _readable(spec: AskSpec, answered: Answered, asked: fields.Schema) -> str | None:
    """Return the part of a generator's answer that the updated parser may use. Its question has a line of its own."""
    return fields.readable(answered, "repaired", asked, lines=spec.task == "strategyqa")


def _counterfactual(
    how: Draw,
    answered: Answered,
    text: str | None,
    usable: str | records.CounterfactualPair,
    asked: fields.Schema,
    paper: bool,
    repaired: bool,
) -> records.Counterfactual:
    """Return the record of the question `usable`; `text` is the part of the answer that the updated parser may use."""
    return records.Counterfactual(
        call=answered.call,
        generator=how.generator,
        operation=how.operation,
        paper=paper,
        repaired=repaired,
        text=usable if isinstance(usable, str) else parse.text_of(usable),
        foretold=parse.writer_guess(text or "", usable, asked) if isinstance(usable, str) else "",
        **({} if isinstance(usable, str) else dict(usable)),
    )


def _read(
    case: UnderTest, item: str, how: Draw, answered: Answered, written: Mapping[str, records.Counterfactual]
) -> records.Counterfactual | None:
    """Parse the counterfactual in a generator's raw text. If it cannot be used, drop it with the reason and return
    None.
    """
    spec, run = case.spec, case.run
    asked = prompts.fields_of_generator(spec, blind=how.operation is not None)
    text = _readable(spec, answered, asked)
    readings = {
        "paper": parse.counterfactual(answered.text, spec.task, "paper", asked),
        "repaired": parse.counterfactual(text, spec.task, "repaired", asked),
    }
    usable = readings["repaired"] or readings["paper"]
    # Without a line break after it, a question may have been cut off in the middle.
    is_cut = readings["repaired"] is None and bool(answered.cut_note)
    if is_cut:
        run.drop(item, fields.REASON, f"the question was {answered.cut_note}", "repaired", trial=item)
    if usable is None:
        if not is_cut:
            run.drop(item, "unparsed", "no counterfactual could be read in the generator's answer", trial=item)
        return None
    repaired = readings["repaired"] is not None and not (isinstance(usable, str) and not parse.is_yes_or_no(usable))
    if before := run.latest(records.Counterfactual, item):
        # Keep how it was parsed when it arrived. Parsing it again with the current parser is a separate action.
        repaired = before.repaired
    elif not repaired and readings["paper"] is None:
        run.drop(item, "unparsed", "not a question that yes or no could answer", trial=item)
        return None
    paper = readings["paper"] is not None
    counterfactual = _counterfactual(how, answered, text, usable, asked, paper=paper, repaired=repaired)
    if slots(spec, counterfactual) == case.question.slots:
        run.drop(item, "copy of the starter", counterfactual.text, trial=item)
        return None
    if earlier := next((other for other, kept in written.items() if kept.text == counterfactual.text), None):
        run.drop(item, "duplicate", f"the same as {earlier}", trial=item)
        return None
    if not counterfactual.paper:
        why = "not in the exact form that the authors' code wants" if asked is None else fields.NO_PAPER_FIGURE
        run.drop(item, "unparsed", why, "paper", trial=item)
    if not counterfactual.repaired and not is_cut:
        run.drop(item, "unparsed", "not a question that yes or no could answer", "repaired", trial=item)
    return counterfactual
