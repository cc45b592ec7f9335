"""Recognises replies that refuse, and those that say that something cannot be told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from .phrases import RE
from .statements import FIRM, LOOSE, Statement

# Refusals: the model says that it will not answer, not that the answer cannot be known.


def declines(text: str) -> bool:
    """Whether the reply refuses: "I can't determine that because it violates policy", not "I can't determine that"."""
    return RE.declines.search(text) is not None


def begins_as_refusal(text: str) -> bool:
    """Whether an answer that should be a text or a list of words begins as a refusal."""
    return RE.refusal.match(text) is not None


def names_nothing(text: str) -> bool:
    """Whether an answer that should list words begins by saying that it cannot."""
    return begins_as_refusal(text) or RE.no_list.match(text) is not None


UNKNOWN = "unknown"


def not_guessed(text: str) -> Iterator[Statement]:
    """Yield statements that the writer cannot guess. "I cannot say for sure" alone is not one."""
    for match in RE.cannot_guess.finditer(text):
        if not RE.only_unsure.match(text, match.end()):
            yield Statement(UNKNOWN, match.start(), FIRM)
    for match in islice(RE.label.finditer(text), 200):
        if RE.unknown_slot.match(text, match.end()):
            yield Statement(UNKNOWN, match.start(), FIRM)
    for match in RE.little_to_go_on.finditer(text):
        yield Statement(UNKNOWN, match.start(), LOOSE)
    lines = text.split("\n")
    if RE.unknown_line.fullmatch(lines[0].partition(". ")[0]):
        yield Statement(UNKNOWN, 0, FIRM)
    if RE.unknown_line.fullmatch(re.split(r"(?<=[.!?]) ", lines[-1])[-1]):
        yield Statement(UNKNOWN, len(text), FIRM)


def without_open_question(sentence: str) -> str:
    """Remove from `sentence` what it leaves open ("whether it is so")."""
    return RE.open_clause.sub("", sentence)


def cannot_tell(sentence: str) -> int | None:
    """Return where a plain sentence says that something cannot be told; None if it does not."""
    match = RE.says_unknown.search(sentence)
    return match.start() if match else None


def is_silent(sentence: str) -> bool:
    """Whether a plain sentence says that the text does not mention something."""
    return RE.silent.search(sentence) is not None
