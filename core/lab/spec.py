"""What a run is to measure, and how its fields are asked of a person."""

from __future__ import annotations

import math
from typing import TypeVar

from pydantic.fields import FieldInfo

from core.events import CallFailed, Frozen, Rules

RULES: tuple[Rules, ...] = ("paper", "repaired")


Number = TypeVar("Number", int, float)


MOST_CASES = 1_000
"""Cases in one run. What needs more is a study of several runs."""


class BadInput(CallFailed):
    """What a run is to be about cannot be had: a data set, a function, a question outside a control's world."""

    bad_input = True


class Spec(Frozen):
    """What a run is to measure. Each lab has its own; all have a seed, and name the models they will ask.

    A field's title, description, bounds and choices make its widget on the page and its option on the command line.
    """

    seed: int = 0

    def __hash__(self) -> int:
        # A field may hold a table, which has no hash of its own.
        return hash(self.model_dump_json())

    @property
    def roles(self) -> dict[str, tuple[str, ...]]:
        """The ids of the models that the run asks, by role; several take turns."""
        return {}

    @property
    def models(self) -> set[str]:
        """The ids of all models that the run asks."""
        return {model for models in self.roles.values() for model in models}


def is_offered(name: str, field: FieldInfo) -> bool:
    """Whether a person may set the field: it has a title, or is the seed, unless that is titled ""."""
    return bool(field.title) or (name == "seed" and field.title is None)


def bounds(field: FieldInfo, kind: type[Number]) -> tuple[Number | None, Number | None]:
    """The smallest and the largest number of the `kind` that the field takes; None where there is no bound."""
    low: Number | None = None
    high: Number | None = None
    for rule in field.metadata:
        if (least := getattr(rule, "ge", None)) is not None:
            low = kind(least)
        if (above := getattr(rule, "gt", None)) is not None:
            low = kind(above + 1 if kind is int else math.nextafter(above, math.inf))
        if (most := getattr(rule, "le", None)) is not None:
            high = kind(most)
        if (below := getattr(rule, "lt", None)) is not None:
            high = kind(below - 1 if kind is int else math.nextafter(below, -math.inf))
    return low, high
