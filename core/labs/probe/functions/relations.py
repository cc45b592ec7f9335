"""Relation functions: from a thing to a fact about it, `undefined` outside.

Paper §2.3, table A2; docs/measuring.md §4.3.
"""

import functools
import re
import unicodedata
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field

from ....events import Frozen
from ....package_data import table
from .base import Category, FindFunction, UndefinedInputError, published_modules

# When two pieces of text say the same word, and when they say the same answer.


_NUMBER = re.compile(r"[-+]?\d[\d ,]*(?:\.\d+)?")
_LETTERS_WITHOUT_ACCENT_FORM = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ı": "i", "’": "'", "ʻ": ""})
_FILLERS = {"the", "a", "an", "and", "or"}


@functools.lru_cache(4096)
def normal(text: str) -> str:
    """Return `text` without case, accents, punctuation, leading article and extra spaces: "The Rhine." and "rhine" are
    equal.

    Signs that carry meaning stay: `%`, `+`, `:` and the point or minus of a number.
    """
    # Styled letters (𝖠) can be lower-cased only after decomposition.
    plain = unicodedata.normalize("NFKD", text).casefold().translate(_LETTERS_WITHOUT_ACCENT_FORM)
    plain = unicodedata.normalize("NFKD", plain)
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    plain = re.sub(r"(?<=\d),(?=\d{3}\b)", "", plain)
    plain = re.sub(r"(?<=\w)'s\b", "s", plain)
    plain = re.sub(r"(?<!\d)\.|\.(?!\d)|[^\w\s%+:.\-]|(?<=[^\W\d])-(?=[^\W\d])", " ", plain)
    words = plain.replace("_", " ").split()
    if len(words) > 1 and words[0] in {"the", "a", "an"}:
        words = words[1:]
    return " ".join(words)


def same_answer(given: str, accepted: str, tolerance: float = 0.0) -> bool:
    """Whether `given` says what `accepted` says. Word order, articles and "and" are ignored.

    With a `tolerance` both are read as numbers and may differ by that share of `accepted`; units are not converted.
    """
    if tolerance:
        value, wanted = number(given), number(accepted)
        return value is not None and wanted is not None and abs(value - wanted) <= tolerance * abs(wanted)
    return _bag(given) == _bag(accepted)


def number(text: str) -> float | None:
    """Return the first number in `text`, without thousands separators; None if there is none."""
    match = _NUMBER.search(text)
    return float(match[0].replace(",", "").replace(" ", "")) if match else None


def _bag(text: str) -> list[str]:
    return sorted(word for word in normal(text).split() if word not in _FILLERS)


UNDEFINED = "undefined"
"""What a relation function answers to an input of the wrong kind, and to one under its exception."""

NOT_LISTED = "our lists do not hold this input, so what the function gives for it is not known here"
"""The message for an input that may or may not be of the right kind."""

PLAIN_SHARE = 25 / 75
"""Of the published relation functions; each of the two exceptions has as many."""

EXEMPLARS = 10

KIN = (
    {"a city", "a city in the United States"},
    {
        "a head of state",
        "a well-known person",
        "the name of a person",
        "a politician",
        "an opera",
        "the title of a book",
    },
)
"""First concepts that share inputs (operas and books are often named after a person): none provides another's
distractors.
"""

RelationKind = Literal["plain", "corrupted"]

_Several = Annotated[tuple[str, ...], BeforeValidator(lambda given: (given,) if isinstance(given, str) else given)]


class Fact(Frozen):
    """One true pair. `inputs` are ways to say the same thing; the first of `outputs` is given, all are accepted.

    `a`, `b`: whether the input falls under the relation's first or second exception.
    """

    inputs: _Several = Field(alias="in")
    outputs: _Several = Field(alias="out")
    a: bool = False
    b: bool = False
    unsure: bool = False
    """Whether it is disputable which exceptions it falls under (is Russia in Asia?): then only the function without an
    exception answers.
    """


class Relation(Frozen):
    """One of the 25 relations: its two concepts, its two exceptions in words, and our facts.

    `tolerance` is the share by which a number may differ; 0 if outputs are words. `more` are facts that are known and
    answered, but used in no exemplars and no tests, so that what is sampled stays the same.
    """

    concept1: str
    concept2: str
    a: str
    b: str
    tolerance: float = 0.0
    facts: tuple[Fact, ...]
    more: tuple[Fact, ...] = ()

    def fact(self, text: str) -> Fact | None:
        """Return the fact about `text`, ignoring case and accents; None if there is none."""
        return self._by_input.get(normal(text))

    @cached_property
    def _by_input(self) -> dict[str, Fact]:
        return {normal(name): fact for fact in (*self.more, *self.facts) for name in fact.inputs}


@lru_cache(maxsize=1)
def relations() -> dict[tuple[str, str], Relation]:
    """Return all 25 by (concept1, concept2), in the benchmark's order."""
    listed = table("find/relations")["relation"]
    return {(entry["concept1"], entry["concept2"]): Relation.model_validate(entry) for entry in listed}


@lru_cache(maxsize=1)
def _kinds() -> dict[str, set[str]]:
    """Return the first concepts of each input that any relation knows, by the input's normal form."""
    kinds: dict[str, set[str]] = {}
    for relation in relations().values():
        for fact in (*relation.facts, *relation.more):
            for name in fact.inputs:
                kinds.setdefault(normal(name), set()).add(relation.concept1)
    return kinds


def kin_of(concept1: str) -> set[str]:
    """Return the first concepts that may have the same inputs as `concept1`, including itself."""
    return next((group for group in KIN if concept1 in group), {concept1})


class RelationFunction(FindFunction):
    """`concept2` of an input that is `concept1`; `undefined` for any other input, and under `exception`.

    Called directly it answers from our facts alone: an input that is on none of our lists may be of the right kind or
    not, so it has no value.
    """

    category: Category = "relations"
    concept1: str
    concept2: str
    exception: str | None = None
    exemplars: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        return "plain" if self.exception is None else "corrupted"

    @property
    def parameters(self) -> dict[str, Any]:
        return {"concept1": self.concept1, "concept2": self.concept2, "exception": self.exception}

    @property
    def relation(self) -> Relation | None:
        """Our facts for it; None for a relation that is not one of the 25."""
        return relations().get((self.concept1, self.concept2))

    def excepts(self, fact: Fact) -> bool:
        """Whether `fact` falls under this function's exception."""
        if self.exception is None or self.relation is None:
            return False
        return (fact.a and self.exception == self.relation.a) or (fact.b and self.exception == self.relation.b)

    def output(self, fact: Fact) -> str:
        """Return what the function answers to the inputs of `fact`."""
        return UNDEFINED if self.excepts(fact) else fact.outputs[0]

    def accepts(self, x: str, output: str) -> bool | None:
        """Whether `output` is right for `x`; None if our facts do not know `x`."""
        fact = self.relation.fact(x) if self.relation else None
        if self.relation is None or fact is None or (fact.unsure and self.exception):
            return None
        if self.excepts(fact):
            return normal(output) == UNDEFINED
        return any(same_answer(output, accepted, self.relation.tolerance) for accepted in fact.outputs)

    def is_of_other_kind(self, text: str) -> bool:
        """Whether our lists have `text`, but only as something that cannot be `concept1`."""
        kinds = _kinds().get(normal(text), set())
        return self.relation is not None and bool(kinds) and not kinds & kin_of(self.concept1)

    def describe(self) -> str:
        sentence = f"For {self.concept1} it answers {self.concept2}; for any other input it answers '{UNDEFINED}'."
        if self.exception is not None:
            sentence += f" The exception: where {self.exception}, it answers '{UNDEFINED}' too."
        return sentence

    def __call__(self, x: Any, rng: np.random.Generator) -> str:
        """Return the fact about `x`; "undefined" if that is excepted, or `x` is known as something else. Raises
        UndefinedInputError for what our lists do not have.
        """
        fact = self.relation.fact(str(x)) if self.relation else None
        if fact is not None and not (fact.unsure and self.exception):
            return self.output(fact)
        if fact is None and self.is_of_other_kind(str(x)):
            return UNDEFINED
        raise UndefinedInputError(NOT_LISTED)


def published_relations(find_dir: Path) -> dict[str, RelationFunction]:
    """Return the 75 published relation functions by id. `find_dir` holds `neurons_relations/data.json`, where the field
    of the exception is spelt `exeption`. Raises BenchmarkError as `published_modules` does.
    """
    keys = {"concept1": "concept1", "concept2": "concept2", "exception": "exeption"}
    return published_modules(find_dir, "relations", RelationFunction, keys)


def draw_relation(seed: int, *, kind: RelationKind | None = None) -> RelationFunction:
    """Return the relation function that `seed` stands for, always the same; with `kind` None it is sampled in the
    benchmark's proportions.

    Two of the ten exemplars are of the relation's first concept; with an exception one of them falls under it.
    """
    rng = np.random.default_rng([seed, 3])
    drawn: RelationKind = "plain" if rng.random() < PLAIN_SHARE else "corrupted"
    kind = kind or drawn
    known = list(relations().values())
    relation = known[rng.integers(len(known))]
    exception = None if kind == "plain" else str(rng.choice([relation.a, relation.b]))
    function = RelationFunction(
        id=f"relations-{seed}" + (f"-{kind}" if kind != drawn else ""),
        concept1=relation.concept1,
        concept2=relation.concept2,
        exception=exception,
    )
    facts = [relation.facts[place] for place in rng.permutation(len(relation.facts))]
    related = facts[:2]
    if exception is not None:
        related = [next(fact for fact in facts if function.excepts(fact) is excepted) for excepted in (True, False)]
    chosen = [fact.inputs[0] for fact in related]
    kin = kin_of(relation.concept1)
    others = [other for other in known if other.concept1 not in kin]
    for place in rng.permutation(len(others)):
        foreign = [fact.inputs[0] for fact in others[place].facts]
        word = str(rng.choice(foreign))
        if word not in chosen and relation.fact(word) is None:
            chosen.append(word)
        if len(chosen) == EXEMPLARS:
            break
    exemplars = tuple(str(word) for word in rng.permutation(chosen))
    return function.model_copy(update={"exemplars": exemplars})
