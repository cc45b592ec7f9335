"""How one says that something cannot be told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from ..text.patterns import anycase
from .statements import FIRM, LABEL, LOOSE, Said

UNKNOWN = "unknown"

_KNOWING = (
    r"(?:guess|tell|told|say|said|determin|infer|predict|deduc|know|conclu|judg|estimat|decid|answer|establish"
    r"|identif|ascertain|classif|make (?:a|any) (?:\w{1,15} )?(?:guess|determination|judge?ment))\w*"
)
_CANNOT = (
    r"(?:cannot|can ?not|can't|could not|couldn't|would not be able to|wouldn't be able to|unable to|not able to|"
    r"no way (?:to|of)|(?:do not|don't) have enough information to)"
)
_FIRM = re.compile(
    rf"\b(?:i|we|you|one) (?:\w{{1,12}} ){{0,2}}{_CANNOT} (?:\w{{1,15}} ){{0,2}}{_KNOWING}|\b(?:i"
    rf"|we) (?:do not|don't|have no way to) know\b|\bno (?:telling|clue|idea|guess)\b|"
    rf"\b(?:i'm|we're) (?:unable|not able) to (?:\w{{1,15}} ){{0,2}}{_KNOWING}|"
    rf"(?:^|(?<=[.!?:;,\n\"(]) ?){_CANNOT} (?:\w{{1,15}} ){{0,2}}{_KNOWING}|"
    rf"\b(?:not possible|impossible|no way|hard|difficult) (?:for me )?to (?:\w{{1,15}} ){{0,2}}{_KNOWING}"
    r"(?= ?(?:what|whether|how|which|the robot|its|from|based|if|[.,;!\n]|$))|"
    r"\bno (?:prediction|guess) (?:is|can|could|would)\b|\b(?:prediction|guess) (?:is|would be) (?:im|not )possible\b|"
    r"\bcan(?:not|'t| not) be (?:\w{1,15} )?(?:guessed|determined|inferred|predicted|deduced|said|known"
    r"|concluded|told)\b|\b(?:either answer|go either way)\b",
    re.IGNORECASE | re.MULTILINE,
)
_LOOSE = anycase(
    r"(?:\bnot enough|n't enough|\binsufficient|\bno (?:relevant|direct|sufficient)) (?:information|info"
    r"|context|basis)\b|\b(?:no|little|hardly any|without any?) (?:\w{1,12} ){0,2}(?:basis|grounds?|foundation|clues?"
    r"|hints?|evidence|indication|guidance|insight) (?:for|to|on|about|as to|of (?:what|how|whether))\b|"
    r"\b(?:does not|doesn't|did not|didn't) (?:\w{1,15} )?(?:help|provide|tell|settle|allow|let|give)\b|"
    r"\b(?:says?|said|mentions?) nothing\b|\bnothing (?:in|the|that|it) (?:\w{1,15} ){1,4}?(?:tell|help|say|indicate"
    r"|let|allow|suggest|cover|address|point|bear)s?\b|\b(?:is|was|remains) silent (?:on|about)\b|"
    r"\b(?:i'm|i am) (?:not sure|unsure|uncertain)\b|\b(?:is|it's|remains) (?:unclear|not clear|uncertain|unknown)\b"
)
_ONLY_UNSURE = anycase(
    r"[^.!?\n]{0,40}?\b(?:for sure|for certain|with (?:\w{1,12} )?certainty|definitively|definitely|exactly why)\b"
)
_WORD = (
    r"(?:unknown|uncertain|unclear|unsure|undetermined|indeterminate|undecided|not sure|not helpful|no guess|n/?a"
    r"|none|unable to (?:guess|determine|tell|say)|can(?:not|'t| not) (?:guess|determine|tell|say|be determined"
    r"|be guessed))"
)
_LINE = anycase(rf"[\W_]{{0,6}}{_WORD}[\W_]{{0,6}}")
_SLOT = anycase(rf"[^\w.!?;]{{0,6}}{_WORD}\b")


def not_guessed(text: str) -> Iterator[Said]:
    """Claims that the writer cannot guess. "I cannot say for sure" alone is not one."""
    for match in _FIRM.finditer(text):
        if not _ONLY_UNSURE.match(text, match.end()):
            yield Said(UNKNOWN, match.start(), FIRM)
    for match in islice(LABEL.finditer(text), 200):
        if _SLOT.match(text, match.end()):
            yield Said(UNKNOWN, match.start(), FIRM)
    for match in _LOOSE.finditer(text):
        yield Said(UNKNOWN, match.start(), LOOSE)
    lines = text.split("\n")
    if _LINE.fullmatch(lines[0].partition(". ")[0]):
        yield Said(UNKNOWN, 0, FIRM)
    if _LINE.fullmatch(lines[-1]):
        yield Said(UNKNOWN, len(text), FIRM)


_OPEN_CLAUSE = anycase(r"\b(?:whether|if)\b[^.;\n]*")
_SAYS_UNKNOWN = re.compile(
    rf"""(?:\b|(?=n't))(?: unknown | undetermin(?:ed|able) | indetermin(?:ate|able) | unclear | insufficient | n/a
      | too\ \w+(?:\ \w+)?\ to\ (?:tell|say|judge|determine|know)
      | none\ of\ the\ above
      | (?:not|n't|no)\ (?:\w+\ )?(?:enough|sufficient)\ (?:\w+\ )?(?:information|info|context|details?|evidence|data)
      | (?:not|n't)\ (?:nearly\ )?enough\ to\ (?:go\ on|tell|say|judge|decide|know|determine)
      | nobody\ knows | (?:i|we)\ (?:do\ not|don't)\ know | no\ idea
      | (?:lacks?|lacking|too\ little)\ (?:\w+\ )?(?:information|context|details?)
      | (?:can\ ?not|can't|could\ not|couldn't|unable\ to|not\ able\ to|impossible\ (?:for\ me\ )?to
         |(?:no\ way|not\ possible|hard|difficult)\ to)
        \ (?:be\ )?(?:\w+ly\ )?(?:be\ )?{_KNOWING.replace(" ", chr(92) + " ")}
      | no\ telling | may\ or\ may\ not | inconclusive | (?:not|n't)\ (?:sure|certain|clear|known)
      | no\ (?:clear\ |explicit\ |discernible\ )?(?:information|mention|indication|sentiment)
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_SILENT = anycase(
    r"\b(?:does not|doesn't|do not|is not|isn't|not) (?:\w+ly )?(?:say|specif|mention|stat(?=e)|provide|indicat"
    r"|reveal|tell|told|giv|disclos|clarif|named?\b|identif|address)\w*|\b(?:leaves?|left) (?:\w+ ){1,3}open\b"
    r"|\b(?:says?|said|states?|mentions?) nothing\b|\bnothing (?:is |was )?(?:said|stated)\b"
    r"|\bno mention\b|\bsilent (?:on|about)\b"
    r"|\bnone of the \w+ (?:is|are|was|were) (?:named|mentioned|given|stated)\b"
    r"|\bnot (?:mentioned|stated|discussed|covered)\b"
)


def settled(sentence: str) -> str:
    """`sentence` without what it leaves open ("whether it is so")."""
    return _OPEN_CLAUSE.sub("", sentence)


def cannot_tell(sentence: str) -> int | None:
    """Where a plain sentence says that something cannot be told; None where it does not."""
    match = _SAYS_UNKNOWN.search(sentence)
    return match.start() if match else None


def is_silent(sentence: str) -> bool:
    """Whether a plain sentence says that the text does not say."""
    return _SILENT.search(sentence) is not None
