"""The caption of a picture for a paper: how many things a mark rests on, which interval its bars show, its baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame, Series

METHODS = {
    "wilson over items": "Wilson's score interval",
    "wilson over items, by their spread": "Wilson's score interval with n adjusted to the spread",
    "bonett and price over items": "Bonett and Price's interval of a paired difference",
    "t over items": "Student's t interval",
    "order statistics over items": "order statistics of the median",
}
"""What the methods of `core.statistics.interval_of_items` are called in a paper."""


def caption(table: DataFrame, things: str, baseline: str) -> str:
    """Return three short sentences on the `table` of a picture: n, the kind of interval and the baseline.

    `things` is the plural of what n counts. n is the column `items` or, without it, `n`, a number for each mark; else
    the sum of the column `checks`, or the number of rows. The methods of the intervals are in the column `interval` or,
    beside `macro`, in `how`. An empty `baseline` is said to be none.
    """
    said = [f"n = {_counted(table)} ({things}{' behind each mark' if {'items', 'n'} & {*table} else ''})."]
    methods = table["interval"] if "interval" in table else table["how"] if "macro" in table else None
    said.append("No intervals." if methods is None else _intervals(methods, things))
    said.append(f"Baseline: {baseline or 'none is drawn'}.")
    return " ".join(said)


def _counted(table: DataFrame) -> str:
    name = next((name for name in ("items", "n") if name in table), None)
    if name is None:
        return f"{int(table['checks'].sum()) if 'checks' in table else len(table):,}"
    low, high = int(table[name].min()), int(table[name].max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _intervals(methods: Series[str], things: str) -> str:
    used = [words for method, words in METHODS.items() if (methods == method).any()]
    without = int((~methods.isin(METHODS)).sum())
    if not used:
        return "No mark has an interval."
    left = f" {without} of {len(methods)} marks {'has' if without == 1 else 'have'} no interval." if without else ""
    return f"Bars: 95 % intervals over {things} ({'; '.join(used)}).{left}"
