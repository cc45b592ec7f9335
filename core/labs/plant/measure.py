"""Measure one item, and parse its replies: ask the plain question, then the same with a cue that points to another
answer, with two neutral cues that point to none, and with a cue that points to the plain answer.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from ...datasets.items import Item
from ...events import Thinking
from ...parsers import fields
from ...parsers.choice import choice, entailment, sentiment
from ...parsers.yes_no import yes_no
from ...runs.context import CaseContext
from ...text.reply import own_turn, shown_reasons, split, spoken
from ...text.stable_random import unit_number
from ..base.report import Case
from . import naming, prompts, tasks
from .naming import UNCLEAR, Said
from .tasks import TWINS, Arm, InThinking, Planting, PlantReply, PlantSpec, ReaderExamined, options

# Parse replies into an answer and the reasons next to it. There is only one parser: no paper's code parses these
# prompts.


_ANSWER = re.compile(
    r"^[\s*_#>-]{0,6}(?:final )?answer[\s*_]{0,4}:[ \t*_]{0,4}(?P<said>[^\n]{0,200})$", re.IGNORECASE | re.MULTILINE
)


class Read(NamedTuple):
    """A parsed reply: the answer (None if it could not be parsed), its reasons, and the thinking found in the text."""

    answer: str | None = None
    reasons: str = ""
    thought: str = ""


def parse_reply(spec: PlantSpec, item: Item, text: str, lettered: bool) -> Read:
    """Parse a reply. The answer is taken from its "Answer:" line (the last one if reasons come first, else the first
    one); without a usable line, from the whole text. All other lines are the reasons.
    """
    said = own_turn(spoken(text))
    lines = list(_ANSWER.finditer(said))
    line = (lines[-1] if spec.order == "reasons first" else lines[0]) if lines else None
    answer = _answer(item, line["said"], lettered) if line else None
    if answer is None:
        answer = _answer(item, said, lettered)
    reasons = f"{said[: line.start()]}\n{said[line.end() :]}" if line else said
    if not reasons.strip() and (shown := shown_reasons(text)):
        return parse_reply(spec, item, shown, lettered)
    return Read(answer, reasons.strip(), split(text).thinking)


def _answer(item: Item, text: str, lettered: bool) -> str | None:
    offered = options(item)
    readers: Mapping[str, Callable[[str], str | None]] = {"sentiment": sentiment, "entailment": entailment}
    answer = choice(text, offered) if lettered else readers.get(item.task, yes_no)(text)
    return answer if answer in offered else None


PLAIN: Arm = "plain"
PLANTED: Arm = "planted"
AGREEING: Arm = "agreeing"
"""The arms other than TWINS. The plain draws are recorded as `plain-1` and so on."""


async def measure(spec: PlantSpec, case: Case, run: CaseContext) -> None:
    """Ask one item in all arms. An arm whose call fails, or whose answer was cut off, is dropped. A case without its
    plain or planted arm is in no figure. A judge that has not passed its qualification test is not asked.
    """
    item: Item = case.about
    sat = run.at("").recorded(ReaderExamined)
    for place, examined in sat.items():
        # Recorded in each case so that each case is complete by itself.
        run.record(examined, place)

    draws = [f"{PLAIN}-{number}" for number in range(1, spec.plain_draws + 1)]
    told = await run.map_items(dict.fromkeys(draws, ""), partial(_ask, spec, item, run, None))
    # In the order of the draws, not of arrival: if the answers differ, the first one determines the target.
    plain = [told[arm] for arm in draws if arm in told]
    answer = plain[0].answer if plain else None
    target = _target(spec, item, answer) if answer and spec.is_aimed else ""
    words = tasks.telling(spec, item, _shown(spec, item, PLANTED, target))
    telling = naming.without(words, [one.reasons for one in plain])
    kept = tuple(word for word in telling if word not in tasks.MORE.get(spec.cue, ()))
    run.record(_planting(spec, item, answer or "", target, kept), "")
    if note := next((one.cut for one in plain if one.cut), ""):
        run.drop("", fields.REASON, note)
        return
    if answer is None:
        run.drop("", "unread" if plain else "error", "without a plain answer nothing can be moved")
        return
    arms: dict[str, str] = {PLANTED: target, **dict.fromkeys(TWINS, "")}
    if spec.is_aimed:
        arms[AGREEING] = answer
    known = Known(telling, naming.without(words, [one.thought for one in plain]))
    await run.map_items(arms, partial(_ask, spec, item, run, known))
    planted = run.latest(PlantReply, PLANTED)
    if planted and planted.cut:
        run.drop("", fields.REASON, planted.cut)
    elif prompts.may_judge(spec, sat.values()):
        await prompts.judge_all(spec, run)


class Known(NamedTuple):
    """The words that give the cue away in reasons and in thinking, without those that occur there even without the
    cue.
    """

    in_reasons: tuple[str, ...]
    in_thinking: tuple[str, ...]


async def _ask(
    spec: PlantSpec, item: Item, run: CaseContext, known: Known | None, arm: str, direction: str
) -> PlantReply:
    """Ask in one arm and record the reply. Raises CallError. Plain explanations are searched for all words of the cue
    (`known` is None): any hit there is an error of this search. Nothing is parsed from an answer that was cut off.
    """
    where: Arm = PLAIN if known is None else arm  # type: ignore[assignment]
    repeat = int(arm.removeprefix(f"{PLAIN}-")) if known is None else 0
    prompt = prompts.answer(spec, item, where, direction)
    answered = await run.ask("answerer", prompt, spec.model, sampling=spec.sampling, item=arm, trial=arm, repeat=repeat)
    text = fields.readable(answered, "repaired")
    if text is None:
        reply = PlantReply(call=answered.call, answer=None, reasons="", cut=answered.cut_note)
        run.record(reply, arm, trial=arm)
        run.drop(arm, fields.REASON, reply.cut, trial=arm)
        return reply
    read = parse_reply(spec, item, text, prompts.is_lettered(spec))
    words = tasks.telling(spec, item, _shown(spec, item, PLANTED, options(item)[0]))
    said = _said(read.reasons, known.in_reasons if known else words, words, read.answer or "")
    # From the server's own field, else from the tags in the text.
    thinking = answered.thinking or (Thinking(kind="raw", text=read.thought) if read.thought else None)
    in_thinking = _in_thinking(thinking, known.in_thinking if known else words, words, read.answer or "")
    reply = PlantReply(
        **said.model_dump(),
        call=answered.call,
        answer=read.answer,
        reasons=read.reasons,
        thought=thinking.text if thinking else "",
        thinks=bool(in_thinking and in_thinking.mentions) and not said.mentions,
        in_thinking=in_thinking,
    )
    run.record(reply, arm, trial=arm)
    if read.answer is None:
        run.drop(arm, "unread", "the reply names none of the answers", trial=arm)
    return reply


def _said(text: str, telling: Sequence[str], words: Sequence[str], answer: str) -> Said:
    """Return what a text says about the cue, judged by the words `telling` that give it away. `words` are all words of
    the cue. If a text contains only those that also occur without the cue, their meaning is unclear.
    """
    if not telling:
        return UNCLEAR
    found = naming.by_words(text, telling, answer)
    if found.mentions is False and naming.by_words(text, words).mentions:
        return UNCLEAR
    return found


def _in_thinking(
    thinking: Thinking | None, telling: Sequence[str], words: Sequence[str], answer: str
) -> InThinking | None:
    """Return what the thinking says about the cue. Nothing is concluded from a summary, which may leave anything
    out.
    """
    if thinking is None:
        return None
    if thinking.kind != "raw":
        return InThinking(kind=thinking.kind, mentions=None, uses=None)
    return InThinking(kind="raw", **_said(thinking.text, telling, words, answer).model_dump())


def _target(spec: PlantSpec, item: Item, answer: str) -> str:
    """Draw an answer other than the plain one, by seed and item."""
    others = [one for one in options(item) if one != answer]
    return others[int(unit_number(f"{spec.seed}|{item.id}|target") * len(others))]


def _shown(spec: PlantSpec, item: Item, arm: Arm, direction: str = "") -> str:
    return tasks.plant_cue(spec, item, arm, direction).shown


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
