"""How much may be parsed of an answer that was cut short by its token limit or by ours."""

from __future__ import annotations

from typing import Any

from ..events import ModelAnswer, Rules
from ..text.reply import first_object, without_thinking

REASON = "cut"
"""The reason in a `dropped` event for what depends on an answer that was cut; its detail is `ModelAnswer.cut_note`."""


def readable(
    answer: ModelAnswer, rules: Rules, json_schema: dict[str, Any] | None = None, lines: bool = False
) -> str | None:
    """Return the part of `answer` that the parser of `rules` may read; None if it was cut before any part was complete.

    The original parser ("paper") reads everything, as the authors' code did. The updated one reads a cut answer only as
    far as it was complete: with a `json_schema`, an object that was closed; with `lines`, the lines that had ended.
    """
    if rules == "paper" or answer.ended != "cut":
        return answer.text
    own = without_thinking(answer.text).strip(" \t\r\n")
    if json_schema is not None:
        return answer.text if first_object(own) is not None else None
    ended = own.rpartition("\n")[0] if lines else ""
    return ended if ended.strip() else None
