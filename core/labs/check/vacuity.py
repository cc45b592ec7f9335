"""What of an explanation tests nothing: known before anything is asked, but for what a counterfactual's addition does.

A worthless explanation passes where the test would be passed by any: one who masks nearly all, or says the answer in
place of an edit, gets the effect without having explained anything. Such a check is undecided by repaired rules; the
paper's count it (docs/measuring.md §3.6).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...datasets.items import Item
from ...text import diff
from ...text.stable_random import drawn
from . import mask
from .tasks import Task, shipped

KEPT = 0.5
"""Of the words kept: an edit that keeps fewer is another text."""

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
"""Why a check tests nothing, and the word for it by which it is set aside."""

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
"""Words in place of as few: "a dreadful bore" for "a superb thrill" is no new sentence, however short that is."""

_MOST = 2_000
"""Characters of an addition that are appended to another paragraph."""


def of_masks(words: mask.Words, text: str, thorough: bool = True) -> str:
    """Why masks of `text` test nothing, before anything is asked; empty where they do."""
    enough = words.leave_enough_of_each(text) if thorough else words.leave_enough
    return "" if enough else TOO_MUCH


def of_redaction(original: str, edited: str, token: str, thorough: bool = True) -> str:
    """Why a redaction tests nothing; empty where it does. What was masked before is no mask of its own."""
    if mask.masks(edited, token) <= mask.masks(original, token):
        return NO_MASK
    if mask.added_words(original, edited, token):
        return ADDS
    if thorough and not mask.leaves_the_rest(original, edited, token):
        return ALTERS
    return of_masks(mask.taken_by(original, edited, token), original, thorough)


def of_counterfactual(task: Task, choices: Sequence[str], original: str, edited: str, thorough: bool = True) -> str:
    """Why a counterfactual tests nothing, as far as its text tells; empty where it may."""
    if diff.kept(original, edited) < KEPT:
        return REWRITTEN
    if any(_names(task, choices, clause) for clause in _added(original, edited, _CLAUSE)):
        return NAMES
    return NAMES if thorough and _names_more(task, choices, original, edited) else ""


def addition(original: str, edited: str, thorough: bool = True) -> str:
    """The sentences that a counterfactual added; empty where it changed words only. At most 2,000 characters."""
    swap = _SWAP if thorough else 0
    return " ".join(sentence.strip() for sentence in _added(original, edited, _SENTENCE, swap))[:_MOST].strip()


def another(item: Item, label: str | None) -> Item | None:
    """A shipped paragraph to append an addition to, always the same for `item`; None where there is none.

    One of the same label. The choices of stories differ, so there it is one with another question: what settles the
    one should leave the other alone.
    """
    others = [
        other
        for other in shipped(item.task)
        if other.paragraph != item.paragraph
        and (other.question != item.question if item.task == "multi_choice" else other.label == label)
    ]
    return others[int(drawn(item.paragraph) * len(others))] if others else None


class Stretch(NamedTuple):
    """Words that an edit put in: `at` is the share of the original's words before them; `swapped`: others went."""

    text: str
    at: float
    swapped: bool

    @property
    def is_weak(self) -> bool:
        """Whether it may well turn another paragraph in an honest edit too: it stands for others, or denies."""
        return self.swapped or _DENIES.search(self.text) is not None


def put_in(original: str, edited: str) -> list[Stretch]:
    """The words that a counterfactual put in: where some were inserted these alone, else those in place of others."""
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
    """Another paragraph with the words put in at the same places, counted in words."""
    ends = [0, *(word.end() for word in _WORD.finditer(other))]
    ends[-1] = len(other)
    text, at = "", 0
    for stretch in stretches:
        end = ends[round(stretch.at * (len(ends) - 1))]
        text += f"{other[at:end]} {stretch.text}" + " " * other[end : end + 1].isalnum()
        at = end
    return f"{text}{other[at:]}".strip()[: len(other) + _MOST]


def turned(task: Task, bare: str | None, added: str | None, wanted: str | None, choices: Sequence[str]) -> bool:
    """Whether an addition turned another paragraph, by the answers without it (`bare`) and with it (`added`)."""
    if task == "multi_choice":
        return added in choices and added != bare
    return added == wanted and bare != wanted


def _names(task: Task, choices: Sequence[str], clause: str) -> bool:
    """Whether it says the answer itself. Stories speak of their choices, and any text says no: there it has to be
    called an answer, or to stand alone.
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
    """Whether an edit names an answer more often than the original does, within a sentence of the original too.

    Looked for are labels and ratings; where there are none, what is called an answer, and the letters of choices. What
    turns "a positive surprise" into a negative one, or 9/10 into 2/10, names as many as before.
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
    """The parts of `edited` of whose words more than half are new; at most `swap` in place of as few are not."""
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
