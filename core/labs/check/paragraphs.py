"""The paragraph of a check with its words marked: named, hidden, struck or added."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

from ...scene import Emphasis, Part, Span, with_spans
from ...text import diff
from . import mask
from .outcomes import by_edit
from .view import CheckView


@lru_cache(maxsize=256)
def pieces(original: str, edited: str) -> list[diff.Piece]:
    """Return the word-level difference, cached because it is computed again and again while a run is watched."""
    return diff.pieces(original, edited)


def as_edited(view: CheckView, label: str = "") -> Part:
    """Return the paragraph of the fresh session with what is hidden in it, or with what a counterfactual added."""
    assert view.check is not None and view.explained is not None
    edited = view.explained.edited.repaired or ""
    if view.check.explanation != "counterfactual":
        return with_hidden(view, edited, label)
    return difference(view.item.paragraph if view.item else "", edited, "", label, struck=False)


def in_place(view: CheckView, edited: str) -> Part:
    """Return the first paragraph with the named words marked, or with what the edit took away and added."""
    assert view.check is not None and view.explained is not None
    original, token = view.check.item.paragraph, view.check.wording.mask
    if view.check.explanation == "attribution":
        named = view.explained.words.repaired or ()
        return spanned(original, mask.occurrences(original, named, token), "named")
    return difference(original, edited, "" if by_edit(view) else token)


def with_hidden(view: CheckView, text: str, label: str = "") -> Part:
    """Return a text with its masks marked."""
    token = view.check.wording.mask if view.check else ""
    return spanned(text, mask.mask_spans(text, token), "hidden", label)


def spanned(text: str, spans: Iterable[tuple[int, int]], mark: Emphasis, label: str = "") -> Part:
    """Return a text with marks at the given places; empty spans are left out."""
    return Part(text=text, label=label, spans=tuple(Span(start=a, end=b, mark=mark) for a, b in spans if a < b))


def difference(original: str, edited: str, token: str, label: str = "", struck: bool = True) -> Part:
    """Return `edited` with what was added and, if `struck`, what was taken away; masks are marked as hidden words."""
    return with_spans(_told_apart(pieces(original, edited), token, struck), label)


def _told_apart(them: Iterable[diff.Piece], token: str, struck: bool) -> Iterator[tuple[str, Emphasis | None]]:
    for piece in them:
        if piece.op == "same":
            yield piece.text, None
        elif piece.op == "added":
            cuts = [0, *(place for span in mask.mask_spans(piece.text, token) for place in span), len(piece.text)]
            for place, (start, end) in enumerate(pairwise(cuts)):
                yield from _trimmed(piece.text[start:end], "hidden" if place % 2 else "added")
        elif struck:
            yield from _trimmed(piece.text, "struck")


def _trimmed(text: str, mark: Emphasis) -> Iterator[tuple[str, Emphasis | None]]:
    """Yield the text with the white space around it unmarked."""
    inner = text.strip()
    before, _, after = text.partition(inner) if inner else (text, "", "")
    yield from ((before, None), (inner, mark), (after, None))
