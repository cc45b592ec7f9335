"""Check's runs side by side: checks of the same paragraphs."""

from __future__ import annotations

from typing import Any

from core.labs.check.tasks import CheckSpec
from pages.components.side_by_side import Side
from pages.labs.check.form import EXPLANATIONS


def ways(spec: CheckSpec) -> dict[str, dict[str, Any]]:
    """The other kinds of explanation, where each paragraph has one check."""
    if len(spec.explanations) > 1 or len(spec.wordings) > 1 or spec.every_wording:
        return {}
    return {words: {"explanations": (kind,)} for kind, words in EXPLANATIONS.items() if kind not in spec.explanations}


SIDE = Side(ways=ways)
