"""Inputs chosen beforehand: MILAN's exemplars, the texts that strings are tested on, and triplets of texts."""

from collections.abc import Sequence
from itertools import count

import numpy as np

from ...package_data import table
from .evaluate import held_out_texts
from .functions.base import FindFunction, Triplet
from .functions.entities import EntityFunction, concepts
from .functions.relations import UNDEFINED, Fact, RelationFunction, relations

# Unit tests of entity and relation functions: which of three examples fits the description?
#
# Paper §3; docs/measuring.md §4.9.


TESTS = 10
"""Triplets of a published function."""

EXCEPTED = 5
"""Of the true examples of a relation with an exception, one in this many is `undefined`, as in the published tests."""


def entity_triplets(function: EntityFunction, seed: int, n: int = TESTS) -> tuple[Triplet, ...]:
    """Return `n` triplets of our words, half for each concept if there are two. A concept has twenty words: beyond that
    they repeat, with other distractors.

    Distractors are words of other concepts; sensitive ones only if the function is sensitive itself. Raises ValueError
    for a concept that is not one of the 140.
    """
    unknown = [name for name in function.names if name not in concepts()]
    if unknown:
        raise ValueError(f"there are no words for {unknown[0]!r}, so no unit tests can be drawn")
    rng = np.random.default_rng([seed, 4])
    share = n // len(function.names)
    true = [word for name in function.names for word in _drawn(concepts()[name].words, share, rng)]
    allowed = [
        c for c in concepts().values() if c.name not in function.names and (function.is_sensitive or not c.sensitive)
    ]
    triplets = []
    for word in rng.permutation(true):
        others = rng.choice(len(allowed), 2, replace=False)
        wrong = [(str(rng.choice(allowed[other].words)),) for other in others]
        triplets.append(shuffled((str(word),), wrong, rng))
    return tuple(triplets)


def _drawn(words: Sequence[str], share: int, rng: np.random.Generator) -> list[str]:
    """Return `share` of the words at random, each once before any repeats."""
    drawn: list[str] = []
    while len(drawn) < share:
        drawn += [str(word) for word in rng.choice(words, min(share - len(drawn), len(words)), replace=False)]
    return drawn


def relation_triplets(function: RelationFunction, seed: int, n: int = TESTS) -> tuple[Triplet, ...]:
    """Return `n` triplets of our facts; with an exception a fifth of the true outputs are `undefined`.

    Distractors are facts of other relations that this function would not give. Raises ValueError for a relation that is
    not one of the 25.
    """
    if function.relation is None:
        raise ValueError(f"there are no facts for {function.concept2!r}, so no unit tests can be drawn")
    rng = np.random.default_rng([seed, 5])
    facts = [function.relation.facts[place] for place in rng.permutation(len(function.relation.facts))]
    excepted = [fact for fact in facts if function.excepts(fact)][: n // EXCEPTED]
    plain = [fact for fact in facts if not function.excepts(fact)]
    # A relation whose exception covers half of its facts has too few others, so the first ones repeat.
    true = [*excepted, *(plain[k % len(plain)] for k in range(n - len(excepted)))]
    others = [other for other in relations().values() if other.concept2 != function.concept2]
    triplets = []
    for place in rng.permutation(n):
        wrong: list[tuple[str, str]] = []
        while len(wrong) < 2:
            other = others[rng.integers(len(others))]
            fact = other.facts[rng.integers(len(other.facts))]
            pair = (fact.inputs[0], fact.outputs[0])
            if pair not in wrong and _is_wrong(function, fact):
                wrong.append(pair)
        triplets.append(shuffled((true[place].inputs[0], function.output(true[place])), wrong, rng))
    return tuple(triplets)


def _is_wrong(function: RelationFunction, fact: Fact) -> bool:
    """Whether the pair is certainly not this function's: it answers that input differently, or the kind differs."""
    accepted = function.accepts(fact.inputs[0], fact.outputs[0])
    if accepted is None:
        return function.is_of_other_kind(fact.inputs[0]) and fact.outputs[0] != UNDEFINED
    return not accepted


def shuffled(true: tuple[str, ...], wrong: Sequence[tuple[str, ...]], rng: np.random.Generator) -> Triplet:
    """Return the triplet of a true example and two wrong ones, with the true one at a random position."""
    correct = int(rng.integers(3))
    options = [*wrong]
    options.insert(correct, true)
    return Triplet(options=tuple(options), correct=correct)


_INPUTS = table("find/inputs")

_MORE = 200
"""How many random texts are tried if the function changes too few of the listed ones."""


def exemplars(function: FindFunction) -> tuple[str, ...]:
    """Return MILAN's exemplars: ten words for a module (two of them related), a fixed set for numbers and texts."""
    if isinstance(function, EntityFunction | RelationFunction):
        return function.exemplars
    if function.kind == "own pairs":
        return tuple(function.parameters["pairs"])
    return tuple(_INPUTS["numbers" if function.category == "numeric" else "texts"])


def observed(function: FindFunction, texts: Sequence[str], rng: np.random.Generator) -> list[tuple[str, str]]:
    """Return (text, output) for those of `texts` for which the function has a value."""
    outputs = function.outputs(texts, rng)
    return [(text, output) for text, output in zip(texts, outputs, strict=True) if isinstance(output, str)]


def pairs_for_testing(function: FindFunction, seed: int, n: int = TESTS) -> tuple[tuple[str, str], ...]:
    """Return `n` texts with a string function's outputs, the same for the same seed; fewer if it has fewer.

    The function changes at least half of them if such texts can be found: texts that it leaves unchanged cannot
    distinguish it from doing nothing.
    """
    rng = np.random.default_rng([seed, 8])
    if function.kind == "own pairs":
        return tuple(function.parameters["pairs"].items())[:n]
    pairs = observed(function, [str(text) for text in rng.permutation(_INPUTS["pool"])], rng)
    if sum(_changes(pair) for pair in pairs[:n]) >= n / 2:
        return tuple(pairs[:n])
    changed = [pair for pair in pairs if _changes(pair)]
    if len(changed) < n / 2:
        more = held_out_texts(_INPUTS["pool"], rng, _MORE)
        changed += [pair for pair in observed(function, more, rng) if _changes(pair)]
    changed = changed[: (n + 1) // 2]
    others = [pair for pair in pairs if not _changes(pair)]
    chosen = [*changed, *others[: n - len(changed)]]
    return tuple(chosen[place] for place in rng.permutation(len(chosen)))


def _changes(pair: tuple[str, str]) -> bool:
    return pair[0] != pair[1]


def drawn_triplets(function: FindFunction, seed: int, n: int = TESTS) -> tuple[Triplet, ...]:
    """Return `n` new triplets for a function of words, facts or texts. Raises ValueError if there can be none."""
    if isinstance(function, EntityFunction):
        return entity_triplets(function, seed, n)
    if isinstance(function, RelationFunction):
        return relation_triplets(function, seed, n)
    return string_triplets(function, seed, n)


def string_triplets(function: FindFunction, seed: int, n: int = TESTS) -> tuple[Triplet, ...]:
    """Return `n` triplets for a string function: a true pair, and two of other functions that this one would not
    give.
    """
    from .functions.source import generate

    rng = np.random.default_rng([seed, 9])
    true = pairs_for_testing(function, seed, n)
    triplets = []
    for place, pair in enumerate(true):
        wrong: list[tuple[str, str]] = []
        seeds = count(10_001 + seed * 97 + place * 31)
        while len(wrong) < 2:
            other = generate("strings", next(seeds))
            text = str(rng.choice([text for text in _INPUTS["pool"] if text != pair[0]]))
            made = observed(other, [text], rng)
            if made and made[0] not in wrong and made[0] not in observed(function, [text], rng):
                wrong.append(made[0])
        triplets.append(shuffled(pair, wrong, rng))
    return tuple(triplets)
