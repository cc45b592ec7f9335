"""What may be read of an answer that its token limit, or ours, cut short."""

from __future__ import annotations

import json
from typing import Any

from ..events import ModelAnswer, Rules
from ..text.reply import without_thinking

REASON = "cut"
"""The reason of a `dropped` event for what rests on an answer that was cut; its detail is `ModelAnswer.cut_note`."""


def readable(
    answer: ModelAnswer, rules: Rules, json_schema: dict[str, Any] | None = None, lines: bool = False
) -> str | None:
    """The text of `answer` that the parser of `rules` may read; None where it was cut before any of it was complete.

    The original parser ("paper") reads all of it, as the authors' code did. The updated one reads a cut answer only as
    far as it was complete: with a `json_schema` an object that closed, with `lines` the lines that had ended.
    """
    if rules == "paper" or answer.ended != "cut":
        return answer.text
    own = without_thinking(answer.text).strip(" \t\r\n")
    if json_schema is not None:
        return answer.text if _closes(own) else None
    ended = own.rpartition("\n")[0] if lines else ""
    return ended if ended.strip() else None


def _closes(text: str) -> bool:
    """Whether a JSON object in `text`, maybe in a code fence, came to its end."""
    start = text.find("{")
    if start < 0:
        return False
    try:
        json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return False
    return True
