"""Pictures of the Ask lab. Data in, figure out: no colour of paper or font is set, so light and dark themes both fit.

Colours are of Okabe and Ito's set, distinct to colour-blind readers and on white as on black; what a colour says, a
symbol or a word says too.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from core.charts import plane as on_a_plane
from core.charts.marks import FAINT, safe
from core.published import Published
from core.score import is_thin
from core.statistics import FEW

if TYPE_CHECKING:
    from pandas import DataFrame, Series
    from plotly.graph_objects import Figure

AS_EXPECTED, MISLED, UNCOUNTED = "#0072B2", "#D55E00", "#8A8A8A"

VERDICTS = {"yes": "yes", "no": "no", "1": "response 1", "2": "response 2", "unknown": "cannot guess"}
"""A reading -> the word on the axis. Any other reading is `unread`."""

_LABEL = 30
"""Characters of a question beside its line; the whole of it shows on hovering."""


BASELINES = {
    "constant_guess": "always guessing the same",
    "precision_none": "the answer alone",
    "precision_question_only": "the question alone",
    "precision_swapped": "another question's reasons",
}
"""What a precision is held against: figures, and what they are called."""


def is_above(table: DataFrame) -> Series[bool]:
    """Of each row of `pictures.compared` whether its interval of precision lies wholly above the strongest of its own
    baselines; False where either is not known, and where the predictor failed the exam.
    """
    # Both are means: what differs by rounding alone is not above.
    over = table["precision_low"].astype(float) - table["baseline"].astype(float)
    return (over > 1e-9) & ~table["failed"].astype(bool)


def plane(table: DataFrame, similarity: str = "cosine", theirs: Sequence[Published] = ()) -> Figure:
    """Precision (x) against generality (y), both 0 to 1, one mark a model and method (`core.charts.plane`).

    `table` as `pictures.compared` gives it. Rows of which either is undefined are not drawn, and the axis says how
    many. Dashed is the strongest baseline over all rows of a task. Of `theirs`, the paper's, a precision and a
    generality of one data set are one open mark.
    """
    drawn = table.dropna(subset=["precision", "generality"])
    missing = len(table) - len(drawn)
    rows = drawn.to_dict("records")
    figure = on_a_plane.plane(
        drawn.assign(
            x=drawn["precision"],
            x_low=drawn["precision_low"],
            x_high=drawn["precision_high"],
            y=drawn["generality"].clip(0, 1),
            y_low=drawn["generality_low"],
            y_high=drawn["generality_high"],
            name=_short([str(row["label"]) for row in rows]),
            kind=drawn["how"],
            open=~is_above(drawn),
            own=drawn["baseline"],
            text=[_point(row, similarity) for row in rows],
        ),
        (
            "precision" + (f"<br>{missing} without a precision or a generality, not drawn" if missing else ""),
            f"generality ({similarity})",
        ),
        [on_a_plane.Line(*line) for line in _strongest(drawn)],
    )
    precision = {one.about["dataset"]: one for one in theirs if one.metric == "precision"}
    both = [(precision[one.about["dataset"]], one) for one in theirs if one.metric != "precision"]
    if both:
        points = [
            (
                one.value,
                other.value,
                one.about["dataset"],
                f"<b>{safe(one.about['dataset'])}</b>, both models and methods<br>precision {one.value:.2f}: "
                f"{safe(one.source)}<br>generality {other.value:.2f}: {safe(other.source)}",
            )
            for one, other in both
        ]
        on_a_plane.published(figure, points)
    return figure


def _short(labels: Sequence[str]) -> list[str]:
    """Names without whose model it is, where they stay apart: "openai/gpt-5, cot" -> "gpt-5, cot"."""
    short = [label.rpartition("/")[2] for label in labels]
    return short if len(set(short)) == len(set(labels)) else list(labels)


def _strongest(drawn: DataFrame) -> Iterator[tuple[float, str]]:
    """Of each task the highest baseline over all questions of its rows, and its words; those over fewer than ten
    questions only where there is no other.
    """
    for task, some in drawn.groupby("task", sort=True):
        over = {name: int(some[f"n_{name}"].sum()) for name in BASELINES}
        firm = [name for name, n in over.items() if n >= FEW] or [name for name, n in over.items() if n]
        means = {name: float((some[name].fillna(0) * some[f"n_{name}"]).sum() / over[name]) for name in firm}
        if means:
            name = max(means, key=lambda name: means[name])
            on = f" · {task}" if drawn["task"].nunique() > 1 else ""
            yield (
                means[name],
                f"strongest baseline: {BASELINES[name]}, {means[name]:.2f} over {over[name]} questions{on}",
            )


def precision_bar(value: float | None, low: float | None, high: float | None, n: int, of: int) -> Figure:
    """One precision with its 95 % interval on a line from 0 to 1; `n` counterfactuals used of `of`.

    An undefined precision (`value` None) leaves the line empty and says so.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    figure.update_layout(
        xaxis={"range": [-0.04, 1.04], "tickvals": [0, 0.25, 0.5, 0.75, 1], "zeroline": False},
        yaxis={"visible": False, "range": [-1, 1], "fixedrange": True},
        height=110,
        margin={"l": 10, "r": 10, "t": 30, "b": 30},
        showlegend=False,
    )
    figure.add_scatter(
        x=[0, 1], y=[0, 0], mode="lines", line={"color": UNCOUNTED, "width": 1}, opacity=FAINT, hoverinfo="skip"
    )
    if value is None:
        text = f"undefined: none of {of} counterfactuals is settled"
        figure.add_annotation(text=text, x=0.5, y=0.5, showarrow=False)
        return figure
    opacity = FAINT if is_thin(n, of) else 1.0
    if low is not None and high is not None:
        figure.add_scatter(
            x=[low, high],
            y=[0, 0],
            mode="lines",
            line={"color": AS_EXPECTED, "width": 8},
            opacity=0.4 * opacity,
            hovertemplate=f"95 % interval {low:.2f} to {high:.2f}<extra></extra>",
        )
    figure.add_scatter(
        x=[value],
        y=[0],
        mode="markers+text",
        marker={"color": AS_EXPECTED, "size": 16, "symbol": "diamond", "opacity": opacity},
        text=[f"{value:.2f}"],
        textposition="top center",
        hovertemplate=f"precision {value:.2f}, {n} of {of} counterfactuals used<extra></extra>",
    )
    return figure


def expected_and_said(case: DataFrame) -> Figure:
    """One line a counterfactual: an open ring at what was expected, a filled point at what the model said.

    `case` as `core.store.queries.ask_case` gives it (text, expected, said, item; null where not there yet). As expected
    the two coincide; where they part, a line joins them. A point's `customdata[0]` is the counterfactual's item.
    """
    import plotly.graph_objects as go

    rows = [row for row in case.to_dict("records") if isinstance(row["expected"], str) or isinstance(row["said"], str)]
    columns = _columns(rows)
    figure = go.Figure()
    for outcome, colour in (("as expected", AS_EXPECTED), ("misled", MISLED), ("not counted", UNCOUNTED)):
        of_outcome = [(place, row) for place, row in enumerate(rows) if _outcome(row) == outcome]
        if not of_outcome:
            continue
        line: dict[str, list[float | None]] = {"x": [], "y": []}
        for place, row in of_outcome:
            ends = [columns.index(_word(row[end])) for end in ("expected", "said") if isinstance(row[end], str)]
            line["x"] += [*ends, None]
            line["y"] += [place] * len(ends) + [None]
        figure.add_scatter(
            x=line["x"],
            y=line["y"],
            mode="lines",
            line={"color": colour, "width": 3},
            showlegend=False,
            hoverinfo="skip",
        )
        legend_is_due = True
        for end, symbol, size in (("said", "circle", 11), ("expected", "circle-open", 19)):
            there = [(place, row) for place, row in of_outcome if isinstance(row[end], str)]
            if there:
                figure.add_scatter(
                    x=[columns.index(_word(row[end])) for _, row in there],
                    y=[place for place, _ in there],
                    mode="markers",
                    name=outcome,
                    legendgroup=outcome,
                    showlegend=legend_is_due,
                    meta=end,
                    marker={"color": colour, "symbol": symbol, "size": size, "line": {"width": 3, "color": colour}},
                    customdata=[[row["item"]] for _, row in there],
                    text=[_hover_text(row) for _, row in there],
                    hovertemplate="%{text}<extra></extra>",
                )
                legend_is_due = False
    figure.update_layout(
        xaxis={
            "tickvals": list(range(len(columns))),
            "ticktext": [word.replace(" ", "<br>") for word in columns],
            "tickangle": 0,
            "title": "○ expected   ● said",
            "side": "top",
            "zeroline": False,
            "range": [-0.4, len(columns) - 0.6],
        },
        yaxis={
            "tickvals": list(range(len(rows))),
            "ticktext": [safe(textwrap.shorten(row["text"], _LABEL, placeholder=" …")) for row in rows],
            "autorange": "reversed",
            "zeroline": False,
            "automargin": True,
        },
        height=170 + 34 * len(rows),
        margin={"l": 10, "r": 10, "t": 80, "b": 10},
        legend={"orientation": "h", "yanchor": "top", "y": -0.02, "x": 0},
        hovermode="closest",
    )
    return figure


def _word(reading: object) -> str:
    return VERDICTS.get(str(reading), "unread")


def _columns(rows: list[dict[str, object]]) -> list[str]:
    """The words that occur, in the order of `VERDICTS`; both answers even where only one was given."""
    words = {_word(row[end]) for row in rows for end in ("expected", "said") if isinstance(row[end], str)}
    pair = {"response 1", "response 2"} if words & {"response 1", "response 2"} else {"yes", "no"}
    return [word for word in (*VERDICTS.values(), "unread") if word in words | pair]


def _outcome(row: dict[str, object]) -> str:
    if isinstance(row["reason"], str) or not isinstance(row["expected"], str) or not isinstance(row["said"], str):
        return "not counted"
    if _word(row["expected"]) in ("cannot guess", "unread"):
        return "not counted"
    return "as expected" if row["expected"] == row["said"] else "misled"


def _hover_text(row: dict[str, object]) -> str:
    ends = [f"{end} {_word(row[end])}" for end in ("expected", "said") if isinstance(row[end], str)]
    reason = [f"not counted: {row['reason']}"] if isinstance(row["reason"], str) else []
    return "<br>".join([_wrapped(str(row["text"])), *ends, *(safe(word) for word in reason)])


def _point(row: dict[Any, Any], similarity: str) -> str:
    """What hovering shows of a mark: both figures with intervals, on how much they rest, each baseline."""

    def figure(name: str) -> str:
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        return f"{row[name]:.2f}" + (f" ({low:.2f} to {high:.2f})" if low == low and low is not None else "")

    return "<br>".join(
        [
            f"<b>{safe(str(row['label']))}</b>",
            f"precision {figure('precision')}, {row['n']} of {row['of']} questions",
            f"generality {figure('generality')} ({similarity})",
            *(f"{words}: {row[name]:.2f}, {row[f'n_{name}']} questions"
              for name, words in BASELINES.items() if row[f"n_{name}"]),
            *(["who predicted failed the exam"] if row["failed"] else []),
        ]
    )  # fmt: skip


def _wrapped(text: str, lines: int = 4) -> str:
    """`text` broken into lines of 60 characters, at most `lines` of them."""
    return "<br>".join(safe(line) for line in textwrap.wrap(text, 60, max_lines=lines, placeholder=" …"))
