"""How often a reader is right, by a sample that was drawn by strata and judged without sight of what was read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from .interval import Interval


class Stratum(NamedTuple):
    """What was drawn of one stratum of `population` things: of `n` that were judged `right` were right."""

    population: int
    n: int
    right: int


def weighted_share(strata: Sequence[Stratum]) -> Interval:
    """The share of the whole population that is right: each stratum's share by its part of the population (Cochran
    1977, Sampling Techniques, section 5.3).

    The interval joins the strata's exact intervals (Clopper and Pearson 1934) by "square and add", for they are drawn
    apart: with parts w and shares p, low = value - sqrt(sum w² (p - low of p)²), and high likewise (Zou and Donner
    2008, Statistics in Medicine 27, 1693-1702). Of a population of N, n that were drawn tell as much as
    n (N - 1) / (N - n) with replacement; a stratum that was judged as a whole leaves nothing open. Near 1, where
    readers should be, Wilson's limits hold too seldom when they are joined so (down to 88 times in a hundred). Strata
    of which none was judged count in nothing. Undefined where none was judged in any. Everything right: 1, with a lower
    limit. A reader who guesses: around its rate.
    """
    judged = [one for one in strata if one.n]
    every, n = sum(one.population for one in judged), sum(one.n for one in judged)
    if not n:
        return Interval(None, None, None, 0, "nothing was judged")
    value = down = up = 0.0
    for population, drawn, right in judged:
        part, share = population / every, right / drawn
        value += part * share
        if drawn < population:
            low, high = _exact(share, drawn * (population - 1) / (population - drawn))
            down, up = down + (part * (share - low)) ** 2, up + (part * (high - share)) ** 2
    low, high = max(0.0, value - math.sqrt(down)), min(1.0, value + math.sqrt(up))
    return Interval(value, low, high, n, "stratified, exact limits joined by square and add")


def _exact(share: float, n: float) -> tuple[float, float]:
    """Clopper and Pearson's 95 % interval of a share of `n` things, which need not be a whole number."""
    from scipy.special import betaincinv

    low = 0.0 if share == 0 else float(betaincinv(share * n, n - share * n + 1, 0.025))
    return low, 1.0 if share == 1 else float(betaincinv(share * n + 1, n - share * n, 0.975))


def allotted(populations: Sequence[int], size: int, least: int = 2) -> list[int]:
    """How many to draw of strata of these sizes, `size` in all or all that there are: `least` of each as far as it
    goes, so that what is rare is seen, and the rest by the strata's sizes (largest remainders).
    """
    size = min(size, sum(populations))
    drawn = [0] * len(populations)
    for _ in range(least):
        for place, population in enumerate(populations):
            if drawn[place] < population and sum(drawn) < size:
                drawn[place] += 1
    while left := size - sum(drawn):
        free = [population - one for population, one in zip(populations, drawn, strict=True)]
        wanted = [left * one / sum(free) for one in free]
        whole = [min(int(one), room) for one, room in zip(wanted, free, strict=True)]
        if not any(whole):
            # Fewer are left than strata have room: those that were owed most get one each.
            for place in sorted(range(len(wanted)), key=lambda place: -wanted[place])[:left]:
                whole[place] = 1
        drawn = [one + more for one, more in zip(drawn, whole, strict=True)]
    return drawn
