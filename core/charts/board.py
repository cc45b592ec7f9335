"""A leaderboard: who comes out best on one task, with the places that the intervals leave open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..statistics import Kind
from . import forest

if TYPE_CHECKING:
    from pandas import DataFrame

CAPTION = (
    "Places 1–2: by the 95 % intervals it may be first or second. Without a place is what rests on fewer than ten {0}, "
    "or on less than 70 % of what should count, which is faint, or has no interval. Each {1} counts alike. The address "
    "holds filter and picture: anyone who opens it here sees this board. *Compare* takes only {0} that all have."
)


def board(rows: DataFrame, within: Sequence[str], kind: Kind = "share") -> DataFrame:
    """One line for each model and `how` on each task, which the columns `within` tell apart, the best first, as
    `forest.lines` has it, with `task`, `first` and `last` (the places that its interval leaves open, null where it
    rests on too little), `placed` (how many have one) and `shared` (how many items have a value for all of the task).
    Tasks on which somebody has a place come before the others, and what is undefined after all else.

    A subject loses a place to each whose interval lies wholly above. Without rows there are no lines.
    """
    import pandas as pd

    by = ("lab", *within, "model", "how")
    rows = rows.assign(board=[", ".join(filter(None, row)) for row in rows[list(within)].itertuples(index=False)])
    boards = []
    for task, some in rows.groupby("board", sort=True):
        table = forest.lines(some, by, _label, kind=kind)
        firm = ~table["faint"].astype(bool) & ~table["thin"].astype(bool) & table["low"].notna()
        ranked = table[firm]
        first = [1 + int((ranked["low"] > high).sum()) for high in ranked["high"]]
        last = [len(ranked) - int((ranked["high"] < low).sum()) for low in ranked["low"]]
        held_by = some[some["value"].notna()].drop_duplicates(["item", "model", "how"]).groupby("item").size()
        table = table.assign(
            task=task,
            first=pd.Series(first, ranked.index, dtype="Int64"),
            last=pd.Series(last, ranked.index, dtype="Int64"),
            placed=len(ranked),
            shared=int((held_by == len(table)).sum()),
        )
        several = f" · {task}" if rows["board"].nunique() > 1 else ""
        table["label"] = [
            f"{_places(one)}{one['label']}{several}" for one in table[["first", "last", "label"]].to_dict("records")
        ]
        boards.append(table.sort_values("first", kind="stable", na_position="last"))
    if not boards:
        return forest.lines(rows, by, _label)
    table = pd.concat(sorted(boards, key=lambda one: not one["placed"].iloc[0]), ignore_index=True)
    return table.sort_values("macro", key=lambda macro: macro.isna(), kind="stable", ignore_index=True)


def _label(row: dict[str, Any]) -> str:
    return ", ".join(word for word in (row["model"], row["how"]) if word)


def _places(row: dict[Any, Any]) -> str:
    if row["first"] is None or row["first"] != row["first"]:
        return ""
    return f"{row['first']}. " if row["first"] == row["last"] else f"{row['first']}–{row['last']}. "


def takeaway(table: DataFrame, what: str, things: str) -> str:
    """Who may be first on each task, and how many of the `things` all were measured on."""
    said = []
    for task, some in table.groupby("task", sort=False):
        on = f"On {task}" if task else "Over all"
        leads = some[some["first"].eq(1).fillna(False)]
        if leads.empty:
            said.append(f"{on} nobody has a place yet: none of {len(some)} has an interval over enough {things}.")
            continue
        one = leads.iloc[0]
        name = _name(one, str(task))
        ties = int((leads["macro"] == one["macro"]).sum()) - 1
        best = f"{f'{name} and {ties} more have' if ties else f'{name} has'} the highest {what}, {one['macro']:.2f}"
        if one["placed"] == 1:
            said.append(
                f"{on} only {name} has a place: {what} {one['macro']:.2f} ({one['low']:.2f} to {one['high']:.2f})."
            )
            continue
        others = len(leads) - 1 - ties
        more = f"by intervals {others} more may be first" if others else "by intervals nobody else may be first"
        between = "" if ties else f" ({one['low']:.2f} to {one['high']:.2f})"
        said.append(
            f"{on} {best}{between}; {more}, of {one['placed']} with a place. "
            f"{one['shared']} {things} have a value for all {len(some)}."
        )
    return " ".join(said)


def _name(row: Any, task: str) -> str:
    name = str(row["label"]).partition(". ")[2]
    return name.removesuffix(f" · {task}")
