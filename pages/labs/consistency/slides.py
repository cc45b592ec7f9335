"""One check told to an audience: the paragraph and the answer, the explanation, a fresh session, and the verdict."""

from __future__ import annotations

from collections.abc import Iterator

from core.labs.consistency import metrics
from core.labs.consistency.lab import LAB
from core.labs.consistency.scene import EXPLAINS, WANTED, pieces
from core.labs.consistency.verdict import caveats, row_verdict
from core.labs.consistency.view import CheckView
from pages.labs.consistency.grid import STATES
from pages.parts.models import short
from pages.parts.slides import YES_OR_NO, Question, Slide, in_order, quoted
from pages.parts.text import difference, emphasised, masked, plain, tinted
from pages.parts.tiles import State


def slides(view: CheckView, active: bool) -> list[Slide]:
    """The check as far as it has come."""
    return in_order(_slides(view, active))


def scene(view: CheckView, row: str = "") -> list[Slide]:
    """The answer, its explanation, and what a fresh session made of it."""
    if view.explained is None or view.again is None:
        return []
    explains, before = _explains(view), plain(view.reading("before") or "something unreadable")
    heading = f"It answers *{before}*, and {explains.heading[0].lower()}{explains.heading[1:]}"
    after = view.reading("after")
    came = emphasised(row_verdict(view))
    if (
        view.check
        and view.check.explanation != "counterfactual"
        and after is not None
        and after == view.reading("before")
    ):
        # What the check expects instead ("unable to tell") takes longer to explain than this takes to see.
        came = f"Asked again with these words hidden, it still answers **{plain(after)}**."
    body = (explains.body[0], came)
    return [Slide("Does it keep to its own explanation in a fresh session?", heading, body)]


def _slides(view: CheckView, active: bool) -> Iterator[Slide]:
    if view.check is None:
        lost = "The journal does not hold what was checked in a form that can be read."
        yield Slide("What is checked", is_waiting=True) if active else Slide("", lost, is_verdict=True)
        return
    item = view.check.item
    asked = item.question or item.hypothesis
    about = [*([f"**{plain(asked)}**"] if asked else []), quoted(item.paragraph)]
    if view.classification is not None:
        before = view.reading("before")
        says = "What it answers could not be read" if before is None else f"It answers *{plain(before)}*"
        yield Slide(_model(view), says, tuple(about))
    else:
        yield Slide(_model(view), "What does it make of this?", tuple(about), is_waiting=active)
    if view.explained is not None:
        yield _explains(view)
    elif active:
        yield Slide("Why?", is_waiting=True)
    # As on the run's page: what the other rules read instead is not told.
    edited = view.explained.edited.repaired if view.explained else None
    if edited is not None:
        yield _question(view, edited)
        if view.again is not None or active:
            yield _came(view, active)
    yield from _random(view)
    yield from _elsewhere(view)
    if active:
        yield Slide("What comes next", is_waiting=True)
        return
    state = LAB.means(view.outcome("repaired"))
    more = tuple(emphasised(sentence) for sentence in caveats(view))
    yield Slide(
        "The verdict", emphasised(row_verdict(view)), more, mark=state, words=_words(view, state), is_verdict=True
    )


def _model(view: CheckView) -> str:
    return f"Asked of {plain(short(view.spec.model))}" if view.spec else ""


def _words(view: CheckView, state: str) -> str:
    drop = view.dropped()
    return f"not counted: {plain(drop.reason)}" if state == "set aside" and drop else STATES[view.state()].words


def _explains(view: CheckView) -> Slide:
    """The words that matter, or the paragraph as it was edited."""
    assert view.check is not None and view.explained is not None
    kind, original, edited = view.check.explanation, view.check.item.paragraph, view.explained.edited.repaired
    wanted = view.explained.wanted
    heading = EXPLAINS[kind]
    if kind == "counterfactual" and wanted:
        heading = f"It says that with this edit the answer becomes *{plain(wanted)}*"
    if edited is None:
        call = view.call("explanation")
        return Slide("Why?", heading, (quoted(call.text if call else ""),), mark="unread", words=WANTED[kind])
    if kind == "attribution":
        shown = "".join(
            tinted(text, "orange") if op == "removed" else plain(text)
            for op, text in pieces(original, edited)
            if op != "added"
        )
        return Slide("Why?", heading, (shown, f"It names: **{plain(view.explanation or '')}**"))
    return Slide("Why?", heading, (difference(pieces(original, edited)),))


def _question(view: CheckView, edited: str) -> Slide:
    """The paragraph of the fresh session, and what the audience may expect of it."""
    assert view.check is not None
    state = view.state()
    held = {"yes": True, "no": False}.get(state)
    if view.check.explanation != "counterfactual":
        asks = "Without these words, can a fresh session still tell?"
        expected, observed = "no", None if held is None else "no" if held else "yes"
    else:
        expected, observed = "yes", None if held is None else "yes" if held else "no"
        wanted = view.explained.wanted if view.explained else None
        asks = f"Does a fresh session answer *{plain(wanted)}*?" if wanted else "Does a fresh session answer otherwise?"
    shown = masked(edited, view.check.wording.mask)
    return Slide(
        "A fresh session knows nothing of that. What would you expect?", asks, (shown,),
        question=Question("session", YES_OR_NO, "its explanation", expected, observed),
    )  # fmt: skip


def _came(view: CheckView, waiting: bool = False) -> Slide:
    """What the fresh session answered."""
    lead = "The fresh session" if view.was_asked_again else "Nothing was changed, so it was not asked again"
    if view.again is None:
        return Slide(lead, is_waiting=waiting)
    after, before = view.reading("after"), view.reading("before")
    says = "What it answers could not be read" if after is None else f"It answers *{plain(after)}*"
    by_edit = view.check is not None and view.check.explanation == "counterfactual"
    wanted = view.explained.wanted if view.explained else None
    expected = f"*{plain(wanted)}*" if by_edit and wanted else "another answer" if by_edit else "that it cannot tell"
    first = f":gray[Its first answer: {plain(before or 'could not be read')}]"
    state = STATES[view.state()]
    mark: State | None = "kept" if view.state() == "yes" else "broken" if view.state() == "no" else None
    return Slide(lead, says, (first, f":gray[Expected from its explanation: {expected}]"), mark=mark, words=state.words)


def _elsewhere(view: CheckView) -> Iterator[Slide]:
    """What a counterfactual added, at the end of another paragraph."""
    if (other := view.elsewhere) is not None:
        without = f"Without it: {plain(other.bare or 'could not be read')}"
        says = "What it answers could not be read" if other.answer is None else f"It answers *{plain(other.answer)}*"
        yield Slide("What it added, at the end of another paragraph", says, (quoted(other.text), f":gray[{without}]"))


def _random(view: CheckView) -> Iterator[Slide]:
    """Each session with other words masked, as many, drawn at random; then the one with all masked."""
    if view.control is None or view.check is None:
        return
    control = view.control
    drawn = [*zip(control.texts, control.repaired, strict=True), (control.all_text, control.all.repaired)]
    for number, (text, answer) in enumerate(drawn, start=1):
        lead = f"As many words, drawn at random ({number} of {len(control.texts)})"
        says = "What it answers could not be read" if answer is None else f"It answers *{plain(answer)}*"
        if answer is not None and metrics.cannot_tell(view.check.task, answer):
            says = f"It cannot tell: *{plain(answer)}*"
        yield Slide(
            lead if number <= len(control.texts) else "Every word masked", says,
            (masked(text, view.check.wording.mask),),
        )  # fmt: skip
