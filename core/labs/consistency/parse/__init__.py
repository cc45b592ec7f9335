"""Answers → values, by the authors' rules (`paper`) or by ours for what chat models write today (`repaired`).

None means unparsed: the answer could not be read. No function here raises, whatever a model wrote.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.events import Rules
from core.labs.consistency.parse import edits, labels, paper


def sentiment(text: str, rules: Rules) -> str | None:
    """ "positive", "negative", "neutral" or "unknown"."""
    return paper.sentiment(text) if rules == "paper" else labels.sentiment(text)


def choice(text: str, choices: Sequence[str], rules: Rules) -> str | None:
    """One of `choices` (in the order in which they were offered as a), b), …) or "unknown"."""
    return paper.choice(text, choices) if rules == "paper" else labels.choice(text, choices)


def entailment(text: str, rules: Rules) -> str | None:
    """ "yes", "no" or "unknown"."""
    return paper.entailment(text) if rules == "paper" else labels.entailment(text)


def ability(text: str, rules: Rules) -> str | None:
    """ "yes" or "no": whether the question can be answered at all."""
    return paper.ability(text) if rules == "paper" else labels.ability(text)


def word_list(text: str, rules: Rules) -> list[str] | None:
    """The words of a feature attribution, in the order given; never an empty list."""
    return paper.word_list(text) if rules == "paper" else edits.word_list(text)


def paragraph(text: str, rules: Rules) -> str | None:
    """The edited paragraph in the answer to a counterfactual or redaction prompt."""
    return paper.paragraph(text) if rules == "paper" else edits.paragraph(text)
