"""What every black box of the Probe lab is: something to call, with its truth inside; its names, and the files of the
published benchmark.
"""

import json
import math
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from .... import files
from ....errors import ExplainError
from ....events import Frozen, Rules
from ....sandbox import Value as Value

# The names of functions and the words that choose one. Nothing here creates a function.


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
    """Return the seed in the name of a generated function. Raises FunctionError for any other name."""
    match = DRAWN.fullmatch(id)
    if match is None:
        raise FunctionError(f"{id!r} is not the name of a drawn function")
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


class FunctionError(ExplainError, ValueError):
    """There is no such function as was asked for, or none can be made of it; the message says why."""


class UndefinedInputError(ExplainError, ValueError):
    """The function has no value for this input; the message says why, in words for the person who asked."""


class FindFunction(Frozen):
    """A black box. It is frozen, and all of it is data: `model_dump` and `model_validate` give the same function again.

    `kind` names its shape within the category (an atom, or a composition); `note` says what an exact reader must know,
    for instance that published weights are absent.
    """

    id: str
    category: Category
    note: str = ""

    @property
    @abstractmethod
    def kind(self) -> str:
        """The atom or the composition, in the published notation: "relu", "relu;linear;sum_two"."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Everything that was sampled for this function, by name."""

    @property
    def is_stochastic(self) -> bool:
        """Whether two calls with one input may differ."""
        return False

    @abstractmethod
    def describe(self) -> str:
        """Return the truth in plain words, for the reveal at the end."""

    @abstractmethod
    def __call__(self, x: Any, rng: np.random.Generator) -> Value:
        """Return one observation at `x`; `rng` feeds whatever is random in it. Raises UndefinedInputError if there is
        no value.
        """

    def read(self, text: str) -> Any:
        """Return the input that someone wrote as `text`. Raises UndefinedInputError if the function accepts no such
        input.
        """
        return text

    def outputs(self, inputs: Sequence[Any], rng: np.random.Generator) -> list[Value | None]:
        """Return an observation for each input, in order; None if the function has no value."""
        observed: list[Value | None] = []
        for x in inputs:
            try:
                observed.append(self(x, rng))
            except UndefinedInputError:
                observed.append(None)
        return observed


def as_number(text: str) -> float | None:
    """Return `text` as a finite number; None if it is not one."""
    try:
        return read_number(text)
    except UndefinedInputError:
        return None


def read_number(text: str) -> float:
    """Read a finite number; a typographic minus sign is allowed. Raises UndefinedInputError if it is not one."""
    try:
        number = float(text.replace("−", "-"))
    except ValueError:
        raise UndefinedInputError(f"{text!r} is not a number; the function takes numbers") from None
    if not math.isfinite(number):
        raise UndefinedInputError(f"{text!r} is not a finite number")
    return number


# The files of the published benchmark (the folder `find-dataset` of FIND).
#
# Its contents: docs/measuring.md §4.1, §4.2 and §4.3.


LARGEST = 256 * files.MB

T = TypeVar("T")


class BenchmarkError(FunctionError):
    """A folder or file that is not the published benchmark; the message names it and says what is expected."""


def read_json(path: Path) -> Any:
    """Read a JSON file. Raises BenchmarkError if the file is absent or broken."""
    try:
        if path.exists():
            return json.loads(files.read_bytes(path, LARGEST))
    except files.FileError as error:
        raise BenchmarkError(str(error)) from None
    except (ValueError, OSError, RecursionError) as error:
        where = f": {error.msg}, line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise BenchmarkError(f"{path} cannot be read{where}") from None
    raise BenchmarkError(f"{path} is missing; give the folder that holds numeric/ and strings/")


def read_entries(find_dir: Path, file: str, build: Callable[[Any], tuple[str, T]]) -> dict[str, T]:
    """Return what `build` makes of each entry of a file. Raises BenchmarkError as `read_json` and `rebuilt` do."""
    return rebuilt(read_json(find_dir / file), file, build)


def rebuilt(entries: Any, file: str, build: Callable[[Any], tuple[str, T]]) -> dict[str, T]:
    """Return what `build` makes of each of the `entries` of `file`, by id. Raises BenchmarkError with the name of an
    entry that does not have the published layout.
    """
    made = {}
    for entry in entries:
        try:
            id, thing = build(entry)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            name = (entry.get("dir") or entry.get("name") or "?") if isinstance(entry, dict) else "?"
            raise BenchmarkError(f"{file}: the entry of {name} cannot be read ({error!r})") from error
        made[id] = thing
    return made


def published_modules(
    find_dir: Path, category: Category, kind: Callable[..., T], keys: Mapping[str, str]
) -> dict[str, T]:
    """Return the published functions of entities or relations by id ("f00000"…), each a `kind` with these fields from
    those `keys` of its entry. Raises BenchmarkError for anything that does not have the published layout.
    """

    def function(entry: Any) -> tuple[str, T]:
        id, exemplars = Path(entry["dir"]).name, tuple(word.strip() for word in entry["initial"])
        concepts = {field: entry[key].strip() if entry[key] else None for field, key in keys.items()}
        return id, kind(id=id, exemplars=exemplars, **concepts)

    return read_entries(find_dir, f"neurons_{category}/data.json", function)


class Triplet(Frozen):
    """Three examples, one of them true at position `correct` (from 0).

    An example is (input,) for entities, because the evaluator sees no values there, else (input, output).
    """

    options: tuple[tuple[str, ...], ...]
    correct: int

    @property
    def true(self) -> tuple[str, ...]:
        """The true example."""
        return self.options[self.correct]


def published_triplets(find_dir: Path, category: Category) -> dict[str, tuple[Triplet, ...]]:
    """Return the ten published triplets of each function of texts, words or facts, by id. Raises BenchmarkError if they
    cannot be read.
    """
    is_text = category == "strings"

    def triplets(entry: Any) -> tuple[str, tuple[Triplet, ...]]:
        made = []
        for listed, number in zip(entry["test_vec"], entry["correct_inx"], strict=True):
            examples = zip(listed, strict=True) if category == "entities" else zip(*listed, strict=True)
            options = tuple(tuple(part if is_text else part.strip() for part in example) for example in examples)
            made.append(Triplet(options=options, correct=number - 1))
        return entry["name"], tuple(made)

    return read_entries(find_dir, f"{category if is_text else f'neurons_{category}'}/unit_test_data.json", triplets)
