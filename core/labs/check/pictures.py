"""The charts of the Check lab: those of one run, modelled on the paper's, and those over many checks on the Browse
page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...charts import forest
from ...charts.marks import PALETTE, safe
from ...charts.printed import script
from ...events import Scored
from ...paper_figures import Published
from ...statistics.intervals import FEW, Kind, is_thin
from ..base.declared import FACETS, Cases, Picture, declared
from .records import Consistency
from .tasks import in_words

if TYPE_CHECKING:
    from pandas import DataFrame
    from plotly.graph_objects import Figure


# Charts of the Check lab, modelled on the paper's. They take data and return figures, and set no paper colour or
# font.
#
# Colours are from Okabe and Ito's set; what a colour says is also said by a word next to it.


CLASS_COLOURS = {
    "positive": PALETTE[0],
    "yes": PALETTE[0],
    "negative": PALETTE[1],
    "no": PALETTE[1],
    "unknown": "#8A8A8A",
}
MORE_COLOURS = PALETTE[2:]

UNREAD = "unread"
_MOST_CLASSES = 5
"""The most classes that get a colour each; in stories every item has other choices."""


def chart_classes(checks: DataFrame) -> Figure:
    """Draw the answers after the edit: one bar per pair of label and first answer, divided by the later answer.

    `checks` has columns label, before and after, all of one explanation. Without a label the bar is named after the
    first answer alone. If there are many classes (stories), an answer is shown only as labelled or another. The unit of
    the bars is checks.
    """
    import plotly.graph_objects as go

    rows = bar_rows(checks)
    names = sorted({row["after"] for row in rows}, key=lambda name: (name in ("unknown", UNREAD), name))
    bars = sorted({row["bar"] for row in rows}, reverse=True)
    figure = go.Figure()
    for place, name in enumerate(names):
        counts = [sum(row["bar"] == bar and row["after"] == name for row in rows) for bar in bars]
        figure.add_bar(
            x=counts,
            y=[safe(bar) for bar in bars],
            orientation="h",
            name=safe(name),
            marker={"color": CLASS_COLOURS.get(name, MORE_COLOURS[place % len(MORE_COLOURS)])},
            text=[f"{safe(name)} {count}" if count else "" for count in counts],
            textposition="inside",
            insidetextanchor="middle",
            hovertemplate="%{y}<br>then " + safe(name) + ": %{x}<extra></extra>",
        )
    figure.update_layout(
        barmode="stack",
        xaxis={"title": "checks, cut by the answer after the edit", "zeroline": False},
        yaxis={"automargin": True, "zeroline": False},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0},
        height=150 + 44 * len(bars),
        margin={"l": 10, "r": 10, "t": 40, "b": 50},
    )
    return figure


def chart_faithfulness(figures: Iterable[Scored]) -> Figure | None:
    """Draw a line for each explanation in each wording, from a run's figures: the share of checks with which it was
    consistent, and what random masks did beside it. None if no figure is about one wording.
    """
    import pandas as pd

    series = {"faithfulness": EXPLANATIONS, "faithfulness_control": MASKS}
    rows = [
        {
            **{"label": in_words(one.item), "series": series[one.metric], "link": ""},
            **{"macro": one.value, "low": one.low, "high": one.high, "items": one.n, "items_of": one.of},
            **{"trials": one.n, "trials_of": one.of, "dropped": 0, "undefined": float(one.value is None)},
            **{"faint": one.n < FEW, "thin": is_thin(one.n, one.of)},
        }
        for one in figures
        if one.metric in series and one.rules == "repaired" and "/" in one.item and not one.case
    ]
    table = pd.DataFrame(rows).astype({"macro": float, "low": float, "high": float}) if rows else None
    return None if table is None else forest.forest(table, "faithfulness", "checks")


def bar_rows(checks: DataFrame) -> list[dict[str, str]]:
    """Return the bar of each check, and the word for its answer after the edit."""
    rows = checks.to_dict("records")
    seen = {str(row[name]) for row in rows for name in ("label", "before", "after") if isinstance(row[name], str)}
    many = len(seen - {"unknown"}) > _MOST_CLASSES
    bar_rows = []
    for row in rows:
        label = row["label"] if isinstance(row["label"], str) else None
        before, after = (_word(row[name], row, many) for name in ("before", "after"))
        start = f"label {label}, " if label and not many else ""
        bar_rows.append({"bar": f"{start}answered {before}", "after": after})
    return bar_rows


def _word(value: Any, row: dict[Any, Any], many: bool) -> str:
    """Return a class by its name; among many classes, how it relates to the label or, without one, to the first
    answer.
    """
    if not isinstance(value, str):
        return UNREAD
    if not many or value == "unknown":
        return value
    if isinstance(row["label"], str):
        return "as labelled" if value == row["label"] else "another choice"
    return "the first choice" if value == row["before"] else "another choice"


GAIN = "gain over random masks"
BY = {
    "by explanation": ("how",),
    "by wording": ("how", "wording"),
    "by model": (),
    "by task": ("task",),
    GAIN: ("how",),
}
"""The columns that a line is grouped by in addition to the model. Robots are never pooled with language models."""

EXPLANATIONS, MASKS = "its own explanation", "random masks"


def faithfulness(frame: DataFrame, choice: str) -> DataFrame:
    """Return one line per model and chosen group, with what random masks did next to each explanation that masks
    words.
    """
    if choice == GAIN:
        rows = frame[(frame["metric"] == "faithfulness_gain") & (frame["how"] != "counterfactual")]
        rows = rows.assign(series=EXPLANATIONS)
    else:
        # A counterfactual has no masks: if it were pooled, the masks would be compared with other checks than their
        # own.
        masks = (frame["metric"] == "faithfulness_control") & (frame["how"] != "counterfactual")
        masks &= "how" in BY[choice]
        rows = frame[(frame["metric"] == "faithfulness") | masks]
        rows = rows.assign(series=rows["metric"].map({"faithfulness": EXPLANATIONS, "faithfulness_control": MASKS}))

    def label(row: dict[str, Any]) -> str:
        return ", ".join(str(row[name]).replace("_", " ") for name in ("model", *BY[choice]) if row[name])

    rows, by = rows.assign(item=paragraphs(rows)), ("lab", "model", *BY[choice])
    table = forest.lines(rows, by, label, (EXPLANATIONS, MASKS), kind(choice))
    return forest.paired(table, rows, by, label, FACETS, kind(choice))


def kind(choice: str) -> Kind:
    """Return the kind of the figures: a gain may be below zero."""
    return "difference" if choice == GAIN else "share"


def axis(choice: str) -> str:
    """Return the title of the axis."""
    return choice if choice == GAIN else "faithfulness"


def paragraphs(rows: DataFrame) -> list[str]:
    """Return what each check is about in a form that is the same in every run: data set, id and the beginning of the
    text.
    """
    return [
        "/".join((str(dataset), case.partition("/")[0], str(title).rpartition(" · ")[0]))
        for dataset, case, title in rows[["dataset", "case", "title"]].astype(object).itertuples(index=False, name=None)
    ]


def caption(table: DataFrame, choice: str) -> str:
    """Return which groups are highest and lowest, and in how many random masks do as much."""
    sentence = forest.takeaway(table, "Gain" if choice == GAIN else "Faithfulness", "paragraphs")
    both = table.pivot(index="label", columns="series", values="macro").astype(float)
    if MASKS not in both:
        return sentence
    both = both.dropna()
    as_much = int((both[MASKS] >= both[EXPLANATIONS]).sum())
    return f"{sentence} In {as_much} of {len(both)} groups that have both, random masks did as much or more."


def classes(frame: DataFrame, explanation: str) -> DataFrame:
    """Count the checks by label, first answer and answer after the edit ("" for none, or if it could not be read);
    `bar` and `then` are the names of the bar and of the part of it (`charts.bar_rows`).
    """
    rows = frame[frame["how"] == explanation][["label", "before", "after"]].fillna("")
    table = rows.value_counts(sort=False).rename("checks").reset_index()
    bars = bar_rows(table.where(table != "", None))
    return table.assign(bar=[one["bar"] for one in bars], then=[one["after"] for one in bars])


def draw_classes(table: DataFrame, choice: str, theirs: Sequence[Published]) -> Figure:
    """Draw the bars of the counted checks."""
    checks = table.loc[table.index.repeat(table["checks"])]
    return chart_classes(checks.where(checks != "", None))


def said_of_classes(table: DataFrame, choice: str) -> str:
    """Return how often the edit changed the answer."""
    read = table[(table["before"] != "") & (table["after"] != "")]
    changed = int(read.loc[read["before"] != read["after"], "checks"].sum())
    left = int(table["checks"].sum() - read["checks"].sum())
    unread = f" {left} more were not read, or not asked." if left else ""
    return f"After the edit the answer was another in {changed} of {int(read['checks'].sum())} checks.{unread}"


PICTURES = declared(
    __file__,
    "picture",
    Picture,
    {
        "faithfulness": {
            "of": Cases(("faithfulness", "faithfulness_control", "faithfulness_gain")),
            "table": faithfulness,
            **forest.drawing("paragraphs", axis, kind),
            "takeaway": caption,
        },
        "leaderboard": {
            "of": Cases(("faithfulness",)),
            "caption": forest.CAPTION.format("paragraphs", "paragraph"),
            "table": lambda frame, choice: forest.board(frame.assign(item=paragraphs(frame)), ("task", "dataset")),
            **forest.drawing("paragraphs", axis, say=forest.leader_takeaway),
        },
        "classes": {
            "of": Cases(
                ("faithfulness",),
                records={
                    "label": (Consistency, "label"),
                    "before": (Consistency, "before_repaired"),
                    "after": (Consistency, "after_repaired"),
                },
            ),
            "table": classes,
            "draw": draw_classes,
            "code": lambda table, choice, file: script("classes", FILE=file),
            "takeaway": said_of_classes,
        },
    },
)
