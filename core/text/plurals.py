"""Numbers of things in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping


def count_noun(number: int, thing: str) -> str:
    """Return the number with its noun: "3 runs", "1 run"."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def numbers(ids: Iterable[str]) -> dict[str, int]:
    """Number the ids in their order, from 1, as rows are numbered on the screen."""
    return {id: number for number, id in enumerate(ids, start=1)}


def numbered(text: str, known: Mapping[str, int]) -> str:
    """Replace the ids in `text` that are `known` by their numbers."""
    return re.sub(r"[\w-]+", lambda one: f"number {known[one[0]]}" if one[0] in known else one[0], text)
