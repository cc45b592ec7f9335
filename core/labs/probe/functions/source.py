"""Where a function comes from: generated from a seed, looked up by its id in the published set, or written by a
person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal, cast

from .... import files
from ....events import Rules
from ....policy import NotAllowedError
from . import generate, own
from .base import Category, FindFunction
from .benchmark import BenchmarkError, StringTask, load_numeric, load_strings, string_function
from .entities import EntityFunction, EntityKind, draw_entity, published_entities
from .generate import Difficulty
from .relations import RelationKind, draw_relation, published_relations

CATEGORIES: tuple[Category, ...] = ("numeric", "strings", "entities", "relations")

OwnKind = Literal["code", "pairs", "concept"]

_SHAPES: dict[str, dict[Difficulty, str]] = {
    "entities": {"easy": "single", "hard": "or"},
    "relations": {"easy": "plain", "hard": "corrupted"},
}
_DRAWN = re.compile(
    r"(?P<category>numeric|strings|entities|relations)-(?P<seed>\d{1,12})"
    r"(?:-(?P<shape>easy|medium|hard|single|or|plain|corrupted))?(?P<paper>-paper)?"
)


def difficulties(category: Category) -> tuple[Difficulty, ...]:
    """Return the difficulties of a category: entities have one concept or either of two, relations have no exception or
    one.
    """
    return tuple(_shapes(category))


def _shapes(category: Category) -> dict[Difficulty, str]:
    return _SHAPES.get(category) or {difficulty: difficulty for difficulty in generate.DIFFICULTIES}


def generated(category: Category, seed: int, difficulty: Difficulty | None, rules: Rules) -> FindFunction:
    """Return the function that `seed` stands for, always the same. Raises ValueError for a difficulty that the category
    lacks.
    """
    if difficulty is not None and difficulty not in difficulties(category):
        raise ValueError(f"{category} functions are {' or '.join(difficulties(category))}, not {difficulty}.")
    if category == "entities":
        return draw_entity(seed, kind=cast(EntityKind | None, difficulty and _SHAPES[category][difficulty]))
    if category == "relations":
        return draw_relation(seed, kind=cast(RelationKind | None, difficulty and _SHAPES[category][difficulty]))
    return generate.generate(category, seed, rules=rules, difficulty=difficulty)


def name_of(category: Category, seed: int, difficulty: Difficulty | None, rules: Rules) -> str:
    """Return the name of the function that `generated` gives, without generating it; `by_id` finds it by this name."""
    shape = difficulty and _shapes(category)[difficulty]
    paper = "-paper" if rules == "paper" and category not in _SHAPES else ""
    return f"{category}-{seed}" + (f"-{shape}" if shape else "") + paper


def seed_of(id: str) -> int:
    """Return the seed in the name of a generated function. Raises ValueError for any other name."""
    match = _DRAWN.fullmatch(id)
    if match is None:
        raise ValueError(f"{id!r} is not the name of a drawn function")
    return int(match["seed"])


def published_ids(category: Category, find_dir: str) -> list[str]:
    """Return the names of all published functions of a category. Raises BenchmarkError if they cannot be read."""
    return list(published_strings(find_dir) if category == "strings" else published(category, find_dir))


def is_drawn(id: str) -> bool:
    """Whether `id` is the name of a generated function ("numeric-7-hard")."""
    return _DRAWN.fullmatch(id) is not None


def shape_of(id: str) -> str:
    """Return the difficulty or form in the name of a generated function ("hard" in "numeric-7-hard"); an empty string
    if it has none.
    """
    match = _DRAWN.fullmatch(id)
    return (match["shape"] or "") if match else ""


def by_id(category: Category, id: str, find_dir: Path | None) -> FindFunction:
    """Return the published function `id`, or a generated one by its name ("numeric-7-hard").

    Raises BenchmarkError if there is none, or if the published folder is not as expected.
    """
    if match := _DRAWN.fullmatch(id):
        return _ours(category, id, match)
    if find_dir is None:
        raise BenchmarkError(
            f"{id!r} is not the name of a drawn function. If it is one of the published set, name the folder that "
            "holds numeric/ and strings/ (--find-dir)."
        )
    if category == "strings":
        return _published_string(str(find_dir), id)
    known = published(category, str(find_dir))
    if id not in known:
        raise BenchmarkError(f"The published {category} functions are {_range(known)}; there is no {id!r}.")
    return known[id]


def _ours(category: Category, id: str, match: re.Match[str]) -> FindFunction:
    if match["category"] != category:
        raise BenchmarkError(f"{id} is one of the {match['category']} functions, not of {category}.")
    by_shape = {shape: difficulty for difficulty, shape in _shapes(category).items()}
    shape, rules = match["shape"], "paper" if match["paper"] else "repaired"
    if shape not in (*by_shape, None) or (rules == "paper" and category in _SHAPES):
        raise BenchmarkError(f"{id!r} names no {category} function.")
    return generated(category, int(match["seed"]), by_shape.get(shape), cast(Rules, rules))


def _folder(find_dir: str) -> Path:
    try:
        return files.resolve_named(find_dir)
    except (files.FileError, NotAllowedError) as error:
        raise BenchmarkError(str(error)) from None


@lru_cache(maxsize=8)
def published(category: Category, find_dir: str) -> dict[str, FindFunction]:
    """Return the published functions of any category but strings, by id. Raises BenchmarkError if they cannot be
    read.
    """
    return dict(_PUBLISHED[category](_folder(find_dir)))


_PUBLISHED: dict[str, Callable[[Path], Mapping[str, FindFunction]]] = {
    "numeric": load_numeric,
    "entities": published_entities,
    "relations": published_relations,
}


@lru_cache(maxsize=2)
def published_strings(find_dir: str) -> dict[str, StringTask]:
    """Return the published string functions as far as they were published, by id. Raises BenchmarkError if they cannot
    be read.
    """
    return load_strings(_folder(find_dir))


@lru_cache(maxsize=64)
def _published_string(find_dir: str, id: str) -> FindFunction:
    known = published_strings(find_dir)
    if id not in known:
        raise BenchmarkError(f"The published strings functions are {_range(known)}; there is no {id!r}.")
    function = string_function(known[id])
    if function is None:
        raise BenchmarkError(f"No function of one or two steps gives the recorded pairs of {id}, so it cannot be run.")
    return function


def _range(known: dict[str, FindFunction] | dict[str, StringTask]) -> str:
    return f"{min(known)} to {max(known)}" if known else "none"


def brought(category: Category, kind: OwnKind, text: str) -> FindFunction:
    """Return a function that a person wrote: code or a formula, pairs one per line, or a concept ("birds or ships").

    Raises ValueError with a message for the person.
    """
    if not text.strip():
        raise ValueError("Write the function first: a formula, a few lines of Python, or pairs.")
    if kind == "pairs":
        return own.from_pairs("own", category, read_pairs(text))
    if kind == "code":
        if category not in ("numeric", "strings"):
            raise ValueError("Code makes numeric and string functions. Type pairs or a concept instead.")
        return own.from_code("own", category, text)
    if category != "entities":
        raise ValueError("A concept makes an entity function. Type pairs instead.")
    first, _, second = text.strip().partition(" or ")
    return EntityFunction(id="own", concept1=first.strip(), concept2=second.strip() or None)


def read_pairs(text: str) -> dict[str, str]:
    """Read pairs typed one per line as "input -> output" ("=>", "→" and tabs work too). Raises ValueError if a line is
    not a pair.
    """
    pairs = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        parts = re.split(r"\s*(?:->|=>|→|\t)\s*", line, maxsplit=1)
        if len(parts) != 2 or not parts[0].strip():
            raise ValueError(f"Line {number} is not a pair. Write it as: input -> output.")
        pairs[parts[0].strip()] = parts[1].strip()
    return pairs
