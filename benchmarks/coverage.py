"""How often the interval of a mean over items holds the truth, by simulation; beside it what older versions gave.

    python -m benchmarks.coverage            # the table of docs/measuring.md §6.1; about three minutes

Items are means of several trials, beta-binomial: `rho` is how alike the trials of one item are (0: items differ by
chance alone, 1: each item is 0 or 1). Items of one trial are 0 or 1. A row is the mean over shares from 0.5 to 0.95.
"""

import argparse
from collections.abc import Callable, Iterator
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.statistics.intervals import bootstrap_of_mean, interval_of_items, wilson

SHARES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
ITEMS = (5, 10, 20, 50)
KINDS = ((1, 0.0), (3, 0.0), (3, 0.2), (3, 0.5), (10, 0.0), (10, 0.1), (10, 0.3), (10, 0.6))
"""Trials of an item, and how alike they are."""

DIFFERENCES = ((0.5, 0.5, 0.0), (0.9, 0.9, 0.5), (0.95, 0.8, 0.3), (0.9, 0.5, 0.3), (0.99, 0.9, 0.0), (0.7, 0.6, 0.8))
"""Shares of two settings, and how often a trial's outcome comes from the same number in both."""

Limits = tuple[float | None, float | None]


class Held(NamedTuple):
    """How often an interval holds the truth, and how wide it is on average."""

    covered: float
    width: float


def drawn(share: float, n: int, trials: int, rho: float, draws: int, seed: int) -> NDArray[np.float64]:
    """Means of `n` items, `draws` times: shape (draws, n)."""
    random = np.random.default_rng([seed, round(1000 * share), n, trials, round(1000 * rho)])
    rates: NDArray[np.float64] | float = share
    if rho:
        rates = random.beta(share * (1 / rho - 1), (1 - share) * (1 / rho - 1), (draws, n))
    return random.binomial(trials, rates, (draws, n)) / trials


def differences(shares: tuple[float, float, float], n: int, trials: int, draws: int, seed: int) -> NDArray[np.float64]:
    """Differences of two settings over `n` items, `draws` times: shape (draws, n)."""
    random = np.random.default_rng([seed, *(round(1000 * one) for one in shares), n, trials])
    first, own = random.random((2, draws, n, trials))
    second = np.where(random.random((draws, n, 1)) < shares[2], first, own)
    return (first < shares[0]).mean(axis=2) - (second < shares[1]).mean(axis=2)


def held(values: NDArray[np.float64], truth: float, interval: Callable[[list[float]], Limits]) -> Held:
    """How the interval fares over the rows of `values`; none at all holds nothing."""
    limits = [interval(row) for row in values.tolist()]
    known = [(low, high) for low, high in limits if low is not None and high is not None]
    covered = sum(low - 1e-9 <= truth <= high + 1e-9 for low, high in known)
    return Held(covered / len(limits), fmean(high - low for low, high in known) if known else float("nan"))


def exact(share: float, n: int, interval: Callable[[list[float]], Limits]) -> Held:
    """How it fares over `n` items that are 0 or 1, of all that can come, each as often as it does."""
    from scipy.stats import binom

    often = binom.pmf(np.arange(n + 1), n, share)
    each = [held(np.array([[1.0] * hits + [0.0] * (n - hits)]), share, interval) for hits in range(n + 1)]
    return Held(*(float(sum(often * [one[part] for one in each])) for part in (0, 1)))


def ours(row: list[float]) -> Limits:
    """The interval of a mean over items, everywhere."""
    return interval_of_items(row)[1:3]


def of_pairs(row: list[float]) -> Limits:
    """The same of differences."""
    return interval_of_items(row, "difference")[1:3]


def over_means(row: list[float]) -> Limits:
    """Wilson's of as many things as there are items, as runs had it."""
    return wilson(fmean(row), len(row))


def percentiles(row: list[float]) -> Limits:
    """Percentiles of 500 draws of items, as studies had it; Wilson's where they show no spread."""
    found = bootstrap_of_mean(row, draws=500)
    return (found.low, found.high) if found.low is not None else over_means(row)


def rows(draws: int, seed: int) -> Iterator[str]:
    """The table's lines as Markdown."""
    methods = {"ours": ours, "Wilson over means": over_means, "percentile bootstrap": percentiles}
    yield "| Items | Trials of one | rho | " + " | ".join(f"{name}: mean, lowest, width" for name in methods) + " |"
    yield "|---" * (3 + len(methods)) + "|"
    for n in ITEMS:
        for trials, rho in KINDS:
            cells = []
            for method in methods.values():
                some = draws // 4 if method is percentiles else draws
                found = [
                    exact(share, n, method)
                    if trials == 1
                    else held(drawn(share, n, trials, rho, some, seed), share, method)
                    for share in SHARES
                ]
                cells.append(_cell(found))
            yield f"| {n} | {trials} | {rho} | {' | '.join(cells)} |"
    yield ""
    yield "| Items | Trials of one | differences, ours: mean, lowest, width |"
    yield "|---|---|---|"
    for n in ITEMS:
        for trials in (1, 4, 10):
            found = [held(differences(one, n, trials, draws, seed), one[0] - one[1], of_pairs) for one in DIFFERENCES]
            yield f"| {n} | {trials} | {_cell(found)} |"


def _cell(found: list[Held]) -> str:
    covered = [one.covered for one in found]
    return f"{fmean(covered):.3f}, {min(covered):.3f}, {fmean(one.width for one in found):.2f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=4_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    for line in rows(asked.draws, asked.seed):
        print(line, flush=True)
