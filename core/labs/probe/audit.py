"""Whether an interpreter's words rest on calls that it really made."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...events import Rules
from .claim_extraction import quoted_pairs
from .functions.base import as_number
from .functions.numeric import PROBED, Corruption

BINS = 32
"""Into how many equal bins the probed range is divided to measure how much of it was probed."""


class Observation(NamedTuple):
    """One call that was really made: the input as asked for, the output as shown."""

    input: str
    output: str


class QuotedPairs(NamedTuple):
    """Pairs that the text quotes, each in exactly one list: seen as quoted, seen with another output, never asked."""

    supported: tuple[tuple[str, str], ...]
    contradicted: tuple[tuple[str, str], ...]
    unseen: tuple[tuple[str, str], ...]


def evidence(text: str, probes: Sequence[Observation]) -> QuotedPairs:
    """Compare every "f(3) = 7", "3 -> 7" or "(3, 7)" in `text` with the calls made.

    Outputs agree if they do to the quoted digits; for a noisy function every observation counts. An input with decimals
    may be rounded if its output agrees; a call with another input never makes a pair contradicted.
    """
    lists: tuple[list[tuple[str, str]], ...] = ([], [], [])
    for asked, quoted in quoted_pairs(text):
        seen = [probe.output for probe in probes if _is(asked, probe.input)]
        rounded = [probe.output for probe in probes if "." in asked and _same(asked, probe.input)]
        place = 0 if any(_same(quoted, output) for output in [*seen, *rounded]) else 1 if seen else 2
        lists[place].append((asked, quoted))
    return QuotedPairs(*map(tuple, lists))


def _is(quoted: str, real: str) -> bool:
    """Whether both are equal as texts or as numbers."""
    number = as_number(quoted)
    return quoted == real or (number is not None and number == as_number(real))


def _same(quoted: str, real: str) -> bool:
    """Whether both are equal as texts, or as numbers to half a unit of the last digit quoted."""
    if quoted == real:
        return True
    try:
        a, b = float(quoted.replace("−", "-")), float(real)
    except ValueError:
        return False
    digits = len(quoted.partition(".")[2]) if "e" not in quoted.lower() else 12
    return bool(abs(a - b) <= 0.5 * 10.0**-digits + 1e-9 * abs(b))


def coverage(probed: Sequence[float]) -> float:
    """Return the share of 32 equal bins of the range that have a probe in them."""
    low, high = PROBED
    inside = [x for x in probed if low <= x <= high]
    bins = {min(int((x - low) / (high - low) * BINS), BINS - 1) for x in inside}
    return len(bins) / BINS


def gaps(probed: Sequence[float]) -> list[tuple[float, float]]:
    """Return the stretches of the range between probes, in order."""
    low, high = PROBED
    return list(itertools.pairwise([low, *sorted({x for x in probed if low < x < high}), high]))


def longest_gap(probed: Sequence[float]) -> tuple[float, float]:
    """Return the widest stretch of the range without a probe inside."""
    return max(gaps(probed), key=lambda gap: gap[1] - gap[0])


def probed_corruption(corruption: Corruption | None, probed: Sequence[float], rules: Rules = "repaired") -> int | None:
    """Count the probes in the corrupted part; with 0 the interpreter could not know it. None if there is no
    corruption.
    """
    if corruption is None:
        return None
    return int(np.count_nonzero(corruption.covers(np.asarray(probed, float), rules)))
