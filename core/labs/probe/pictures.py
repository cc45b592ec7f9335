"""The charts over many black boxes on the Browse page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ... import paper_figures
from ...charts import forest
from ...charts.marks import CLICKABLE, link, safe
from ...charts.printed import script
from ...charts.scatter import points
from ...events import Frozen
from ...paper_figures import Published
from ..base.declared import FACETS, Cases, Picture, declared
from . import charts
from .records import HEADLINE, Estimate, Probe, Truth

if TYPE_CHECKING:
    from pandas import DataFrame
    from plotly.graph_objects import Figure

SUCCESS = {category: "nmse_success" if metric == "nmse" else metric for category, metric in HEADLINE.items()}
"""The share that says how often the function was found, by category."""

WORDS = {"nmse_success": "share with an NMSE below 0.1", "exact_match": "exact match", "unit_test": "unit test"}

GOOD = 0.1
"""An NMSE below this is a success (docs/measuring.md §4)."""

LEAST = 1e-6
"""Smaller errors are drawn as this one."""

DRAWN = 12
_ACROSS = 2
_LINES = (
    ("function", "y", {"color": charts.TRUTH, "dash": "solid"}),
    ("code", "estimate", {"color": charts.ESTIMATE, "dash": "dot"}),
)
"""The two lines of a small chart: name, column, and look."""


def axis(category: str) -> str:
    """Return the title of the axis."""
    return WORDS[SUCCESS[category]]


def cases_of_category(frame: DataFrame, category: str) -> DataFrame:
    """Return the cases of a category, with the function as `item`."""
    rows = frame[(frame["category"] == category) & (frame["metric"] == SUCCESS[category])]
    # A person's own functions all have the same name.
    return rows.assign(item=[f"{case} {own or ''}" for case, own in zip(rows["case"], rows["own"], strict=True)])


def success(frame: DataFrame, category: str) -> DataFrame:
    """Return one line per model, interpreter and difficulty, over the functions of a category."""

    def label(row: dict[str, Any]) -> str:
        return ", ".join(word for word in (forest.model_and_method(row), row["difficulty"]) if word)

    rows, by = cases_of_category(frame, category), ("lab", "model", "how", "category", "difficulty")
    return forest.paired(forest.lines(rows, by, label), rows, by, label, FACETS)


def theirs(category: str) -> list[Published]:
    """Return what Schwettmann et al. report by model and interpreter."""
    found = paper_figures.published("find", SUCCESS[category], category=category)
    return [one for one in found if "interpreter" in one.about]


def numeric_cases(frame: DataFrame, choice: str) -> DataFrame:
    """Return one row per case of a function of numbers, whether its error is defined or not."""
    rows = frame[frame["category"] == "numeric"].rename(columns={"value": "nmse"})
    links = [link({"run": run, "case": case}) for run, case in zip(rows["run"], rows["case"], strict=True)]
    rows = rows.assign(who=[forest.model_and_method(row) for row in rows.to_dict("records")], link=links)
    columns = ("title", "who", "difficulty", "nmse", "calls", "x", "y", "estimate", "found", "run", "case", "link")
    return rows.filter(columns).reset_index(drop=True)


def errors(table: DataFrame, choice: str, theirs: Sequence[Published]) -> Figure:
    """Draw the error, in powers of ten, over the number of calls of the function; a mark opens its case."""
    drawn = table[table["nmse"].notna()]
    left = len(table) - len(drawn)
    text = [
        f"<b>{safe(str(row['title']))}</b><br>{safe(row['who'])}<br>NMSE {row['nmse']:.3g} after {row['calls']} calls"
        for row in drawn.to_dict("records")
    ]
    powers = [math.log10(max(value, LEAST)) for value in drawn["nmse"]]
    rows = drawn.assign(
        x=drawn["calls"].astype(float), y=powers, name=drawn["who"], kind=drawn["difficulty"], text=text
    )
    top = math.ceil(max(rows["y"].max(), 0)) if len(rows) else 0
    # With large errors there are too many powers of ten to label each one.
    ticks = list(range(-6, top + 1, max(1, (top + 6) // 8)))
    undrawn = f"<br>{left} undefined, not drawn" if left else ""
    labels = [f"≤ 10<sup>{ticks[0]}</sup>", *(f"10<sup>{one}</sup>" for one in ticks[1:])]
    powers_of_ten = {"tickvals": ticks, "ticktext": labels}
    figure = points(rows, (f"calls of the function{undrawn}", "NMSE"), yaxis=powers_of_ten)
    figure.add_hline(y=math.log10(GOOD), line={"dash": "dot", "width": 1, "color": "#8A8A8A"})
    return figure


def said_of_errors(table: DataFrame, choice: str) -> str:
    """Return the median number of calls of the cases with a small error, and of the others."""
    defined = table[table["nmse"].notna()]
    if defined.empty:
        return f"None of {len(table)} cases has an error that is defined."
    found = defined[defined["nmse"] < GOOD]
    sides = ((found, "of these"), (defined[defined["nmse"] >= GOOD], "of the others"))
    calls = ", ".join(f"{side['calls'].median():g} {which}" for side, which in sides if len(side))
    said = f"{len(found)} of {len(defined)} cases came to an NMSE below {GOOD}."
    return f"{said} Median calls of the function: {calls}."


def curves(table: DataFrame, choice: str, theirs: Sequence[Published]) -> Figure:
    """Draw each function with what the code gives, in a small chart with its own vertical range."""
    from plotly.subplots import make_subplots

    high = -(-len(table) // _ACROSS)
    rows = table.to_dict("records")
    titles = [f"{safe(row['who'])[:30]}<br>{safe(row['difficulty'])} NMSE {_short(row['nmse'])}" for row in rows]
    spacing = {"vertical_spacing": 0.3 / high, "horizontal_spacing": 0.04}
    figure = make_subplots(rows=high, cols=_ACROSS, subplot_titles=titles, **spacing)
    for number, row in enumerate(rows):
        place = {"row": number // _ACROSS + 1, "col": number % _ACROSS + 1}
        click = {"customdata": [[row["link"]]] * len(row["x"]), "meta": safe(row["title"])}
        for name, column, line in _LINES:
            hover = "%{meta}<br>" + name + " %{y:.4g}<extra></extra>"
            drawn = {"mode": "lines", "line": {**line, "width": 2}, "hovertemplate": hover}
            named = {"name": name, "legendgroup": name, "showlegend": not number}
            figure.add_scatter(x=row["x"], y=row[column], **drawn, **named, **click, **place)
        figure.update_xaxes(showticklabels=number >= len(rows) - _ACROSS, **place)
        ends = charts.upright(row["y"], []) or (0.0, 1.0)
        figure.update_yaxes(range=ends, showticklabels=False, zeroline=False, fixedrange=True, **place)
    figure.update_xaxes(fixedrange=True, zeroline=False)
    figure.update_annotations(font_size=11)
    figure.update_layout(
        height=120 + 170 * high,
        margin={"l": 10, "r": 10, "t": 90, "b": 30},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1 + 45 / (170 * high), "x": 0},
        **CLICKABLE,
    )
    return figure


def said_of_curves(table: DataFrame, choice: str) -> str:
    """Return which cases are drawn, and how many of these have a small error."""
    near = int((table["nmse"] < GOOD).sum())
    of = int(table["found"].iloc[0])
    drawn = f"the {len(table)} newest of {of}" if of > len(table) else f"all {of}"
    return f"These are {drawn} judged cases of numbers; in {near} of them the NMSE is below {GOOD}."


def _short(value: float | None) -> str:
    return "undefined" if value is None or value != value else f"{value:.2g}"


_JUDGED = Cases(tuple(dict.fromkeys(SUCCESS.values())), fields=("own",))
_CURVES: Mapping[str, tuple[type[Frozen], str]] = {
    "x": (Truth, "x"),
    "y": (Truth, "y"),
    "estimate": (Estimate, "repaired"),
}

PICTURES = declared(
    __file__,
    "picture",
    Picture,
    {
        "success": {"of": _JUDGED, "table": success, "published": theirs, **forest.drawing("functions", axis)},
        "leaderboard": {
            "of": _JUDGED,
            "caption": forest.CAPTION.format("functions", "function"),
            "table": lambda frame, choice: forest.board(cases_of_category(frame, choice), ("category",)),
            **forest.drawing("functions", axis, say=forest.leader_takeaway),
        },
        "errors": {
            "of": Cases(("nmse",), records={"calls": (Probe, "")}),
            "table": numeric_cases,
            "draw": errors,
            "code": lambda table, choice, file: script("errors", FILE=file, LEAST=LEAST, GOOD=GOOD),
            "takeaway": said_of_errors,
        },
        "curves": {
            "of": Cases(("nmse",), records=_CURVES, newest=DRAWN),
            "table": numeric_cases,
            "draw": curves,
            "code": lambda table, choice, file: script("curves", FILE=file),
            "takeaway": said_of_curves,
        },
    },
)
