"""The one definition of a group's figures, for pictures, tables, command line and export, and what a figure would be
under other analysis choices (a multiverse).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from .intervals import FEW, Kind, Range, interval_of_items, is_thin

if TYPE_CHECKING:
    import pandas as pd


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Return the values of pairs (key, value) by their keys, both in order of first appearance."""
    found: dict[K, list[V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


COLUMNS = (
    *("macro", "micro", "low", "high", "how", "items", "items_of", "undefined"),
    *("trials", "trials_of", "dropped", "thin", "faint"),
)


def group_statistics(
    frame: pd.DataFrame, by: Sequence[str], kind: Kind = "share", ends: Range | None = None
) -> pd.DataFrame:
    """Return one row for each group of the rows of `frame`, with the columns `by` and COLUMNS.

    A row of `frame` is a case (or a trial): the columns `by`, its `item`, its `value` (None or NaN if undefined), the
    number `n` of trials behind the value and the number `of` that were meant to count; without the columns `n` and
    `of`, each row is one trial. In the result:

    - `macro`: the mean over items, each with equal weight and the mean of its defined rows; for errors the median.
      `low`, `high`: its 95 % interval (`interval_of_items`, of this `kind` and range, `ends`); `how` names the method
      or says why there is none.
    - `micro`: the mean over trials, each with equal weight, by `n`.
    - `items` that have a value, of `items_of`; `undefined`: the share of items that have none. `trials` that counted,
      of `trials_of`; `dropped`: how many did not.
    - `thin`: less than 70 % of the items, or of the trials, count. `faint`: fewer than 10 items count.

    An empty frame gives no rows. A group without any defined row has NaN for its means and limits, and `how` says so. A
    constant guess that is always right: 1 and Wilson's interval. Chance: around its rate. Raises KeyError for a missing
    column, ValueError for a row without an item, and for one with more trials than were meant to count.
    """
    import pandas as pd

    value = pd.to_numeric(frame["value"]).astype(float)
    rows = frame[[*by, "item"]].assign(value=value, n=frame.get("n", 1), of=frame.get("of", 1))
    rows["n"] = rows["n"].where(rows["value"].notna(), 0)
    if rows["item"].isna().any():
        raise ValueError("a row belongs to no item")
    if (rows["n"] > rows["of"]).any():
        raise ValueError("a row counts more trials than were meant to count")
    grouped = rows.groupby(list(by), dropna=False, sort=True) if by else [((), rows)]
    found = [{**dict(zip(by, key, strict=True)), **_figures(group, kind, ends)} for key, group in grouped if len(group)]
    return pd.DataFrame(found, columns=[*by, *COLUMNS])


def _figures(rows: pd.DataFrame, kind: Kind, ends: Range | None) -> dict[str, Any]:
    defined = rows[rows["value"].notna()]
    values = defined.groupby("item", sort=True)["value"].mean()
    items, items_of = len(values), int(rows["item"].nunique())
    trials, trials_of = int(defined["n"].sum()), int(rows["of"].sum())
    macro = interval_of_items(values.tolist(), kind, ends)
    return {
        "macro": macro.value,
        "micro": float((defined["value"] * defined["n"]).sum() / trials) if trials else None,
        "low": macro.low,
        "high": macro.high,
        "how": macro.how if items else "it is defined for no item",
        "items": items,
        "items_of": items_of,
        "undefined": 1 - items / items_of,
        "trials": trials,
        "trials_of": trials_of,
        "dropped": trials_of - trials,
        "thin": is_thin(items, items_of) or is_thin(trials, trials_of),
        "faint": items < FEW,
    }


# What a figure would have been under every other analysis choice that could have been made just as well.


class AnalysisChoice(NamedTuple):
    """A choice (rules, simulator, votes), the options that were tried, and by how much the figure `moves` on average if
    only this choice changes: largest minus smallest. None if it never changes alone.
    """

    name: str
    tried: tuple[Any, ...]
    moves: float | None


@dataclass(frozen=True)
class Multiverse:
    """One figure under every combination of choices that was tried.

    `universes`: a row per combination, with a column per choice, `value` (NaN if undefined), `n` items of `of`. `low`,
    `high`: the smallest and largest value. `missing`: the number of combinations that were not tried. `choices`: the
    choices, starting with the one that moves the figure most. `items`: columns `item`, `choice` and `changes`, the
    share of the settings of the other choices in which the item's outcome changes with this choice, with undefined
    counted as an outcome; largest first, without items that never change.
    """

    universes: pd.DataFrame
    low: float | None
    high: float | None
    missing: int
    choices: tuple[AnalysisChoice, ...]
    items: pd.DataFrame


def multiverse(frame: pd.DataFrame, choices: Sequence[str]) -> Multiverse:
    """Return the range of a mean over items under all combinations of choices (Steegen, Tuerlinckx, Gelman and
    Vanpaemel 2016, Perspectives on Psychological Science 11, 702-712).

    `frame` has a row for each item (or several, which are averaged) under each combination: the columns `choices`,
    `item`, and `value`, a number, None if undefined. Items without a row for a combination count in `of`. The range
    is not a confidence interval: it shows what depends on choices, an interval what depends on which items were
    sampled. Identical outcomes under all choices: low equals high, nothing moves. Guesses under each choice: the range
    grows with the number of choices, about as far as chance goes. Empty: low and high are None. Raises ValueError
    without choices, and for a row that lacks an item or a choice.
    """
    import pandas as pd

    names = list(choices)
    if not names:
        raise ValueError("a multiverse needs a choice")
    if frame[["item", *names]].isna().any(axis=None):
        raise ValueError("a row lacks its item or one of the choices")
    numbers = frame.assign(value=pd.to_numeric(frame["value"]))
    table = numbers.pivot_table("value", "item", names, aggfunc="mean", dropna=False, observed=True, sort=True)
    tried = numbers[names].drop_duplicates()
    columns = pd.MultiIndex.from_frame(tried)
    if len(names) == 1:
        table.columns = pd.MultiIndex.from_arrays([table.columns], names=names)
    table = table.reindex(columns=columns)
    universes = tried.reset_index(drop=True)
    universes = universes.assign(value=table.mean().to_numpy(), n=table.count().to_numpy(), of=len(table))
    moved, found = [], []
    for name in names:
        gaps, changes = _alone(name, names, universes, table)
        moved.append(AnalysisChoice(name, tuple(tried[name].unique()), sum(gaps) / len(gaps) if gaps else None))
        found.append(changes)
    moved.sort(key=lambda choice: -1 if choice.moves is None else choice.moves, reverse=True)
    items = pd.concat(found, ignore_index=True)
    items = items[items["changes"] > 0].sort_values(["changes", "item", "choice"], ascending=[False, True, True])
    possible = math.prod(tried[name].nunique() for name in names)
    values = universes["value"].dropna()
    low, high = (float(values.min()), float(values.max())) if len(values) else (None, None)
    return Multiverse(universes, low, high, possible - len(tried), tuple(moved), items.reset_index(drop=True))


def _alone(
    name: str, names: list[str], universes: pd.DataFrame, table: pd.DataFrame
) -> tuple[list[float], pd.DataFrame]:
    """Return, for changes of `name` alone, how far the value moves each time, and how often each item's outcome
    changes.
    """
    import pandas as pd

    others = [other for other in names if other != name]
    groups = universes.groupby(others, dropna=False, sort=False) if others else [((), universes)]
    gaps: list[float] = []
    changed: list[pd.Series[Any]] = []
    for _, group in groups:
        if len(group) < 2:
            continue
        if group["value"].notna().sum() > 1:
            gaps.append(float(group["value"].max() - group["value"].min()))
        changed.append(table.iloc[:, list(group.index)].nunique(axis=1, dropna=False) > 1)
    share = pd.concat(changed, axis=1).mean(axis=1) if changed else pd.Series(0.0, index=table.index)
    return gaps, pd.DataFrame({"item": share.index, "choice": name, "changes": share.to_numpy(dtype=float)})
