"""Pseudo-random numbers that are the same on every machine."""

import hashlib
from collections.abc import Sequence

from .. import package_data


def unit_number(about: str) -> float:
    """Return a number in [0, 1), always the same for the same text, and evenly distributed over texts."""
    return int.from_bytes(hashlib.sha256(about.encode()).digest()[:6]) / 2**48


# The same answer in various wordings, for robots whose answers are parsed like a model's.


_WAYS = package_data.table("phrases")

ANSWERS: Sequence[str] = _WAYS["answers"]
"""Closing sentences that give an answer."""

GUESSES: Sequence[str] = _WAYS["guesses"]
"""Closing sentences that predict somebody else's answer."""

LABELS: Sequence[str] = _WAYS["labels"]
"""Sentences that give a label."""

EXAMPLES: Sequence[str] = _WAYS["examples"]
"""Sentences that choose an example."""

VAGUE: Sequence[str] = _WAYS["vague"]
VAGUE_REASONS: Sequence[str] = _WAYS["vague_reasons"]
"""Explanations, and reasons for a choice, that say nothing about any other question."""


def paraphrase(answer: str, ways: Sequence[str], about: str) -> str:
    """Return `answer` in one of these wordings, always the same one for the same text `about`."""
    way = ways[int(unit_number(f"{about}|way") * len(ways))]
    return way.format(answer=answer, Answer=answer[:1].upper() + answer[1:])
