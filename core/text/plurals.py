"""Numbers of things, in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping


def counted(number: int, thing: str) -> str:
    """ "3 runs", "1 run"."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def numbers(ids: Iterable[str]) -> dict[str, int]:
    """The number of each in their order, from 1, as rows on the screen have it."""
    return {id: number for number, id in enumerate(ids, start=1)}


def numbered(text: str, known: Mapping[str, int]) -> str:
    """`text` in which ids that are `known` are called by their numbers."""
    return re.sub(r"[\w-]+", lambda one: f"number {known[one[0]]}" if one[0] in known else one[0], text)
