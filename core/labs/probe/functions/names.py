"""The names of functions and the words that choose one. Nothing here creates a function."""

from __future__ import annotations

import re
from typing import Literal

from ....events import Rules

Category = Literal["numeric", "strings", "entities", "relations"]
CATEGORIES: tuple[Category, ...] = ("numeric", "strings", "entities", "relations")

Difficulty = Literal["easy", "medium", "hard"]
DIFFICULTIES: tuple[Difficulty, ...] = ("easy", "medium", "hard")

Backbone = Literal["model", "embedding", "table"]
"""What carries out an entity or relation function."""

OwnKind = Literal["code", "pairs", "concept"]
"""What a person's own function is written as."""

SHAPES: dict[str, dict[Difficulty, str]] = {
    "entities": {"easy": "single", "hard": "or"},
    "relations": {"easy": "plain", "hard": "corrupted"},
}
"""What a difficulty is called in names, for the categories that have their own words."""

DRAWN = re.compile(
    r"(?P<category>numeric|strings|entities|relations)-(?P<seed>\d{1,12})"
    r"(?:-(?P<shape>easy|medium|hard|single|or|plain|corrupted))?(?P<paper>-paper)?"
)
"""The name of a generated function ("numeric-7-hard")."""


def difficulties(category: Category) -> tuple[Difficulty, ...]:
    """Return the difficulties of a category: entities have one concept or either of two, relations have no exception or
    one.
    """
    return tuple(shapes(category))


def shapes(category: Category) -> dict[Difficulty, str]:
    """Return what each difficulty of the category is called in names."""
    return SHAPES.get(category) or {difficulty: difficulty for difficulty in DIFFICULTIES}


def name_of(category: Category, seed: int, difficulty: Difficulty | None, rules: Rules) -> str:
    """Return the name of the function that `seed` stands for, without generating it. `source.by_id` finds it again."""
    shape = difficulty and shapes(category)[difficulty]
    paper = "-paper" if rules == "paper" and category not in SHAPES else ""
    return f"{category}-{seed}" + (f"-{shape}" if shape else "") + paper


def seed_of(id: str) -> int:
    """Return the seed in the name of a generated function. Raises ValueError for any other name."""
    match = DRAWN.fullmatch(id)
    if match is None:
        raise ValueError(f"{id!r} is not the name of a drawn function")
    return int(match["seed"])


def is_drawn(id: str) -> bool:
    """Whether `id` is the name of a generated function ("numeric-7-hard")."""
    return DRAWN.fullmatch(id) is not None


def shape_of(id: str) -> str:
    """Return the difficulty or form in the name of a generated function ("hard" in "numeric-7-hard"); an empty string
    if it has none.
    """
    match = DRAWN.fullmatch(id)
    return (match["shape"] or "") if match else ""
