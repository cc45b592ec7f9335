"""Words that two texts share, their stems and their positions."""

import functools
import unicodedata
from collections.abc import Callable, Iterator, Set
from functools import cache

from ..package_data import DATA

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


def words(text: str) -> list[str]:
    """Return the words of `text` in lower case, in order; "don't" and "well-known" are one word each."""
    return list(_words(text))


@functools.lru_cache(4096)
def _words(text: str) -> tuple[str, ...]:
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
