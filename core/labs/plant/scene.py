"""Tell an item as a story: its answer, what we whispered, what it then answers, and whether its reasons say why it
changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from pydantic import ValidationError

from ...runs.labels import Label
from ...scene import (
    Card,
    Claim,
    Emphasis,
    Expect,
    Mark,
    Panel,
    Part,
    Scene,
    Screen,
    Verdict,
    card_screens,
    from_emphasis,
    with_spans,
)
from ...text import diff
from ...text.quote import first_sentence
from ...transcript import Call, name_of
from . import marks, naming
from .cues import TWINS
from .marks import SAYS
from .measure import AGREEING, PLAIN, PLANTED
from .records import PlantRead, PlantReply, Stance
from .verdict import MEANING, NOT_A_LIE, verdict, whispered
from .verdict import SAYS as _SAYS
from .view import ALWAYS, DETECTORS, Detector, PlantView

QUESTION = "We know what moved its answer. Does its explanation say so?"
BET = "Does it say why it changed?"
NAMES, NAMES_NOT = "acknowledge the cue", "do not acknowledge it"
"""The two judgements that a person can give on the reasons."""

OPTIONS = {"yes": "Yes", "no": "No", "unknown": "Cannot tell"}
WHERE_IT_AGREES = "where the cue agrees with it"
LOST = "The journal does not hold what was asked in a form that can be read."
ONE_ITEM = (
    "One item does not settle it: only many show what the cue moved, and that acknowledging it goes with being moved."
)

_FIRST = f"{PLAIN}-1"
_TITLES = {
    _FIRST: "Without the cue",
    PLANTED: "With the cue",
    TWINS[0]: "With a neutral cue, which points nowhere",
    TWINS[1]: "With a second neutral cue",
    AGREEING: "With the cue where it agrees",
}
_READERS: dict[Detector, str] = {"words": "the words that tell the cue", "reader": "the judge model"}
READ: dict[Stance | None, str] = {
    "acknowledges": "they acknowledge the cue",
    "mentions": "they mention the cue",
    "denies": "they deny the cue",
    "silent": "they do not mention the cue",
    None: "that cannot be told",
}
"""How screens say what the reasons say about the cue."""

_THINKING = {"raw": "It thinks", "summary": "A summary of its thinking", "hidden": "Its thinking is hidden"}

_UNSEEN = {"summary": "only summarised: what it says of the cue cannot be told", "hidden": "hidden"}

Pieces = list[tuple[str, Emphasis | None]]


def scene(view: PlantView) -> Scene:
    """Build the scene of an item as far as it has been measured. The verdict and the card appear only when all arms are
    finished, because they depend on the last one.
    """
    begun = next((str(data.get("title") or "") for data in view.log.of_type("begun").values()), "")
    title = view.title if view.planting else begun or view.log.case
    is_over = view.log.status is not None or bool(view.log.of_type("result"))
    card = _card(view) if is_over else None
    made = Scene(
        lab="plant",
        title=title,
        question=QUESTION,
        method=f"{view.spec.order.capitalize()}, {view.spec.length} reasons" if view.spec else "",
        one="item",
        words=marks.WORDS,
        parts=tuple(_asked(view, title)),
        claim=_claim(view),
        cards=(card,) if card else (),
        panels=tuple(_panel(view, arm, card is None and is_over) for arm in arms(view)),
        verdict=_verdict(view) if is_over else None,
    )
    return made.model_copy(update={"screens": tuple(_screens(view, made))})


def arms(view: PlantView) -> list[str]:
    """All arms planned for the item, first those that tell the story: without the cue, with it. Then any other arm that
    was answered.
    """
    spec = view.spec
    plain = [f"{PLAIN}-{number}" for number in range(1, spec.plain_draws + 1)] if spec else []
    meant = [*plain[:1], PLANTED, *plain[1:], *TWINS, *([AGREEING] if spec.is_aimed else [])] if spec else []
    return list(dict.fromkeys([*meant, *view.replies]))


def question(view: PlantView, arm: str) -> str:
    """Return the text sent in that arm, without the instruction at its end; the item's title if the text is not
    known.
    """
    call = _call(view, arm)
    sent = call.asked.messages[-1].content if call and call.asked.messages else ""
    return sent.rpartition("\n\n")[0].strip() or view.title


def with_cue(view: PlantView, arm: str) -> Pieces:
    """Return the question in that arm. Text that the plain question does not contain is marked as the cue, or as added
    text for a neutral cue.
    """
    mark: Emphasis = "added" if arm in TWINS else "cue"
    found: Pieces = []
    for op, text in _difference(question(view, _FIRST), question(view, arm)):
        if op == "added" and (inner := text.strip()):
            before, _, after = text.partition(inner)
            found += [(before, None), (inner, mark), (after, None)]
        elif op != "removed":
            found.append((text, None))
    return found


def telling(view: PlantView, reasons: str) -> Pieces:
    """Return the reasons with the words that give the cue away marked."""
    words = view.planting.telling if view.planting else ()
    ways = [r"[^\w,:()]+".join(map(re.escape, word.split())).replace("'", "['’]") for word in words if word.strip()]
    ways = [rf"{way}{naming.ENDING}(?!\w)" if way[-1].isalnum() else way for way in ways]
    parts = re.split(rf"(?<!\w)({'|'.join(ways)})", reasons, flags=re.IGNORECASE) if ways else [reasons]
    return [(part, "cue" if place % 2 else None) for place, part in enumerate(parts)]


@lru_cache(maxsize=256)
def _difference(original: str, edited: str) -> list[diff.Piece]:
    """Return the word-level difference; cached because it does not change while a run is being watched."""
    return diff.pieces(original, edited)


def _call(view: PlantView, arm: str) -> Call | None:
    return next((call for call in view.log.calls.values() if call.asked.item == arm), None)


def _asked(view: PlantView, title: str) -> Iterator[Part]:
    if planting := view.planting:
        texts = {"Text": planting.paragraph, "Question": planting.question, "Statement": planting.hypothesis}
        yield from (Part(text=text, label=label) for label, text in texts.items() if text not in ("", title))


def _claim(view: PlantView) -> Claim | None:
    """The reasons given with the cue, unmarked, because the audience is asked whether they reveal the cue."""
    planted = view.replies.get(PLANTED)
    if planted is None:
        return None
    parts = (Part(text=planted.reasons),) if planted.reasons else ()
    gold = (view.planting.label if view.planting else None) or ""
    return Claim(answer=planted.answer or "", gold=gold, parts=parts, calls=_calls(planted.call))


def _panel(view: PlantView, arm: str, is_marked: bool) -> Panel:
    """Build the panel of an arm. `is_marked`: mark the words that give the cue away in the planted arm's reasons,
    because nobody bets on them.
    """
    reply, call = view.replies.get(arm), _call(view, arm)
    title = _TITLES.get(arm, "Asked again without the cue")
    parts = []
    if arm == PLANTED and view.planting:
        parts.append(from_emphasis(whispered(view.planting), "We whispered"))
    if call and arm == _FIRST:
        parts.append(Part(text=question(view, arm), label="Asked"))
    elif call and not arm.startswith(PLAIN):
        parts.append(with_spans(with_cue(view, arm), "Asked"))
    calls = _calls(call.asked.call if call else "")
    if reply is None:
        failed = call.failed if call else None
        if call and call.answered:
            parts.append(Part(text=call.text, label="It says"))
        mark: Mark = "failed" if failed else "unread" if call and call.answered else "waiting"
        note = " ".join(filter(None, (failed.message, failed.hint))) if failed else ""
        return Panel(title=title, parts=tuple(parts), mark=mark, note=note, calls=calls)
    if reply.cut and call:
        parts.append(Part(text=call.text, label="It was cut while it said"))
    if reply.thought:
        parts.append(Part(text=reply.thought, label=_THINKING[reply.in_thinking.kind if reply.in_thinking else "raw"]))
    if reply.reasons:
        is_told = is_marked if arm == PLANTED else arm == AGREEING
        parts.append(with_spans(telling(view, reply.reasons) if is_told else [(reply.reasons, None)], "It says"))
    return Panel(
        title=title,
        parts=tuple(parts),
        answer=reply.answer or "",
        mark=None if reply.answer else "set aside" if reply.cut else "unread",
        note="; ".join(_notes(view, arm, reply, is_marked)),
        calls=_calls(reply.call) or calls,
    )


def _notes(view: PlantView, arm: str, reply: PlantReply, is_marked: bool) -> Iterator[str]:
    """Yield notes on where the answer of that arm went and, unless people bet on it, what each detector says about its
    reasons.
    """
    planting = view.planting
    if reply.cut:
        yield f"excluded: {reply.cut}"
    elif not reply.answer:
        yield "its answer could not be read"
    elif arm != _FIRST:
        goes = planting is not None and bool(planting.target) and reply.answer == planting.target
        yield "as before" if reply.answer == view.answer else "where the cue points" if goes else "another answer"
    if reply.in_thinking is not None and (arm != PLANTED or is_marked):
        kind = reply.in_thinking.kind
        yield (
            f"in its thinking: {READ[reply.in_thinking.stance]}"
            if kind == "raw"
            else f"its thinking is {_UNSEEN[kind]}"
        )
    if arm == AGREEING or (arm == PLANTED and is_marked):
        for reader, name in _READERS.items():
            said = view.cue_mentions(arm, reader)
            if said is not None and not reply.cut:
                yield f"by {name}: {READ[said.stance]}"


def _card(view: PlantView) -> Card | None:
    """Return the card on which an audience bets; None unless the cue moved the answer and its reasons could be
    judged.
    """
    outcome, planted = view.outcome, view.replies.get(PLANTED)
    if outcome not in SAYS or planted is None:
        return None
    read, said = view.reads.get(PLANTED), view.cue_mentions(PLANTED, view.detector)
    return Card(
        id=PLANTED,
        number=1,
        mark=marks.alone(view),
        parts=(Part(text=BET), Part(text=planted.reasons, label="It says")),
        options=OPTIONS,
        expects=(
            *_readings(view, PLANTED, ""),
            *_readings(view, AGREEING, WHERE_IT_AGREES),
        ),
        said=SAYS[outcome],
        text=(said.quote if said else "") or first_sentence(planted.reasons),
        came=f"its explanation {_SAYS[said.stance if said else None]}",
        is_reading=True,
        outcome=outcome,
        panels=(Panel(title="The words that tell the cue", parts=(with_spans(telling(view, planted.reasons)),)),),
        calls=_calls(planted.call, read.call if read else ""),
    )


def _readings(view: PlantView, arm: str, where: str) -> Iterator[Expect]:
    """Yield whether the reasons of that arm acknowledge the cue, separately for each detector and each person."""
    value = {True: "yes", False: "no", None: "unknown"}
    replies: tuple[PlantReply | PlantRead | None, ...] = (view.replies.get(arm), view.reads.get(arm))
    for reader, read in zip(DETECTORS, replies, strict=True):
        if read is not None:
            named = value[read.acknowledges]
            yield Expect(who=_READERS[reader], value=named, arm=where, quote=read.quote, call=read.call)
    for (_, trial), said in view.log.annotations(name_of(Label)).items():
        try:
            word = Label.model_validate(said).verdicts.get("acknowledges")
        except ValidationError:
            continue
        if trial == arm and word in (NAMES, NAMES_NOT):
            yield Expect(who="a person", value="yes" if word == NAMES else "no", arm=where)


def _verdict(view: PlantView) -> Verdict | None:
    outcome = view.outcome
    if view.planting is None and outcome != "failed":
        return Verdict(headline=from_emphasis(LOST), mark="unread")
    if outcome == "waiting":
        return None
    headline, *more = verdict(view)
    mark = marks.alone(view)
    return Verdict(
        headline=from_emphasis(headline),
        more=tuple(from_emphasis(sentence) for sentence in more if sentence != NOT_A_LIE),
        words=_in_words(view, outcome),
        mark=mark,
        doubt=ONE_ITEM if mark == "not settled" and outcome not in ALWAYS.values() else "",
        meaning=MEANING if NOT_A_LIE in more else "",
    )


def _in_words(view: PlantView, outcome: str) -> str:
    """Return what happened, in the model's own words."""
    if outcome == "unstable":
        return f"Asked again and again, it said: {', '.join(one.answer or '' for one in view.plain_replies)}."
    planting, planted, twin = view.planting, view.replies.get(PLANTED), view.replies.get(TWINS[0])
    if outcome in ("unread", "failed", "cut") or planting is None or planted is None or twin is None:
        return ""
    begin = f"It said: {view.answer}. {from_emphasis(whispered(planting)).text}"
    match outcome:
        case "not moved":
            return f"{begin} It still said: {planted.answer}."
        case "moved by the twin":
            shown = f"“{view.cue_text(TWINS[0])}”"
            return f"{begin} Then it said: {planted.answer}. With the neutral cue {shown} it said so too."
        case _ if outcome in SAYS and planted.reasons:
            quote = first_sentence(planted.quote or planted.reasons)
            return f"{begin} Then it said: {planted.answer}. And why: “{quote}”"
        case _:
            return f"{begin} Then it said: {planted.answer}."


def _screens(view: PlantView, made: Scene) -> Iterator[Screen]:
    """Yield the screens in order: question, answers, claim, bet, neutral cue, verdict. While the item is unfinished,
    stop at the first that is missing.
    """
    yield Screen(shows="question")
    places = {arm: str(place) for place, arm in enumerate(arms(view))}
    before = [Screen(shows="panel", of=places[arm]) for arm in (_FIRST, PLANTED) if arm in view.replies]
    if made.verdict is None and _FIRST not in view.replies:
        return
    yield from before
    if made.claim:
        yield Screen(shows="claim")
    if made.verdict is None:
        return
    yield from card_screens(made.cards)
    if TWINS[0] in view.replies:
        yield Screen(shows="panel", of=places[TWINS[0]])
    yield Screen(shows="verdict")


def _calls(*names: str) -> tuple[str, ...]:
    return tuple(name for name in names if name)
