"""Check's runs side by side: checks of the same paragraphs."""

from __future__ import annotations

from typing import Any

from core.labs.consistency import verdict
from core.labs.consistency.lab import LAB
from core.labs.consistency.tasks import CheckSpec
from core.labs.consistency.view import CheckView
from core.store.matching import Tried
from pages.labs.consistency.form import EXPLANATIONS
from pages.labs.consistency.grid import WORDS
from pages.parts.side_by_side import Cell, Side
from pages.parts.text import emphasised, plain, shortened
from pages.parts.tiles import State


def tests(view: CheckView, active: bool) -> list[Cell]:
    """The check itself: its random masks are drawn for each explanation, so they are not the same."""
    item = view.item
    state: State = LAB.means(view.outcome("repaired"))
    if item is None:
        return []
    about = item.question or item.hypothesis or item.paragraph
    state = "stopped" if state == "waiting" and not active else state
    return [Cell(Tried(), plain(shortened(about)), state, emphasised(verdict.row_verdict(view)))]


def ways(spec: CheckSpec) -> dict[str, dict[str, Any]]:
    """The other kinds of explanation, where each paragraph has one check."""
    if len(spec.explanations) > 1 or len(spec.wordings) > 1 or spec.every_wording:
        return {}
    return {words: {"explanations": (kind,)} for kind, words in EXPLANATIONS.items() if kind not in spec.explanations}


SIDE = Side(tests=tests, one="check", words=WORDS, ways=ways)
