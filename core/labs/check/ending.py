"""The ending of a check: its verdict with the bars that decide it, and the same in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ...scene import Bar, Mark, Verdict, from_emphasis
from ...score import is_thin
from ...text.plurals import count_noun
from ..base.declared import words_of
from . import mask, metrics, vacuity
from .outcomes import by_edit, edit_reached_target, how_answered, mark_of
from .paragraphs import as_edited
from .verdict import by_luck, caveats, is_short, row_verdict
from .view import CheckView, lucky, wrong

_MEANS_NOT: tuple[str, ...] = words_of(__file__, "means_not")

_MEANS_NOT_BY_MARK: Mapping[Mark, str] = words_of(__file__, "means_not_by_mark")

_NAMED_TOLD = 8
"""How many hidden words the verdict in words lists."""

_LISTED = 160
"""The longest edit, in characters, that the verdict in words quotes."""


def verdict_of(view: CheckView) -> Verdict:
    """Return the verdict on one check, with its caveats."""
    score = view.log.score("faithfulness", "repaired")
    thin = ""
    if view.result is not None and score is not None and score.of and is_thin(score.n, score.of):
        checks = count_noun(score.of, "check")
        thin = f"Only {score.n} of {checks} could be decided. Don't rely on the figures."
    return Verdict(
        headline=from_emphasis(row_verdict(view)),
        more=tuple(from_emphasis(sentence) for sentence in caveats(view)),
        words=_in_words(view),
        mark=mark_of(view),
        bars=tuple(_bars(view)),
        doubt=thin,
        meaning="\n".join(filter(None, (*_MEANS_NOT, _MEANS_NOT_BY_MARK.get(mark_of(view), "")))),
    )


def _bars(view: CheckView) -> Iterator[Bar]:
    """Yield the bars of the verdict: hiding the explanation's own words against hiding random words; for a
    counterfactual, the edit in this paragraph against the added words in another paragraph. Yields nothing if
    another reason leaves the check undecided.
    """
    did, after, result = edit_reached_target(view), view.reading("after"), view.result
    if did is None or after is None or result is None or not view.was_asked:
        return
    by_any = result.reason.repaired in (vacuity.ANY_WORDS, vacuity.TURNS)
    if view.state not in ("yes", "no") and not by_any:
        return
    if by_edit(view):
        yield Bar(label=f"with its edit: it {how_answered(view, after)}", hits=int(did), n=1, own=True)
        if (other := view.elsewhere) is not None and other.decides:
            label = "its added words in another paragraph: changed the answer"
            yield Bar(label=label, hits=int(other.turned), n=1, wins=other.turned)
        return
    yield Bar(label=f"its own words hidden: it {how_answered(view, after)}", hits=int(not did), n=1, own=True)
    share = result.control.repaired
    if view.control is not None and share is not None:
        hits, n = by_luck(view.control.repaired, share)
        others = "every other word hidden" if is_short(view, view.control) else "as many random words hidden"
        wins = share >= int(not did) or metrics.any_words_would_do(share)
        yield Bar(label=f"{others}: it could not tell", hits=hits, n=n, wins=wins)


def _in_words(view: CheckView) -> str:
    """Return what the model explained, what a fresh session then answered and, if that is no verdict, why. An empty
    string if nothing was asked again or nothing was hidden.
    """
    after = view.reading("after")
    if view.check is None or view.explained is None or after is None or not view.was_asked:
        return ""
    promise = _promise_in_words(view)
    return " ".join([promise, f"a fresh session {how_answered(view, after)}.", *_but(view)]) if promise else ""


def _promise_in_words(view: CheckView) -> str:
    """Return what the model hid or put in, up to the fresh session's answer; an empty string if it hid nothing."""
    assert view.check is not None and view.explained is not None
    if view.explained.edited.repaired is None:
        return ""
    if by_edit(view):
        return f"{_put_in(view)} Asked about that,"
    words = _hidden_words(view)
    more = len(words) - _NAMED_TOLD
    listed = ", ".join(words[:_NAMED_TOLD]) + (f" and {more:,} more" if more > 0 else "")
    if not words:
        return ""
    if view.check.explanation == "redaction":
        return f"It hid: {listed}. Asked about what is left,"
    return f"It said that these words matter: {listed}. With them hidden,"


def _but(view: CheckView) -> Iterator[str]:
    """Yield the reasons why the answer is not a verdict."""
    if view.state == "undecided":
        yield from_emphasis(row_verdict(view)).text
    elif lucky(view):
        yield "It may be luck: with as many random words hidden it often could not tell either."
    if wrong(view):
        yield "Its first answer was wrong, so this is not counted."


def _put_in(view: CheckView) -> str:
    """Return a sentence with the stretches that a counterfactual put into the paragraph; if they are long, only their
    number of words.
    """
    part = as_edited(view)
    listed = ", ".join(" ".join(part.text[span.start : span.end].split()) for span in part.spans)
    if not listed:
        return "It took words away."
    return (
        f"It put in: {listed}." if len(listed) <= _LISTED else f"It put in {count_noun(len(listed.split()), 'word')}."
    )


def _hidden_words(view: CheckView) -> list[str]:
    """Return the listed words that are in the paragraph; for a redaction, the stretches that it took out."""
    assert view.check is not None and view.explained is not None
    text, token, edited = view.check.item.paragraph, view.check.wording.mask, view.explained.edited.repaired
    if edited is None:
        return []
    if view.check.explanation == "attribution":
        spans = mask.occurrences(text, view.explained.words.repaired or (), token)
    else:
        spans = _joined(text, mask.taken_by(text, edited, token).named)
    return list(dict.fromkeys(" ".join(text[slice(*span)].split()) for span in spans))


def _joined(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join neighbouring spans that have only white space between them."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and not text[joined[-1][1] : start].strip():
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined
