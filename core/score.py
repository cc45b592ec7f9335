"""What a metric came to: one shape for every lab, from the pure functions to the journal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from .events import Rules
from .statistics import MEDIAN, Kind, Range, interval_of_items, wilson
from .statistics import is_thin as is_thin


@dataclass(frozen=True)
class Score:
    """A metric's value, None where undefined, with `n` things used of `of`, and a 95 % interval where one can be had.

    `hits` of the `n` came true, where the value is a share of things. `detail` says what stands behind the number:
    counts, encoder, signature, or the `reason` why there is none.
    """

    value: float | None
    n: int
    of: int
    low: float | None = None
    high: float | None = None
    hits: int | None = None
    detail: dict[str, Any] = field(default_factory=dict)

    def __float__(self) -> float:
        """The value; nan where undefined."""
        return math.nan if self.value is None else self.value

    @property
    def reason(self) -> str:
        """Why the value is undefined, or what spoilt it; empty where there is nothing to say."""
        return str(self.detail.get("reason") or "")

    @property
    def success(self) -> bool:
        """Whether the value meets the limit that its metric sets, as `detail` has it; False where it sets none."""
        return bool(self.detail.get("success", False))

    def over(self, of: int) -> Score:
        """The same, of another number of things that were meant to count."""
        return replace(self, of=of)

    @property
    def is_thin(self) -> bool:
        """Whether too little of what should count does."""
        return is_thin(self.n, self.of)


class Figure(NamedTuple):
    """A score with its name: what a lab publishes. `item` names a part of what it is about, such as one wording."""

    metric: str
    rules: Rules
    score: Score
    item: str = ""


def share(hits: int, n: int, of: int, **detail: Any) -> Score:
    """The share of `n` things that came true, of `of`, with Wilson's 95 % interval; undefined without any."""
    if not n:
        return Score(None, 0, of, hits=0, detail=detail)
    return Score(hits / n, n, of, *wilson(hits / n, n), hits, detail | {"interval": "wilson"})


def undefined(of: int, reason: str) -> Score:
    """No value, and why."""
    return Score(None, 0, of, detail={"reason": reason})


def mean_of_cases(scores: Sequence[Score], kind: Kind = "share", ends: Range | None = None) -> Score:
    """One case's score as it is; of several cases the mean over those that have a value, each counting alike; of
    errors the median, as one code that is far off would outweigh all others.

    `n` cases of `of`. The interval is that of means over items everywhere (`interval_of_items`, of this `kind` and
    range): the trials of one case are not independent of each other, its cases are.
    """
    if len(scores) == 1:
        return scores[0]
    values = [score.value for score in scores if score.value is not None]
    if not values:
        return undefined(len(scores), "it is defined in none of the cases")
    mean = interval_of_items(values, kind, ends)
    name = "median_of" if kind in MEDIAN else "mean_of"
    detail = {name: "cases", "trials": sum(score.n for score in scores), "interval": mean.how}
    return Score(mean.value, len(values), len(scores), mean.low, mean.high, detail=detail)
