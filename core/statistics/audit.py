"""How often a parser is right, estimated from a stratified sample that was judged without seeing the parsed values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from .interval import Interval


class Stratum(NamedTuple):
    """The sample from one stratum of `population` things: `right` of the `n` judged ones were right."""

    population: int
    n: int
    right: int


def weighted_share(strata: Sequence[Stratum]) -> Interval:
    """Estimate the share of the whole population that is right: each stratum's share, weighted by its part of the
    population (Cochran 1977, Sampling Techniques, section 5.3).

    The interval joins the strata's exact intervals (Clopper and Pearson 1934) by "square and add", because the strata
    are sampled independently: with parts w and shares p, low = value - sqrt(sum w² (p - low of p)²), and high likewise
    (Zou and Donner 2008, Statistics in Medicine 27, 1693-1702). A sample of n from a population of N is worth as much
    as n (N - 1) / (N - n) things sampled with replacement; a stratum that was judged completely leaves no uncertainty.
    Near 1, where parsers should be, joined Wilson limits would contain the truth too rarely (down to 88 times in a
    hundred). Strata without judgements are ignored. Undefined if nothing was judged. Everything right: 1, with a lower
    limit. A parser that guesses: around its rate.
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
    """Return Clopper and Pearson's 95 % interval of a share of `n` things, which need not be a whole number."""
    from scipy.special import betaincinv

    low = 0.0 if share == 0 else float(betaincinv(share * n, n - share * n + 1, 0.025))
    return low, 1.0 if share == 1 else float(betaincinv(share * n + 1, n - share * n, 0.975))


def allotted(populations: Sequence[int], size: int, least: int = 2) -> list[int]:
    """Return how many to sample from strata of these sizes, `size` in all or as many as there are: `least` from each as
    far as possible, so that rare kinds are seen, and the rest in proportion to the strata's sizes (largest
    remainders).
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
            # Fewer remain than there are strata with room: the strata with the largest remainders get one each.
            for place in sorted(range(len(wanted)), key=lambda place: -wanted[place])[:left]:
                whole[place] = 1
        drawn = [one + more for one, more in zip(drawn, whole, strict=True)]
    return drawn
