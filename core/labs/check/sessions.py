"""The sessions of a check as panels: the answer, the explanation, the fresh session, and the sessions with random
masks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...scene import Claim, Emphasis, Mark, Panel, Part, with_spans
from ..base.declared import words_of
from . import metrics
from .outcomes import as_shown, calls_again, mark_of
from .paragraphs import as_edited, difference, in_place, spanned, with_hidden
from .records import Elsewhere
from .verdict import is_short
from .view import CheckView, Sessions

EXPLAINS: Mapping[str, str] = words_of(__file__, "explains")

WANTED: Mapping[str, str] = words_of(__file__, "wanted")
"""What to say of a reply in which the requested explanation cannot be read."""


def claim(view: CheckView) -> Claim | None:
    """Return the first answer with its explanation. None until it is known whether there is an explanation, because a
    claim that is shown does not change any more.
    """
    over = view.state != "waiting" or view.log.status is not None
    if view.check is None or not (view.explained or (view.classification and over)):
        return None
    call = view.call("explanation")
    return Claim(
        answer=as_shown(view.reading("before")),
        gold=view.check.item.label or "",
        parts=tuple(_claimed(view)),
        note=_changed(view),
        calls=(call.asked.call,) if call else (),
    )


def _claimed(view: CheckView) -> Iterator[Part]:
    """Yield the words that the model listed or the paragraph as it edited it; its reply if neither can be read."""
    if view.check is None or view.explained is None:
        return
    kind, words = view.check.explanation, view.explained.words.repaired
    if words is not None:
        named: list[tuple[str, Emphasis | None]] = []
        for word in words:
            named += [(", ", None), (word, "named")]
        yield with_spans(named[1:], label="The words that matter")
    elif view.explained.edited.repaired is not None:
        wanted = view.explained.wanted if kind == "counterfactual" else None
        yield as_edited(view, f"Its edit, so that the answer is {wanted}" if wanted else EXPLAINS[kind])
    elif (call := view.call("explanation")) and call.text.strip():
        yield Part(text=call.text.strip(), label="It replied")


def _changed(view: CheckView) -> str:
    """Return how much the explanation changed, or that it could not be read."""
    if view.check and view.explained and view.explained.edited.repaired is None:
        if note := view.cut_note(view.explained.call):
            return f"It was {note}, so it is not tested."
        return f"Could not be read. {WANTED[view.check.explanation]}"
    result = view.result
    if result is None or result.kept is None or result.distance is None:
        return ""
    masks = f"{result.masked:.0%} of the words masked · " if result.masked is not None else ""
    return f"{masks}{result.kept:.0%} of the words kept · word distance {result.distance:.2f}"


def panels(view: CheckView) -> Iterator[Panel]:
    """Yield the panels of the three sessions, of those with random masks and with every word masked, and of another
    paragraph with the added words.
    """
    if view.check is None or view.is_too_long:
        return
    yield _session(
        view, "first", "It answers", (Part(text=view.check.item.paragraph),), view.classification is not None
    )
    yield _explanation(view)
    yield _again(view)
    yield from _random(view)
    if (other := view.elsewhere) is not None:
        decides = "Words that change any answer say nothing about this paragraph."
        yield Panel(
            title="What it added, in another paragraph",
            parts=(spanned(other.text, _put_in(other), "added"),),
            answer=as_shown(other.answer),
            mark="unread" if other.answer is None else "not settled" if other.turned and other.decides else None,
            note=f"Without it: {as_shown(other.bare) or 'could not be read'}. "
            f"{decides if other.decides else 'This decides nothing: such words may change any answer.'}",
            calls=(other.call_bare, other.call),
        )


def _put_in(other: Elsewhere) -> Iterator[tuple[int, int]]:
    """Yield where the added words are in the other paragraph: a single addition is at its end, several are in order."""
    if other.text.endswith(other.added):
        yield len(other.text) - len(other.added), len(other.text)
        return
    at = 0
    for stretch in other.added.split(" … "):
        start = other.text.find(stretch, at)
        if start < 0:
            return
        at = start + len(stretch)
        yield start, at


def _session(
    view: CheckView, session: Sessions, title: str, parts: tuple[Part, ...], has_come: bool, note: str = ""
) -> Panel:
    """Return the panel of a session with its answer, also while the session is still running."""
    call = view.call(session)
    answer = None if session == "explanation" else view.reading("before" if session == "first" else "after")
    mark: Mark | None = None
    if not has_come:
        mark = "failed" if call and call.failed else "waiting"
        note = call.failed.message if call and call.failed else note
    elif answer is None and session != "explanation":
        mark, note = "unread", note or _unread(view, call.asked.call if call else "")
    calls = (call.asked.call,) if call else ()
    return Panel(title=title, parts=parts, answer=as_shown(answer), mark=mark, note=note, calls=calls)


def _explanation(view: CheckView) -> Panel:
    """Return the panel of the explanation: the paragraph with the important words highlighted, or with the words taken
    away and put in.
    """
    assert view.check is not None
    title = EXPLAINS[view.check.explanation]
    if view.explained is None:
        if view.result is None:
            return _session(view, "explanation", title, (), has_come=False)
        return Panel(title=title, note="Not asked: there is no answer to change into another.")
    note = f"So that the answer is {view.explained.wanted}." if view.explained.wanted else ""
    edited = view.explained.edited.repaired
    if edited is None:
        panel = _session(view, "explanation", title, tuple(_claimed(view)), has_come=True, note=_changed(view))
        return panel.model_copy(update={"mark": "unread"})
    return _session(view, "explanation", title, (in_place(view, edited),), has_come=True, note=note)


def _again(view: CheckView) -> Panel:
    """Return the panel of the fresh session. If the paragraph was not changed, it shows the first answer."""
    title = "A fresh session answers"
    edited = view.explained.edited.repaired if view.explained else None
    if edited is None and view.result is not None:
        read = "The original parser found one, and this is the session about it. It decides nothing here."
        note = "There is no edited paragraph to ask about."
        note = f"{note} {read}" if calls_again(view) else note
        return Panel(title=title, mark=mark_of(view), note=note, calls=calls_again(view))
    parts = (as_edited(view),) if edited is not None else ()
    stands = "" if view.was_asked_again else "Nothing was changed, so it was not asked again: its first answer stands."
    panel = _session(view, "again", title, parts, view.again is not None and edited is not None, stands)
    return panel.model_copy(update={"mark": mark_of(view)}) if panel.mark is None else panel


def _random(view: CheckView) -> Iterator[Panel]:
    """Yield the panel of each session with other words masked, sampled at random; then of the one with all words
    masked.
    """
    if (control := view.control) is None:
        return
    several = "Every other word hidden" if is_short(view, control) else "As many words hidden, drawn at random"
    drawn = zip(control.texts, control.calls, control.repaired, strict=False)
    for number, (text, call, answer) in enumerate(drawn, start=1):
        yield _with_masks(view, f"{several} ({number} of {len(control.texts)})", text, call, answer)
    # The text of this session was nothing but masks.
    yield _with_masks(view, "Every word hidden", "", control.all_call, control.all.repaired)


def _halves(view: CheckView) -> Iterator[Panel]:
    """Yield the panels of the sessions with half of the explanation's words masked."""
    if (halves := view.halves) is None:
        return
    for number, (text, call, answer) in enumerate(zip(halves.texts, halves.calls, halves.repaired, strict=False), 1):
        yield _with_masks(view, f"Half of its own words hidden ({number} of {len(halves.texts)})", text, call, answer)


def _with_masks(view: CheckView, title: str, text: str, call: str, answer: str | None) -> Panel:
    return Panel(
        title=title,
        parts=(with_hidden(view, text),) if text else (),
        answer=as_shown(answer),
        mark="unread" if answer is None else None,
        note=_unread(view, call) if answer is None else "",
        calls=(call,),
    )


def _unread(view: CheckView, call: str) -> str:
    """Return why the answer of a call has no value."""
    note = view.cut_note(call)
    return f"Its answer was {note}, so it is not counted." if note else "Its answer could not be read."


def side_panels(view: CheckView) -> Iterator[Panel]:
    """Yield panels on which no verdict rests: whether the model thinks that it can tell at all, how a person edited the
    paragraph, and what masking half of the explanation's words does.
    """
    if (ability := view.ability) is not None:
        before = view.reading("before")
        known = metrics.knows(metrics.Told("", ability.repaired, before, None))
        fits = (
            f"Its answer, {as_shown(before)}, {'fits' if known else 'does not fit'} that." if known is not None else ""
        )
        mark: Mark | None = "unread" if ability.repaired is None else None
        answer = ability.repaired or ""
        title = "Asked whether it can tell at all"
        yield Panel(title=title, answer=answer, mark=mark, note=fits, calls=(ability.call,))
    if view.item is not None and view.item.reference_edit:
        note = "The data set holds this edit, made by hand so that the correct answer turns into the other one."
        parts = (difference(view.item.paragraph, view.item.reference_edit, ""),)
        yield Panel(title="How a person edited it", parts=parts, note=note)
    yield from _halves(view)
