"""Texts with their words marked: named, hidden, struck or added."""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from ...scene import Emphasis, Part, Span, trimmed, with_spans
from ...text import compare
from . import mask
from .records import Elsewhere


def spanned(text: str, spans: Iterable[tuple[int, int]], mark: Emphasis, label: str = "") -> Part:
    """Return a text with marks at the given places; empty spans are left out."""
    return Part(text=text, label=label, spans=tuple(Span(start=a, end=b, mark=mark) for a, b in spans if a < b))


def difference(original: str, edited: str, token: str, label: str = "", struck: bool = True) -> Part:
    """Return `edited` with what was added and, if `struck`, what was taken away; masks are marked as hidden words."""
    return with_spans(_told_apart(original, edited, token, struck), label)


def _told_apart(original: str, edited: str, token: str, struck: bool) -> Iterator[tuple[str, Emphasis | None]]:
    for piece in compare.pieces(original, edited):
        if piece.op == "same":
            yield piece.text, None
        elif piece.op == "added":
            cuts = [0, *(place for span in mask.mask_spans(piece.text, token) for place in span), len(piece.text)]
            for place, (start, end) in enumerate(pairwise(cuts)):
                yield from trimmed(piece.text[start:end], "hidden" if place % 2 else "added")
        elif struck:
            yield from trimmed(piece.text, "struck")


def added_at(other: Elsewhere) -> Iterator[tuple[int, int]]:
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


def joined(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join neighbouring spans that have only white space between them."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and not text[joined[-1][1] : start].strip():
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined
