"""One item: the plain question, then the same with a cue that points to another answer, with two twins of the cue that
point nowhere, and with the cue pointing to the plain answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.datasets.items import Item
from core.lab.cases import Case
from core.labs.plant import cues, naming, parse, prompts, reader
from core.labs.plant.cues import TWINS, Arm
from core.labs.plant.records import Planting, PlantReply, ReaderExamined
from core.labs.plant.tasks import PlantSpec, options
from core.runs.run import Run
from core.text.drawn import drawn

PLAIN: Arm = "plain"
PLANTED: Arm = "planted"
AGREEING: Arm = "agreeing"
"""The arms beside the TWINS; the plain draws are `plain-1` and so on."""


async def measure(spec: PlantSpec, case: Case, run: Run) -> None:
    """Ask one item in all arms. An arm whose call fails is dropped; without its planted arm a case is in no figure.

    A reader that has not passed its exam is not asked.
    """
    item: Item = case.about
    sat = run.at("").recorded(ReaderExamined)
    for place, examined in sat.items():
        # In each case, so that each is whole by itself.
        run.record(examined, place)

    async def ask(arm: str, repeat: int) -> PlantReply:
        return await _ask(spec, item, run, arm, repeat=repeat)

    draws = {f"{PLAIN}-{number}": number for number in range(1, spec.plain_draws + 1)}
    told = await run.each(draws, ask)
    # In the order of the draws, not in that of the answers: where they differ, the target hangs on the first.
    plain = [told[arm] for arm in draws if arm in told]
    answer = plain[0].answer if plain else None
    target = _target(spec, item, answer) if answer and spec.is_aimed else ""
    telling = naming.without(
        cues.telling(spec, item, _shown(spec, item, PLANTED, target)), [one.reasons for one in plain]
    )
    run.record(_planting(spec, item, answer or "", target, telling), "")
    if answer is None:
        run.drop("", "unread" if plain else "error", "without a plain answer nothing can be moved")
        return
    arms: dict[str, str] = {
        PLANTED: target,
        **dict.fromkeys(TWINS, ""),
        **({AGREEING: answer} if spec.is_aimed else {}),
    }

    async def tell(arm: str, direction: str) -> None:
        await _ask(spec, item, run, arm, direction, telling)

    await run.each(arms, tell)
    if any(one.reader == spec.reader and one.passed for one in sat.values()):
        await reader.read_all(spec, run)


async def _ask(
    spec: PlantSpec,
    item: Item,
    run: Run,
    arm: str,
    direction: str = "",
    telling: Sequence[str] | None = None,
    repeat: int = 0,
) -> PlantReply:
    """Ask in one arm and record what came. Raises CallFailed. Plain explanations are read for the cue by all its words:
    what is found there is the words' own error.
    """
    where: Arm = PLAIN if arm.startswith(PLAIN) else arm  # type: ignore[assignment]
    prompt = prompts.answer(spec, item, where, direction)
    answered = await run.ask("answerer", prompt, spec.model, sampling=spec.sampling, item=arm, trial=arm, repeat=repeat)
    read = parse.reply(spec, item, answered.text, prompts.is_lettered(spec))
    if telling is None:
        telling = cues.telling(spec, item, _shown(spec, item, PLANTED, options(item)[0]))
    found = naming.by_words(read.reasons, telling)
    reply = PlantReply(
        call=answered.call,
        answer=read.answer,
        reasons=read.reasons,
        thought=read.thought,
        mentions=found.mentions if telling else None,
        denies=found.denies,
        uses=found.uses,
        thinks=not found.mentions and naming.by_words(read.thought, telling).names,
        quote=found.quote,
    )
    run.record(reply, arm, trial=arm)
    if read.answer is None:
        run.drop(arm, "unread", "the reply names none of the answers", trial=arm)
    return reply


def _target(spec: PlantSpec, item: Item, answer: str) -> str:
    """Another answer than the plain one, drawn by seed and item."""
    others = [one for one in options(item) if one != answer]
    return others[int(drawn(f"{spec.seed}|{item.id}|target") * len(others))]


def _shown(spec: PlantSpec, item: Item, arm: Arm, direction: str = "") -> str:
    return cues.place(spec, item, arm, direction).shown


def _planting(spec: PlantSpec, item: Item, answer: str, target: str, telling: tuple[str, ...]) -> Planting:
    twin, second = (_shown(spec, item, arm) for arm in TWINS)
    return Planting(
        **item.model_dump(include={"task", "question", "paragraph", "hypothesis", "label"}),
        options=options(item),
        cue=spec.cue,
        plain=_shown(spec, item, PLAIN),
        target=target,
        planted=_shown(spec, item, PLANTED, target) if target or not spec.is_aimed else "",
        twins=(twin, second),
        agreeing=_shown(spec, item, AGREEING, answer) if answer and spec.is_aimed else "",
        telling=telling,
    )
