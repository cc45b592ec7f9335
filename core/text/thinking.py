"""A model's thinking, told apart from what it says to the person who asks, in every form in which it comes as text."""

from __future__ import annotations

import re
from typing import NamedTuple

_TAG = re.compile(
    r"<(/?)(?:seed:)?(?:think|thinking|thought|reasoning)>|\[(/?)THINK\]|◁(/?)think▷|<\|(begin|end)_of_thought\|>",
    re.IGNORECASE,
)
_CHANNEL = re.compile(r"<\|channel\|>[ ]?(analysis|commentary|final)\b[^<\n]{0,200}<\|message\|>")
_BARE_CHANNEL = re.compile(r"assistant(analysis|commentary|final)")
_BARE_START = re.compile(r"\A\s*analysis(?=[A-Z\d\"'“(])")
"""Harmony channels whose marks a server has taken out: "analysisWe need …assistantfinalYes."."""

OPENING = re.compile(
    r"\s*(?:<(?:seed:)?(?:think|thinking|thought|reasoning)>|\[THINK\]|◁think▷|<\|begin_of_thought\|>"
    r"|<\|channel\|>|analysis(?=[A-Z\d\"'“(]))",
    re.IGNORECASE,
)
"""Matches at the start of a text that begins with thinking."""

CLOSING = re.compile(
    r"</(?:seed:)?(?:think|thinking|thought|reasoning)>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>"
    r"|<\|channel\|>[ ]?final\b[^<\n]{0,200}<\|message\|>|assistantfinal",
    re.IGNORECASE,
)
"""Matches where thinking ends and an answer begins."""

LONGEST_MARK = 240
"""No match of CLOSING is longer, in characters."""


class Split(NamedTuple):
    """A text in its two parts. `spans` are the places of the answer's pieces in the text, as (start, end)."""

    thinking: str
    spans: tuple[tuple[int, int], ...]
    text: str

    @property
    def answer(self) -> str:
        """The pieces of the answer, joined; "" where thinking never ended."""
        return "".join(self.text[start:end] for start, end in self.spans)


def split(text: str) -> Split:
    """`text` in thinking and answer, in time linear in its length.

    A closing mark without an opening one ends thinking that the prompt began; a block that is never closed hides all
    that follows it.
    """
    spans = _by_channels(text) if _CHANNEL.search(text) else _by_bare_channels(text)
    if spans is None:
        spans = _by_tags(text)
    if spans == [(0, len(text))]:
        return Split("", tuple(spans), text)
    thinking, at = [], 0
    for start, end in [*spans, (len(text), len(text))]:
        thinking.append(text[at:start])
        at = end
    plain = _BARE_START.sub("", _BARE_CHANNEL.sub(" ", _CHANNEL.sub(" ", _TAG.sub(" ", " ".join(thinking)))))
    return Split(plain.strip(), tuple(spans), text)


def _by_channels(text: str) -> list[tuple[int, int]]:
    """The last message of the channel "final"."""
    finals = [mark.end() for mark in _CHANNEL.finditer(text) if mark[1] == "final"]
    return [(finals[-1], len(text))] if finals else []


def _by_bare_channels(text: str) -> list[tuple[int, int]] | None:
    """What follows the last "assistantfinal"; None where the text has no such channels."""
    finals = [mark.end() for mark in _BARE_CHANNEL.finditer(text) if mark[1] == "final"]
    if finals:
        return [(finals[-1], len(text))]
    return [] if _BARE_START.match(text) else None


def _by_tags(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    at, thinks = 0, False
    for tag in _TAG.finditer(text):
        closes = "/" in tag[0] or tag[4] == "end"
        if closes and not thinks:
            spans.clear()
        elif not closes and not thinks and tag.start() > at:
            spans.append((at, tag.start()))
        at, thinks = tag.end(), not closes
    if not thinks and (at < len(text) or not spans):
        spans.append((at, len(text)))
    return spans
