"""Short Python programs that draw a picture of Browse from its table, downloaded as CSV, with pandas and plotly alone.

Each is for a paper: the marks and error bars are those of the picture, and marks differ by symbol as well as by colour,
so that they can be told apart in grey. A paper's published figures, which are not in the file, are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame, Series


_HEAD = """\
import pandas as pd
import plotly.graph_objects as go
"""

_IMPORTS = {"ast.": "import ast\n\n", "np.": "import numpy as np\n"}

_ROWS = 'rows = pd.read_csv(FILE, keep_default_na=False, na_values=[""])\n'

_BARS = '''

def bars(at, low, high):
    """The error bars from a mark to the ends of its interval; of length 0 without one."""
    up, down = ((reach.clip(lower=0).fillna(0)) for reach in (high - at, at - low))
    return dict(type="data", symmetric=False, array=up, arrayminus=down)


'''

FOREST = f"""{_BARS}{_ROWS}\
rows["series"] = rows["series"].astype(object).fillna("")
lines = rows.drop_duplicates("label")
if len(lines) > MOST:  # those over the most items
    lines = lines[lines["label"].isin(lines.nlargest(MOST, "items")["label"])]
place = {{label: -number for number, label in enumerate(lines["label"])}}
figure = go.Figure()
for number, name in enumerate(rows["series"].unique()):
    some = rows[(rows["series"] == name) & rows["label"].isin(place) & rows["macro"].notna()]
    figure.add_scatter(
        x=some["macro"],
        y=some["label"].map(place) - 0.24 * number,
        error_x=bars(some["macro"], some["low"], some["high"]),
        mode="markers",
        name=name or "measured",
        marker=dict(
            size=10,
            color=["#7468D8", "#A6761D"][number % 2],
            symbol=["circle", "x"][number % 2],
            opacity=(some["faint"] | some["thin"]).map({{True: 0.45, False: 1.0}}),  # too little data
        ),
    )
names = [f"{{row.label}}, n {{row.items}} of {{row.items_of}}".replace("<", "&lt;") for row in lines.itertuples()]
figure.update_yaxes(tickvals=list(place.values()), ticktext=names)
figure.update_xaxes(title=AXIS, range=ENDS)
figure.update_layout(template="plotly_white", showlegend=rows["series"].nunique() > 1, height=150 + 40 * len(lines))
figure.show()
"""
"""Needs FILE, AXIS, ENDS (the range of the axis) and MOST (how many lines are drawn)."""

PLANE = f"""{_BARS}{_ROWS}\
rows = rows.dropna(subset=["precision", "generality"])
# Marks at the same place are one, whose bars reach to the outermost ends.
both = ("precision", "generality")
ends = {{f"{{one}}_low": "min" for one in both}} | {{f"{{one}}_high": "max" for one in both}}
first = {{"label": ", ".join, "how": "first", "precision": "first", "generality": "first", "n": "sum"}}
keys = [rows["precision"].round(9).rename("x"), rows["generality"].round(9).rename("y")]
rows["how"] = rows["how"].astype(object).fillna("")
rows = rows.groupby(keys, sort=False).agg(first | ends)
figure = go.Figure()
for number, (how, some) in enumerate(rows.groupby("how")):
    figure.add_scatter(
        x=some["precision"],
        y=some["generality"],
        error_x=bars(some["precision"], some["precision_low"], some["precision_high"]),
        error_y=bars(some["generality"], some["generality_low"], some["generality_high"]),
        mode="markers+text",
        name=how or "measured",
        text=[f"{{row.label}}, n {{row.n}}".replace("<", "&lt;") for row in some.itertuples()],
        textposition="top center",
        marker=dict(size=10, symbol=number),
    )
for x, name in BASELINES:
    figure.add_vline(x, line_dash="dash", annotation_text=name.replace("<", "&lt;"))
figure.update_xaxes(title="precision", range=(-0.03, 1.05))
figure.update_yaxes(title=f"generality ({{SIMILARITY}})")
figure.update_layout(template="plotly_white", height=600)
figure.show()
"""
"""Needs FILE, SIMILARITY and BASELINES (a list of pairs of a precision and its name)."""

HITS = f"""{_BARS}{_ROWS}\
figure = go.Figure(go.Scatter(x=[0, 1], y=[0, 1], mode="lines", line=dict(dash="dash", color="grey"), showlegend=False))
for number, (label, some) in enumerate(rows.groupby("label")):
    figure.add_scatter(
        x=some["alarm"],
        y=some["hit"],
        error_x=bars(some["alarm"], some["alarm_low"], some["alarm_high"]),
        error_y=bars(some["hit"], some["hit_low"], some["hit_high"]),
        mode="lines+markers+text",
        name=label.replace("<", "&lt;"),
        text=some["length"],
        textposition="top right",
        marker=dict(size=10, symbol=number, opacity=some["faint"].map({{True: 0.45, False: 1.0}})),
    )
figure.update_xaxes(title="acknowledged when agreeing", range=(-0.04, 1.06))
figure.update_yaxes(title="acknowledged when moved", range=(-0.04, 1.06))
figure.update_layout(template="plotly_white", height=520)
figure.show()
"""
"""Needs FILE."""

ERRORS = f"""{_ROWS}\
rows = rows[rows["nmse"].notna()]
rows[["who", "difficulty"]] = rows[["who", "difficulty"]].astype(object).fillna("")
figure = go.Figure()
for number, ((who, difficulty), some) in enumerate(rows.groupby(["who", "difficulty"])):
    figure.add_scatter(
        x=some["calls"],
        y=np.log10(some["nmse"].clip(lower=LEAST)),
        mode="markers",
        name=f"{{who}}, {{difficulty}}".replace("<", "&lt;"),
        marker=dict(size=9, symbol=number),
    )
figure.add_hline(np.log10(GOOD), line_dash="dot")
figure.update_xaxes(title="calls of the function")
figure.update_yaxes(title="NMSE, power of ten")
figure.update_layout(template="plotly_white", height=450)
figure.show()
"""
"""Needs FILE, LEAST (smaller errors are drawn as this one) and GOOD (where the line is)."""

CURVES = f"""\
{_ROWS}\
across, high = 2, -(-len(rows) // 2)
titles = [f"{{row.who}}, NMSE {{row.nmse:.2g}}".replace("<", "&lt;") for row in rows.itertuples()]
figure = make_subplots(rows=high, cols=across, subplot_titles=titles, vertical_spacing=0.3 / high)
for number, row in enumerate(rows.itertuples()):
    place = dict(row=number // across + 1, col=number % across + 1)
    x, true, code = (ast.literal_eval(text) for text in (row.x, row.y, row.estimate))
    figure.add_scatter(x=x, y=true, mode="lines", name="function", line=dict(color="black"), **place)
    figure.add_scatter(x=x, y=code, mode="lines", name="code", line=dict(color="#E69F00", dash="dot"), **place)
    known = [y for y in true if y is not None]
    if known:  # the code's values beyond the function's are cut off
        room = 0.08 * (max(known) - min(known) or 1)
        figure.update_yaxes(range=(min(known) - room, max(known) + room), **place)
figure.update_layout(template="plotly_white", showlegend=False, height=120 + 170 * high)
figure.show()
"""
"""Needs FILE."""

CLASSES = f"""{_ROWS}\
figure = go.Figure()
for number, (name, some) in enumerate(rows.groupby("then", sort=False)):
    counts = some.groupby("bar")["checks"].sum()
    figure.add_bar(
        x=counts,
        y=[bar.replace("<", "&lt;") for bar in counts.index],
        orientation="h",
        name=name.replace("<", "&lt;"),
        marker_pattern_shape=["", "/", "x", ".", "-", "|"][number % 6],
    )
figure.update_xaxes(title="checks, by the answer after the edit")
figure.update_layout(template="plotly_white", barmode="stack", height=150 + 44 * rows["bar"].nunique())
figure.show()
"""
"""Needs FILE."""


def script(body: str, **constants: object) -> str:
    """Return a program with that body and these constants, written as Python literals, so that no text from a model or
    a person can act as code.
    """
    before = "".join(line for word, line in _IMPORTS.items() if word in body)
    after = "from plotly.subplots import make_subplots\n" if "make_subplots" in body else ""
    named = "".join(f"{name} = {value!r}\n" for name, value in constants.items())
    return f"{before}{_HEAD}{after}\n{named}{body}"


# The caption of a picture for a paper: how many things a mark rests on, which interval its bars show, its baseline.


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
