"""Answers requested as JSON fields (`answers = "schema"`): the fields of each role, and the values read from them.

Only answers that conclude or judge have fields: the interpreter's final answer, and the example that an evaluator
picks. While an agent works it asks in text or by tool calls as usual; when it has concluded, it is asked for its
conclusion as fields. A model that carries a function out is the box itself, and its answers have no fields.

An answer with the fields is read without guessing. One without them is parsed as prose, and the call says so. The
original parser reads prose only, so it can read no answer of such a run.
"""

from __future__ import annotations

from typing import Any

from ...events import ModelAnswer, Rules
from ...parsers import fields
from ...parsers.code import of_field
from ...parsers.fields import readable
from ...score import Score, undefined
from . import parse
from .parse import Parts
from .tasks import ProbeSpec

Schema = dict[str, Any] | None
"""None: the prompt asks for prose."""

_PARTS = {
    "numeric": ("description", "domain", "code"),
    "strings": ("description", "domain", "code"),
    "entities": ("description",),
    "relations": ("description", "domain"),
}


def of_interpreter(spec: ProbeSpec) -> Schema:
    """Return the schema of a conclusion: its parts, in the order that prose has them."""
    if spec.answers == "prose":
        return None
    parts: dict[str, fields.Kind] = dict.fromkeys(_PARTS[spec.category], "text")
    return fields.schema(**parts)


def of_evaluator(spec: ProbeSpec) -> Schema:
    """Return the schema of an evaluator's answer: the number of the example."""
    return None if spec.answers == "prose" else fields.schema(example=("1", "2", "3"))


def of_judge(spec: ProbeSpec) -> Schema:
    """Return the schema of a judge's answer: the number of the description, in the field of an evaluator's."""
    return None if spec.answers == "prose" else fields.schema(example=("1", "2"))


def interpretation(text: str, spec: ProbeSpec, asked: Schema, rules: Rules) -> Parts:
    """Read the answer as `parse.interpretation` does, or from its fields. `asked` is None if this message was not asked
    for as fields.
    """
    if spec.answers == "schema" and rules == "paper":
        return Parts("", "", "", "")
    found = None if asked is None else fields.read(text, asked)
    if found is None:
        return parse.interpretation(text, rules)
    description, domain = str(found["description"]), str(found.get("domain", ""))
    return Parts(description, domain, of_field(str(found.get("code", ""))), f"{description}\n{domain}".strip())


def is_final(text: str, spec: ProbeSpec, asked: Schema, rules: Rules) -> bool:
    """Decide as `parse.is_final` does; an answer with the fields is final if its description is not empty."""
    found = None if asked is None else fields.read(text, asked)
    return parse.is_final(text, rules) if found is None else rules == "repaired" and bool(found["description"])


def choice(answer: ModelAnswer, asked: Schema) -> int | None:
    """Read the answer as `parse.choice` does, or from its field. In an answer that was cut, only a complete field or
    line counts.
    """
    text = readable(answer, "repaired", asked)
    if text is None:
        return parse.stated_choice(readable(answer, "repaired", lines=True) or "")
    found = None if asked is None else fields.read(text, asked)
    return parse.choice(text) if found is None else int(found["example"])


def score_of(spec: ProbeSpec, score: Score, rules: Rules) -> Score:
    """Return `score`, or an undefined one for the paper rules if answers are requested as fields."""
    lost = spec.answers == "schema" and rules == "paper"
    return undefined(score.of, fields.NO_PAPER_FIGURE) if lost else score
