"""The one definition of a group's figures, for pictures, tables, command line and export."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .means import Kind, Range, interval_of_items
from .shares import FEW, is_thin

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    *("macro", "micro", "low", "high", "how", "items", "items_of", "undefined"),
    *("trials", "trials_of", "dropped", "thin", "faint"),
)


def group_statistics(
    frame: pd.DataFrame,
    by: Sequence[str],
    item: str = "item",
    value: str = "value",
    n: str = "n",
    of: str = "of",
    kind: Kind = "share",
    ends: Range | None = None,
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

    rows = frame[[*by, item]].assign(
        value=pd.to_numeric(frame[value]).astype(float),
        n=frame.get(n, 1),
        of=frame.get(of, 1),
    )
    rows["n"] = rows["n"].where(rows["value"].notna(), 0)
    if rows[item].isna().any():
        raise ValueError("a row belongs to no item")
    if (rows["n"] > rows["of"]).any():
        raise ValueError("a row counts more trials than were meant to count")
    grouped = rows.groupby(list(by), dropna=False, sort=True) if by else [((), rows)]
    found = [
        {**dict(zip(by, key if isinstance(key, tuple) else (key,), strict=True)), **_figures(group, item, kind, ends)}
        for key, group in grouped
        if len(group)
    ]
    return pd.DataFrame(found, columns=[*by, *COLUMNS])


def _figures(rows: pd.DataFrame, item: str, kind: Kind, ends: Range | None) -> dict[str, Any]:
    defined = rows[rows["value"].notna()]
    values = defined.groupby(item, sort=True)["value"].mean()
    items, items_of = len(values), int(rows[item].nunique())
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
