"""New questions: who writes them, how they are parsed, which are excluded, and which are tested."""

import asyncio
import random
import re
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import takewhile

from ...events import Answered
from ...models.ids import is_control
from ...parsers import fields
from ...runs.context import CaseContext
from ...text.embed import SMALL, NoEncoderError, encoder, likeness
from ..base.cases import Result
from . import parse, prompts
from .parse_answers.parts import is_yes_or_no
from .parse_answers.values import GUESSES
from .records import Counterfactual
from .tasks import AskSpec, Draw, draws_of, generating
from .trial import Tested, UnderTest, run_trial, slots

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
    written: dict[str, Counterfactual] = {}
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


async def _test(case: UnderTest, item: str, counterfactual: Counterfactual) -> Tested:
    case.run.record(counterfactual, item, trial=item)
    return await run_trial(case, item, counterfactual)


async def given(case: UnderTest) -> dict[str, Tested]:
    """Test the counterfactuals given in the specification, unchanged."""
    asked = enumerate(case.spec.given, start=1)
    as_given = {f"cf-{number:02}": Counterfactual(origin="given", **dict(one)) for number, one in asked}
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
    read: dict[str, Counterfactual] = {}
    draws = draws_of(spec)

    async def draw(item: str, how: Draw) -> None:
        answered = await _generate(case, item, how)
        if counterfactual := _read_as_authors(spec, run, item, how, answered):
            read[item] = counterfactual

    # Questions tested before the run was interrupted stay, whatever the pools contain now.
    before = run.recorded(Counterfactual)
    await run.map_items(draws, draw)
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
    kept: dict[str, str] = {}
    first: dict[str, str] = {}
    for item, text in pool.items():
        if text in first:
            run.drop(item, "duplicate", f"the same as {first[text]}", trial=item)
        else:
            kept[item] = text
            first[text] = item
    return kept


async def _generate(case: UnderTest, item: str, how: Draw) -> Answered:
    spec = case.spec
    prompt = prompts.generate(spec, case.question.slots, case.explanation, case.choice, how.operation)
    sampling = fields.sampling(generating(spec.task, spec.seed + how.repeat), prompt)
    return await case.run.ask(
        "generator", prompt, how.generator, sampling=sampling, item=item, trial=item, repeat=how.repeat
    )


def _read_as_authors(
    spec: AskSpec, run: CaseContext, item: str, how: Draw, answered: Answered
) -> Counterfactual | None:
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
    return _counterfactual(how, answered, text, usable, paper=True, repaired=same)


def _readable(spec: AskSpec, answered: Answered, asked: parse.Schema) -> str | None:
    """Return the part of a generator's answer that the updated parser may use. Its question has a line of its own."""
    return fields.readable(answered, "repaired", asked, lines=spec.task == "strategyqa")


def _writer_guess(reply: str, question: str) -> str:
    """Return the answer that a generator predicts after its question; an empty string if it cannot be parsed."""
    guess = parse.simulation(reply.partition(question)[2], rules="repaired")
    return guess if guess in GUESSES else ""


def _counterfactual(
    how: Draw, answered: Answered, text: str | None, usable: str | parse.Pair, paper: bool, repaired: bool
) -> Counterfactual:
    """Return the record of the question `usable`; `text` is the part of the answer that the updated parser may use."""
    return Counterfactual(
        call=answered.call,
        generator=how.generator,
        operation=how.operation,
        paper=paper,
        repaired=repaired,
        text=usable if isinstance(usable, str) else parse.text_of(usable),
        foretold=_writer_guess(text or "", usable) if isinstance(usable, str) else "",
        **({} if isinstance(usable, str) else dict(usable)),
    )


def _read(
    case: UnderTest, item: str, how: Draw, answered: Answered, written: Mapping[str, Counterfactual]
) -> Counterfactual | None:
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
    repaired = readings["repaired"] is not None and not (isinstance(usable, str) and not is_yes_or_no(usable))
    if before := run.latest(Counterfactual, item):
        # Keep how it was parsed when it arrived. Parsing it again with the current parser is a separate action.
        repaired = before.repaired
    elif not repaired and readings["paper"] is None:
        run.drop(item, "unparsed", "not a question that yes or no could answer", trial=item)
        return None
    counterfactual = _counterfactual(
        how, answered, text, usable, paper=readings["paper"] is not None, repaired=repaired
    )
    if isinstance(usable, str) and (guess := parse.writer_guess(text or "", asked)) is not None:
        counterfactual = counterfactual.model_copy(update={"foretold": guess})
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
