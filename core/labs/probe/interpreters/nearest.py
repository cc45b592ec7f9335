"""The `nearest` baseline: finds the concepts of an entity function by embedding, without a language model.

It knows the 140 concepts, so it chooses where other interpreters must invent. Every concept and every pair is a
hypothesis; word lists and sentence embeddings say how each would score a word. It asks about the word that best
distinguishes the hypotheses, weighs them by the answer, and repeats.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ....text.embed import SMALL, encoder
from ..functions.entities import SINGLE_SHARE, EntityFunction, concepts, concepts_of
from ..functions.modules import related

if TYPE_CHECKING:
    from numpy.typing import NDArray

CallBox = Callable[[Sequence[str]], Awaitable[Sequence[float | None]]]
"""Calls the black box: returns one value in 0…1 per word, in order; None if it gave none."""

NEAREST_PROBES = 40
"""How many words it may probe by default."""

CANDIDATES = 3
"""How many words of each concept it considers probing."""

DOUBT = 0.05
"""No hypothesis excludes an answer further than this, because word lists and modules are both wrong at times."""

SIMILAR = 0.7
"""The highest value expected of a word that only resembles a concept; the concept's own words are expected to give 1 −
DOUBT.
"""

NEGLIGIBLE = 1e-5
"""Hypotheses below this share of the likeliest one's probability have no influence on what is asked next."""

CERTAIN = 0.99
"""It stops before its budget is spent once one hypothesis has this much of the probability."""


class NearestResult(NamedTuple):
    """What it concludes. `certainty` is the probability of these concepts; `probes` are in order."""

    concepts: tuple[str, ...]
    description: str
    certainty: float
    probes: tuple[tuple[str, float | None], ...]


async def nearest(
    probe: CallBox, budget: int = NEAREST_PROBES, *, exemplars: Sequence[str] = (), sensitive: bool = True
) -> NearestResult:
    """Interpret the entity function behind `probe` with at most `budget` words; `exemplars` are probed first.

    With `sensitive` False it neither proposes sensitive concepts nor probes their words.
    """
    hypotheses, words, expected = _hypotheses(sensitive)
    log_weight = np.log(_prior(hypotheses))
    probes: list[tuple[str, float | None]] = []
    open_words = np.ones(len(words), dtype=bool)

    given = list(dict.fromkeys(exemplars))[:budget]
    if given:
        scores = _expected(hypotheses, given)
        for k, value in enumerate(await probe(given)):
            probes.append((given[k], value))
            log_weight = _weighed(log_weight, scores[:, k], value)
        open_words &= ~np.isin(words, given)

    while len(probes) < budget and open_words.any() and np.exp(log_weight).max() < CERTAIN:
        k = _most_telling(log_weight, expected, open_words)
        [value] = await probe([words[k]])
        probes.append((words[k], value))
        open_words[k] = False
        log_weight = _weighed(log_weight, expected[:, k], value)

    best = int(log_weight.argmax())
    concepts = tuple(hypotheses[best])
    function = EntityFunction(id="finding", concept1=concepts[0], concept2=concepts[1] if len(concepts) > 1 else None)
    return NearestResult(concepts, function.describe(), float(np.exp(log_weight[best])), tuple(probes))


def _prior(hypotheses: list[tuple[str, ...]]) -> NDArray[Any]:
    """Return the prior: one concept or two as often as in the published set, and uniform within each group."""
    single = np.array([len(names) == 1 for names in hypotheses])
    return np.asarray(np.where(single, SINGLE_SHARE / single.sum(), (1 - SINGLE_SHARE) / (~single).sum()))


def _weighed(log_weight: NDArray[Any], expected: NDArray[Any], value: float | None) -> NDArray[Any]:
    """Return the weights after one answer; an answer between 0 and 1 counts for both sides in that proportion."""
    if value is None:
        return log_weight
    likelihood = value * np.log(expected) + (1 - value) * np.log(1 - expected)
    weighed = log_weight + likelihood
    return np.asarray(weighed - np.logaddexp.reduce(weighed))


def _most_telling(log_weight: NDArray[Any], expected: NDArray[Any], open_words: NDArray[Any]) -> int:
    """Return the word with the largest expected information: entropy of the mean answer minus mean entropy of the
    answers.
    """
    alive = np.flatnonzero(log_weight > log_weight.max() + np.log(NEGLIGIBLE))
    weight = np.exp(log_weight[alive]).astype(np.float32)
    weight /= weight.sum()
    columns = np.flatnonzero(open_words)
    answers = expected[np.ix_(alive, columns)]
    gain = _entropy(weight @ answers) - weight @ _entropy(answers)
    return int(columns[gain.argmax()])


def _entropy(share: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(-share * np.log(share) - (1 - share) * np.log(1 - share))


@lru_cache(maxsize=2)
def _hypotheses(sensitive: bool) -> tuple[list[tuple[str, ...]], list[str], NDArray[Any]]:
    """Return hypotheses (one or two names each), candidate words, and the expected values, hypotheses × words."""
    allowed = [concept for concept in concepts().values() if sensitive or not concept.sensitive]
    names = [concept.name for concept in allowed]
    hypotheses: list[tuple[str, ...]] = [*((name,) for name in names), *combinations(names, 2)]
    words = [word for concept in allowed for word in concept.words[:CANDIDATES]]
    # In one batch: `direction` would encode them concept by concept, which takes half as long again.
    encoder(SMALL).encode([text for concept in allowed for text in (concept.name, *concept.words)])
    return hypotheses, words, _expected(hypotheses, words)


def _expected(hypotheses: list[tuple[str, ...]], words: Sequence[str]) -> NDArray[Any]:
    """Return the value that each hypothesis predicts for each word (32-bit, DOUBT…1 − DOUBT); for two concepts, the
    larger.
    """
    vectors = np.asarray(encoder(SMALL).encode(list(words)), np.float64)
    listed = [concepts_of(word) for word in words]
    singles = {}
    for [name] in (names for names in hypotheses if len(names) == 1):
        on_list = np.array([name in names for names in listed])
        alike = DOUBT + (SIMILAR - DOUBT) * related(name, vectors)
        singles[name] = np.where(on_list, 1 - DOUBT, alike).astype(np.float32)
    rows: NDArray[Any] = np.stack([np.maximum(singles[names[0]], singles[names[-1]]) for names in hypotheses])
    return rows
