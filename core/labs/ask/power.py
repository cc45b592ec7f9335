"""What a number of new questions can show of one explanation, before they are asked. docs/measuring.md §2.10."""

from __future__ import annotations

import random
from functools import cache

from . import baselines
from .tasks import CONTROL_ARMS

TRIES = 1000


@cache
def recognised(n: int, precision: float = 1.0, baseline: float = 0.5, tries: int = TRIES) -> float:
    """How often an explanation is said to have helped by which a share `precision` of `n` predictions come true, where
    each arm and a fixed answer are right on a share `baseline`, in [0, 1]. By simulation, the same each time.
    """
    chance = random.Random(f"{n}|{precision}|{baseline}")
    found = 0
    for _ in range(tries):
        own = [chance.random() < precision for _ in range(n)]
        said = [chance.random() < baseline for _ in range(n)]
        most = sum(said) * 2 >= n
        hits: dict[str, list[bool]] = {arm: [chance.random() < baseline for _ in range(n)] for arm in CONTROL_ARMS}
        hits[baselines.CONSTANT] = [one == most for one in said]
        against = [baselines.against(name, own, guessed) for name, guessed in hits.items()]
        found += baselines.helped([one for one in against if one is not None])
    return found / tries


def fewest(baseline: float = 0.5, wanted: float = 0.8, most: int = 60) -> int:
    """The fewest questions at which a perfect explanation is recognised so often."""
    return next((n for n in range(1, most + 1) if recognised(n, 1.0, baseline) >= wanted), most)


def told(n: int) -> str:
    """What `n` questions about a single explanation can show, in a sentence or two."""
    share = recognised(n)
    if share < 0.2:
        few = "1 question is" if n == 1 else f"{n} questions are"
        return f"{few} too few for a verdict: it takes {fewest()} to tell a good explanation from chance."
    return (
        f"With {n} questions a perfect explanation is recognised {share:.0%} of the time where guessing gets half of "
        f"them right, and {recognised(n, 1.0, 0.6):.0%} where it gets 60 %."
    )
