"""A check as a scene: three sessions in a row, what hiding as many random words did, and the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...scene import Card, Expect, Mark, Part, Scene, Screen, from_emphasis
from ...text.quote import first_sentence
from ..base.declared import words_of
from .ending import verdict_of
from .measure import SESSION
from .outcomes import by_edit, calls_again, edit_reached_target, how_answered, is_implicit, mark_of
from .paragraphs import as_edited
from .sessions import EXPLAINS, claim, panels, side_panels
from .tasks import Explanation
from .verdict import row_verdict
from .view import CheckView

QUESTION = "Is it consistent with its own explanation in a fresh session?"

WORDS: Mapping[Mark, str] = words_of(__file__, "marks")
"""What screens call the marks of a check."""

KINDS: Mapping[str, str] = words_of(__file__, "kinds")

_PROMISES: Mapping[Explanation, str] = words_of(__file__, "promises")

_TRIED: tuple[str, ...] = words_of(__file__, "tried")

_RANDOM = (
    "Random masks show what luck does: as many other words are masked at random, content words for content words. "
    "Only the gain over them counts for the explanation."
)

CAN_TELL = {"yes": "Yes", "no": "No", "cannot tell": "Cannot tell"}
"""The possible guesses about the fresh session; the last is for those who cannot tell what it will do."""

_SENTIMENT = "Is this text positive or negative?"

_RANDOM_TOLD = 3
"""The most random masks that are shown to an audience."""


def scene(view: CheckView) -> Scene:
    """Return the scene of the check as far as it has run. What a damaged journal lacks is missing from it."""
    made = Scene(
        lab="consistency",
        title=_title(view),
        question=QUESTION,
        method="\n".join(_method(view)),
        one="check",
        words=WORDS,
        parts=tuple(_asked(view)),
        claim=claim(view),
        cards=tuple(_cards(view)),
        panels=tuple(panels(view)),
        verdict=verdict_of(view) if view.is_told else None,
        grid=tuple(side_panels(view)),
        differs=from_emphasis(f"With the original parser: {row_verdict(view.by('paper'))}").text
        if view.differs
        else "",
    )
    return made.model_copy(update={"screens": tuple(_screens(view, made))})


def _title(view: CheckView) -> str:
    """Return the question. The paragraph is shown below it."""
    if (item := view.item) is None:
        return ""
    return f"Does this follow? {item.hypothesis}" if item.hypothesis else item.question or _SENTIMENT


def _method(view: CheckView) -> Iterator[str]:
    """Yield which explanation is tested in which wording, and how."""
    if view.check is None:
        yield view.name
        return
    kind = view.check.explanation
    yield f"{EXPLAINS[kind]} ({view.name}). {_PROMISES[kind]} {_TRIED[0]}"
    yield from _TRIED[1:]
    if kind != "counterfactual":
        yield _RANDOM


def _asked(view: CheckView) -> Iterator[Part]:
    """Yield the question and the paragraph that the model was asked about."""
    if (item := view.item) is None:
        return
    yield Part(text=_title(view), label="Question")
    yield Part(text=item.paragraph, label="Paragraph")
    if item.choices:
        yield Part(text=", ".join(item.choices), label="Answers")


def _cards(view: CheckView) -> Iterator[Card]:
    """Yield the check's one card, once an explanation was read."""
    if view.check is None or view.explained is None or view.explained.edited.repaired is None:
        return
    explanation, again = view.call("explanation"), view.call("again")
    after, did = view.reading("after"), edit_reached_target(view)
    by_paper = view.by("paper").outcome
    expect = Expect(
        who="its explanation",
        value="yes" if by_edit(view) else "no",
        quote=first_sentence(explanation.text) if explanation else "",
        call=view.explained.call,
    )
    yield Card(
        id=SESSION,
        number=1,
        mark=mark_of(view),
        parts=(from_emphasis(_bet(view)), as_edited(view, "What the fresh session reads")),
        options=CAN_TELL,
        expects=(expect,),
        said="" if did is None else "yes" if did else "no",
        text=first_sentence(again.text) if after is not None and again else "",
        came="" if after is None else f"it {how_answered(view, after)}",
        outcome=view.outcome,
        reason=_reason(view),
        by_paper=by_paper if by_paper != view.outcome else "",
        calls=calls_again(view),
    )


def _bet(view: CheckView) -> str:
    """Return what an audience may guess about the fresh session."""
    if not by_edit(view):
        return "Without these words, can a fresh session still tell?"
    wanted = view.explained.wanted if view.explained else None
    is_any = wanted is None or is_implicit(view)
    return "Does a fresh session give a different answer?" if is_any else f"Does a fresh session answer *{wanted}*?"


def _reason(view: CheckView) -> str:
    """Return why the check does not count; an empty string if no reason is known."""
    outcome = view.outcome
    if outcome == "misclassified":
        return (
            f"the first answer was wrong: {view.reading('before')}, correct is {view.item.label if view.item else ''}"
        )
    if outcome == "failed":
        return "a call failed"
    return view.result.reason.repaired if view.result and outcome == "undecided" else ""


def _screens(view: CheckView, made: Scene) -> Iterator[Screen]:
    """Yield the screens: the question, its answer, the explanation, the guess and its outcome; then random words, the
    bars that decide, and the verdict.
    """
    yield Screen(shows="question")
    if view.classification is not None and made.panels:
        yield Screen(shows="panel", of="0")
    is_read = view.explained is not None and view.explained.edited.repaired is not None
    by_words = view.check is not None and view.check.explanation == "attribution"
    if made.claim is not None and (by_words or not is_read):
        yield Screen(shows="claim")
    if is_read and made.panels:
        yield Screen(shows="panel", of="1")
    for card in made.cards:
        yield Screen(shows="card", of=card.id)
        if card.said or card.mark != "waiting":
            yield Screen(shows="turned", of=card.id)
    rest = range(3, len(made.panels))
    for number in [*rest[:-1][:_RANDOM_TOLD], *rest[-1:]]:
        yield Screen(shows="panel", of=str(number))
    if made.verdict is not None:
        if len(made.verdict.bars) > 1:
            yield Screen(shows="bars")
        yield Screen(shows="verdict")
