"""Yes and no, as today's chat models write them: answers and simulations of strategyqa."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.labs.simulatability.reading import paper
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
from core.labs.simulatability.reading.values import NEITHER, UNKNOWN
from core.labs.simulatability.tasks import Method
from core.text.reply import own_turn, spoken

_FLAGS = re.IGNORECASE | re.MULTILINE
_VALUES = {"yes": "yes", "yep": "yes", "yeah": "yes", "true": "yes", "no": "no", "nope": "no", "false": "no"}
_WORD = r"(?P<v>yes|yep|yeah|nope|no)\b"
_AFTER = (
    r"(?=\s?(?:$|[.,;:!?()\]}<\"'\n–—]|-(?!\w)|(?:because|since|as|due|given|and|but|for|based|in|to|with|according|if|"
    r"when|while|although|though|unless|on|here|too)\b))"
)
_BOTH = re.compile(
    r"\b(?:yes ?(?:/|\||or|and|&) ?no|no ?(?:/|\||or|and|&) ?yes|yes, no(?= ?(?:[.!?]|$))|yes-or-no|yes-no)\b(?: ?:)?",
    re.IGNORECASE,
)
_PREAMBLE = (
    r"\A[\W_]{0,4}(?:(?:sure|certainly|of course|okay|ok|alright|great question|good question|interesting question|"
    r"well|hmm)[!.,:…-]{1,3}\s){0,2}[\W_]{0,4}"
    r"(?:(?:most |very |almost )?(?:likely|probably|definitely|certainly|clearly),? )?"
)
_LEAD = re.compile(
    rf"{_PREAMBLE}{_WORD}(?!\.? ?\d)(?=[\W_]{{0,3}}$|[.,;:!)\n\"'–—]| [–—-] |[\W_]{{0,3}}\n|"
    r" (?:because|since|as|it|they|he|she|there|we|you|i|this|that|these|those|the|according|due|but)\b)",
    re.IGNORECASE,
)
_CONCLUDING = r"(?:so|thus|therefore|hence|overall|ultimately|finally|in conclusion|in short|in summary)"
_FIRM = (
    # "Answer: yes"
    re.compile(
        rf"{LABEL_START}(?:{LABEL_WORDS}){LABEL_END}{OPENING}{ADVERBS}{OPENING}"
        rf"(?P<v>yes|yep|yeah|nope|no|true|false)\b{_AFTER}",
        _FLAGS,
    ),
    # a last line or sentence that is the answer and nothing else
    re.compile(rf"(?:^|(?<=[.!?:\n]) ?)[\W_]{{0,4}}(?:{_CONCLUDING}[,:]? ?)?{_WORD}[\W_]{{0,4}}\Z", _FLAGS),
    # a line of its own above the reasons
    re.compile(rf"^[\W_]{{0,4}}{_WORD}[\W_]{{0,4}}\n(?=\W{{0,4}}(?:justification|explanation|reason)\b)", _FLAGS),
    # "To answer your question: yes, .."
    re.compile(rf"\bto answer (?:your|the|this) question[,:]{OPENING}{_WORD}(?=[,.!;:\n]|$)", _FLAGS),
    # "Therefore, no, .."
    re.compile(rf"(?:^|(?<=[.!?;,\n]) ?){_CONCLUDING},? {_WORD}(?=[,.!;:])", _FLAGS),
)
_STATED = (
    # "the answer to this is clearly no"
    re.compile(
        rf"\b(?:answer|verdict|conclusion)(?: (?:to|for|here|given|in|of)\b[^.\n]{{0,160}}?)??{BE}(?: that)?"
        rf"{OPENING}{ADVERBS}{OPENING}{_WORD}{_AFTER}",
        _FLAGS,
    ),
    # "I would say yes"
    re.compile(
        rf"\b(?:i|we)(?:'d|'ll| would| will| must| should| have to)? (?:\w{{1,10}} )?(?:say|answer|go with|respond|"
        rf"conclude|vote)(?: with| that| it's)?{OPENING}{ADVERBS}{OPENING}{_WORD}{_AFTER}",
        _FLAGS,
    ),
)
_DECLINED = re.compile(
    r"\b(?:i|we)(?: am|'m)? (?:cannot|can't|can not|unable to|not able to|won't|will not|do not|don't) "
    r"(?:\w{1,12} ){0,2}(?:answer|help|assist|determine|say|provide|respond|comply|tell|know|discuss|have)\b",
    re.IGNORECASE,
)
_SIMULATED = (
    # "the robot will likely answer yes"
    re.compile(
        rf"\b(?:answer|say|respond|reply|think|guess|predict|expect)s?(?: with| that| it's)?"
        rf"{OPENING}{ADVERBS}{OPENING}{_WORD}{_AFTER}",
        _FLAGS,
    ),
    # "the robot's answer to the follow-up question is likely no", never one about the starter question
    re.compile(
        rf"\b(?:answer|response|guess|prediction)"
        rf"(?: (?:to|for|about|here|in|of)\b(?:(?!starter|original)[^.\n]){{0,160}}?)??"
        rf"{BE}(?: that)?{OPENING}{ADVERBS}{OPENING}{_WORD}{_AFTER}",
        _FLAGS,
    ),
)
_ABOUT_GUESSING = re.compile(
    r"\b(?:help|helps|helpful|guess|infer|determine|predict|confident|confidently|certain|enough|directly|sufficient)\b",
    re.IGNORECASE,
)


def _first_sentence(text: str) -> str:
    return re.split(r"[.!?\n]", text.lstrip(".,;:!) \n\"'"), maxsplit=1)[0]


def _firm(text: str) -> Iterator[Statement]:
    for pattern in _FIRM:
        for match in pattern.finditer(text):
            yield Statement(_VALUES[match["v"].lower()], match.start("v"), True)


def lead(text: str) -> tuple[str, str] | None:
    """The yes or no that plain `text` begins with, and the sentence after it; None for "No birds ..", "No. 5 .."."""
    match = _LEAD.match(text)
    return (_VALUES[match["v"].lower()], _first_sentence(text[match.end("v") :])) if match else None


def answer(text: str, method: Method) -> str:
    """yes | no | neither, from the reply's first words, labels, closing sentence and statements."""
    words = _BOTH.sub("(both)", reply(text))
    statements = [*_firm(words)]
    for pattern in _STATED:
        statements += said(pattern.finditer(words), words, _VALUES, doubts=True)
    begins = lead(words)
    if begins and not _DECLINED.search(begins[1]):
        statements.append(Statement(begins[0], 0, True))
    # What the authors would read counts as said, so that the two sets of rules never give opposite answers.
    own = own_turn(spoken(text))
    strict = paper.yes_no_after_reasoning(own) if method == "cot" else paper.yes_no_before_justification(own)
    if strict != NEITHER:
        statements.append(Statement(strict, len(words) if method == "cot" else 0, True))
    return settle(statements)


def simulation(text: str) -> str:
    """yes | no | unknown | neither, from what the simulator says that the robot will answer.

    A first "No" about whether one can guess is unknown; a first "Yes" about that is no guess yet.
    """
    words = _BOTH.sub("(both)", reply(text))
    statements = [*_firm(words), *not_guessed(words)]
    for pattern in _SIMULATED:
        statements += said(pattern.finditer(words), words, _VALUES, doubts=False)
    begins = lead(words)
    if begins and _ABOUT_GUESSING.search(begins[1]):
        if begins[0] == "no":
            statements.append(Statement(UNKNOWN, 0, True))
    elif begins and all(statement.value != UNKNOWN for statement in statements):
        statements.append(Statement(begins[0], 0, True))
    return settle(statements)
