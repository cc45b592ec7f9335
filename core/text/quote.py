"""One sentence of a longer text, for quoting."""

from __future__ import annotations

import re

_END = re.compile(r"[.!?][\"')\]]*(?=\s)|\n")

FEWEST = 3
"""In words. A shorter sentence ("No.") says nothing by itself."""


def first_sentence(text: str, most: int = 160) -> str:
    """Return the first sentence of `text` in one line of at most `most` characters; if it has only a word or two, with
    the next one. Reads at most the first four times `most` characters.
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
