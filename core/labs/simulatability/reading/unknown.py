"""How a simulator says that it cannot guess."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.labs.simulatability.reading.statements import LABEL_END, LABEL_START, LABEL_WORDS, OPENING, Statement
from core.labs.simulatability.reading.values import UNKNOWN

_KNOWING = (
    r"(?:guess|tell|say|determine|infer|predict|deduce|know|conclude|judge|estimate|decide|"
    r"make (?:a|any) (?:\w{1,15} )?guess)(?:ing)?\b"
)
_CANNOT = (
    r"(?:cannot|can ?not|can't|could not|couldn't|would not be able to|wouldn't be able to|unable to|not able to|"
    r"no way (?:to|of)|do not have enough information to|don't have enough information to)"
)
_FIRM = re.compile(
    rf"\b(?:i|we|you|one) (?:\w{{1,12}} ){{0,2}}{_CANNOT} (?:\w{{1,15}} ){{0,2}}{_KNOWING}|\bi (?:do not|don't) know\b|"
    rf"\b(?:i'm|we're) (?:unable|not able) to (?:\w{{1,15}} ){{0,2}}{_KNOWING}|"
    rf"(?:^|(?<=[.!?:;,\n\"(]) ?){_CANNOT} (?:\w{{1,15}} ){{0,2}}{_KNOWING}|"
    rf"\b(?:not possible|impossible|no way|hard|difficult) (?:for me )?to (?:\w{{1,15}} ){{0,2}}{_KNOWING}"
    r"(?= ?(?:what|whether|how|which|the robot|its|from|based|if|[.,;!\n]|$))|"
    r"\bcan(?:not|'t| not) be (?:\w{1,15} )?(?:guessed|determined|inferred|predicted|deduced|known|concluded)\b",
    re.IGNORECASE | re.MULTILINE,
)
_LOOSE = re.compile(
    r"\b(?:not enough|insufficient|no (?:relevant|direct|sufficient)) (?:information|info|context|basis)\b|"
    r"\b(?:does not|doesn't|did not|didn't) (?:\w{1,15} )?(?:help|provide|tell|settle|allow|let|give)\b|"
    r"\b(?:i'm|i am) (?:not sure|unsure|uncertain)\b|\b(?:is|it's|remains) (?:unclear|not clear|uncertain|unknown)\b",
    re.IGNORECASE,
)
_ONLY_UNSURE = re.compile(
    r"[^.!?\n]{0,40}?\b(?:for sure|for certain|with (?:\w{1,12} )?certainty|definitively|definitely|exactly why)\b",
    re.IGNORECASE,
)
_WORD = (
    r"(?:unknown|uncertain|unclear|unsure|undetermined|indeterminate|undecided|not sure|not helpful|no guess|n/?a|none|"
    r"unable to (?:guess|determine|tell|say)|can(?:not|'t| not) (?:guess|determine|tell|say|be determined|be guessed))"
)
_LABELLED = re.compile(rf"{LABEL_START}(?:{LABEL_WORDS}){LABEL_END}{OPENING}{_WORD}\b", re.IGNORECASE | re.MULTILINE)
_LINE = re.compile(rf"[\W_]{{0,4}}{_WORD}[\W_]{{0,4}}", re.IGNORECASE)


def not_guessed(text: str) -> Iterator[Statement]:
    """Claims that the writer cannot guess. "I cannot say for sure" alone is not one."""
    for match in _FIRM.finditer(text):
        if not _ONLY_UNSURE.match(text, match.end()):
            yield Statement(UNKNOWN, match.start(), True)
    for match in _LABELLED.finditer(text):
        yield Statement(UNKNOWN, match.start(), True)
    for match in _LOOSE.finditer(text):
        yield Statement(UNKNOWN, match.start(), False)
    lines = text.split("\n")
    if _LINE.fullmatch(lines[0]):
        yield Statement(UNKNOWN, 0, True)
    if _LINE.fullmatch(lines[-1]):
        yield Statement(UNKNOWN, len(text), True)
