"""The value of a metric, in one shape for every lab, from the pure functions to the journal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from .events import Rules
from .statistics.intervals import MEDIAN, Kind, Range, interval_of_items, is_thin, wilson


@dataclass(frozen=True)
class Score:
    """A metric's value, None if undefined, from `n` used items of `of`, with a 95 % interval if there is one. If the
    value is a share, `hits` of the `n` came true. `detail` gives the background: counts, encoder, signature, or the
    `reason` why there is no value.
    """

    value: float | None
    n: int
    of: int
    low: float | None = None
    high: float | None = None
    hits: int | None = None
    detail: dict[str, Any] = field(default_factory=dict)

    def __float__(self) -> float:
        """The value; nan if undefined."""
        return math.nan if self.value is None else self.value

    @property
    def reason(self) -> str:
        """Why the value is undefined, or what impaired it; empty if there is nothing to say."""
        return str(self.detail.get("reason") or "")

    @property
    def success(self) -> bool:
        """Whether the value meets the threshold of its metric, as recorded in `detail`; False if the metric has
        none.
        """
        return bool(self.detail.get("success", False))

    def over(self, of: int) -> Score:
        """Return a copy with another number of items that were meant to count."""
        return replace(self, of=of)

    @property
    def is_thin(self) -> bool:
        """Whether too few of the items that should count do."""
        return is_thin(self.n, self.of)


class Figure(NamedTuple):
    """A score with its name, as a lab publishes it. `item` names a part of what it is about, such as one wording."""

    metric: str
    rules: Rules
    score: Score
    item: str = ""


def share(hits: int, n: int, of: int, **detail: Any) -> Score:
    """Return the share of `n` items that came true, of `of`, with Wilson's 95 % interval; undefined if `n` is 0."""
    if not n:
        return Score(None, 0, of, hits=0, detail=detail)
    return Score(hits / n, n, of, *wilson(hits / n, n), hits, detail | {"interval": "wilson"})


def undefined(of: int, reason: str) -> Score:
    """Return a score without a value, and the reason."""
    return Score(None, 0, of, detail={"reason": reason})


def mean_of_cases(scores: Sequence[Score], kind: Kind = "share", ends: Range | None = None) -> Score:
    """Average the scores of cases. A single case's score is returned unchanged. For several it is the mean over the
    cases that have a value, each with equal weight; for errors the median, because one code that is far off would
    outweigh all others.

    `n` counts cases of `of`. The interval is the one used for means over items everywhere (`interval_of_items`, of this
    `kind` and range): the trials of one case are not independent of each other, the cases are.
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
