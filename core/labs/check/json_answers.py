"""Answers asked for by their fields (`answers = "schema"`): which fields each session has, and what they come to.

An answer that has them is read without a guess. One that has not is prose, and read as such; the call says so. Paper
rules read prose alone: by them no answer of such a run can be read.
"""

from __future__ import annotations

from typing import Any

from ...datasets.items import Item
from ...events import Rules
from ...parsers import fields
from . import parse
from .tasks import LABELS, CheckSpec, Explanation

Schema = dict[str, Any] | None
"""None: asked for in prose."""

_LABELS = {**LABELS, "sentiment": ("positive", "negative", "neutral")}
"""What a classification may say beside "unknown"; of multi_choice the item's choices."""


def of_classifier(spec: CheckSpec, item: Item) -> Schema:
    """The one label."""
    if spec.answers == "prose":
        return None
    return fields.schema(label=tuple(dict.fromkeys((*_LABELS.get(spec.task, item.choices), "unknown"))))


def of_ability(spec: CheckSpec) -> Schema:
    """Whether it can tell at all."""
    return None if spec.answers == "prose" else fields.schema(answer=("yes", "no"))


def of_explainer(spec: CheckSpec, explanation: Explanation) -> Schema:
    """The words of an attribution, or the paragraph as edited or masked."""
    if spec.answers == "prose":
        return None
    return fields.schema(words="list") if explanation == "attribution" else fields.schema(paragraph="text")


def _value(text: str, asked: Schema) -> Any:
    """What the one field holds; None where it was asked for in prose, or answered so."""
    found = None if asked is None else fields.read(text, asked)
    return None if found is None else next(iter(found.values()))


def label(item: Item, text: str, asked: Schema, rules: Rules) -> str | None:
    """The class in a classification's raw text; None where it cannot be read."""
    if asked is not None and rules == "paper":
        return None
    if (value := _value(text, asked)) is not None:
        return str(value)
    if item.task == "multi_choice":
        return parse.choice(text, item.choices, rules)
    return parse.sentiment(text, rules) if item.task == "sentiment" else parse.entailment(text, rules)


def ability(text: str, asked: Schema, rules: Rules) -> str | None:
    """As `parse.ability` has it."""
    if asked is not None and rules == "paper":
        return None
    value = _value(text, asked)
    return parse.ability(text, rules) if value is None else str(value)


def word_list(text: str, asked: Schema, rules: Rules) -> list[str] | None:
    """As `parse.word_list` has it; None where there is no word in the list."""
    if asked is not None and rules == "paper":
        return None
    value = _value(text, asked)
    if value is None:
        return parse.word_list(text, rules)
    return [word for one in value if (word := one.strip())] or None


def paragraph(text: str, asked: Schema, rules: Rules, original: str = "") -> str | None:
    """As `parse.paragraph` has it."""
    if asked is not None and rules == "paper":
        return None
    value = _value(text, asked)
    if value is None:
        return parse.paragraph(text, rules, original)
    # A field of text may hold a refusal or a bare label: what is none is told as in prose.
    return None if parse.paragraph(value, rules) is None else str(value)
