"""A leaderboard: who is best on one task, with the places that the intervals allow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..statistics import Kind
from . import forest

if TYPE_CHECKING:
    from pandas import DataFrame
    from plotly.graph_objects import Figure

# A chart of any table that has two suitable columns.


MOST_BARS = 40
"""Maximum number of bars that can still be told from each other; a table with more has no chart."""

_LABEL = 40
"""Maximum number of characters of a label."""


def picture(rows: DataFrame) -> Figure | None:
    """Draw bars of the first numeric column over the first text column, a line over the first time column, or points of
    the first two numeric columns. Return None if no two columns fit, or if there are too many bars.
    """
    import plotly.graph_objects as go
    from pandas.api import types

    numbers = [name for name in rows if types.is_numeric_dtype(rows[name]) and not types.is_bool_dtype(rows[name])]
    times = [name for name in rows if types.is_datetime64_any_dtype(rows[name])]
    texts = [name for name in rows if types.is_string_dtype(rows[name]) and rows[name].notna().any()]
    if len(rows) < 2 or not numbers:
        return None
    y = rows[numbers[0]].astype(float)
    if times:
        line = rows[[times[0]]].assign(y=y).sort_values(times[0])
        figure, across = go.Figure(go.Scatter(x=line[times[0]], y=line["y"], mode="lines+markers")), times[0]
    elif texts and len(rows) <= MOST_BARS and rows[texts[0]].is_unique:
        labels = [_rows_label(text) for text in rows[texts[0]].fillna("")]
        # Placed by number, so that two labels that are cut to the same text stay separate.
        figure, across = go.Figure(go.Bar(x=list(range(len(rows))), y=y)), texts[0]
        figure.update_xaxes(tickvals=list(range(len(rows))), ticktext=labels)
    elif not texts and len(numbers) > 1:
        y, across = rows[numbers[1]].astype(float), numbers[0]
        figure = go.Figure(go.Scatter(x=rows[across].astype(float), y=y, mode="markers"))
        numbers = numbers[1:]
    else:
        return None
    figure.update_layout(margin={"t": 10, "b": 10, "l": 10, "r": 10}, height=320)
    figure.update_xaxes(title=_rows_label(across))
    figure.update_yaxes(title=_rows_label(numbers[0]))
    return figure


def _rows_label(text: str) -> str:
    """Return a label, shortened and escaped, because Plotly interprets HTML."""
    text = text if len(text) <= _LABEL else f"{text[:_LABEL]}…"
    return text.replace("&", "&amp;").replace("<", "&lt;")


CAPTION = (
    "Places 1–2: by the 95 % intervals it may be first or second. Without a place is what rests on fewer than ten {0}, "
    "or on less than 70 % of what should count, which is faint, or has no interval. Each {1} counts alike. The address "
    "holds filter and picture: anyone who opens it here sees this board. *Compare* takes only {0} that all have."
)


def board(rows: DataFrame, within: Sequence[str], kind: Kind = "share") -> DataFrame:
    """Return one line for each model and `how` on each task, the best first. A task is a combination of the columns
    `within`.

    The columns are those of `forest.lines`, with `task`; `first` and `last`, the places that its interval allows
    (null if it has too little data); `placed`, the number of lines with a place; and `shared`, the number of items with
    a value for all on the task. Tasks on which somebody has a place come first, and undefined values come last.

    Each competitor whose whole interval lies above costs one place. Without rows there are no lines.
    """
    import pandas as pd

    within = (*within, *forest.own_columns(rows))
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
    """Say who may be first on each task, and on how many of the `things` all were measured."""
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
