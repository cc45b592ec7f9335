"""Find explanations that test nothing. Only the test of a counterfactual's added words needs further calls.

A worthless explanation passes any test that every explanation would pass: masking nearly everything, or naming the
answer instead of editing, has the effect without explaining anything. The updated rules leave such a check undecided;
the paper's rules count it (docs/measuring.md §3.6).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...datasets.items import Item
from ...text import diff
from ...text.stable_random import unit_number
from . import mask
from .tasks import Task, shipped

KEPT = 0.5
"""The least share of the words that an edit must keep: with fewer it is another text."""

ANY_WORDS = "any words would do: with as many others masked at random it could not tell in most draws either"
UNTRIED = "whether what it added turns any paragraph could not be tried"
REASONS = {
    "so many words are masked that as many others are not left to compare with": "masks too much",
    ANY_WORDS: "any words would do",
    "nothing is masked in what it wrote": "no mask",
    "it added words of its own, where it should only mask": "adds text",
    "what it left unmasked is not the original, word for word and in its order and case": "changes text",
    "less than half of the paragraph was kept: that is another text, no edit": "another text",
    "it added words that name the answer": "names the answer",
    "what it added turns another paragraph as well": "turns others too",
    UNTRIED: "not tried",
}
"""Why a check tests nothing, and the short name of that reason for its exclusion."""

TOO_MUCH, _, NO_MASK, ADDS, ALTERS, REWRITTEN, NAMES, TURNS, _ = REASONS

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*[\"”’')]*")
_CLAUSE = re.compile(r"[^.!?:;,()\n–—]+")
_WORD = re.compile(r"\w+(?:[’'-]\w+)*")
_SENTIMENT = re.compile(r"(?i)\b(?:positiv|negativ|neutral)\w*")
_RATING = re.compile(
    r"(?i)(?<![\d/])\d{1,3}(?:[.,]\d)?\s?/\s?\d{1,3}(?![\d/])|[★☆⭐👍👎]|\bthumbs?[- ](?:up|down)\b"
    r"|\b(?:\d{1,3}|half|zero|one|two|three|four|five|ten)[- ]?(?:stars?\b|out of (?:\d|five\b|ten\b))"
)
_LETTER = re.compile(r"(?i)(?<![\w(])\(?([a-z])\)")
_ANSWERED = re.compile(r"(?i)\b(?:answer|choice|option|label|statement|hypothes[ie]s|entail\w*)\b")
_JUDGED = re.compile(r"(?i)\b(?:yes|no|not|true|false|follows?|contradicts?|contradicted)\b")
_DENIES = re.compile(r"(?i)\b(?:no|not|never|nobody|nothing|none|neither|nor|without|hardly)\b|n['’]t\b")
_BARE = {"yes", "no", "true", "false"}
_SWAP = 3
"""A replacement of at most this many words by at most this many is no new sentence, however short the sentence is ("a
dreadful bore" for "a superb thrill").
"""

_MOST = 2_000
"""How many characters of an addition are put into another paragraph."""


def of_masks(words: mask.Words, text: str, thorough: bool = True) -> str:
    """Return why masks of `text` test nothing, before anything is asked; an empty string if they do test something."""
    enough = words.leave_enough_of_each(text) if thorough else words.leave_enough
    return "" if enough else TOO_MUCH


def of_redaction(original: str, edited: str, token: str, thorough: bool = True) -> str:
    """Return why a redaction tests nothing; an empty string if it does test something. Masks that were in the original
    do not count as its own.
    """
    if mask.masks(edited, token) <= mask.masks(original, token):
        return NO_MASK
    if mask.added_words(original, edited, token):
        return ADDS
    if thorough and not mask.leaves_the_rest(original, edited, token):
        return ALTERS
    return of_masks(mask.taken_by(original, edited, token), original, thorough)


def of_counterfactual(task: Task, choices: Sequence[str], original: str, edited: str, thorough: bool = True) -> str:
    """Return why a counterfactual tests nothing, as far as its text shows; an empty string if the text shows no
    reason.
    """
    if diff.kept_share(original, edited) < KEPT:
        return REWRITTEN
    if any(_names(task, choices, clause) for clause in _added(original, edited, _CLAUSE)):
        return NAMES
    return NAMES if thorough and _names_more(task, choices, original, edited) else ""


def addition(original: str, edited: str, thorough: bool = True) -> str:
    """Return the sentences that a counterfactual added, at most 2,000 characters; an empty string if it only changed
    words.
    """
    swap = _SWAP if thorough else 0
    return " ".join(sentence.strip() for sentence in _added(original, edited, _SENTENCE, swap))[:_MOST].strip()


def another_item(item: Item, label: str | None) -> Item | None:
    """Return a shipped paragraph to put an addition into, always the same one for `item`; None if there is none.

    It has the same label. Stories have different choices, so for a story it is one with another question: an addition
    that settles one question should not affect the other.
    """
    others = [
        other
        for other in shipped(item.task)
        if other.paragraph != item.paragraph
        and (other.question != item.question if item.task == "multi_choice" else other.label == label)
    ]
    return others[int(unit_number(item.paragraph) * len(others))] if others else None


class Stretch(NamedTuple):
    """Words that an edit put in. `at`: the share of the original's words before them; `swapped`: they replaced
    others.
    """

    text: str
    at: float
    swapped: bool

    @property
    def is_weak(self) -> bool:
        """Whether it may turn another paragraph even in an honest edit, because it replaces other words or contains a
        negation.
        """
        return self.swapped or _DENIES.search(self.text) is not None


def put_in(original: str, edited: str) -> list[Stretch]:
    """Return the words that a counterfactual put in: only the inserted ones if there are any, otherwise those that
    replaced others.
    """
    total = max(len(_WORD.findall(original)), 1)
    stretches, before, removed = [], 0, 0
    for piece in diff.pieces(original, edited):
        words = len(_WORD.findall(piece.text))
        if piece.op == "added" and words:
            stretches.append(Stretch(" ".join(piece.text.split()), (before - removed) / total, bool(removed)))
        before += words if piece.op != "added" else 0
        removed = words if piece.op == "removed" else 0
    inserted = [one for one in stretches if not one.swapped]
    return inserted or stretches


def placed(stretches: Sequence[Stretch], other: str) -> str:
    """Return another paragraph with the words put in at the same relative places, counted in words."""
    ends = [0, *(word.end() for word in _WORD.finditer(other))]
    ends[-1] = len(other)
    text, at = "", 0
    for stretch in stretches:
        end = ends[round(stretch.at * (len(ends) - 1))]
        text += f"{other[at:end]} {stretch.text}" + " " * other[end : end + 1].isalnum()
        at = end
    return f"{text}{other[at:]}".strip()[: len(other) + _MOST]


def addition_turns(task: Task, bare: str | None, added: str | None, wanted: str | None, choices: Sequence[str]) -> bool:
    """Whether an addition turned another paragraph, given the answers without it (`bare`) and with it (`added`)."""
    if task == "multi_choice":
        return added in choices and added != bare
    return added == wanted and bare != wanted


def _names(task: Task, choices: Sequence[str], clause: str) -> bool:
    """Whether a clause names the answer itself. A story mentions its choices anyway, and any text may say "no", so
    these have to be called an answer or to be the whole clause.
    """
    if task == "sentiment":
        return _SENTIMENT.search(clause) is not None
    alone = " ".join(_WORD.findall(clause)).casefold()
    if task == "entailment":
        called = _ANSWERED.search(clause)
        return alone in _BARE or (called is not None and _JUDGED.search(clause) is not None)
    names = [re.escape(choice) for choice in choices]
    if alone in {" ".join(_WORD.findall(choice)).casefold() for choice in choices}:
        return True
    return _ANSWERED.search(clause) is not None and re.search(rf"(?i)\b(?:{'|'.join(names)})\b", clause) is not None


def _names_more(task: Task, choices: Sequence[str], original: str, edited: str) -> bool:
    """Whether an edit names an answer more often than the original does, also within a sentence of the original.

    It counts labels and ratings for sentiment; for the other tasks, words such as "answer" next to an answer, and the
    letters of choices. Turning "a positive surprise" into a negative one, or 9/10 into 2/10, does not raise the count.
    """

    def more(count: Callable[[str], int]) -> bool:
        return count(edited) > count(original)

    def letters(text: str) -> int:
        return sum(ord(letter.lower()) - ord("a") <= len(choices) for letter in _LETTER.findall(text))

    def called(text: str) -> int:
        return len(_ANSWERED.findall(text))

    if task == "sentiment":
        return more(lambda text: len(_SENTIMENT.findall(text))) or more(lambda text: len(_RATING.findall(text)))
    if choices and more(letters):
        return True
    return more(called) and more(lambda text: sum(_names(task, choices, clause) for clause in _CLAUSE.findall(text)))


def _added(original: str, edited: str, part: re.Pattern[str], swap: int = 0) -> list[str]:
    """Return the parts of `edited` in which more than half of the words are new. Words do not count as new if at most
    `swap` of them replace at most `swap` words.
    """
    new: set[int] = set()
    at = removed = 0
    for piece in diff.pieces(original, edited):
        if piece.op == "added":
            words = [at + word.start() for word in _WORD.finditer(piece.text)]
            if not (removed and max(removed, len(words)) <= swap):
                new.update(words)
        removed = len(_WORD.findall(piece.text)) if piece.op == "removed" else 0
        if piece.op != "removed":
            at += len(piece.text)
    parts = []
    for found in part.finditer(edited):
        starts = [found.start() + word.start() for word in _WORD.finditer(found[0])]
        if starts and 2 * sum(start in new for start in starts) > len(starts):
            parts.append(found[0])
    return parts
