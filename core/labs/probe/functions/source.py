"""Where a function comes from: drawn from a seed, looked up by its id in the published set, or brought by a person.

Generators, synthesis and the sandbox are imported only when a function is created: a form needs none of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from .... import files
from ....events import Rules
from ....policy import NotAllowedError
from ...base.cases import Case
from ..tasks import OWN, ProbeSpec
from .base import FindFunction
from .benchmark import BenchmarkError
from .entities import EntityFunction, EntityKind, draw_entity, published_entities
from .names import DRAWN, SHAPES, Category, Difficulty, OwnKind, difficulties, name_of, shapes
from .numeric import load_numeric
from .relations import RelationKind, draw_relation, published_relations

if TYPE_CHECKING:
    from .synthesis import StringTask

_CHOICE = 12
"""Separates the random numbers that choose published functions from the other streams of a seed."""


def cases(spec: ProbeSpec) -> Iterator[Case]:
    """Yield one case per function, whose `about` is the specification for it alone. Raises BenchmarkError if the
    published set cannot be read.
    """
    for name in names_of(spec):
        one = spec.alone(name)
        yield Case(name, one, one.title)


def names_of(spec: ProbeSpec) -> Iterator[str]:
    """Yield the functions' names, which are the cases' ids, without loading them. Raises BenchmarkError if the
    published set cannot be read.
    """
    if spec.own:
        yield OWN
    elif spec.function:
        yield spec.function.replace("/", "-")
    elif spec.functions:
        yield from (name.replace("/", "-") for name in spec.functions)
    elif spec.is_category:
        ids = sorted(published_ids(spec.category, str(spec.find_dir)))
        places = np.random.default_rng([spec.seed, _CHOICE]).permutation(len(ids))[: spec.limit]
        yield from (ids[place] for place in places)
    else:
        for seed in range(spec.seed, spec.seed + spec.count):
            yield name_of(spec.category, seed, spec.difficulty, spec.rules)


def load(spec: ProbeSpec) -> FindFunction:
    """Return the black box of a specification about one. Raises ValueError (or its subclass BenchmarkError) with a
    message for the person; a specification about several raises it too, and `cases` gives each its own.
    """
    if spec.is_several:
        raise ValueError("Several functions are named here: name only one.")
    if spec.own:
        return brought(spec.category, spec.own_kind, spec.own)
    if spec.function:
        return by_id(spec.category, spec.function, Path(spec.find_dir) if spec.find_dir else None)
    return generated(spec.category, spec.seed, spec.difficulty, spec.rules)


def generated(category: Category, seed: int, difficulty: Difficulty | None, rules: Rules) -> FindFunction:
    """Return the function that `seed` stands for, always the same. Raises ValueError for a difficulty that the category
    lacks.
    """
    if difficulty is not None and difficulty not in difficulties(category):
        raise ValueError(f"{category} functions are {' or '.join(difficulties(category))}, not {difficulty}.")
    if category == "entities":
        return draw_entity(seed, kind=cast(EntityKind | None, difficulty and SHAPES[category][difficulty]))
    if category == "relations":
        return draw_relation(seed, kind=cast(RelationKind | None, difficulty and SHAPES[category][difficulty]))
    from .generate import generate

    return generate(category, seed, rules=rules, difficulty=difficulty)


def published_ids(category: Category, find_dir: str) -> list[str]:
    """Return the names of all published functions of a category. Raises BenchmarkError if they cannot be read."""
    return list(published_strings(find_dir) if category == "strings" else published(category, find_dir))


def by_id(category: Category, id: str, find_dir: Path | None) -> FindFunction:
    """Return the published function `id`, or a generated one by its name ("numeric-7-hard").

    Raises BenchmarkError if there is none, or if the published folder is not as expected.
    """
    if match := DRAWN.fullmatch(id):
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
    by_shape = {shape: difficulty for difficulty, shape in shapes(category).items()}
    shape, rules = match["shape"], "paper" if match["paper"] else "repaired"
    if shape not in (*by_shape, None) or (rules == "paper" and category in SHAPES):
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
    from .synthesis import load_strings

    return load_strings(_folder(find_dir))


@lru_cache(maxsize=64)
def _published_string(find_dir: str, id: str) -> FindFunction:
    from .synthesis import string_function

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
    from . import own

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
