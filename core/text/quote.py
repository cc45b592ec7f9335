"""A sentence of a longer text, to be quoted."""

from __future__ import annotations

import re

_END = re.compile(r"[.!?][\"')\]]*(?=\s)|\n")

FEWEST = 3
"""Words. A sentence of fewer ("No.") says nothing by itself."""


def first_sentence(text: str, most: int = 160) -> str:
    """The first sentence of `text` in one line of at most `most` characters; with the next one, where it is a word or
    two. No more than four times `most` characters are looked at.
    """
    begun = text.strip()[: 4 * most]
    for end in _END.finditer(begun):
        sentence = begun[: end.end()]
        if len(sentence.split()) >= FEWEST:
            break
    else:
        sentence = begun
    line = " ".join(sentence.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
