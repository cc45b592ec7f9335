"""Forest plots and leaderboards: for each group the mean with its interval, the number of things it is based on, and
what is missing.

The lines come from `core.statistics.group_statistics`: the plot, its sentence and its table show the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from ..paper_figures import Published
from ..statistics.comparisons import Pair, compare_where_equal
from ..statistics.groups import group_statistics
from ..statistics.intervals import FEW, RANGES, Kind, Range
from .marks import CLICKABLE, COMPARED, EXTRA, FAINT, OURS, THEIRS, error_bars, link, safe
from .printed import script

if TYPE_CHECKING:
    from pandas import DataFrame
    from plotly.graph_objects import Figure


MOST = 40
"""Maximum number of lines drawn. If there are more groups, those over the most things are drawn, and the axis says so.
The table has all.
"""

PAIRS = 300
"""Maximum number of pairs of lines to compare. With more tests no difference would be significant, so none is reported.
"""

LEVEL = 0.05

_LETTERS = 60
"""Maximum number of characters of a line's name."""


def lines(
    rows: DataFrame,
    by: Sequence[str],
    label: Callable[[dict[str, Any]], str],
    series: Sequence[str] = ("",),
    kind: Kind = "share",
    ends: Range | None = None,
) -> DataFrame:
    """Return the lines of a forest plot, the highest first: the result of `group_statistics` for the columns `by` and
    `series`, with `label` (computed from a row as a dict) and `link`, a filter by the columns `by`.

    If `rows` have a person's own column (`own_columns`), they are grouped by it too, and the label ends with its value.

    `rows` has one row per case and series, with the columns `by`, item, value, n, of and, if there are several series,
    `series`. Without rows there are no lines. `kind` and `ends` are those of the metric
    (`core.labs.base.declared.Metric`).
    """
    by, label = _with_own(rows, by, label)
    rows = rows if "series" in rows else rows.assign(series=series[0])
    # The statistics have their own column `how`.
    groups = [f"by {name}" for name in by]
    renamed = rows.rename(columns=dict(zip(by, groups, strict=True)))
    table = group_statistics(renamed, [*groups, "series"], kind=kind, ends=ends)
    records = [dict(zip(by, values, strict=True)) for values in table[groups].itertuples(index=False)]
    table[["macro", "micro", "low", "high"]] = table[["macro", "micro", "low", "high"]].astype(float)
    table.insert(0, "label", [label(row) for row in records])
    table["link"] = [link({name: str(value) for name, value in row.items()}) for row in records]
    first = table[table["series"] == series[0]].set_index("label")["macro"]
    table = table.assign(height=table["label"].map(first), place=table["series"].map(list(series).index))
    table = table.sort_values(["height", "label", "place"], ascending=[False, True, True], ignore_index=True)
    return table.drop(columns=[*groups, "height", "place"])


def own_columns(rows: DataFrame) -> list[str]:
    """Return the columns of people's own files by which a picture is grouped, named as the facets of Browse are."""
    return [name for name in rows if str(name).startswith(EXTRA)]


def _with_own(
    rows: DataFrame, by: Sequence[str], label: Callable[[dict[str, Any]], str]
) -> tuple[Sequence[str], Callable[[dict[str, Any]], str]]:
    """Return the columns to group by and the label, both with the own columns that `by` does not have yet."""
    own = [name for name in own_columns(rows) if name not in by]
    return [*by, *own], lambda row: " · ".join([label(row), *(str(row[name] or "–") for name in own)])


def paired(
    table: DataFrame,
    rows: DataFrame,
    by: Sequence[str],
    label: Callable[[dict[str, Any]], str],
    facets: Iterable[str],
    kind: Kind = "share",
) -> DataFrame:
    """Add comparisons to the `lines` of these rows, as `attrs["pairs"]`: for every two lines with enough data, by their
    labels in the table's order, the difference over the items that both have (`compare_where_equal`). Those of the
    columns `facets` that vary within a line must be equal.
    """
    import pandas as pd

    by, label = _with_own(rows, by, label)
    firm = list(_firm(table)["label"])
    wanted = list(combinations(firm, 2))
    if not 0 < len(wanted) <= PAIRS:
        return table
    rows = rows[rows["series"] == table["series"].iloc[0]] if "series" in rows else rows
    groups = list(rows[list(by)].astype(object).fillna("").itertuples(index=False, name=None))
    subjects = {group: label(dict(zip(by, group, strict=True))) for group in set(groups)}
    rows = rows.assign(subject=[subjects[one] for one in groups], value=pd.to_numeric(rows["value"]).astype(float))
    rows = rows[rows["subject"].isin(firm)]
    settings = rows[[name for name in facets if name in rows and name not in by]].fillna("")
    table.attrs["pairs"] = _Pairs(compare_where_equal(rows, settings, wanted, kind))
    return table


class _Pairs(dict[tuple[Hashable, Hashable], Pair]):
    """Comparisons that are never changed. Pandas copies `attrs` in depth at each operation on a table, which took most
    of the time of drawing it.
    """

    def __deepcopy__(self, memo: object) -> _Pairs:
        return self


def forest(
    table: DataFrame, axis: str, things: str, published: Sequence[Published] = (), kind: Kind = "share"
) -> Figure:
    """Draw the `lines` as marks with 95 % intervals, over an axis with the range of their `kind`, share or difference.
    Marks are faint if fewer than ten `things` count, or too few of those that should. A paper's figures are drawn
    below, as open marks with their own colour and names.
    """
    import plotly.graph_objects as go

    ends = RANGES[kind]
    figure = go.Figure()
    first = table.drop_duplicates("label")
    labels = list(first["label"])
    if len(labels) > MOST:
        most = set(first.nlargest(MOST, "items")["label"])
        labels = [label for label in labels if label in most]
    place = {label: -number for number, label in enumerate(labels)}
    drawn = table[table["label"].isin(place) & table["macro"].notna()]
    names = list(dict.fromkeys(table["series"]))
    faint = drawn["faint"].astype(bool) | drawn["thin"].astype(bool)
    for number, name in enumerate(names):
        for some, opacity in ((drawn[~faint], 1.0), (drawn[faint], FAINT)):
            some = some[some["series"] == name]
            if len(some):
                figure.add_scatter(
                    x=some["macro"],
                    # The second series is shifted, so that the two of a line do not cover each other.
                    y=[place[label] - 0.24 * number for label in some["label"]],
                    error_x=error_bars(some["low"], some["macro"], some["high"], thickness=2, width=4),
                    mode="markers",
                    name=name or "measured here",
                    legendgroup=name,
                    showlegend=all(trace.legendgroup != name for trace in figure.data),
                    opacity=opacity,
                    marker={"color": (OURS, COMPARED)[number % 2], "symbol": ("circle", "x")[number % 2], "size": 11},
                    cliponaxis=False,
                    customdata=[[one] for one in some["link"]],
                    text=[_hover(row, axis, things) for row in some.to_dict("records")],
                    hovertemplate="%{text}<extra></extra>",
                )
    start = -len(labels)
    if published:
        figure.add_scatter(
            x=[one.value for one in published],
            y=[start - number for number in range(len(published))],
            mode="markers",
            name="published, not measured here",
            marker={"color": THEIRS, "symbol": "diamond-open", "size": 12, "line": {"width": 2}},
            cliponaxis=False,
            text=[f"{_about(one)}<br>{axis} {one.value:.2f}<br>{safe(one.source)}" for one in published],
            hovertemplate="%{text}<extra></extra>",
        )
    beside = [_beside(row) for row in first[first["label"].isin(place)].to_dict("records")]
    beside += [f"<i>{_about(one)}</i> · {safe(one.source.split(',')[0])}" for one in published]
    figure.add_scatter(
        x=[ends[0]] * len(beside),
        y=[0.36 - number for number in range(len(beside))],
        mode="text",
        text=beside,
        textposition="middle right",
        textfont={"size": 12},
        showlegend=False,
        hoverinfo="skip",
        cliponaxis=False,
    )
    axis = f"{axis}<br>n: {things} with a value, of all"
    if len(first) > len(labels):
        axis = f"{axis}<br>{len(labels)} of {len(first)} groups drawn, those over the most {things}"
    room = 0.04 * (ends[1] - ends[0])
    figure.update_layout(
        xaxis={"title": axis, "range": [ends[0] - room, ends[1] + room], "zeroline": ends[0] < 0, "fixedrange": True},
        yaxis={"visible": False, "range": [0.6 - len(beside), 0.7], "fixedrange": True},
        showlegend=len(names) > 1 or bool(published),
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
        height=130 + 46 * len(beside),
        margin={"l": 10, "r": 10, "t": 40, "b": 60},
        **CLICKABLE,
    )
    return figure


def code(file: str, axis: str, kind: Kind = "share") -> str:
    """Return a program that draws the lines, without a paper's figures, from their CSV file."""
    ends = RANGES[kind]
    room = 0.04 * (ends[1] - ends[0])
    return script("forest", FILE=file, AXIS=axis, ENDS=(ends[0] - room, ends[1] + room), MOST=MOST)


def takeaway(table: DataFrame, what: str, things: str) -> str:
    """Say which line is highest and which lowest and, if known (`paired`), how much they differ over the `things` that
    both have. Only lines with at least ten `things`, and enough of those that should count, are compared.
    """
    what = what[0].upper() + what[1:]
    first, firm = table.drop_duplicates("label"), _firm(table)
    if firm.empty:
        return (
            f"Too little for a comparison: none of {len(first)} groups has {FEW} {things} that count and at least 70 % "
            "of what should count."
            if len(first) > 1
            else f"Too little data: {first['items'].iloc[0]} of {first['items_of'].iloc[0]} {things} can be counted."
        )
    top, low = firm.loc[firm["macro"].idxmax()], firm.loc[firm["macro"].idxmin()]
    left = f" {len(first) - len(firm)} of {len(first)} groups rest on too little." if len(firm) < len(first) else ""
    if len(firm) == 1:
        return f"{what} of {top['label']} is {_value(top)}, over {top['items']} {things}.{left}"
    if top["macro"] == low["macro"]:
        return f"{what} is {top['macro']:.2f} in all of {len(firm)} groups.{left}"
    ends = [f"{_one_of(firm, one)} ({_value(one)})" for one in (top, low)]
    apart = _apart(table.attrs.get("pairs", {}), top["label"], low["label"], things)
    return f"{what} is highest for {ends[0]} and lowest for {ends[1]}.{apart}{left}"


def _firm(table: DataFrame) -> DataFrame:
    """Return the lines of the first series that have enough data."""
    first = table.drop_duplicates("label")
    return first[~first["faint"].astype(bool) & ~first["thin"].astype(bool) & first["macro"].notna()]


def _apart(pairs: Mapping[tuple[str, str], Pair], top: str, low: str, things: str) -> str:
    """Return a sentence on the difference between the two over shared things; an empty string if they were not
    compared.
    """
    if (top, low) not in pairs:
        return ""
    pair, p = pairs[top, low], pairs[top, low].p_holm
    value, lower, upper = pair.difference[:3]
    if value is None or p is None:
        return f" No {things} are shared by {top} and {low}, so nothing is said of their difference."
    interval = f" ({lower:.2f} to {upper:.2f})" if lower is not None else ""
    likely = "which chance alone seldom does" if p < LEVEL else "which may be chance"
    of = f", corrected by Holm's method for {len(pairs)} pairs" if len(pairs) > 1 else ""
    shared = f" Over the {pair.n} {things} that {top} and {low} share they differ"
    return f"{shared} by {value:.2f}{interval}, {likely} (p {p:.2g}{of})."


def _one_of(table: DataFrame, row: Any) -> str:
    others = int((table["macro"] == row["macro"]).sum()) - 1
    return f"{row['label']} and {others} more" if others else str(row["label"])


def _value(row: Any) -> str:
    interval = f", {row['low']:.2f} to {row['high']:.2f}" if row["low"] == row["low"] else ""
    return f"{row['macro']:.2f}{interval}"


def _about(one: Published) -> str:
    return safe(", ".join(one.about.values()))


def _missing(row: dict[Any, Any]) -> list[str]:
    if row["undefined"] == 1:
        return ["undefined"]
    said = [f"{100 * row['undefined']:.0f} % undefined"] if row["undefined"] else []
    return said + ([f"{100 * row['dropped'] / row['trials_of']:.0f} % not counted"] if row["dropped"] else [])


def _beside(row: dict[Any, Any]) -> str:
    name = row["label"] if len(row["label"]) <= _LETTERS else f"{row['label'][: _LETTERS - 1]}…"
    return " · ".join([f"<b>{safe(name)}</b>", f"n {row['items']} of {row['items_of']}", *_missing(row)])


def _hover(row: dict[Any, Any], axis: str, things: str) -> str:
    named = f"{safe(row['series'])}<br>" if row["series"] else ""
    trials = f"{row['trials']} of {row['trials_of']} trials"
    counts = "<br>".join([f"{row['items']} of {row['items_of']} {things}, {trials}", *_missing(row)])
    return f"<b>{safe(row['label'])}</b><br>{named}{axis} {_value(row)}<br>{counts}"


# A leaderboard: who is best on one task, with the places that the intervals allow.


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
    return safe(text if len(text) <= _LABEL else f"{text[:_LABEL]}…")


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

    within = (*within, *own_columns(rows))
    by = ("lab", *within, "model", "how")
    rows = rows.assign(board=[", ".join(filter(None, row)) for row in rows[list(within)].itertuples(index=False)])
    boards = []
    for task, some in rows.groupby("board", sort=True):
        table = lines(some, by, model_and_method, kind=kind)
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
        return lines(rows, by, model_and_method)
    table = pd.concat(sorted(boards, key=lambda one: not one["placed"].iloc[0]), ignore_index=True)
    return table.sort_values("macro", key=lambda macro: macro.isna(), kind="stable", ignore_index=True)


def model_and_method(row: Mapping[Any, Any]) -> str:
    """Return the model of a row and its method; a row may lack one of them."""
    return ", ".join(word for word in (row["model"], row["how"]) if word)


def _places(row: dict[Any, Any]) -> str:
    if row["first"] is None or row["first"] != row["first"]:
        return ""
    return f"{row['first']}. " if row["first"] == row["last"] else f"{row['first']}–{row['last']}. "


def leader_takeaway(table: DataFrame, what: str, things: str) -> str:
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


def drawing(
    things: str,
    axis: Callable[[str], str] = lambda choice: choice,
    kind: Callable[[str], Kind] = lambda choice: "share",
    say: Callable[[DataFrame, str, str], str] = takeaway,
) -> dict[str, Callable[..., Any]]:
    """Return what a picture of such lines declares besides its table: how a choice is drawn and printed, with this
    `axis` and `kind`, and what its sentence says.
    """
    return {
        "draw": lambda table, choice, theirs: forest(table, axis(choice), things, theirs, kind(choice)),
        "code": lambda table, choice, file: code(file, axis(choice), kind(choice)),
        "takeaway": lambda table, choice: say(table, axis(choice), things),
    }


def _name(row: Any, task: str) -> str:
    name = str(row["label"]).partition(". ")[2]
    return name.removesuffix(f" · {task}")
