"""Can a backbone be trusted with the entity functions? The paper's table A1 and figure A4, for any backbone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from core.labs.find.functions.entities import EntityFunction, concepts
from core.labs.find.functions.modules import Module, Output

if TYPE_CHECKING:
    import pandas as pd

MakeModule = Callable[[EntityFunction], Module]
"""Puts a function on the backbone under test."""

WORDS = 10


async def reliability(
    make: MakeModule, names: Sequence[str] | None = None, *, words: int = WORDS, seed: int = 0
) -> pd.DataFrame:
    """Table A1: one row a concept, with the mean output for its own words and for as many of other concepts.

    Columns `concept`, `same`, `random` (means in 0…1, NaN where no output had a value), `n_same`, `n_random` (outputs
    with a value) and `asked`. `names` None takes all 140 concepts; the random words are drawn by `seed`. The paper's
    Vicuna has means 0.846 and 0.079.
    """
    import pandas as pd

    rng = np.random.default_rng(seed)
    rows = []
    for name in names or list(concepts()):
        own = concepts()[name].words[:words]
        others = [word for other in concepts().values() if other.name != name for word in other.words]
        foreign = [str(word) for word in rng.choice(others, words, replace=False)]
        outputs = await make(_function(name)).value([*own, *foreign])
        same, random = outputs[: len(own)], outputs[len(own) :]
        rows.append(
            {
                "concept": name,
                "same": _mean(same),
                "random": _mean(random),
                "n_same": _valid(same),
                "n_random": _valid(random),
                "asked": len(outputs),
            }
        )
    return pd.DataFrame(rows)


async def selectivity(make: MakeModule, names: Sequence[str] | None = None, *, words: int = WORDS) -> pd.DataFrame:
    """Figure A4: the mean output of the row's function for the words of the column's concept, before any softmax.

    Square, rows and columns named by concept; NaN where no output had a value. All 140 concepts with ten words each
    take 196,000 outputs: name fewer for a language model.
    """
    import pandas as pd

    chosen = list(names or concepts())
    asked = [word for name in chosen for word in concepts()[name].words[:words]]
    rows = await asyncio.gather(*(make(_function(name)).value(asked) for name in chosen))
    columns = np.cumsum([0, *(len(concepts()[name].words[:words]) for name in chosen)])
    means = [[_mean(row[low:high]) for low, high in pairwise(columns)] for row in rows]
    return pd.DataFrame(means, index=pd.Index(chosen, name="function"), columns=pd.Index(chosen, name="words of"))


def softmax_rows(matrix: pd.DataFrame) -> pd.DataFrame:
    """The matrix as figure A4 shows it: each row through a softmax, so that it adds to 1."""
    raised = np.exp(matrix.sub(matrix.max(axis=1), axis=0))
    return raised.div(raised.sum(axis=1), axis=0)


def _function(name: str) -> EntityFunction:
    return EntityFunction(id=f"concept-{name}", concept1=name)


def _valid(outputs: Sequence[Output]) -> int:
    return sum(isinstance(output.value, float) for output in outputs)


def _mean(outputs: Sequence[Output]) -> float:
    values = [output.value for output in outputs if isinstance(output.value, float)]
    return float(np.mean(values)) if values else float("nan")
