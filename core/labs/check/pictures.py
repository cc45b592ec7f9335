"""The charts over many checks on the Browse page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...charts import board, forest
from ...charts.scripts import CLASSES, script
from ...paper_figures import Published
from ...statistics import Kind
from ..base.declared import FACETS, Cases, Picture, declared
from . import charts
from .records import Consistency

if TYPE_CHECKING:
    from pandas import DataFrame
    from plotly.graph_objects import Figure

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
        for dataset, case, title in zip(rows["dataset"], rows["case"], rows["title"], strict=True)
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


def draw_faithfulness(table: DataFrame, choice: str, theirs: Sequence[Published]) -> Figure:
    """Draw the lines, random masks next to the explanations."""
    return forest.forest(table, axis(choice), "paragraphs", theirs, kind(choice))


def classes(frame: DataFrame, explanation: str) -> DataFrame:
    """Count the checks by label, first answer and answer after the edit ("" for none, or if it could not be read);
    `bar` and `then` are the names of the bar and of the part of it (`charts.bar_rows`).
    """
    rows = frame[frame["how"] == explanation][["label", "before", "after"]].fillna("")
    table = rows.value_counts(sort=False).rename("checks").reset_index()
    bars = charts.bar_rows(table.where(table != "", None))
    return table.assign(bar=[one["bar"] for one in bars], then=[one["after"] for one in bars])


def draw_classes(table: DataFrame, choice: str, theirs: Sequence[Published]) -> Figure:
    """Draw the bars of the counted checks."""
    checks = table.loc[table.index.repeat(table["checks"])]
    return charts.classes(checks.where(checks != "", None))


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
            "draw": draw_faithfulness,
            "code": lambda table, choice, file: forest.code(file, axis(choice), kind(choice)),
            "takeaway": caption,
        },
        "leaderboard": {
            "of": Cases(("faithfulness",)),
            "caption": board.CAPTION.format("paragraphs", "paragraph"),
            "table": lambda frame, choice: board.board(frame.assign(item=paragraphs(frame)), ("task", "dataset")),
            "draw": lambda table, choice, theirs: forest.forest(table, "faithfulness", "paragraphs"),
            "code": lambda table, choice, file: forest.code(file, "faithfulness"),
            "takeaway": lambda table, choice: board.takeaway(table, "faithfulness", "paragraphs"),
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
            "code": lambda table, choice, file: script(CLASSES, FILE=file),
            "takeaway": said_of_classes,
        },
    },
)
