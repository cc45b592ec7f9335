"""What every black box of the Probe lab is: something to call, with its truth inside."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....errors import ExplainError
from ....events import Frozen
from ....sandbox import Value as Value
from .names import Category


class UndefinedInputError(ExplainError, ValueError):
    """The function has no value for this input; the message says why, in words for the person who asked."""


class FindFunction(Frozen):
    """A black box. It is frozen, and all of it is data: `model_dump` and `model_validate` give the same function again.

    `kind` names its shape within the category (an atom, or a composition); `note` says what an exact reader must know,
    for instance that published weights are absent.
    """

    id: str
    category: Category
    note: str = ""

    @property
    @abstractmethod
    def kind(self) -> str:
        """The atom or the composition, in the published notation: "relu", "relu;linear;sum_two"."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Everything that was sampled for this function, by name."""

    @property
    def domain(self) -> tuple[float, float] | None:
        """Where the function is meant to be probed, both ends included; None if inputs are words."""
        return None

    @property
    @abstractmethod
    def is_stochastic(self) -> bool:
        """Whether two calls with one input may differ."""

    @abstractmethod
    def describe(self) -> str:
        """Return the truth in plain words, for the reveal at the end."""

    @abstractmethod
    def __call__(self, x: Any, rng: np.random.Generator) -> Value:
        """Return one observation at `x`; `rng` feeds whatever is random in it. Raises UndefinedInputError if there is
        no value.
        """

    def read(self, text: str) -> Any:
        """Return the input that someone wrote as `text`. Raises UndefinedInputError if the function accepts no such
        input.
        """
        return text

    def outputs(self, inputs: Sequence[Any], rng: np.random.Generator) -> list[Value | None]:
        """Return an observation for each input, in order; None if the function has no value."""
        observed: list[Value | None] = []
        for x in inputs:
            try:
                observed.append(self(x, rng))
            except UndefinedInputError:
                observed.append(None)
        return observed


def as_number(text: str) -> float | None:
    """Return `text` as a finite number; None if it is not one."""
    try:
        return read_number(text)
    except UndefinedInputError:
        return None


def read_number(text: str) -> float:
    """Read a finite number; a typographic minus sign is allowed. Raises UndefinedInputError if it is not one."""
    try:
        number = float(text.replace("−", "-"))
    except ValueError:
        raise UndefinedInputError(f"{text!r} is not a number; the function takes numbers") from None
    if not math.isfinite(number):
        raise UndefinedInputError(f"{text!r} is not a finite number")
    return number
