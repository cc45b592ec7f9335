"""Which of two responses, as today's chat models write it: answers and simulations of shp."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.labs.simulatability.reading.statements import (
    ADVERBS,
    BE,
    LABEL_END,
    LABEL_START,
    LABEL_WORDS,
    OPENING,
    Statement,
    reply,
    said,
    settle,
)
from core.labs.simulatability.reading.unknown import not_guessed
from core.labs.simulatability.reading.values import UNKNOWN
from core.labs.simulatability.reading.yes_no import lead
from core.labs.simulatability.tasks import Method

_FLAGS = re.IGNORECASE | re.MULTILINE
_VALUES = {"1": "1", "2": "2", "a": "1", "b": "2", "one": "1", "two": "2", "first": "1", "second": "2"}
_NOUN = r"(?:response|option|candidate|answer|reply)"
# "Candidate Response 1", "response #2", "Option B", "the first response", "the second one"
_CHOICE = (
    rf"(?:(?:the )?(?:candidate )?{_NOUN} ?(?:#|no\. |number )?\"?(?=(?:1|2|a|b|one|two)\b)|"
    rf"(?:the )?(?=(?:first|second) (?:(?:candidate )?{_NOUN}|one)\b))"
    rf"(?P<v>1|2|a|b|one|two|first|second)\b\"?(?: (?:(?:candidate )?{_NOUN}|one)\b)?"
)
# A letter alone needs a bracket or the line's end, for "a" is a word.
_BARE = r"(?P<bare>[12]|[ab](?=\)|[\W_]{0,3}$))\b(?!\.\d)"
_BARE_STATED = r"(?P<bare>[12]|[ab](?=\)))(?= ?(?:$|[.,;:!)\n]|(?:because|since|as)\b)(?!\.\d))"
_WITHIN = r"(?:(?!\b(?:response|option|candidate|reply|but|less|not|than|while|whereas|neither)\b|n't)[^.\n]){0,80}?"
_BETTER = (
    r"(?:(?:more|most) (?:\w{1,15}(?:,| and|, and) (?:more )?){0,3}(?:helpful|useful)\b|"
    r"\bbetter\b|\bbest\b|\bpreferable\b|\bsuperior\b|\bthe winner\b)"
)
_STATED = (
    # "Candidate Response 2 explores more and is therefore more helpful"
    re.compile(
        rf"\b{_CHOICE}(?: ?\([^)\n]{{0,40}}\))?,?{_WITHIN} "
        rf"(?:is|was|seems|appears|looks|feels|would be|remains|comes across as){_WITHIN} {_BETTER}",
        _FLAGS,
    ),
    # "I find Candidate Response 2 more helpful"
    re.compile(rf"\bfind{OPENING}(?:{_CHOICE})(?: to be)?{_WITHIN} {_BETTER}", _FLAGS),
    # "the more helpful response is Response 2"
    re.compile(
        rf"\b(?:(?:more helpful|most helpful|more useful|better|best|preferred|preferable|winning|stronger) "
        rf"(?:(?:candidate )?{_NOUN}|one)|choice|pick|preference|selection|answer|winner)"
        rf"(?: (?:to|for|here|in|of|between)\b[^.\n]{{0,80}}?)??{BE}:?{OPENING}{ADVERBS}{OPENING}"
        rf"(?:{_CHOICE}|{_BARE_STATED})",
        _FLAGS,
    ),
)
_PREFERRED = re.compile(
    rf"\b(?:choose|pick|prefer|select|favou?r|recommend|go with|opt for|vote for|lean towards?){OPENING}(?:{_CHOICE})",
    _FLAGS,
)
_PREDICTED = (
    # "the robot will likely choose Candidate Response 2"
    re.compile(
        rf"\b(?:will|would|'ll|likely to|going to)(?: (?!not\b|never\b)\w{{1,12}}){{0,2}} "
        rf"(?:choose|pick|prefer|select|favou?r|go with|opt for|find|consider)"
        rf"{OPENING}(?:{_CHOICE})(?!{_WITHIN} less\b)",
        _FLAGS,
    ),
    # "the robot's choice in the follow-up example is Candidate Response 2"
    re.compile(
        rf"\b(?:choice|guess|prediction|answer|selection|preference)"
        rf"(?: (?:to|for|in|of|about)\b(?:(?!starter|original)[^.\n]){{0,100}}?)??"
        rf"{BE}(?: that)?:?{OPENING}{ADVERBS}{OPENING}(?:{_CHOICE}|{_BARE_STATED})",
        _FLAGS,
    ),
    # "I would guess Candidate Response 2"
    re.compile(rf"\b(?:guess|predict|expect)(?: that)?(?: it is| it's)?{OPENING}(?:{_CHOICE})", _FLAGS),
)
_LABELLED = re.compile(
    rf"{LABEL_START}(?:(?:(?:more|most) helpful|better|preferred)(?: {_NOUN})?|{LABEL_WORDS}){LABEL_END}"
    rf"{OPENING}(?:{_CHOICE}|{_BARE})",
    _FLAGS,
)
_LINE = re.compile(rf"[\W_]{{0,4}}(?:(?:so|thus|therefore|hence),? )?(?:{_CHOICE}|{_BARE})[\W_]{{0,3}}", re.IGNORECASE)
_LEAD = re.compile(rf"[\W_]{{0,4}}(?:{_CHOICE}|{_BARE})(?:[,;]| [–—-] | (?:because|since|as)\b)", re.IGNORECASE)


def _which(match: re.Match[str]) -> str:
    return _VALUES[(match["v"] or match["bare"]).lower()]


def _firm(text: str) -> Iterator[Statement]:
    """Labels, and a choice that is the whole first line, begins it, or is the whole last sentence."""
    for match in _LABELLED.finditer(text):
        yield Statement(_which(match), match.start(), True)
    lines = text.split("\n")
    first = _LEAD.match(text)
    # "Response 1:" opens a comparison, "1)" a list.
    if first is None and not lines[0].endswith((":", ")")):
        first = _LINE.fullmatch(lines[0])
    if first:
        yield Statement(_which(first), 0, True)
    last = _LINE.fullmatch(re.split(r"(?<=[.!?:]) ", lines[-1])[-1])
    if last:
        yield Statement(_which(last), len(text), True)


def answer(text: str, method: Method) -> str:
    """1 | 2 | neither, from the reply's first words, labels, closing line and judgements.

    After an answer that comes first, a judgement that opens the reply commits it.
    """
    words = reply(text)
    statements = [*_firm(words)]
    for pattern in (*_STATED, _PREFERRED):
        statements += said(pattern.finditer(words), words, _VALUES, doubts=True)
    if method != "cot":
        statements = [statement._replace(firm=statement.firm or statement.at == 0) for statement in statements]
    return settle(statements)


def simulation(text: str) -> str:
    """1 | 2 | unknown | neither. A first "No" says that the guess cannot be made: unknown."""
    words = reply(text)
    statements = [*_firm(words), *not_guessed(words)]
    for pattern in _PREDICTED:
        statements += said(pattern.finditer(words), words, _VALUES, doubts=False)
    begins = lead(words)
    if begins and begins[0] == "no":
        statements.append(Statement(UNKNOWN, 0, True))
    return settle(statements)
