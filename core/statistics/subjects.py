"""Two to five subjects (models, methods, parsers, runs) on the items that they share. Unpaired differences are never
given.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from .interval import Interval
from .means import MEDIAN, Kind, interval_of_items, of_gaps
from .paired import Test, holm, sign_flips
from .shares import FEW, mcnemar

if TYPE_CHECKING:
    import pandas as pd

# Bayesian comparison of two subjects over the same few items, exact however few there are.


class BetaPairs(NamedTuple):
    """How much more often the first came true: posterior mean and 95 % credible limits of the difference of shares, and
    the probability that the first is better.
    """

    difference: float
    low: float
    high: float
    first_is_better: float


def beta_pairs(only_first: int, only_second: int, n: int) -> BetaPairs:
    """Compare two subjects over the same `n` items by the items on which they differ: `only_first` came true for the
    first alone.

    The four outcomes of a pair have a Dirichlet(1, 1, 1, 1) prior. Then the share s of pairs that differ and the share
    r of those that the first wins are independent, s ~ Beta(2 + parted, 2 + alike), r ~ Beta(1 + only_first, 1 +
    only_second), and the difference is s (2 r - 1) (Bowyer et al. 2025, section 4, on paired questions; Gelman et al.
    2013, Bayesian Data Analysis, section 3.4). So P(first better) = P(r > 1/2), an incomplete beta integral; the limits
    come from the integral over s at 2,001 of its quantiles, to about 1e-4. Identical sides: 0 and 0.5. No items: 0, 0.5
    and limits that exclude little. Two that guess: around 0.5. Raises ValueError for more differing pairs than `n`.
    """
    import numpy as np
    from scipy.special import betainc, betaincc, betaincinv

    parted = only_first + only_second
    if min(only_first, only_second) < 0 or parted > n:
        raise ValueError(f"{only_first} and {only_second} of {n} pairs cannot part")
    won, lost = 1 + only_first, 1 + only_second
    shares = betaincinv(2 + parted, 2 + n - parted, (np.arange(2001) + 0.5) / 2001)

    def quantile(level: float) -> float:
        low, high = -1.0, 1.0
        for _ in range(40):
            middle = (low + high) / 2
            below = betainc(won, lost, np.clip((1 + middle / shares) / 2, 0, 1)).mean()
            low, high = (middle, high) if below < level else (low, middle)
        return (low + high) / 2

    mean = (won - lost) / (n + 4)
    return BetaPairs(mean, quantile(0.025), quantile(0.975), float(betaincc(won, lost, 0.5)))


MOST = 5
"""Most subjects in one comparison."""

SMALL = 100
"""Below this many shared items, Beta-Binomial figures are given as well."""

UNSHARED = Interval(None, None, None, 0, "no item is shared")


@dataclass(frozen=True)
class Pair:
    """Two subjects over the `n` items for which both have a value; all means and differences are over these alone.

    `difference` is first minus second with its interval; `test` is the exact paired test, `p_holm` its p corrected for
    all pairs that were compared. Without shared items, difference and tests are missing. If each shared item is 0 or 1,
    `first_alone` and `second_alone` count the items that came true for one alone, and below 100 independent items
    `small` has the Beta-Binomial figures; else None. `only_first`, `only_second`: items that the other does not have at
    all; `undefined`: items that both have and that lack a value in one. `clusters` is the number of independent units:
    the items, or what they belong to. `faint`: there are fewer than 10 of these. `reason`: why there is no difference;
    empty if there is one.
    """

    first: Hashable
    second: Hashable
    n: int
    only_first: int
    only_second: int
    undefined: int
    clusters: int = 0
    mean_first: float | None = None
    mean_second: float | None = None
    difference: Interval = UNSHARED
    first_alone: int | None = None
    second_alone: int | None = None
    test: Test | None = None
    p_holm: float | None = None
    small: BetaPairs | None = None
    faint: bool = True
    reason: str = ""


def compare_pairs(
    table: pd.DataFrame, has: pd.DataFrame, home: pd.Series[Any], kind: Kind = "share"
) -> tuple[Pair, ...]:
    """Compare each two columns of `table` (item × subject, NaN if there is no value) over the items that both have.

    `has` tells which subject has an item at all, `home` the cluster to which it belongs, such as the starter of a
    question: clusters are resampled and tested as a whole and have equal weight, and the difference is the mean over
    clusters.

    The difference's interval is that of means over items everywhere (`interval_of_items`): Bonett and Price's for
    values of the `kind` share, a t interval for others; for errors it is that of the median difference. The test is
    McNemar's exact one, or random signs for values in between (`sign_flips`); for errors the sign test. Holm's
    correction covers all pairs. Each pair has its own items.

    Identical subjects: difference 0, p = 1. Nothing shared: no difference, and `reason` says that it would be unpaired.
    Guesses: p is at most 0.05 for one pair or more at most one time in twenty.
    """
    return corrected([_pair(table, has, home, a, b, kind) for a, b in combinations(table.columns, 2)])


def corrected(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """Return the pairs with `p_holm`, Holm's correction for all of them."""
    together = holm([pair.test.p if pair.test else None for pair in pairs])
    return tuple(replace(pair, p_holm=p) for pair, p in zip(pairs, together, strict=True))


def compare_cells(
    cells: pd.DataFrame,
    item: Any,
    has: pd.DataFrame | None = None,
    home: pd.Series[Any] | None = None,
    kind: Kind = "share",
) -> Pair:
    """Compare two subjects where all else is equal. `cells` has a row for each item and everything else that must be
    equal, a column per subject, and NaN where there is no value; `item` says whose row it is, as `groupby` accepts
    it. An item counts with the mean over the rows in which both have a value. `has`, `home` and `kind` are as in
    `compare_pairs`; without them, only items that both have count, each as its own cluster.
    """
    import pandas as pd

    values = cells.dropna().groupby(item).mean()
    has = values.notna() if has is None else has
    (pair,) = compare_pairs(
        values.reindex(has.index), has, pd.Series(has.index, index=has.index) if home is None else home, kind
    )
    return pair


def compare_where_equal(
    rows: pd.DataFrame, settings: pd.DataFrame, wanted: Sequence[tuple[Hashable, Hashable]], kind: Kind = "share"
) -> dict[tuple[Hashable, Hashable], Pair]:
    """Compare the `wanted` pairs of subjects over the items that both have while all else is equal, corrected for all
    of them. `rows` has the columns subject, item and value (of this `kind`, NaN if undefined). Two rows of an item
    match if they agree in those `settings` (columns beside these rows, none null) that vary within a subject.
    """
    varying = [settings[name] for name in settings if settings[name].groupby(rows["subject"]).nunique().max() > 1]
    cells = rows["value"].groupby([rows["item"], *varying, rows["subject"]]).mean().unstack()
    held = rows.groupby(["item", "subject"]).size().unstack().notna()
    pairs = []
    for first, second in wanted:
        has = held.loc[held[[first, second]].any(axis=1), [first, second]]
        pairs.append(compare_cells(cells[[first, second]], "item", has, kind=kind))
    return dict(zip(wanted, corrected(pairs), strict=True))


def _signs(gaps: pd.Series[float]) -> Test:
    """Return the sign test, which goes with a median: whether as many gaps are above 0 as below, up to chance."""
    return Test(mcnemar(int((gaps > 0).sum()), int((gaps < 0).sum())), "sign test")


def _pair(table: pd.DataFrame, has: pd.DataFrame, home: pd.Series[Any], a: Hashable, b: Hashable, kind: Kind) -> Pair:
    both = table[[a, b]].dropna()
    n, in_both = len(both), int((has[a] & has[b]).sum())
    only_first, only_second = int((has[a] & ~has[b]).sum()), int((has[b] & ~has[a]).sum())
    pair = Pair(a, b, n, only_first, only_second, in_both - n)
    if not n:
        return replace(
            pair, reason="They share no item with a value: a difference would be unpaired, so none is given."
        )
    gaps, homes = both[a] - both[b], home.loc[both.index]
    by_home = gaps.groupby(homes, sort=True).mean()
    difference = interval_of_items(by_home.tolist(), of_gaps(kind))
    if both.isin([0.0, 1.0]).all(axis=None):
        first_alone, second_alone = int((gaps > 0).sum()), int((gaps < 0).sum())
        pair = replace(pair, first_alone=first_alone, second_alone=second_alone)
        if len(by_home) == n and n < SMALL:
            pair = replace(pair, small=beta_pairs(first_alone, second_alone, n))
    return replace(
        pair,
        clusters=len(by_home),
        mean_first=float(both[a].groupby(homes).mean().mean()),
        mean_second=float(both[b].groupby(homes).mean().mean()),
        difference=difference,
        test=_signs(by_home) if kind in MEDIAN else sign_flips(by_home.to_numpy()),
        faint=len(by_home) < FEW,
    )
