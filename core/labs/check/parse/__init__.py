"""Parse answers by the authors' rules (`paper`) or by ours for what chat models write today (`repaired`).

None means that the answer could not be read. No function here raises, whatever a model wrote. White space around an
answer is removed first by both parsers, as the authors do with every response before anything reads or stores it
(llm-introspection, tasks/_request_capture.py, its last line).
"""

from collections.abc import Sequence

from ....events import Rules
from ....parsers import choice as choices_read
from ....parsers import paragraph as paragraphs
from ....parsers import words
from . import paper


def sentiment(text: str, rules: Rules) -> str | None:
    """Return "positive", "negative", "neutral" or "unknown"."""
    return paper.sentiment(text.strip()) if rules == "paper" else choices_read.sentiment(text.strip())


def choice(text: str, choices: Sequence[str], rules: Rules) -> str | None:
    """Return one of `choices` (in the order in which they were offered as a), b), …) or "unknown"."""
    return paper.choice(text.strip(), choices) if rules == "paper" else choices_read.choice(text.strip(), choices)


def entailment(text: str, rules: Rules) -> str | None:
    """Return "yes", "no" or "unknown"."""
    return paper.entailment(text.strip()) if rules == "paper" else choices_read.entailment(text.strip())


def ability(text: str, rules: Rules) -> str | None:
    """Return "yes" or "no": whether the question can be answered at all."""
    return paper.ability(text.strip()) if rules == "paper" else choices_read.ability(text.strip())


def word_list(text: str, rules: Rules) -> list[str] | None:
    """Return the words of a feature attribution, in the given order; never an empty list."""
    return paper.word_list(text.strip()) if rules == "paper" else words.word_list(text)


def paragraph(text: str, rules: Rules, original: str = "") -> str | None:
    """Return the edited paragraph in the answer to a counterfactual or redaction prompt; the updated parser uses the
    `original` to find it, if it is given.
    """
    return paper.paragraph(text.strip()) if rules == "paper" else paragraphs.paragraph(text.strip(), original)
