"""How far several labellers of the same items agree, and how often a parser is right, from a blind audit."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from .intervals import FEW, ROOM, Interval, Z, bisected, bootstrap_of_mean, exact_share

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Agreement(NamedTuple):
    """`value` is the coefficient over `n` items, None if undefined; the shares are from 0 to 1, None without items."""

    value: float | None
    n: int
    agreed: float | None
    by_chance: float | None


def kappa(a: Sequence[Hashable | None], b: Sequence[Hashable | None]) -> Agreement:
    """Compute Cohen's kappa between two labellers of the same items (Cohen 1960): (agreed - by chance) / (1 - by
    chance).

    It is in [-1, 1]. Items that either left out (None) do not count. It is undefined without items, and if both always
    gave the same single label, because chance alone would then make them agree. Two who guess: around 0. One who always
    gives the same label: exactly 0. Identical labels of two kinds: 1. Raises ValueError for unequal lengths.
    """
    both = [(x, y, 1.0) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    return weighted_kappa(both)


def weighted_kappa(pairs: Sequence[tuple[Hashable, Hashable, float]]) -> Agreement:
    """Compute Cohen's kappa (1960) for weighted pairs of labels (weights of at least 0).

    With equal weights it equals `kappa`: in [-1, 1], undefined without items and if both always gave the same single
    label. Guesses: around 0; one who always gives the same label: exactly 0. `n` is the number of pairs.
    """
    every = math.fsum(weight for *_, weight in pairs)
    if not every:
        return Agreement(None, len(pairs), None, None)
    first, second = Counter[Hashable](), Counter[Hashable]()
    for a, b, weight in pairs:
        first[a] += weight / every  # type: ignore[assignment]  # a Counter can hold shares too
        second[b] += weight / every  # type: ignore[assignment]
    agreed = math.fsum(weight for a, b, weight in pairs if a == b) / every
    by_chance = math.fsum(share * second[label] for label, share in first.items())
    if len({*first, *second}) < 2:
        return Agreement(None, len(pairs), agreed, by_chance)
    return Agreement((agreed - by_chance) / (1 - by_chance), len(pairs), agreed, by_chance)


LabelSet = frozenset[Hashable]
"""The labels that one labeller gave one item."""

DRAWS = 2000


def masi(a: LabelSet, b: LabelSet) -> float:
    """Return the MASI distance of two sets of labels, from 0 (equal) to 1 (nothing in common): Passonneau 2006, LREC,
    831-836. For two sets of one label it is 0 or 1.
    """
    both, either = len(a & b), len(a | b)
    if a == b:
        return 0.0
    overlap = 2 / 3 if a <= b or b <= a else 1 / 3 if both else 0.0
    return 1 - both / either * overlap


def alpha(items: Sequence[Sequence[LabelSet]]) -> Interval:
    """Compute Krippendorff's alpha (2004, chapter 11) of any number of labellers with the distance `masi`, and a 95 %
    interval by resampling items.

    `items` has, for each item, the set of labels of everyone who labelled it; items with fewer than two do not
    count. 1: all agree; guesses: around 0; undefined without items and if all labels are the same, because chance
    alone would then make them agree. Fewer than FEW items, or no disagreement: no interval.
    """
    import numpy as np

    paired = [item for item in items if len(item) > 1]
    kinds = list(dict.fromkeys(label for item in paired for label in item))
    if not paired:
        return Interval(None, None, None, 0, "no item has two labels")
    apart = np.array([[masi(a, b) for b in kinds] for a in kinds])
    counts = np.array([[item.count(kind) for kind in kinds] for item in paired], dtype=float)
    many = counts.sum(axis=1)
    within = np.einsum("uc,cd,ud->u", counts, apart, counts) / (many - 1)

    def of(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        n, values = weights @ many, weights @ counts
        expected = np.einsum("bc,cd,bd->b", values, apart, values) / (n - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(1 - (weights @ within) / expected)

    return _resampled(of, len(paired))


def kappa_interval(a: Sequence[Hashable | None], b: Sequence[Hashable | None]) -> Interval:
    """Compute Cohen's `kappa` of two labellers with a 95 % interval by resampling items. Fewer than FEW items, or no
    disagreement: no interval. Raises ValueError for unequal lengths.
    """
    import numpy as np

    both = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    if not both:
        return Interval(None, None, None, 0, "no item has two labels")
    place = {kind: at for at, kind in enumerate(dict.fromkeys(label for pair in both for label in pair))}
    first, second = (np.eye(len(place))[[place[pair[side]] for pair in both]] for side in (0, 1))
    same = (first * second).sum(axis=1)

    def of(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        n = weights.sum(axis=1)
        by_chance = ((weights @ first) * (weights @ second)).sum(axis=1) / n**2
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(((weights @ same) / n - by_chance) / (1 - by_chance))

    return _resampled(of, len(both))


def _resampled(of: Callable[[NDArray[np.float64]], NDArray[np.float64]], n: int) -> Interval:
    """The coefficient of `n` items with its percentile interval; `of` computes it for each row of item weights."""
    import numpy as np

    value = float(of(np.ones((1, n)))[0])
    if not np.isfinite(value):
        return Interval(None, None, None, n, "all labels are the same, so chance alone would make them agree")
    if n < FEW:
        return Interval(value, None, None, n, f"fewer than {FEW} items are too few for an interval")
    if value == 1:
        return Interval(value, None, None, n, "all agree: resampling shows no spread")
    random, at_once = np.random.default_rng(0), max(1, ROOM // n)
    drawn = [
        of(random.multinomial(n, np.full(n, 1 / n), size=min(at_once, DRAWS - start)).astype(float))
        for start in range(0, DRAWS, at_once)
    ]
    # A resample whose labels are all the same has no coefficient.
    low, high = np.nanquantile(np.concatenate(drawn), [0.025, 0.975])
    return Interval(value, float(low), float(high), n, f"bootstrap of items, percentile, {DRAWS:,} draws")


# How often a parser is right, estimated from a stratified sample that was judged without seeing the parsed values.


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
            worth = drawn * (population - 1) / (population - drawn)
            low, high = exact_share(share * worth, worth)
            down, up = down + (part * (share - low)) ** 2, up + (part * (high - share)) ** 2
    low, high = max(0.0, value - math.sqrt(down)), min(1.0, value + math.sqrt(up))
    return Interval(value, low, high, n, "stratified, exact limits joined by square and add")


def allotted(populations: Sequence[int], size: int) -> list[int]:
    """Return how many to sample from strata of these sizes, `size` in all or as many as there are: two from each as
    far as possible, so that rare kinds are seen, and the rest in proportion to the strata's sizes (largest
    remainders).
    """
    size = min(size, sum(populations))
    drawn = [0] * len(populations)
    for _ in range(2):
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


# Correlations within each input, averaged over inputs, and how well a figure ranks what has a property (AUROC).


def correlation_per_input(
    inputs: Sequence[Hashable],
    first: Sequence[float | None],
    second: Sequence[float | None],
    kind: Literal["pearson", "spearman"] = "pearson",
) -> Interval:
    """Correlate two figures of explanations, as Chen et al. do for precision and plausibility (section 5.2.2): across
    the explanations of one input, then averaged over inputs.

    There is one entry per explanation; None where undefined, which removes that explanation. An input counts if at
    least two explanations are left and neither figure is constant over them, since a correlation is undefined
    otherwise; `n` counts these inputs, and `how` says how many do not count. The interval is a bootstrap over inputs,
    because the explanations of one input are not independent. Unrelated figures: around 0. Identical figures: 1. One
    constant, or nothing: undefined. Raises ValueError for unequal lengths.
    """
    from scipy.stats import pearsonr, spearmanr

    correlate = spearmanr if kind == "spearman" else pearsonr
    groups: dict[Hashable, list[tuple[float, float]]] = {}
    for key, x, y in zip(inputs, first, second, strict=True):
        groups.setdefault(key, [])
        if x is not None and y is not None and not (math.isnan(x) or math.isnan(y)):
            groups[key].append((x, y))
    found: dict[Hashable, float] = {}
    for key, pairs in groups.items():
        sides = list(zip(*pairs, strict=True))
        if sides and all(max(side) - min(side) > 1e-12 for side in sides):
            found[key] = float(correlate(*sides).statistic)
    mean = bootstrap_of_mean(list(found.values()))
    return mean._replace(how=f"{len(groups) - len(found)} of {len(groups)} inputs show no variation; {mean.how}")


# How well a figure ranks the things that have a property above those that do not.


def placements(values: Sequence[float], labels: Sequence[bool]) -> list[float]:
    """Return for each value the share of the other class that it is on the right side of, in [0, 1]; ties count one
    half. A value whose label is true should be the larger one. Same order as `values`; nan if there is no other class.
    """
    sides: dict[bool, list[float]] = {True: [], False: []}
    for value, label in zip(values, labels, strict=True):
        sides[label].append(value)
    return [_placement(value if label else -value, label, sides) for value, label in zip(values, labels, strict=True)]


def _placement(value: float, label: bool, sides: dict[bool, list[float]]) -> float:
    others = [other if label else -other for other in sides[not label]]
    right = sum(1.0 if other < value else 0.5 if other == value else 0.0 for other in others)
    return right / len(others) if others else math.nan


def auroc(values: Sequence[float], labels: Sequence[bool], items: Sequence[Hashable]) -> Interval:
    """Return the area under the ROC curve, in [0, 1]: how often a value with a true label exceeds one with a false
    label, ties counted one half. `items` names what each value is about; values of one item are not independent.

    The 95 % interval uses the variance of DeLong, DeLong and Clarke-Pearson (1988, Biometrics 44, 837-845), with items
    as clusters (Obuchowski 1997, Biometrics 53, 567-578), on the scale of the logit, where it is less often too narrow
    than on the plain one. If no value varies in its placement, as in a perfect ranking, that variance is 0, and the
    interval is the score interval of Newcombe (2006, Statistics in Medicine 25, 559-573, method 5) instead. There is no
    interval if a class has fewer than FEW items, and no value if a class is empty. `n` counts the values.
    """
    places = placements(values, labels)
    with_it, without = sum(labels), len(labels) - sum(labels)
    if not with_it or not without:
        return Interval(None, None, None, len(places), "a class is empty")
    area = math.fsum(place for place, label in zip(places, labels, strict=True) if label) / with_it
    of_class = [{item for item, one in zip(items, labels, strict=True) if one is label} for label in (True, False)]
    if min(map(len, of_class)) < FEW:
        return Interval(area, None, None, len(places), f"a class has fewer than {FEW} items")
    variance = _variance(area, places, labels, items)
    if variance <= 1e-12:
        low, high = _newcombe(area, with_it, without)
        return Interval(area, low, high, len(places), "Newcombe")
    middle, reach = math.log(area / (1 - area)), Z * math.sqrt(variance) / (area * (1 - area))
    low, high = (1 / (1 + math.exp(-min(700.0, max(-700.0, middle + side)))) for side in (-reach, reach))
    return Interval(area, low, high, len(places), "DeLong of the logit, by items")


def _variance(area: float, places: Sequence[float], labels: Sequence[bool], items: Sequence[Hashable]) -> float:
    """Return the variance of the area: each item adds what its values with and without the property differ by."""
    sums: dict[Hashable, dict[bool, float]] = {}
    for place, label, item in zip(places, labels, items, strict=True):
        one = sums.setdefault(item, {})
        one[label] = one.get(label, 0.0) + place - area
    count = {label: sum(one is label for one in labels) for label in (True, False)}
    total = 0.0
    for label in (True, False):
        parts = [one[label] for one in sums.values() if label in one]
        total += len(parts) / (len(parts) - 1) * math.fsum(part**2 for part in parts) / count[label] ** 2
    both = math.fsum(one[True] * one[False] for one in sums.values() if len(one) == 2)
    return total + 2 * len(sums) / (len(sums) - 1) * both / (count[True] * count[False])


def _newcombe(area: float, first: int, second: int) -> tuple[float, float]:
    """Return the areas that are as far from `area` as Z of their own standard errors, found by bisection."""
    more = (first + second) / 2 - 1

    def is_within(other: float) -> bool:
        spread = 1 + more * (1 - other) / (2 - other) + more * other / (1 + other)
        return (area - other) ** 2 <= Z * Z * other * (1 - other) * spread / (first * second)

    # From an area of 0 or 1, which is an end itself, no step is taken.
    return bisected(area, 0.0, is_within)[0], bisected(area, 1.0, is_within)[0]
