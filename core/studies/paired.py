"""What the cells of a study's table differ by: two by two, over the items that both have while all else is equal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from ..labs.base.declared import FACETS
from ..labs.base.lab import Lab
from ..labs.base.spec import knobs
from ..statistics import FEW, Kind, Pair
from ..statistics.subjects import compare_where_equal
from ..store.matching import ITSELF
from .table_cells import BLANK, Row, label

if TYPE_CHECKING:
    from pandas import DataFrame

DIFFERENCES = ", differences"
"""Suffix of the title of such a table."""

MOST = 300
"""The most pairs of a table: corrected for more tests, hardly any difference is left, so none are made."""


def differences(
    lab: Lab, frame: DataFrame, rows: Sequence[str], columns: Sequence[str], otherwise: str, kind: Kind = "share"
) -> list[Row]:
    """Rows in each column, and columns in each row, two by two: the cells' `value` is the first minus the second, over
    `n` items that both have of `of` that either has. `frame` holds the cases of one figure
    (`tables.measured`) of this `kind`; `otherwise` is what a row or column is called that no value names.

    An item meets itself where every other setting is equal that varies within a cell (`compare_where_equal`).
    """
    named = frame.astype(object).fillna("").to_dict("records")
    places = [(label(case, rows) or otherwise, label(case, columns) or otherwise) for case in named]
    names, across = (list(dict.fromkeys(place[side] for place in places)) for side in (0, 1))
    wanted = [((name, a), (name, b)) for name in names for a, b in combinations(across, 2)]
    wanted += [((a, column), (b, column)) for a, b in combinations(names, 2) for column in across]
    if len(wanted) > MOST:
        note = f"{len(wanted):,} pairs are too many to be compared at once: take fewer rows or columns."
        return [{**BLANK, "row": "–", "column": "–", "note": note}]
    number = {place: number for number, place in enumerate(dict.fromkeys(places))}
    cases = frame.assign(subject=[number[place] for place in places])
    of_cell = dict(list(cases.groupby("subject")))
    wanted = [(a, b) for a, b in wanted if a in number and b in number]
    pairs = compare_where_equal(
        cases, _settings(lab, frame, named, (*rows, *columns)), [(number[a], number[b]) for a, b in wanted], kind
    )
    return [
        {
            **BLANK,
            "row": _over(a[0], b[0]),
            "column": _over(a[1], b[1]),
            **_cell(pair, of_cell[number[a]], of_cell[number[b]]),
        }
        for (a, b), pair in zip(wanted, pairs.values(), strict=True)
    ]


def _over(first: str, second: str) -> str:
    return first if first == second else f"{first} over {second}"


def _settings(lab: Lab, frame: DataFrame, named: Sequence[Row], given: Sequence[str]) -> DataFrame:
    """What is known of each case beside what is `given` by its row and column."""
    import pandas as pd

    names = [name for name in dict.fromkeys([*knobs(lab.spec), *FACETS]) if name != "title" and name in frame]
    # Two models that both take this part themselves have the same setting.
    settings = {
        name: [ITSELF if name != "model" and case[name] == case["model"] else str(case[name]) for case in named]
        for name in names
        if name not in given
    }
    return pd.DataFrame(settings, index=frame.index)


def _cell(pair: Pair, a: DataFrame, b: DataFrame) -> Row:
    places = dict.fromkeys((*zip(a["run"], a["case"], strict=True), *zip(b["run"], b["case"], strict=True)))
    return {
        **{"value": pair.difference.value, "low": pair.difference.low, "high": pair.difference.high, "n": pair.n},
        "of": pair.n + pair.undefined + pair.only_first + pair.only_second,
        **{"p": pair.test.p if pair.test else None, "p_holm": pair.p_holm},
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
