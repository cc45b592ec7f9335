"""The same answer in other words, for robots whose answers are to be read as a model's are."""

from __future__ import annotations

from collections.abc import Sequence

from .. import package_data
from .stable_random import drawn

_WAYS = package_data.table("phrases")

ANSWERS: Sequence[str] = _WAYS["answers"]
"""Ways to close with an answer."""

GUESSES: Sequence[str] = _WAYS["guesses"]
"""Ways to close with what somebody else will answer."""

LABELS: Sequence[str] = _WAYS["labels"]
"""Ways to say a label."""

EXAMPLES: Sequence[str] = _WAYS["examples"]
"""Ways to pick an example."""

VAGUE: Sequence[str] = _WAYS["vague"]
VAGUE_REASONS: Sequence[str] = _WAYS["vague_reasons"]
"""Explanations and reasons for a choice that say nothing of any other question."""


def phrased(answer: str, ways: Sequence[str], about: str) -> str:
    """`answer` in one of these ways, always the same for the same text `about`."""
    way = ways[int(drawn(f"{about}|way") * len(ways))]
    return way.format(answer=answer, Answer=answer[:1].upper() + answer[1:])
