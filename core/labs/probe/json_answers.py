"""Answers asked for by their fields (`answers = "schema"`): which fields each role has, and what they come to.

Only what concludes or judges has fields: the interpreter's final answer, and the example that an evaluator picks. While
an agent works it asks in text or by tool calls, as ever; when it has concluded, it is asked for its conclusion by the
fields. What carries a function out is the box, and no answer that is read.

An answer that has the fields is read without a guess. One that has not is prose, and read as such; the call says so.
Paper rules read prose alone: by them no answer of such a run can be read.
"""

from __future__ import annotations

from typing import Any

from ...events import ModelAnswer, Rules
from ...parsers import fields
from ...parsers.code import of_field
from ...parsers.cut import readable
from ...score import Score, undefined
from . import parse
from .parse import Parts
from .tasks import ProbeSpec

Schema = dict[str, Any] | None
"""None: asked for in prose."""

_PARTS = {
    "numeric": ("description", "domain", "code"),
    "strings": ("description", "domain", "code"),
    "entities": ("description",),
    "relations": ("description", "domain"),
}


def of_interpreter(spec: ProbeSpec) -> Schema:
    """The parts of a conclusion, in the order in which prose has them."""
    if spec.answers == "prose":
        return None
    parts: dict[str, fields.Kind] = {part: "text" for part in _PARTS[spec.category]}
    return fields.schema(**parts)


def of_evaluator(spec: ProbeSpec) -> Schema:
    """The number of the example."""
    return None if spec.answers == "prose" else fields.schema(example=("1", "2", "3"))


def interpretation(text: str, spec: ProbeSpec, asked: Schema, rules: Rules) -> Parts:
    """As `parse.interpretation` has it. `asked`: None also where a message of `spec` was no answer by fields."""
    if spec.answers == "schema" and rules == "paper":
        return Parts("", "", "", "")
    found = None if asked is None else fields.read(text, asked)
    if found is None:
        return parse.interpretation(text, rules)
    description, domain = str(found["description"]), str(found.get("domain", ""))
    return Parts(description, domain, of_field(str(found.get("code", ""))), f"{description}\n{domain}".strip())


def is_final(text: str, spec: ProbeSpec, asked: Schema, rules: Rules) -> bool:
    """As `parse.is_final` has it: an answer by its fields is final where it describes anything."""
    found = None if asked is None else fields.read(text, asked)
    return parse.is_final(text, rules) if found is None else rules == "repaired" and bool(found["description"])


def choice(answer: ModelAnswer, asked: Schema) -> int | None:
    """As `parse.choice` has it. Of an answer that was cut only a field or a line that was complete counts."""
    text = readable(answer, "repaired", asked)
    if text is None:
        return parse.stated_choice(readable(answer, "repaired", lines=True) or "")
    found = None if asked is None else fields.read(text, asked)
    return parse.choice(text) if found is None else int(found["example"])


def score_of(spec: ProbeSpec, score: Score, rules: Rules) -> Score:
    """`score`, or that there is none by paper rules."""
    lost = spec.answers == "schema" and rules == "paper"
    return undefined(score.of, fields.NO_PAPER_FIGURE) if lost else score
