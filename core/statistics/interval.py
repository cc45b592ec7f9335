"""The shape of a figure with its interval."""

from __future__ import annotations

from typing import NamedTuple


class Interval(NamedTuple):
    """A figure, its interval at 95 % unless said otherwise, and the `n` independent things that both rest on.

    None where undefined; `how` names the method, or says why there is no interval.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    how: str
