"""The difference between two texts, word by word or letter by letter: what is the same, removed or added, and how
much.
"""

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from rapidfuzz.distance import Indel, Levenshtein

_UNIT = re.compile(r"(\[[A-Z]+\]|\w+(?:[’'-]\w+)*|[^\w\s]|(?=^\s))(\s*)")
_MANY, _REPEATS = 4_000, 300_000
"""Words, and pairs of equal words. Above either limit difflib may ignore the most frequent words; otherwise it would
take minutes.
"""

_ALIKE = 0.4
"""Texts less similar than this are not compared letter by letter, …"""

_LETTERS = 200
"""… nor are longer ones: the time grows with the product of their lengths."""


class Piece(NamedTuple):
    """A stretch of text. Same and removed pieces make up the original, same and added ones the edited text."""

    op: Literal["same", "removed", "added"]
    text: str


def pieces(original: str, edited: str) -> list[Piece]:
    """Return the word-level difference in reading order; a removed piece comes before what was added in its place."""
    before, after = _units(original), _units(edited)
    old, new = [unit.word for unit in before], [unit.word for unit in after]
    head, tail = _common_ends(old, new)
    end = len(before) - tail
    inner_old, inner_new = old[head:end], new[head : len(new) - tail]
    there = Counter(inner_old)
    repeats = sum(count * there[word] for word, count in Counter(inner_new).items())
    skip = max(len(old), len(new)) > _MANY or repeats > _REPEATS
    matcher = SequenceMatcher(None, inner_old, inner_new, autojunk=skip)
    inner = [(op, i + head, j + head, k + head, m + head) for op, i, j, k, m in matcher.get_opcodes()]
    pieces: list[Piece] = []
    for op, i, j, k, m in [("equal", 0, head, 0, head), *inner, ("equal", end, len(old), len(new) - tail, len(new))]:
        if op == "equal":
            for was, now in zip(before[i:j], after[k:m], strict=True):
                _add(pieces, "same", was.word)
                if was.space == now.space:
                    _add(pieces, "same", was.space)
                else:
                    _add(pieces, "removed", was.space)
                    _add(pieces, "added", now.space)
        else:
            _add(pieces, "removed", "".join(unit.word + unit.space for unit in before[i:j]))
            _add(pieces, "added", "".join(unit.word + unit.space for unit in after[k:m]))
    return pieces


def distance(original: str, edited: str) -> float:
    """Return the Levenshtein distance in words (inserted, deleted or replaced) as a share of the longer text: 0 for
    equal texts, 1 if nothing is kept.
    """
    return float(Levenshtein.normalized_distance(_words(original), _words(edited)))


def kept_share(original: str, edited: str) -> float:
    """Return the share of the original's words that are kept, from 0 to 1; 1 for an original without words."""
    words = len(_words(original))
    stayed = sum(len(_words(piece.text)) for piece in pieces(original, edited) if piece.op == "same")
    return stayed / words if words else 1.0


def letters(original: str, edited: str) -> list[Piece]:
    """Return the difference letter by letter, like `pieces`; empty if the texts have little in common or are long."""
    if max(len(original), len(edited)) > _LETTERS:
        return []
    if original != edited and Indel.normalized_similarity(original, edited) < _ALIKE:
        return []
    found: list[Piece] = []
    gone = came = ""
    for op, low, high, first, last in [*Indel.opcodes(original, edited), ("equal", 0, 0, 0, 0)]:
        if op != "equal":
            gone, came = gone + original[low:high], came + edited[first:last]
            continue
        _add(found, "removed", gone)
        _add(found, "added", came)
        _add(found, "same", original[low:high])
        gone = came = ""
    return found


class _Unit(NamedTuple):
    """A word, punctuation mark or mask, and the white space after it."""

    word: str
    space: str


def _units(text: str) -> list[_Unit]:
    """Split `text` into units that together are `text`; white space at its start belongs to an empty word."""
    return [_Unit(unit[1], unit[2]) for unit in _UNIT.finditer(text)]


def _words(text: str) -> list[str]:
    return [unit.word for unit in _units(text) if len(unit.word) > 1 or unit.word.isalnum()]


def _common_ends(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """Return how many units are equal at the start, and how many of the rest at the end."""
    shorter = min(len(before), len(after))
    head = 0
    while head < shorter and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < shorter - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return head, tail


def _add(pieces: list[Piece], op: Literal["same", "removed", "added"], text: str) -> None:
    if text and pieces and pieces[-1].op == op:
        pieces[-1] = Piece(op, pieces[-1].text + text)
    elif text:
        pieces.append(Piece(op, text))
