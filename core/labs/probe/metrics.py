"""The lab's metrics: their names, which direction is better, which one decides, and what scoring publishes of them."""

from typing import NamedTuple

from ...events import Frozen, Rules
from ...score import Figure, Score, undefined
from ..base.declared import Metric, declared
from .records import Interpretation

HEADLINE: dict[str, str] = {
    "numeric": "nmse",
    "strings": "exact_match",
    "entities": "unit_test",
    "relations": "unit_test",
}
"""The figure that decides, by category."""

METRICS = declared(__file__, "metric", Metric)
"""In the file's order, which lists use."""


# What scoring publishes, whatever the function's category, and when there is a figure at all.


NOTHING = "nothing was concluded"
"""Why there is no figure if there is neither description nor code."""

HELD_OUT = 11
"""The stream of random numbers for the inputs that nobody probed."""


class ScoreRecord(NamedTuple):
    """A record to store in the journal."""

    item: str
    record: Frozen


class NoCode(NamedTuple):
    """Why the interpretation's code cannot be run."""

    why: str


Outcome = Figure | ScoreRecord | NoCode


def is_judged(read: Interpretation, rules: Rules) -> bool:
    """Whether the interpretation is judged by `rules`. If nothing was concluded, the authors' evaluation counts a
    failure; under the updated rules there is nothing to judge (docs/measuring.md §4.7).
    """
    return rules == "paper" or bool(read.description.repaired or read.code.repaired)


def share(value: float | None, reason: str, n: int = 1, of: int | None = None) -> Score:
    """Return a figure over `n` things; if `value` is None, an undefined one with its reason."""
    of = n if of is None else of
    return undefined(of, reason) if value is None else Score(value, n, of)
