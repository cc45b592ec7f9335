"""Recognises replies that refuse, and those that say that something cannot be told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from ..text.patterns import anycase
from .statements import FIRM, LABEL, LOOSE, Statement

# Refusals: the model says that it will not answer, not that the answer cannot be known.


_UNABLE = (
    r"(?:can ?not|can['’]?t|can not|could ?n['’]t|(?:am |['’]m )?(?:unable|not able|not allowed|not permitted) to"
    r"|wo['’]?n['’]?t|will not|will be unable to|do(?:n['’]t| not) (?:feel comfortable|think (?:i|it)|want)|(?:must"
    r"|have to|need to|would like to) (?:respectfully )?(?:decline|refuse)|decline|refuse|(?:am "
    r"|['’]m )?not (?:comfortable|going to|willing))"
)
_GROUNDS = (
    r"(?:\bpolic(?:y|ies)\b|guidelines?\b|\bviolat\w{1,4}\b|\bin?appropriate|ethic\w{0,6}\b|harmful\b|\bunsafe\b"
    r"|\bsafety\b|comfortable\b|offensive\b|\bagainst my\b|my (?:programming|principles)\b|\bsensitive (?:topic"
    r"|content|nature)|terms of (?:use|service)|copyright|explicit content)"
)
_SORRY = r"(?:i['’]?m (?:very |so )?sorry|i am sorry|sorry|i apologi[sz]e)"
_REFUSAL_CANNOT = r"(?:can['’]?t|can ?not|unable|won['’]?t|not able|do(?:n['’]t| not))"
_DECLINES = anycase(
    rf"\b(?:i|we)(?: (?:really|simply|just|am afraid i|'m afraid i))? ?{_UNABLE}\b[^.\n]{{0,160}}{_GROUNDS}"
    rf"|{_GROUNDS}[^.\n]{{0,120}}\b(?:i|we) ?{_UNABLE}\b|\b(?:i|we) ?{_UNABLE} (?:(?:really|directly"
    rf"|be able to) )?(?:assist|help(?! but)|comply|engage|fulfil|participate|do that|"
    r"continue|respond to (?:this|that)|answer (?:this|that)|process|discuss"
    r"|\w+ (?:to )?(?:\w+ )?(?:questions|requests|topics|matters|opinions|advice|judge?ments) (?:about|on|regarding"
    r"|concerning|involving|of (?:this|that)|like (?:this|that)))\b|"
    rf"\bas an? (?:ai|large|language)\b[^.\n]{{0,80}}?\bi ?{_UNABLE} (?:\w+ ){{0,2}}?(?:answer|determine"
    rf"|provide|judge|classify|give|"
    r"offer|form|express|make|do|tell|say|assess|evaluate)\b|\b(?:this|that|the|your|such) (?:request|content|prompt"
    r"|question|material|text|paragraph)\b[^.\n]{0,60}\b(?:violates|goes against|is against|is not something i"
    r"|breaches)\b|\bi (?:must|have to|need to|would have to) (?:respectfully )?(?:decline|refuse)\b|"
    rf"\A\W{{0,20}}{_SORRY}[.!]?\W{{0,20}}\Z"
    r"|\b(?:can ?not|can't|do not|don't) (?:have|see|hear|look at|access|view|open)(?: access to)? (?:your|the|any|that"
    r"|this)"
    r" (?:picture|image|photo|map|file|attachment|figure|link|screenshot|recording|video|drawing|diagram)\b"
)


def declines(text: str) -> bool:
    """Whether the reply refuses: "I can't determine that because it violates policy", not "I can't determine that"."""
    return _DECLINES.search(text) is not None


_REFUSAL = anycase(
    rf"^\W{{0,20}}(?:(?:{_SORRY}|unfortunately)\b[^.\n]{{0,60}}?\b(?:i|as an)\b[^.\n]{{0,60}}?{_REFUSAL_CANNOT}"
    rf"|as an? (?:ai|large|language)\b[^\n]{{0,120}}?\b(?:{_REFUSAL_CANNOT}|have no|decline)\b|sorry\W{{0,4}}\Z"
    r"|(?:unfortunately, )?i (?:can['’]?t|can ?not|won['’]?t|am unable to|am not able to)"
    r" (?:assist|help(?! but)|edit|redact|provide|fulfil|comply|do|complete|make|determine|create|generate|rewrite"
    r"|modify)\b|i['’]m (?:unable|not able) to\b|i (?:won['’]t|will not) be able to\b"
    r"|i (?:must|have to|need to) (?:respectfully )?(?:decline|refuse)\b)"
)
_NO_LIST = anycase(
    rf"\W{{0,20}}(?:{_SORRY}[,.]? (?:but )?(?:the|your|there|no)\b|(?:unfortunately, )?i (?:am )?{_REFUSAL_CANNOT} "
    r"(?:to )?(?:list|identify|name|pick|select|find|extract|highlight|see|have|know)\b"
    r"|(?:it(?:'s| is) (?:hard|difficult|impossible) to|(?:that|it) depends)\b)"
)


def begins_as_refusal(text: str) -> bool:
    """Whether an answer that should be a text or a list of words begins as a refusal."""
    return _REFUSAL.match(text) is not None


def names_nothing(text: str) -> bool:
    """Whether an answer that should list words begins by saying that it cannot."""
    return begins_as_refusal(text) or _NO_LIST.match(text) is not None


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


def not_guessed(text: str) -> Iterator[Statement]:
    """Yield statements that the writer cannot guess. "I cannot say for sure" alone is not one."""
    for match in _FIRM.finditer(text):
        if not _ONLY_UNSURE.match(text, match.end()):
            yield Statement(UNKNOWN, match.start(), FIRM)
    for match in islice(LABEL.finditer(text), 200):
        if _SLOT.match(text, match.end()):
            yield Statement(UNKNOWN, match.start(), FIRM)
    for match in _LOOSE.finditer(text):
        yield Statement(UNKNOWN, match.start(), LOOSE)
    lines = text.split("\n")
    if _LINE.fullmatch(lines[0].partition(". ")[0]):
        yield Statement(UNKNOWN, 0, FIRM)
    if _LINE.fullmatch(lines[-1]):
        yield Statement(UNKNOWN, len(text), FIRM)


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


def without_open_question(sentence: str) -> str:
    """Remove from `sentence` what it leaves open ("whether it is so")."""
    return _OPEN_CLAUSE.sub("", sentence)


def cannot_tell(sentence: str) -> int | None:
    """Return where a plain sentence says that something cannot be told; None if it does not."""
    match = _SAYS_UNKNOWN.search(sentence)
    return match.start() if match else None


def is_silent(sentence: str) -> bool:
    """Whether a plain sentence says that the text does not mention something."""
    return _SILENT.search(sentence) is not None
