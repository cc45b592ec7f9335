"""Yes or no, and what a simulator expects a model to answer when it must say one of the two."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from ..text.patterns import anycase
from .cannot_tell import UNKNOWN, cannot_tell, declines, not_guessed
from .statements import (
    BOTH,
    FIRM,
    LOOSE,
    STATED,
    First,
    Statement,
    begins_with,
    beyond_question,
    reply,
    sentences,
    settle,
    statements_in,
    without_open,
)

_FLAGS = re.IGNORECASE | re.MULTILINE
YES_NO = {"yes": "yes", "yep": "yes", "yeah": "yes", "yup": "yes", "no": "no", "nope": "no"}
TRUE_FALSE = {"true": "yes", "false": "no"}
ALONE = {"y": "yes", "n": "no", "no way": "no", "👍": "yes", "👎": "no"}
first = begins_with(YES_NO | TRUE_FALSE, ALONE)
_BOTH = anycase(
    r"\b(?:yes ?(?:/|\||or|and|&) ?no|no ?(?:/|\||or|and|&) ?yes|yes, no(?= ?(?:[.!?]|$))|yes-or-no|yes-no"
    r"|yes,? (?:but|and) (?:also )?no(?=[.!?,;]|$))\b(?!\W{1,4}(?:or )?unknown)(?: ?:)?"
)


def plain(text: str) -> str:
    """Return the plain words of a reply to a yes-or-no question, in which "yes or no" and "if so, yes; if not, no" are
    not answers.
    """
    return _BOTH.sub(lambda both: "Answer:" if both[0].endswith(":") else BOTH, without_open(reply(text), _VALUE))


_VALUE = anycase(r"\b(?:yes|no(?=\W*(?:[.,;:!)\n]|\Z)| (?:if|in|for|otherwise|unless)\b))\b")
"""A "yes", or a "no" that is an answer, unlike in "no feathers"."""


def lead(text: str) -> tuple[str, str] | None:
    """Return the yes or no that plain `text` begins with, and the sentence after it; None for "No birds ..", "No. 5
    ..".
    """
    begins = first(text)
    if begins is None:
        return None
    return begins.value, re.split(r"[.!?\n]", text[begins.end :].lstrip(".,;:!) \n\"'"), maxsplit=1)[0]


_AGREES = begins_with(
    dict.fromkeys(
        ("correct", "right", "absolutely", "definitely", "certainly", "of course", "indeed", "exactly"), "yes"
    )
    | dict.fromkeys(("that's right", "that's correct", "that is right", "that is correct", "exactly"), "yes")
    | dict.fromkeys(("absolutely not", "certainly not", "definitely not", "of course not", "not at all"), "no")
    | dict.fromkeys(("incorrect", "wrong", "that's wrong", "that is wrong", "by no means"), "no"),
    after=r"(?=\s{0,2}(?:[.!,;:\n–—]|- |\Z))",
)
"""Agreement or denial without a yes or a no: "Absolutely not!"."""


def _agreed(words: str) -> str | None:
    begins = _AGREES(words)
    return begins.value if begins else None


def yes_no(text: str, also: Iterable[Statement] = ()) -> str | None:
    """Return "yes" or "no" from the reply's first words, labels, closing sentence and statements; None if it is not
    clear. `also` are further statements, found by the caller.
    """
    words = plain(text)
    begins, weight = lead(words), FIRM
    if begins is None:
        # It may answer only the first of several questions; a firm answer after it counts.
        begins, weight = lead(beyond_question(words)), LOOSE
    answers = begins is not None and not declines(begins[1]) and cannot_tell(begins[1]) is None
    leads = [Statement(begins[0], 0, weight)] if begins and answers else []
    statements = [*leads, *statements_in(words, first), *also]
    return settle(statements) if statements else _agreed(words)


_SIMULATED = (
    # "the robot will likely answer yes"
    re.compile(
        r"\b(?:answer|say|respond|reply|think|guess|predict|expect|conclude|claim|bet|wager)s?"
        r"(?: with| that| it's| on)?:?|\bmy (?:money|bet) (?:is|would be|goes) on\b",
        _FLAGS,
    ),
    # "its explanation commits it to yes"
    re.compile(
        r"\b(?:(?:rule|explanation|reasoning|logic|principle|criterion|claim)s?(?: \w+)? (?:says?|impl(?:y|ies)|means?"
        r"|gives?|yields?|dictates?|entails?|suggests?|demands?|requires?)|makes? (?:it|its answer|the answer)"
        r"|(?:commits?|leads?|brings?|forces?|takes?|points?|flips?|changes?|turns?)"
        r"(?: (?:it|its answer|the robot|the model|us|me))? to) ?(?:an? |say |answer )?"
        r"(?=\W{0,3}(?:yes|no)\b\W{0,3}(?:[.,;:!)\n]|$))",
        _FLAGS,
    ),
    # "the robot's answer to the follow-up question is likely no", never one about the starter question
    *STATED,
)
_ABOUT_GUESSING = anycase(
    r"\b(?:help|helps|helpful|guess|infer|determine|predict|confident|confidently|certain|enough|directly"
    r"|sufficient)\b"
)
_TRUTH = anycase(
    r"\b(?:right|correct|true|actual|real|factual|proper)(?: answer)?\b|\b(?:reality|in fact|factually|truth"
    r"|objectively)\b"
)
_ROBOT = anycase(r"\b(?:robot|model|assistant|bot|ai|it|its|he|she|they|predict\w*|guess\w*|expect\w*|simulat\w*)\b")


_ACTUALLY = anycase(r"\b(?:really|actually|truly)\b")
_BUT_ROBOT = anycase(r"[^.\n]{0,20}\b(?:but|yet|however|while|though)\b[^.\n]{0,40}\b(?:robot|model|it)\b")
_WRONG = anycase(r"\b(?:robot|model|it) (?:is|would be|will be) (?:wrong|mistaken|incorrect)\b")
_EITHER = anycase(r"\bor (?:it |they |he |she )?(?:might|may|could|perhaps|maybe)\b")
_CLAUSE = 120
"""Characters after a hedge within which the guess that goes with it begins."""
_ALL_THE_SAME = anycase(r"[^.!?\n]{0,80}[,;.–—] ?(?:but|still|though|yet|however|nevertheless)\b")
_MIGHT = anycase(r"\b(?:might|may|could)\b")
_BUT_UNSURE = anycase(r"\b(?:yes|no)\b[^.!?;\n]{0,20}\b(?:but|though) \Z")
_UNSURE = anycase(r"(?:i'm|i am) (?:not sure|unsure|uncertain)\b")


def of_truth(text: str, at: int, until: int) -> bool:
    """Whether the statement says what is true ("The right answer is no") or might be, not what the robot will say."""
    begin = max(0, at - 80)
    clause = re.split(r"[.!?;,\n]|\bbut\b", text[begin:at])[-1] + text[at:until]
    if _EITHER.search(text, begin, until) or (_MIGHT.search(clause) and _EITHER.search(text, until, until + 40)):
        return True
    told = (
        _TRUTH.search(clause)
        or _WRONG.search(text, begin, at)
        or (_ACTUALLY.search(text, at, until + 12) and _BUT_ROBOT.match(text, until + 4))
    )
    return told is not None and _ROBOT.search(clause) is None


def simulated(words: str, first: First, markers: Sequence[re.Pattern[str]]) -> list[Statement]:
    """Return what a simulator's plain words say after the first ones, including that it cannot guess, unless it
    refuses.
    """
    unknown = [] if declines(words) else list(not_guessed(words))
    unknown = [hedge for hedge in unknown if not of_truth(words, hedge.at, hedge.at) or _EITHER.search(words)]
    guesses = list(statements_in(words, first, markers, doubts=False, passes=of_truth))
    if any(hedge.weight > LOOSE for hedge in unknown):
        guesses = [guess for guess in guesses if not _MIGHT.search(words, max(0, guess.at - 20), guess.at)]
    is_firm = any(guess.weight > LOOSE for guess in guesses)
    places = sorted(guess.at for guess in guesses)

    def is_overruled(hedge: Statement) -> bool:
        if _UNSURE.match(words, hedge.at) and _BUT_UNSURE.search(words, max(0, hedge.at - _CLAUSE), hedge.at):
            return any(guess.at < hedge.at for guess in guesses)
        return bool(is_firm and _UNSURE.match(words, hedge.at)) or _guesses_after(words, hedge.at, places)

    return [*(hedge for hedge in unknown if not is_overruled(hedge)), *guesses]


def _guesses_after(words: str, hedge: int, guesses: Sequence[int]) -> bool:
    """Whether the writer guesses despite a hedge: "I'm not sure, but ..", "Hard to say. Still, .."."""
    but = _ALL_THE_SAME.match(words, hedge)
    following = bisect_left(guesses, but.end()) if but else len(guesses)
    return but is not None and following < len(guesses) and guesses[following] <= but.end() + _CLAUSE


_CONCEDED = anycase(
    r"(?:\b(?:although|though|even though|while|whereas) (?:\w+ ){0,3}?(?:one|you|people|persons?|someone|somebody"
    r"|humans?|many|most|common sense|intuition|it|this|that)\b[^.;,\n]{0,80}\b(?:yes|no)\b[^.;,\n]{0,40}, "
    r"|\b(?:(?:one|you|people|someone|somebody|a person|many|most people|(?:normally|usually|personally),? i)"
    r"(?:'d| (?:might|may|could|would))"
    r"(?: \w+){0,3}?"
    r" (?:say|answer|think|expect|guess)\b|it(?:'s| is| may be| might be| would be) (?:tempting|easy|natural) to \w+ )"
    r"[^.;,\n]{0,40}\b(?:yes|no)\b,? but )(?=[^.\n]{0,120}\b(?:robot|model|assistant|it|its)\b)"
)
"""What somebody else would say, conceded before what the robot will say."""


def simulation(text: str) -> str | None:
    """Return "yes", "no" or "unknown": what the simulator says the robot will answer, not what it considers true. None
    if it is not clear.

    A first "No" about whether one can guess means unknown; a first "Yes" about that is not yet a guess. The closing
    sentence outweighs a reply that begins "Yes, fire needs oxygen, ..", because that beginning says what is true.
    """
    words = _CONCEDED.sub("", plain(text))
    statements = simulated(words, first, _SIMULATED)
    begins = lead(words)
    if begins and _ABOUT_GUESSING.search(begins[1]):
        if begins[0] == "no":
            statements.append(Statement(UNKNOWN, 0, FIRM))
    elif begins and not _TRUTH.match(words) and all(one.value != UNKNOWN for one in statements):
        closing = len(words) - len(sentences(words)[-1])
        opening = first(words)
        conceded = opening and words.startswith(",", opening.end) and any(one.at >= closing > 0 for one in statements)
        statements += [] if conceded else [Statement(begins[0], 0, FIRM)]
    return settle(statements)
