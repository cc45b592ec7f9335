"""Two texts compared: their difference, word by word or letter by letter (what is the same, removed or added, and how
much), and the words that they share.
"""

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from difflib import SequenceMatcher
from functools import cache
from typing import Literal, NamedTuple

from rapidfuzz.distance import Indel, Levenshtein, Postfix, Prefix

from ..package_data import DATA

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


@functools.lru_cache(maxsize=256)
def pieces(original: str, edited: str) -> Sequence[Piece]:
    """Return the word-level difference in reading order; a removed piece comes before what was added in its place.

    Cached because the same difference is asked for again and again, also while a run is watched.
    """
    before, after = _units(original), _units(edited)
    old, new = [unit.word for unit in before], [unit.word for unit in after]
    # How many units are equal at the start, and how many of the rest at the end.
    head = int(Prefix.similarity(old, new))
    tail = int(Postfix.similarity(old[head:], new[head:]))
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


def _add(pieces: list[Piece], op: Literal["same", "removed", "added"], text: str) -> None:
    if text and pieces and pieces[-1].op == op:
        pieces[-1] = Piece(op, pieces[-1].text + text)
    elif text:
        pieces.append(Piece(op, text))


# Words that two texts share, their stems and their positions.


# English stop words: NLTK's list, as the papers use it, which ships as `data/stopwords_english.txt`.


SHIPPED = DATA / "stopwords_english.txt"


def words_of(text: str) -> frozenset[str]:
    """Return the words of a list: one or more per line, `#` begins a comment."""
    return frozenset(word for line in text.splitlines() for word in line.partition("#")[0].split())


@cache
def english() -> frozenset[str]:
    """Return the list, in lower case."""
    return words_of(SHIPPED.read_text(encoding="utf-8"))


_JOINERS = "'’-"


def _belongs(char: str) -> bool:
    """Whether `char` is part of a word: a letter, a digit, or a combining mark."""
    return char.isalnum() or unicodedata.category(char)[0] == "M"


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Split `text` into words and what is between them: (piece, whether it is a word)."""
    start, in_word = 0, False
    for at, char in enumerate(text):
        inside = _belongs(char) or (in_word and char in _JOINERS and at + 1 < len(text) and _belongs(text[at + 1]))
        if inside != in_word:
            if at > start:
                yield text[start:at], in_word
            start, in_word = at, inside
    if start < len(text):
        yield text[start:], in_word


def _key(word: str) -> str:
    return unicodedata.normalize("NFC", word).lower().replace("’", "'")


@functools.lru_cache(4096)
def words(text: str) -> tuple[str, ...]:
    """Return the words of `text` in lower case, in order; "don't" and "well-known" are one word each."""
    return tuple(_key(piece) for piece, is_word in _pieces(text) if is_word)


def content_words(text: str) -> set[str]:
    """Return the words of `text` in lower case, without English stopwords."""
    return set(words(text)) - english()


_LONGEST_STEMMED = 40
"""Letters. The stemmer's time grows with the square of a word's length; longer strings are no words."""


def stem(word: str) -> str:
    """Return the Snowball stem of an English word in lower case: "swimming" and "swims" both give "swim".

    The first call loads NLTK, which takes some seconds: never call it first where a page or the event loop waits.
    """
    return _snowball()(word) if len(word) <= _LONGEST_STEMMED else word


@functools.cache
def _snowball() -> Callable[[str], str]:
    from nltk.stem import SnowballStemmer

    return functools.lru_cache(4096)(SnowballStemmer("english").stem)


def mark(text: str, words: Set[str]) -> list[tuple[str, bool]]:
    """Split `text` into pieces, each with whether it is one of `words` (lower case). The joined pieces are `text`
    again.
    """
    marked: list[tuple[str, bool]] = []
    for piece, is_word in _pieces(text):
        chosen = is_word and _key(piece) in words
        if marked and not chosen and not marked[-1][1]:
            marked[-1] = (marked[-1][0] + piece, False)
        else:
            marked.append((piece, chosen))
    return marked
