"""White space that nobody would see, as signs."""

from __future__ import annotations

import re

_UNSEEN = re.compile(r"^ +| +$| {2,}| (?=\n)|[\t\n\r\f\v\u00a0]+")
_SIGNS = str.maketrans({" ": "␠", "\u00a0": "⍽", "\t": "⇥", "\n": "↵", "\r": "␍", "\f": "␌", "\v": "␋"})


def visible(text: str, every: bool = False) -> str:
    """`text` with signs for the white space that nobody would see: at its ends, in a row, tabs, the ends of lines; or
    for `every` space of it. For texts that are compared letter by letter.
    """
    if every:
        return text.translate(_SIGNS)
    return _UNSEEN.sub(lambda found: found[0].translate(_SIGNS), text)
