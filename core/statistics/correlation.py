"""Correlations within each input, averaged over inputs, and how well a figure ranks what has a property (AUROC)."""

import math
from collections.abc import Hashable, Sequence
from typing import Literal

from .intervals import FEW, Interval, Z, bootstrap_of_mean


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
    if (
        min(len({item for item, one in zip(items, labels, strict=True) if one is label}) for label in (True, False))
        < FEW
    ):
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

    def end(outside: float) -> float:
        inside = area
        for _ in range(50):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if is_within(middle) else (inside, middle)
        return inside

    return (end(0.0) if area > 0 else 0.0), (end(1.0) if area < 1 else 1.0)
