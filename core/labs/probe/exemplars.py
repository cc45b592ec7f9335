"""Inputs chosen beforehand: MILAN's exemplars, the texts that strings are tested on, and triplets of texts."""

from collections.abc import Sequence

import numpy as np

from ...package_data import table
from .evaluate import held_out_texts
from .functions.base import FindFunction
from .functions.entities import EntityFunction
from .functions.relations import RelationFunction
from .functions.triplets import TESTS, Triplet, shuffled

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
        attempt = 0
        while len(wrong) < 2:
            attempt += 1
            other = generate("strings", 10_000 + seed * 97 + place * 31 + attempt)
            text = str(rng.choice([text for text in _INPUTS["pool"] if text != pair[0]]))
            made = observed(other, [text], rng)
            if made and made[0] not in wrong and made[0] not in observed(function, [text], rng):
                wrong.append(made[0])
        triplets.append(shuffled(pair, wrong, rng))
    return tuple(triplets)
