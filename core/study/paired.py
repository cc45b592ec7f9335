"""What the cells of a study's table differ by: two by two, over the items that both have while all else is equal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from core.lab.lab import Lab
from core.lab.shown import FACETS
from core.lab.spec import knobs
from core.statistics import FEW, Pair, holm
from core.statistics.subjects import compare_pairs
from core.study.cells import BLANK, Row, label

if TYPE_CHECKING:
    from pandas import DataFrame

DIFFERENCES = ", differences"
"""Suffix of the title of such a table."""

MOST = 300
"""The most pairs of a table: corrected for more tests, hardly any difference is left, so none are made."""

ITSELF = "the model itself"


def differences(lab: Lab, frame: DataFrame, rows: Sequence[str], columns: Sequence[str], otherwise: str) -> list[Row]:
    """Rows in each column, and columns in each row, two by two: the cells' `value` is the first minus the second, over
    `n` items that both have of `of` that either has. `frame` holds the cases of one figure (`tables.measured`);
    `otherwise` is what a row or column is called that no value names.

    An item meets itself where every other setting is equal that varies within a cell, and counts by the mean of these;
    interval and test draw items (`core.statistics.subjects`), and Holm's correction is for all pairs of the table.
    """
    places = _places(lab, frame, rows, columns, otherwise)
    names, across = list(dict.fromkeys(places["row"])), list(dict.fromkeys(places["column"]))
    wanted = [(name, name, a, b) for name in names for a, b in combinations(across, 2)]
    wanted += [(a, b, column, column) for a, b in combinations(names, 2) for column in across]
    if len(wanted) > MOST:
        note = f"{len(wanted):,} pairs are too many to be compared at once: take fewer rows or columns."
        return [{**BLANK, "row": "–", "column": "–", "note": note}]
    of_cell = {place: cases for place, cases in places.groupby(["row", "column"], sort=False)}
    compared = []
    for first, second, left, right in wanted:
        a, b = of_cell.get((first, left)), of_cell.get((second, right))
        if a is not None and b is not None:
            row = first if first == second else f"{first} over {second}"
            column = left if left == right else f"{left} over {right}"
            compared.append({"row": row, "column": column, **_cell(a, b)})
    for cell, p in zip(compared, holm([cell["p"] for cell in compared]), strict=True):
        cell["p_holm"] = p
    return [{**BLANK, **cell} for cell in compared]


def _places(lab: Lab, frame: DataFrame, rows: Sequence[str], columns: Sequence[str], otherwise: str) -> DataFrame:
    """The cases with the `row` and the `column` of their cells, and `else`: what else must be equal where they meet."""
    named = frame.astype(object).fillna("").to_dict("records")
    places = frame.assign(
        row=[label(case, rows) or otherwise for case in named],
        column=[label(case, columns) or otherwise for case in named],
    )
    settings = [name for name in knobs(lab.spec) if name != "title"]
    varying = []
    for name in dict.fromkeys([*settings, *FACETS]):
        if name in rows or name in columns or name not in frame:
            continue
        # Two models that both take this part themselves have the same setting.
        values = [ITSELF if name != "model" and case[name] == case["model"] else str(case[name]) for case in named]
        if places.assign(value=values).groupby(["row", "column"])["value"].nunique().max() > 1:
            varying.append(values)
    return places.assign(**{"else": list(zip(*varying, strict=True)) if varying else [()] * len(places)})


def _cell(a: DataFrame, b: DataFrame) -> Row:
    pair = _pair(a, b)
    places = dict.fromkeys((*zip(a["run"], a["case"], strict=True), *zip(b["run"], b["case"], strict=True)))
    return {
        **{"value": pair.difference.value, "low": pair.difference.low, "high": pair.difference.high, "n": pair.n},
        "of": pair.n + pair.undefined + pair.only_first + pair.only_second,
        "p": pair.test.p if pair.test else None,
        "note": "; ".join(_notes(pair)),
        **{"complete": bool(a["complete"].all() and b["complete"].all()), "behind": tuple(places)},
        "stopped_early": bool(a["early"].any() or b["early"].any()),
    }


def _notes(pair: Pair) -> Iterator[str]:
    if not pair.n:
        yield "no item is shared with all else equal, so no difference is given"
    elif pair.test:
        yield pair.test.name
        if pair.faint:
            yield f"fewer than {FEW} items"


def _pair(a: DataFrame, b: DataFrame) -> Pair:
    """Two cells over the items in which some case of one meets one of the other."""
    import pandas as pd

    both = pd.DataFrame({side: cell.groupby(["item", "else"])["value"].mean() for side, cell in enumerate((a, b))})
    values = both.dropna().groupby("item").mean()
    has = pd.DataFrame({side: pd.Series(True, index=cell["item"].unique()) for side, cell in enumerate((a, b))})
    (pair,) = compare_pairs(values.reindex(has.index), has.notna(), pd.Series(has.index, index=has.index))
    return pair
