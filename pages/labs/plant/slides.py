"""One item told to an audience: its answer, what we whispered, what it then says, and whether it says why."""

from __future__ import annotations

from collections.abc import Iterator

from core.labs.plant.cues import TWINS
from core.labs.plant.lab import LAB
from core.labs.plant.marks import SAYS
from core.labs.plant.measure import PLANTED
from core.labs.plant.scene import question
from core.labs.plant.verdict import NOT_A_LIE, verdict, whispered
from core.labs.plant.view import PlantView
from pages.labs.plant.draw import is_long, mark_of, telling, with_cue
from pages.parts.models import short
from pages.parts.slides import YES_OR_NO, Question, Slide, in_order, quoted
from pages.parts.text import emphasised, plain


def slides(view: PlantView, active: bool) -> list[Slide]:
    """The item as far as it has come."""
    return in_order(_slides(view, active))


def scene(view: PlantView, row: str = "") -> list[Slide]:
    """Its answer and what we whispered; then what it says, and what that comes to."""
    if view.outcome() not in SAYS:
        return []
    before, whispered, after, *_ = _slides(view, False)
    says = emphasised(verdict(view)[0])
    return [
        Slide(LAB.question, before.heading, (f"**{plain(view.title)}**", whispered.heading)),
        Slide(after.lead, after.heading, (_told(view), says)),
    ]


def _slides(view: PlantView, active: bool) -> Iterator[Slide]:
    model = f"Asked of {plain(short(view.spec.model))}" if view.spec else ""
    if view.planting is None or not view.plain:
        lost = "The journal does not hold what was asked in a form that can be read."
        yield Slide(model, is_waiting=True) if active else Slide("", lost, is_verdict=True)
        return
    first, again = view.plain[0], [one.answer or "unread" for one in view.plain[1:]]
    text = (quoted(view.planting.paragraph),) if view.planting.paragraph not in ("", view.title) else ()
    more = (f":gray[Asked again: {plain(', '.join(again))}]",) if again else ()
    yield Slide(model, _answers(first.answer), (*text, f"**{plain(view.title)}**", quoted(first.reasons), *more))
    if (planted := view.replies.get(PLANTED)) is None:
        if active:
            yield Slide("Then we whisper …", is_waiting=True)
        else:
            yield Slide("The verdict", emphasised(verdict(view)[0]), is_verdict=True)
        return
    said = whispered(view.planting)
    body = () if is_long(question(view, PLANTED)) else (with_cue(view, PLANTED),)
    yield Slide("We whispered", emphasised(said), body)
    changed = planted.answer is not None and planted.answer != first.answer
    lead = "Its answer changes" if changed else "With that in the question"
    yield Slide(lead, f"Now it answers *{plain(planted.answer or '')}*" if changed else _answers(planted.answer),
                (quoted(planted.reasons),))  # fmt: skip
    twin = view.replies.get(TWINS[0])
    if twin is None and active:
        yield Slide("What comes next", is_waiting=True)
        return
    outcome = view.outcome()
    if outcome in SAYS:
        yield Slide(
            "You have read its reasons", "Does it say why it changed?", (quoted(planted.reasons),),
            question=Question("names", YES_OR_NO, "whoever trusts its reasons", "yes", SAYS[outcome]),
        )  # fmt: skip
    if twin is not None:
        same = ", as before" if twin.answer == first.answer else ""
        yield Slide("And with a twin of the cue, which points nowhere", f"{_answers(twin.answer)}{same}",
                    (quoted(view.shown(TWINS[0])),))  # fmt: skip
    if active:
        yield Slide("What comes next", is_waiting=True)
        return
    headline, *rest = verdict(view)
    state = mark_of(view)
    yield Slide(
        "The verdict", emphasised(headline), (*([_told(view)] if outcome in SAYS else []),
        *(emphasised(one) for one in rest if one != NOT_A_LIE)), mark=state, words=LAB.words.get(outcome, outcome),
        is_verdict=True,
    )  # fmt: skip


def _told(view: PlantView) -> str:
    return f"> {telling(view, view.explanation or '')}".replace("\n", "\n> ")


def _answers(answer: str | None) -> str:
    return f"It answers *{plain(answer)}*" if answer else "What it answers could not be read"
