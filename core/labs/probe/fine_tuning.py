"""The data to fine-tune an evaluator on: unit tests with true descriptions and their right answers (FIND, appendix
F1).
"""

import json
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count

import numpy as np

from . import prompts
from .exemplars import string_triplets
from .functions import source
from .functions.base import Category, FindFunction
from .functions.entities import EntityFunction
from .functions.relations import RelationFunction
from .functions.triplets import TESTS, Triplet, entity_triplets, relation_triplets
from .tasks import ProbeSpec

CATEGORIES: tuple[Category, ...] = ("strings", "entities", "relations")

FIRST_SEED = 10**9
"""The functions of a training set have seeds from here on, so that no run meets them by its default seeds. Subjects and
relations are a fixed list: there, a test function is always among those of the training set, as in the paper.
"""

LEAST, MOST = 3, 1_000_000
"""The fewest and the most examples of a training set."""


def examples(
    n: int,
    seed: int = 0,
    find_dir: str | None = None,
    left_out: Callable[[str], None] = lambda why: None,
    asked: str | None = None,
) -> Iterator[str]:
    """Yield `n` examples for fine-tuning, each a line of JSON with the chat turns `messages`: the evaluator's prompt
    with a true description, then its right answer.

    The categories take turns, so each has a third. Distractors are examples of other functions of the category. With
    `find_dir` the functions are the published ones, but never their published tests; `left_out(why)` is called for each
    of them that cannot be tested. `asked` is whose prompts (`ProbeSpec.evaluator_prompt`). The same arguments give the
    same examples, and memory does not grow with `n`. Raises BenchmarkError if the published set cannot be read,
    PaperPromptError if a prompt of the paper's is missing, and ValueError if a category has no function left.
    """
    sources = {category: _of_category(category, seed, find_dir, left_out, asked) for category in CATEGORIES}
    for number in range(n):
        yield next(sources[CATEGORIES[number % len(CATEGORIES)]])


def _of_category(
    category: Category, seed: int, find_dir: str | None, left_out: Callable[[str], None], asked: str | None
) -> Iterator[str]:
    spec = ProbeSpec(category=category, interpreter="you", evaluator_prompt=asked)
    if find_dir:
        functions = _published(category, seed, find_dir, left_out)
    else:
        functions = (source.generated(category, FIRST_SEED + seed * MOST + one, None, spec.rules) for one in count())
    for number, function in enumerate(functions):
        for triplet in _triplets(function, FIRST_SEED + seed * MOST + number):
            prompt = prompts.unit_test(spec, function.describe(), triplet.options)
            turns = [message.model_dump(include={"role", "content"}) for message in prompt.messages]
            turns.append({"role": "assistant", "content": f"[ANSWER]: {triplet.correct + 1}"})
            yield json.dumps({"messages": turns}, ensure_ascii=False)


def _triplets(function: FindFunction, seed: int) -> tuple[Triplet, ...]:
    """Return ten new triplets. Raises ValueError if there can be none."""
    if isinstance(function, EntityFunction):
        return entity_triplets(function, seed, TESTS)
    if isinstance(function, RelationFunction):
        return relation_triplets(function, seed, TESTS)
    return string_triplets(function, seed, TESTS)


def _published(category: Category, seed: int, find_dir: str, left_out: Callable[[str], None]) -> Iterator[FindFunction]:
    """Yield the published functions that can be tested, in random order, again and again. Raises BenchmarkError, and
    ValueError if there are none.
    """
    ids = sorted(source.published_ids(category, find_dir))
    order = [ids[place] for place in np.random.default_rng([seed, len(category)]).permutation(len(ids))]
    load = cache(lambda id: _testable(category, id, find_dir, left_out))
    while any(load(id) is not None for id in order):
        yield from (function for id in order if (function := load(id)) is not None)
    raise ValueError(f"No published function of the category {category} can be tested here.")


def _testable(category: Category, id: str, find_dir: str, left_out: Callable[[str], None]) -> FindFunction | None:
    """Return the published function, or None, after calling `left_out`, if it cannot be rebuilt or tested."""
    try:
        function = source.load(ProbeSpec(category=category, function=id, find_dir=find_dir, interpreter="you"))
        _triplets(function, FIRST_SEED)
    except ValueError as error:
        left_out(f"{category} {id}: {error}")
        return None
    return function
