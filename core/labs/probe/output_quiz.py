"""A quiz on a function of texts: pick, of three outputs for a new text, the one that the function gives."""

import json
from collections.abc import Collection, Iterator, Mapping
from difflib import SequenceMatcher

import numpy as np

from ...events import Frozen
from .exemplars import observed, pairs_for_testing
from .functions.base import FindFunction
from .records import Interpretation, Submission

TEXTS = 5
OTHERS = 24
"""How many other functions are generated; their two closest outputs become the wrong options."""

_POOL = 30
"""How many texts are generated to find some that were not tried yet."""

_STREAM, _FIRST = 22, 20_000
"""Separates these random numbers, and the seeds of the other functions, from the other streams of a seed."""

WORDS = "Told by picking outputs: "
"""How the description of such a conclusion begins; the picks follow as JSON."""


class QuizItem(Frozen):
    """A new text, and three outputs in random order; one of them is the function's."""

    text: str
    outputs: tuple[str, ...]


def quiz_items(function: FindFunction, seed: int, tried: Collection[str]) -> tuple[QuizItem, ...]:
    """Return at most TEXTS quiz items on texts that were not tried, the same for the same seed."""
    rng = np.random.default_rng([seed, _STREAM])
    from .functions.source import generate

    others = [generate("strings", _FIRST + 97 * seed + number) for number in range(OTHERS)]
    found = []
    for text, output in pairs_for_testing(function, seed, _POOL):
        wrong = dict.fromkeys(given for one in others for _, given in observed(one, [text], rng) if given != output)
        near = sorted(wrong, key=lambda given: -SequenceMatcher(None, given, output, autojunk=False).ratio())[:2]
        if text not in tried and len(near) == 2:
            mixed = [output, *near]
            found.append(QuizItem(text=text, outputs=tuple(mixed[place] for place in rng.permutation(3))))
    return tuple(found[:TEXTS])


def submission(picks: Mapping[str, str]) -> Submission:
    """Return the conclusion of a person who picked these outputs, by text."""
    return Submission(description=WORDS + json.dumps(dict(picks), ensure_ascii=False))


def picks(said: Interpretation | None) -> dict[str, str]:
    """Return the picks by text; empty if the conclusion does not come from the quiz."""
    words = said.description.repaired if said is not None and said.interpreter == "you" else ""
    if not words.startswith(WORDS):
        return {}
    try:
        found = json.loads(words.removeprefix(WORDS))
    except ValueError:
        return {}
    return {text: given for text, given in found.items() if isinstance(given, str)} if isinstance(found, dict) else {}


def picked_outputs(function: FindFunction, picked: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield for each text the picked output and the function's; an empty string if the function gives nothing."""
    given = dict(observed(function, list(picked), np.random.default_rng([0, _STREAM])))
    for text, one in picked.items():
        yield text, one, given.get(text, "")
