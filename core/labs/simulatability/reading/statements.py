"""Statements of an answer in a reply, and what they come to: the part of reading that strategyqa and shp share.

A statement is firm where the reply commits itself: its first words, a label ("Answer: .."), a closing line, a
sentence that concludes. A reply that is firm on two sides, or that takes its conclusion back, comes to nothing: never
a guess. Quantifiers are bounded, so that hostile text cannot make reading slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from core.labs.simulatability.reading.values import NEITHER
from core.text.reply import fields, own_turn, spoken, without_markup

ADVERBS = (
    r"(?:(?:most|very|quite|a|an|the|still|just|likely|indeed|also|again|thus|then|resounding|definite|firm|clear|"
    r"simple|[a-z]{2,15}ly),? ){0,3}"
)
OPENING = r"[\s\"'(\[:=]{0,4}"
LABEL_START = (
    r"(?:^|(?<=[.!?;:)\n\"]) ?)[\W_]{0,4}(?:\d{1,2}[.)] )?"
    r"(?:(?:my|the|your|its|final|short|correct|overall|robot's|predicted|likely|best|so|thus|therefore) ){0,4}"
)
LABEL_WORDS = (
    r"final answer|answer|verdict|conclusion|decision|prediction|guess|result|choice|selection|preference|winner|"
    r"response|simulation|ans|a"
)
LABEL_END = (
    r"(?: (?:to|for|about|of|in) [^.:?\n]{1,120})?(?: ?\([^)\n]{0,40}\))?\"? ?"
    r"(?:(?:[:=→–—\]>]|->|=>|-(?= )){1,2}>?|(?=\n))"
)
BE = r"(?: is|'s| was| remains|(?: would| will| should| must| has to| is likely to)(?: likely| [a-z]{2,15}ly)? be)"

BEGINNING, END = 4_096, 12_288
"""Characters. Models answer in their first words or their last."""

_ANSWER_KEYS = (
    *("final_answer", "answer", "verdict", "prediction", "guess", "simulation", "choice", "decision", "label"),
    *("preferred_response", "more_helpful_response", "more_helpful", "response", "result", "output"),
)
_JSON_WORDS = {"True": "yes", "False": "no", "None": "unknown"}

_CONCLUDES = re.compile(
    r"\b(?:so|thus|therefore|hence|consequently|accordingly|overall|ultimately|finally|final|conclusion|conclude|"
    r"in short|in summary|to sum up|all in all|as a result)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?;\n]")
_CLAUSE_END = re.compile(
    r"[,:()–—\"]|\b(?:but|so|thus|therefore|hence|because|however|conclude|overall|ultimately|finally)\b", re.IGNORECASE
)
_DOUBTED = re.compile(
    r"\b(?:not|never|neither|nor|whether|some|many|few|people|others?|might|may|could|cannot|unlikely|rather than|"
    r"instead of|doubt)\b|n't\b|\b(?:one|you|they|anyone|someone) (?:would|will|can|think)",
    re.IGNORECASE,
)
_CONDITIONAL = re.compile(r"\b(?:if|unless|suppose|supposing|assuming|provided)\b", re.IGNORECASE)
_OPEN = re.compile(r"\b(?:whether|if)\b", re.IGNORECASE)
_DENIED = re.compile(
    r"(?:not|n't|never|unlikely to|rather than|instead of|neither|nor|without) (?:\w{1,15} ){0,2}$", re.IGNORECASE
)


class Statement(NamedTuple):
    """That the reply says `value`, at character `at`."""

    value: str
    at: int
    firm: bool


def settle(statements: Iterable[Statement]) -> str:
    """What the statements come to; neither where there is none or they do not agree.

    Firm statements outweigh loose ones, except a loose one of another value that comes after them all.
    """
    statements = list(statements)
    last = max((statement.at for statement in statements if statement.firm), default=-1)
    values = {statement.value for statement in statements if statement.firm or statement.at > last}
    return values.pop() if len(values) == 1 else NEITHER


def said(matches: Iterable[re.Match[str]], text: str, values: dict[str, str], doubts: bool) -> Iterator[Statement]:
    """Claims of sentences that state a value in their only named group; denied ones are left out.

    `values` maps what that group may hold, lower case, to the value. With `doubts`, a statement that is doubted,
    ascribed to others or hangs on a condition is left out too.
    """
    for match in matches:
        at, group = match.start(), match.lastgroup or ""
        sentence = _SENTENCE_END.split(text[max(0, at - 200) : at])[-1]
        clause = _CLAUSE_END.split(sentence)[-1]
        statement = text[at : match.start(group)]
        if _DENIED.search(clause) or _DENIED.search(statement) or _OPEN.search(clause):
            continue
        firm = bool(_CONCLUDES.search(sentence + statement))
        if doubts and (_DOUBTED.search(clause) or (not firm and _CONDITIONAL.search(sentence))):
            continue
        yield Statement(values[match[group].lower()], at, firm)


def keyed(text: str, keys: Iterable[str]) -> Any:
    """What the JSON object in `text` holds under the first of `keys` that it has; "" where it has none."""
    entries = fields(text)
    return next((entries[key] for key in keys if key in entries), "")


def reply(text: str) -> str:
    """The model's own words without their wrapping; the answer of a JSON reply as a line "Answer: ..".

    null is unknown, true is yes. Of what is longer than BEGINNING and END together, these are read.
    """
    own = own_turn(spoken(text))
    if len(own) > BEGINNING + END:
        own = f"{own[:BEGINNING]}\n{own[-END:]}"
    value = str(keyed(own, _ANSWER_KEYS))
    return f"Answer: {without_markup(_JSON_WORDS.get(value, value))}" if value else without_markup(own)
