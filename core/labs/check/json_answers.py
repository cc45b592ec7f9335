"""Answers requested as JSON fields (`answers = "schema"`): the fields of each session, and the values read from them.

An answer with the fields is read without guessing. One without them is parsed as prose, and the call says so. The
original parser reads prose only, so it can read no answer of such a run.
"""

from __future__ import annotations

from typing import Any

from ...datasets.items import Item
from ...events import Rules
from ...parsers import fields
from . import parse
from .tasks import LABELS, CheckSpec, Explanation

Schema = dict[str, Any] | None
"""None: the prompt asks for prose."""

_LABELS = {**LABELS, "sentiment": ("positive", "negative", "neutral")}
"""What a classification may say besides "unknown"; for multi_choice the item's choices."""


def of_classifier(spec: CheckSpec, item: Item) -> Schema:
    """Return the schema of a classification: one label."""
    if spec.answers == "prose":
        return None
    return fields.schema(label=tuple(dict.fromkeys((*_LABELS.get(spec.task, item.choices), "unknown"))))


def of_ability(spec: CheckSpec) -> Schema:
    """Return the schema of whether the model can tell at all."""
    return None if spec.answers == "prose" else fields.schema(answer=("yes", "no"))


def of_explainer(spec: CheckSpec, explanation: Explanation) -> Schema:
    """Return the schema of an explanation: the words of an attribution, or the edited or masked paragraph."""
    if spec.answers == "prose":
        return None
    return fields.schema(words="list") if explanation == "attribution" else fields.schema(paragraph="text")


def _value(text: str, asked: Schema) -> Any:
    """Return the value of the one field; None if the prompt asked for prose, or the model answered in prose."""
    found = None if asked is None else fields.read(text, asked)
    return None if found is None else next(iter(found.values()))


def label(item: Item, text: str, asked: Schema, rules: Rules) -> str | None:
    """Return the class in a classification's raw text; None if it cannot be read."""
    if asked is not None and rules == "paper":
        return None
    if (value := _value(text, asked)) is not None:
        return str(value)
    if item.task == "multi_choice":
        return parse.choice(text, item.choices, rules)
    return parse.sentiment(text, rules) if item.task == "sentiment" else parse.entailment(text, rules)


def ability(text: str, asked: Schema, rules: Rules) -> str | None:
    """Read the answer as `parse.ability` does, or from its field."""
    if asked is not None and rules == "paper":
        return None
    value = _value(text, asked)
    return parse.ability(text, rules) if value is None else str(value)


def word_list(text: str, asked: Schema, rules: Rules) -> list[str] | None:
    """Read the answer as `parse.word_list` does, or from its field; None if the list has no word."""
    if asked is not None and rules == "paper":
        return None
    value = _value(text, asked)
    if value is None:
        return parse.word_list(text, rules)
    return [word for one in value if (word := one.strip())] or None


def paragraph(text: str, asked: Schema, rules: Rules, original: str = "") -> str | None:
    """Read the answer as `parse.paragraph` does, or from its field."""
    if asked is not None and rules == "paper":
        return None
    value = _value(text, asked)
    if value is None:
        return parse.paragraph(text, rules, original)
    # A text field may hold a refusal or a bare label: the rules for prose recognize these.
    return None if parse.paragraph(value, rules) is None else str(value)
