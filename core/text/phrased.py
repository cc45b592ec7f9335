"""The same answer in other words, for robots whose answers are to be read as a model's are."""

from __future__ import annotations

from collections.abc import Sequence

from core import shipped
from core.text.drawn import drawn

_WAYS = shipped.table("phrases")

ANSWERS: Sequence[str] = _WAYS["answers"]
"""Ways to close with an answer."""

GUESSES: Sequence[str] = _WAYS["guesses"]
"""Ways to close with what somebody else will answer."""


def phrased(answer: str, ways: Sequence[str], about: str) -> str:
    """`answer` in one of these ways, always the same for the same text `about`."""
    way = ways[int(drawn(f"{about}|way") * len(ways))]
    return way.format(answer=answer, Answer=answer[:1].upper() + answer[1:])
