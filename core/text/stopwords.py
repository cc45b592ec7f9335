"""English stop words: NLTK's list, as the papers use it, which ships as `data/stopwords_english.txt`."""

from __future__ import annotations

from functools import cache

from ..package_data import DATA

SHIPPED = DATA / "stopwords_english.txt"


def words_of(text: str) -> frozenset[str]:
    """Return the words of a list: one or more per line, `#` begins a comment."""
    return frozenset(word for line in text.splitlines() for word in line.partition("#")[0].split())


@cache
def english() -> frozenset[str]:
    """Return the list, in lower case."""
    return words_of(SHIPPED.read_text(encoding="utf-8"))
