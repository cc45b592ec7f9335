"""Visible signs for invisible characters: white space, and characters that change the direction of writing."""

from __future__ import annotations

import re

_UNSEEN = re.compile(r"^ +| +$| {2,}| (?=\n)|[\t\n\r\f\v\u00a0]+")
_SIGNS = str.maketrans({" ": "␠", "\u00a0": "⍽", "\t": "⇥", "\n": "↵", "\r": "␍", "\f": "␌", "\v": "␋"})


_DIRECTIONS = dict.fromkeys([0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)], "⇆")


def directed(text: str) -> str:
    """Replace each character that changes the direction of writing by a sign: such characters can make an answer look
    different from what it is. Letters of right-to-left languages keep their own direction.
    """
    return text.translate(_DIRECTIONS)


def visible(text: str, every: bool = False) -> str:
    """Replace white space that nobody would see by signs: at the ends of `text`, repeated spaces, tabs, line ends; with
    `every`, all white space. For texts that are compared letter by letter.
    """
    if every:
        return text.translate(_SIGNS)
    return _UNSEEN.sub(lambda found: found[0].translate(_SIGNS), text)
