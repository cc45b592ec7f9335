"""Entity functions: how related is an input to a concept, or to either of two?

Paper §2.3, table A1; docs/measuring.md §4.3.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ....events import Frozen
from ....package_data import table
from .base import Category, FindFunction, published_modules
from .relations import normal

# Whether a box agrees with its own stated truth: one rule for subjects and facts.


INSIDE, OUTSIDE = 2, 8
"""What the benchmark gives an interpreter at the start: two exemplars that belong to the function, and eight that do
not (paper §4).
"""

LEAST = 0.5
"""Below this a box contradicts its truth: an interpreter that starts with ten exemplars is misled more often than not,
and its errors are then the box's fault.
"""


def exemplars_all_correct(inside: float, outside: float) -> float:
    """Return the probability, 0…1, that ten exemplars all come out right, for a box that is right on the share `inside`
    of what belongs to its function and wrong on the share `outside` of what does not.
    """
    return inside**INSIDE * (1 - outside) ** OUTSIDE


SINGLE_SHARE = 140 / 200
"""Of the published entity functions; the others have either of two concepts."""

EXEMPLARS = 10
"""Words an interpreter may start with; two are related, one to each concept if there are two."""

EntityKind = Literal["single", "or"]


class Concept(Frozen):
    """One of the benchmark's 140 subjects with twenty associated words of ours.

    `sensitive` ones (mass death, weapons, graves, illness, groups of people; the paper's appendix B) are not sampled.
    `measured` is the result of sentence embeddings (all-MiniLM-L6-v2): how many of its words come out
    at 0.5 or above, and how many of how many words of other subjects do (`fidelity.measure`).
    """

    name: str
    words: tuple[str, ...]
    measured: tuple[int, int, int]
    sensitive: bool = False


def keeps(*subjects: Concept) -> bool:
    """Whether the box of one subject, or of either of several, is expected to agree with its truth. For several
    subjects it assumes that no word of another subject is close to two of them.
    """
    inside = sum(subject.measured[0] / len(subject.words) for subject in subjects) / len(subjects)
    outside = sum(subject.measured[1] / subject.measured[2] for subject in subjects)
    return exemplars_all_correct(inside, min(outside, 1.0)) >= LEAST


@lru_cache(maxsize=1)
def concepts() -> dict[str, Concept]:
    """Return all 140 by name, in the benchmark's order."""
    return {entry["name"]: Concept.model_validate(entry) for entry in table("find/entities")["concept"]}


def concepts_of(word: str) -> tuple[str, ...]:
    """Return the names of the concepts that have `word` on their list, ignoring case and accents."""
    return _lists().get(normal(word), ())


@lru_cache(maxsize=1)
def _lists() -> dict[str, tuple[str, ...]]:
    lists: dict[str, tuple[str, ...]] = {}
    for concept in concepts().values():
        for word in (concept.name, *concept.words):
            lists[normal(word)] = (*lists.get(normal(word), ()), concept.name)
    return lists


class EntityFunction(FindFunction):
    """Related to `concept1`, or also to `concept2` if there is one. Called directly it answers from our word lists."""

    category: Category = "entities"
    concept1: str
    concept2: str | None = None
    exemplars: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        return "single" if self.concept2 is None else "or"

    @property
    def parameters(self) -> dict[str, Any]:
        return {"concept1": self.concept1, "concept2": self.concept2}

    @property
    def names(self) -> tuple[str, ...]:
        """One or two concepts."""
        return (self.concept1,) if self.concept2 is None else (self.concept1, self.concept2)

    @property
    def is_sensitive(self) -> bool:
        """Whether one of its concepts is marked as sensitive."""
        return any(name in concepts() and concepts()[name].sensitive for name in self.names)

    def related_words(self) -> tuple[str, ...]:
        """Return our words for its concepts; none for a concept that is not one of the 140."""
        return tuple(word for name in self.names if name in concepts() for word in concepts()[name].words)

    def describe(self) -> str:
        related = f"related to {self.concept1}"
        if self.concept2 is not None:
            related += f" or to {self.concept2}"
        return f"It gives values near 1 to words {related}, and values near 0 to all others."

    def __call__(self, x: Any, rng: np.random.Generator) -> float:
        """Return 1.0 for a word on the list of one of its concepts, else 0.0."""
        return float(any(name in self.names for name in concepts_of(str(x))))


def published_entities(find_dir: Path) -> dict[str, EntityFunction]:
    """Return the 200 published entity functions by id. `find_dir` holds `neurons_entities/data.json`. Raises
    BenchmarkError as `published_modules` does.
    """
    keys = {"concept1": "concept1", "concept2": "concept2"}
    return published_modules(find_dir, "entities", EntityFunction, keys)


def draw_entity(seed: int, *, kind: EntityKind | None = None) -> EntityFunction:
    """Return the entity function that `seed` stands for, the same at every call; with `kind` None it is sampled in the
    benchmark's proportions.

    Neither its concepts nor its exemplars are sensitive. Concepts whose box contradicts its truth are not sampled
    (`keeps`).
    """
    rng = np.random.default_rng([seed, 2])
    drawn: EntityKind = "single" if rng.random() < SINGLE_SHARE else "or"
    allowed = [concept for concept in concepts().values() if not concept.sensitive]
    kind = kind or drawn
    order = [allowed[place] for place in rng.permutation(len(allowed))]
    wanted = 1 if kind == "single" else 2
    own = [next(concept for concept in order if keeps(concept))]
    if wanted == 2:
        own.append(next(concept for concept in order if concept not in own and keeps(*own, concept)))
    others = [concept for concept in order if concept not in own]
    related = rng.choice(own[0].words, 2, replace=False) if wanted == 1 else [rng.choice(each.words) for each in own]
    unrelated = [rng.choice(other.words) for other in others[: EXEMPLARS - 2]]
    exemplars = rng.permutation([*related, *unrelated])
    return EntityFunction(
        id=f"entities-{seed}" + (f"-{kind}" if kind != drawn else ""),
        concept1=own[0].name,
        concept2=own[1].name if wanted == 2 else None,
        exemplars=tuple(str(word) for word in exemplars),
    )
