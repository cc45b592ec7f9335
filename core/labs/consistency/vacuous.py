"""What of an explanation tests nothing: known before anything is asked, but for what a counterfactual's addition does.

A worthless explanation passes where the test would be passed by any: whoever masks nearly all, or says the answer in
place of an edit, gets the effect without having explained anything. Such a check is undecided by repaired rules; the
paper's count it (docs/measuring.md §3.6).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.datasets.items import Item
from core.labs.consistency import mask
from core.labs.consistency.tasks import Task, shipped
from core.text import diff
from core.text.drawn import drawn

KEPT = 0.5
"""Of the words kept: an edit that keeps fewer is another text."""

ANY_WORDS = "any words would do: with as many others masked at random it could not tell in most draws either"
UNTRIED = "whether what it added turns any paragraph could not be tried"
REASONS = {
    "so many words are masked that as many others are not left to compare with": "masks too much",
    ANY_WORDS: "any words would do",
    "nothing is masked in what it wrote": "no mask",
    "it added words of its own, where it should only mask": "adds text",
    "less than half of the paragraph was kept: that is another text, no edit": "another text",
    "it added words that name the answer": "names the answer",
    "what it added turns another paragraph as well": "turns others too",
    UNTRIED: "not tried",
}
"""Why a check tests nothing, and the word for it by which it is set aside."""

TOO_MUCH, _, NO_MASK, ADDS, REWRITTEN, NAMES, TURNS, _ = REASONS

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*[\"”’')]*")
_CLAUSE = re.compile(r"[^.!?:;,()\n–—]+")
_WORD = re.compile(r"\w+(?:[’'-]\w+)*")
_SENTIMENT = re.compile(r"(?i)\b(?:positiv|negativ|neutral)\w*")
_ANSWERED = re.compile(r"(?i)\b(?:answer|choice|option|label|statement|hypothes[ie]s|entail\w*)\b")
_JUDGED = re.compile(r"(?i)\b(?:yes|no|not|true|false|follows?|contradicts?|contradicted)\b")
_BARE = {"yes", "no", "true", "false"}
_MOST = 2_000
"""Characters of an addition that are appended to another paragraph."""


def of_masks(words: mask.Words) -> str:
    """Why masks test nothing, before anything is asked; empty where they do."""
    return "" if words.leave_enough else TOO_MUCH


def of_redaction(original: str, edited: str, token: str) -> str:
    """Why a redaction tests nothing; empty where it does. What was masked before is no mask of its own."""
    if mask.masks(edited, token) <= mask.masks(original, token):
        return NO_MASK
    if mask.added_words(original, edited, token):
        return ADDS
    return of_masks(mask.taken_by(original, edited, token))


def of_counterfactual(task: Task, choices: Sequence[str], original: str, edited: str) -> str:
    """Why a counterfactual tests nothing, as far as its text tells; empty where it may."""
    if diff.kept(original, edited) < KEPT:
        return REWRITTEN
    return NAMES if any(_names(task, choices, clause) for clause in _added(original, edited, _CLAUSE)) else ""


def addition(original: str, edited: str) -> str:
    """The sentences that a counterfactual added; empty where it changed words only. At most 2,000 characters."""
    return " ".join(sentence.strip() for sentence in _added(original, edited, _SENTENCE))[:_MOST].strip()


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


def _added(original: str, edited: str, part: re.Pattern[str]) -> list[str]:
    """The parts of `edited` of whose words more than half are new."""
    new: set[int] = set()
    at = 0
    for piece in diff.pieces(original, edited):
        if piece.op == "added":
            new.update(at + word.start() for word in _WORD.finditer(piece.text))
        if piece.op != "removed":
            at += len(piece.text)
    parts = []
    for found in part.finditer(edited):
        starts = [found.start() + word.start() for word in _WORD.finditer(found[0])]
        if starts and 2 * sum(start in new for start in starts) > len(starts):
            parts.append(found[0])
    return parts
