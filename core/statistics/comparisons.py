"""Two to five settings over the items that they share: tests, the correction for several tests, non-inferiority, and
how many items a comparison needs.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, count
from typing import TYPE_CHECKING, Any, NamedTuple

from . import intervals
from .intervals import Kind

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray


@dataclass(frozen=True)
class PairedComparison:
    """Two settings over the items that both have: means, their difference a - b with a 95 % interval, and the test."""

    n: int
    of: int
    mean_a: float | None = None
    mean_b: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    t: float | None = None
    p: float | None = None
    detail: Mapping[str, str] = field(default_factory=dict)


def compare(a: Mapping[str, float | None], b: Mapping[str, float | None], kind: Kind = "share") -> PairedComparison:
    """Run a paired t test over items, as Chen et al. do (calculate_precision.py:34-52, scipy ttest_rel).

    `a` and `b` map an item (such as a starter question) to its value under one setting, None if undefined; the `kind`
    of these values determines the interval. Only items defined in both count (`n` of the `of` items in either). There
    is no correction for several tests, as in the paper (`holm` is ours, and so is the interval: that of means over
    items everywhere, `interval_of_items`). When the paper compares two methods together, it uses the mean of both per
    item (:50-52).

    With fewer than two items, or if all differences are equal (identical settings), there is no test; `detail` says so.
    Two settings that both guess: p is at most 0.05 about one time in twenty.
    """
    shared = sorted(item for item in a.keys() & b.keys() if a[item] is not None and b[item] is not None)
    of = len(a.keys() | b.keys())
    left = [float(a[item] or 0.0) for item in shared]
    right = [float(b[item] or 0.0) for item in shared]
    if not shared:
        return PairedComparison(0, of, detail={"reason": "no item is in both settings"})
    mean_a, mean_b = math.fsum(left) / len(left), math.fsum(right) / len(right)
    gaps = [x - y for x, y in zip(left, right, strict=True)]
    low, high = intervals.interval_of_items(gaps, intervals.of_gaps(kind))[1:3]
    untested = PairedComparison(len(shared), of, mean_a, mean_b, mean_a - mean_b, low, high)
    if len(shared) < 2:
        return replace(untested, detail={"reason": "a paired test needs two items"})
    if max(gaps) - min(gaps) < 1e-12:
        return replace(untested, detail={"reason": "the difference is the same on every item"})
    from scipy.stats import ttest_rel

    test = ttest_rel(left, right)
    return replace(untested, t=float(test.statistic), p=float(test.pvalue), detail={"test": "paired t"})


class Test(NamedTuple):
    """A test's two-sided p and its name."""

    p: float
    name: str


def sign_flips(differences: Sequence[float] | NDArray[np.float64], draws: int = 9999) -> Test:
    """Test how often the average difference is at least as far from 0 if the sign of each difference is random:
    Fisher's randomisation test for pairs (1935, The Design of Experiments, section 21).

    `differences` has one value per independent item. If all are 1, 0 or -1, this is McNemar's exact test, and is called
    so. Otherwise it is exact as long as the 2^n sign patterns number no more than `draws` + 1; beyond that, `draws` of
    them are sampled and the observed one counts as one of them (Phipson and Smyth 2010, Statistical Applications in
    Genetics 9, 39). No items, or identical settings: p = 1. Two that both guess: p is at most 0.05 one time in twenty
    or less.
    """
    import numpy as np

    gaps, n = np.asarray(differences, dtype=float), len(differences)
    if np.isin(gaps, (-1, 0, 1)).all():
        return Test(intervals.mcnemar(int((gaps == 1).sum()), int((gaps == -1).sum())), "exact McNemar")
    far = abs(gaps.sum()) - 1e-9 * np.abs(gaps).sum()  # sums in another order differ a little
    if 2**n <= draws + 1:
        signs = 1.0 - 2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1)
        return Test(float((np.abs(signs @ gaps) >= far).mean()), f"sign flips, all {2**n:,}")
    random, at_once, reached = np.random.default_rng(0), max(1, intervals.ROOM // n), 0
    sizes, times = np.unique(np.abs(gaps).round(12), return_counts=True)
    if intervals.is_alike(len(sizes), n):
        # Of c differences of one size, the number that keep their sign is binomial.
        sums = (2.0 * random.binomial(times, 0.5, size=(draws, len(sizes))) - times) @ sizes
        return Test((int((np.abs(sums) >= far).sum()) + 1) / (draws + 1), f"sign flips, {draws:,} drawn")
    for start in range(0, draws, at_once):
        signs = 2.0 * random.integers(2, size=(min(at_once, draws - start), n), dtype=np.int8) - 1
        reached += int((np.abs(signs @ gaps) >= far).sum())
    return Test((reached + 1) / (draws + 1), f"sign flips, {draws:,} drawn")


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Correct each p for the number of tests made (Holm 1979, Scandinavian Journal of Statistics 6, 65-70).

    The smallest is multiplied by the number of tests, the next by one less, and so on; none falls below the one before
    it, and none exceeds 1. None stays None and does not count as a test. A single test is unchanged, an empty list
    stays empty, equal p's stay equal. If there are no differences at all, the chance that any p is at most 0.05 is at
    most 1 in 20.
    """
    made = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    floor = 0.0
    for rank, (p, place) in enumerate(made):
        corrected[place] = floor = max(floor, min(1.0, p * (len(made) - rank)))
    return corrected


# Two to five subjects (models, methods, parsers, runs) on the items that they share. Unpaired differences are never
# given.


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
        def is_below(gap: float) -> bool:
            return bool(betainc(won, lost, np.clip((1 + gap / shares) / 2, 0, 1)).mean() < level)

        return intervals.bisected(-1.0, 1.0, is_below)[1]

    mean = (won - lost) / (n + 4)
    return BetaPairs(mean, quantile(0.025), quantile(0.975), float(betaincc(won, lost, 0.5)))


MOST = 5
"""Most subjects in one comparison."""

SMALL = 100
"""Below this many shared items, Beta-Binomial figures are given as well."""

UNSHARED = intervals.Interval(None, None, None, 0, "no item is shared")


@dataclass(frozen=True)
class Pair:
    """Two subjects over the `n` items for which both have a value; all means and differences are over these alone.

    `difference` is first minus second with its interval; `test` is the exact paired test, `p_holm` its p corrected for
    all pairs that were compared. Without shared items, difference and tests are missing. If each shared item is 0 or 1,
    `first_alone` and `second_alone` count the items that came true for one alone; else they are None. `only_first`,
    `only_second`: items that the other does not have at all; `undefined`: items that both have and that lack a value in
    one. `clusters` is the number of independent units: the items, or what they belong to. `faint`: there are fewer than
    10 of these. `reason`: why there is no difference; empty if there is one.
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
    difference: intervals.Interval = UNSHARED
    first_alone: int | None = None
    second_alone: int | None = None
    test: Test | None = None
    p_holm: float | None = None
    faint: bool = True
    reason: str = ""

    @property
    def small(self) -> BetaPairs | None:
        """The Beta-Binomial figures of fewer than 100 independent items that are all 0 or 1; else None."""
        if self.first_alone is None or self.second_alone is None or self.clusters != self.n or self.n >= SMALL:
            return None
        return beta_pairs(self.first_alone, self.second_alone, self.n)


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
    has: pd.DataFrame,
    home: pd.Series[Any] | None = None,
    kind: Kind = "share",
) -> Pair:
    """Compare two subjects where all else is equal. `cells` has a row for each item and everything else that must be
    equal, a column per subject, and NaN where there is no value; `item` says whose row it is, as `groupby` accepts
    it. An item counts with the mean over the rows in which both have a value. `has`, `home` and `kind` are as in
    `compare_pairs`; without `home`, each item is its own cluster.
    """
    values = cells.dropna().groupby(item).mean()
    home = has.index.to_series() if home is None else home
    (pair,) = compare_pairs(values.reindex(has.index), has, home, kind)
    return pair


def compare_where_equal(
    rows: pd.DataFrame,
    settings: pd.DataFrame,
    wanted: Sequence[tuple[Hashable, Hashable]],
    kind: Kind = "share",
) -> dict[tuple[Hashable, Hashable], Pair]:
    """Compare the `wanted` pairs of subjects over the items that both have while all else is equal, corrected for all
    of them. `rows` has the columns subject, item and value (of this `kind`, NaN if undefined). Two rows of an item
    match if they agree in those `settings` (columns beside these rows, none null) that vary within a subject.
    """
    import pandas as pd

    subject = rows["subject"]
    varying = [settings[name] for name in settings if settings[name].groupby(subject).nunique().max() > 1]
    # Numbers in the order of the texts: texts would be sorted again for each pair.
    item, *varying = (pd.Series(pd.factorize(one, sort=True)[0], one.index) for one in (rows["item"], *varying))
    item.name = "item"
    cells = rows["value"].groupby([item, *varying, subject]).mean().unstack()
    held = rows.groupby([item, subject]).size().unstack().notna()
    pairs = []
    for first, second in wanted:
        has = held.loc[held[[first, second]].any(axis=1), [first, second]]
        pairs.append(compare_cells(cells[[first, second]], "item", has, kind=kind))
    return dict(zip(wanted, corrected(pairs), strict=True))


def _signs(gaps: NDArray[np.float64]) -> Test:
    """Return the sign test, which goes with a median: whether as many gaps are above 0 as below, up to chance."""
    return Test(intervals.mcnemar(int((gaps > 0).sum()), int((gaps < 0).sum())), "sign test")


def _pair(table: pd.DataFrame, has: pd.DataFrame, home: pd.Series[Any], a: Hashable, b: Hashable, kind: Kind) -> Pair:
    both = table[[a, b]].dropna()
    n, in_both = len(both), int((has[a] & has[b]).sum())
    only_first, only_second = int((has[a] & ~has[b]).sum()), int((has[b] & ~has[a]).sum())
    pair = Pair(a, b, n, only_first, only_second, in_both - n)
    if not n:
        reason = "They share no item with a value: a difference would be unpaired, so none is given."
        return replace(pair, reason=reason)
    values = both.set_axis(["first", "second"], axis=1).assign(gap=both[a] - both[b])
    homes = home.loc[both.index]
    means = values.set_axis(homes).sort_index() if homes.is_unique else values.groupby(homes).mean()
    gaps = means["gap"].to_numpy()
    if both.isin([0.0, 1.0]).all(axis=None):
        pair = replace(pair, first_alone=int((values["gap"] > 0).sum()), second_alone=int((values["gap"] < 0).sum()))
    return replace(
        pair,
        clusters=len(means),
        mean_first=float(means["first"].mean()),
        mean_second=float(means["second"].mean()),
        difference=intervals.interval_of_items(gaps.tolist(), intervals.of_gaps(kind)),
        test=_signs(gaps) if kind in intervals.MEDIAN else sign_flips(gaps),
        faint=len(means) < intervals.FEW,
    )


# Whether one of two things that took the same tests does as well as the other, up to a margin.


MARGIN = 0.10
"""Being worse by less than this share of tests counts as just as well."""

LEVEL = 0.05
"""The level of tests, one-sided where one side alone is of interest (`not_worse`)."""


class NotWorse(NamedTuple):
    """The difference of two paired shares (first minus second), and the probability `p` of one at least as high if the
    first were worse by the whole margin; `n` pairs in `clusters`. Without pairs, p is 1 and the difference 0.
    """

    p: float
    difference: float
    n: int
    clusters: int

    @property
    def is_shown(self) -> bool:
        """Whether the first is shown to be worse by less than the margin, if at all."""
        return self.n > 0 and self.p <= LEVEL


def not_worse(
    first: Sequence[bool], second: Sequence[bool], clusters: Sequence[Hashable] | None = None, margin: float = MARGIN
) -> NotWorse:
    """Test the hypothesis that `first` is right less often than `second`, by `margin` or more, over the pairs.

    Tango's score test of paired shares (Statistics in Medicine 17, 1998), with a continuity correction; its variance is
    that under the bound of the hypothesis, so that twenty pairs without a difference are no proof. Pairs of one cluster
    (None: each is its own) may be alike: the variance is widened by as much as the sums of the clusters indicate, never
    narrowed, and the quantile is Student's for the number of clusters. If fewer than ten pairs differ, nothing shows
    how alike the pairs of a cluster are, and a cluster counts as one pair. Raises ValueError if the lengths differ, and
    for a margin outside 0 to 1.
    """
    from scipy.stats import t

    n = len(first)
    names = list(range(n)) if clusters is None else list(clusters)
    if len(second) != n or len(names) != n:
        raise ValueError("not as many of each")
    if not 0 < margin < 1:
        raise ValueError("the margin is a share between 0 and 1")
    differences = [int(one) - int(other) for one, other in zip(first, second, strict=True)]
    number = len(set(names))
    if number < 2:
        return NotWorse(1.0, sum(differences) / n if n else 0.0, n, number)
    won, lost = differences.count(1), differences.count(-1)
    widened = _widening(differences, names)
    # Reduced to the number of independent pairs that these are worth; the share of each outcome stays.
    pairs, won_of, lost_of = (count / widened for count in (n, won, lost))
    b = 2 * pairs * -margin + margin * (won_of - lost_of) - won_of - lost_of
    c = lost_of * margin * (1 + margin)
    losing = ((b * b - 8 * pairs * c) ** 0.5 - b) / (4 * pairs)
    variance = pairs * (2 * losing - margin * (1 + margin))
    z = (won_of - lost_of + pairs * margin - 0.5) / variance**0.5
    return NotWorse(float(t.sf(z, number - 1)), sum(differences) / n, n, number)


_TO_SEE = 10
"""Differing pairs that are needed to estimate the similarity within clusters."""


def _widening(differences: Sequence[int], names: Sequence[Hashable]) -> float:
    """Return the factor by which pairs in clusters vary more than the same number of independent pairs (the design
    effect); at least 1.
    """
    mean = sum(differences) / len(differences)
    sums: dict[Hashable, float] = {}
    for name, difference in zip(names, differences, strict=True):
        sums[name] = sums.get(name, 0.0) + difference - mean
    alike = len(differences) / len(sums)
    if sum(map(bool, differences)) < _TO_SEE:
        return alike
    apart = sum((difference - mean) ** 2 for difference in differences)
    if not apart:
        return alike
    seen: float = len(sums) / (len(sums) - 1) * sum(one * one for one in sums.values()) / apart
    # Estimated from few clusters, it is usually too small; according to simulations, this correction keeps the level.
    return 1.0 + max(0.0, seen - 1.0) * (1.0 + 4.0 / math.sqrt(len(sums)))


# How many items are needed, and what a given number of them can show.


def items_for_width(width: float, share: float = 0.5) -> int:
    """Return the fewest independent items whose Wilson interval around this share is at most `width` wide (high - low).

    A share of 0.5 needs the most, Z² (1 / width² - 1) of them; 0 and 1 the fewest. If items have several trials that
    partly agree, count the items. Raises ValueError for a width or share outside 0 to 1.
    """
    if not 0 < width < 1 or not 0 <= share <= 1:
        raise ValueError(f"no number of items makes an interval of {share} {width} wide")

    def is_narrow(n: int) -> bool:
        low, high = intervals.wilson(share, n)
        return high - low <= width

    return _fewest(is_narrow)


def power_of_pairs(only_first: float, only_second: float, n: int, draws: int = 10_000) -> float:
    """Return how often McNemar's exact test at LEVEL would find a difference over `n` shared items, by simulation.

    `only_first` and `only_second` are the expected shares of items that come true for one side only. Each draw is `n`
    items; the result is accurate to about 1 / sqrt(draws). Equal shares (no difference, as for two that guess): at most
    LEVEL. Two that never differ, or no items: 0. Raises ValueError for shares that no two outcomes can have.
    """
    import numpy as np
    from scipy.special import bdtr

    if min(only_first, only_second) < 0 or only_first + only_second > 1:
        raise ValueError(f"{only_first} and {only_second} cannot be shares of the same items")
    rest = 1 - only_first - only_second
    drawn = np.random.default_rng(0).multinomial(n, [only_first, only_second, rest], size=draws)[:, :2]
    parted = drawn.sum(axis=1)
    p_values = np.where(parted > 0, 2 * bdtr(drawn.min(axis=1), parted, 0.5), 1.0)  # shares.mcnemar, vectorised
    return float((p_values <= LEVEL).mean())


def items_for_power(only_first: float, only_second: float, power: float = 0.8) -> int | None:
    """Return about how many shared items McNemar's exact test needs to find such a difference with probability `power`.

    By simulation, so accurate to a few items; an exact test's power also rises and falls a little from n to n + 1. None
    if 100,000 items are not enough, as for equal shares and for two that never differ. Raises ValueError as
    `power_of_pairs` does.
    """

    def is_enough(n: int) -> bool:
        return power_of_pairs(only_first, only_second, n) >= power

    return _fewest(is_enough) if is_enough(100_000) else None


def power_of_differences(differences: Sequence[float], n: int, draws: int = 2000) -> float:
    """Return how often a paired t test at LEVEL would find a difference over `n` items like those that were measured.

    `differences` are results of earlier runs, one per shared item; each draw samples `n` of them with replacement, so
    the result promises no more than these items do. Draws whose differences are all the same have no t test, and count
    as not found. Identical settings (all 0), and fewer than two items sampled: 0. Raises ValueError without
    differences.
    """
    import numpy as np
    from scipy.special import stdtrit

    if not len(differences):
        raise ValueError("power needs the differences of some items")
    if n < 2:
        return 0.0
    gaps, random, limit = np.asarray(differences, dtype=float), np.random.default_rng(0), stdtrit(n - 1, 1 - LEVEL / 2)
    found, at_once = 0, max(1, intervals.ROOM // n)
    for start in range(0, draws, at_once):
        drawn = gaps[random.integers(len(gaps), size=(min(at_once, draws - start), n), dtype=np.int32)]
        error = drawn.std(axis=1, ddof=1) / n**0.5
        found += int(((error > 1e-12) & (np.abs(drawn.mean(axis=1)) > limit * error)).sum())
    return found / draws


def items_for_difference(differences: Sequence[float], power: float) -> int | None:
    """Return about how many items like those that were measured a paired t test needs to find their difference with
    probability `power` (`power_of_differences`). None if 10,000 are not enough. Raises ValueError without
    differences.
    """

    def is_enough(n: int) -> bool:
        return power_of_differences(differences, n, draws=500) >= power

    return _fewest(is_enough) if is_enough(10_000) else None


def _fewest(enough: Callable[[int], Any]) -> int:
    """Return the smallest number from 1 that is enough, assuming that all larger ones are."""
    high = next(1 << power for power in count() if enough(1 << power))
    low = high // 2 + 1
    return low + bisect_left(range(low, high), True, key=enough)
