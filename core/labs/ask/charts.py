"""Charts of the Ask lab. Data in, figure out: no colour of paper or font is set, so light and dark themes both fit.

The colours are from Okabe and Ito's palette, distinguishable by colour-blind readers on white and on black. Whatever a
colour means is also shown by a symbol or a word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...charts import scatter as on_a_plane
from ...charts.marks import safe
from ...charts.scripts import PLANE, script
from ...paper_figures import Published
from ...statistics import FEW
from ..base.declared import words_of

if TYPE_CHECKING:
    from pandas import DataFrame, Series
    from plotly.graph_objects import Figure

BASELINES: Mapping[str, str] = words_of(__file__, "baselines")
"""The baselines of precision: metrics and their names."""


def is_above(table: DataFrame) -> Series[bool]:
    """Return for each row of `pictures.compared` whether its whole interval of precision lies above its strongest
    baseline; False if either is not known, or if the predictor failed the qualification test.
    """
    # Both are means, so a difference from rounding does not count.
    over = table["precision_low"].astype(float) - table["baseline"].astype(float)
    return (over > 1e-9) & ~table["failed"].astype(bool)


def plane(table: DataFrame, similarity: str = "cosine", theirs: Sequence[Published] = ()) -> Figure:
    """Draw precision (x) against generality (y), both 0 to 1, one mark per model and method (`core.charts.scatter`).

    `table` is from `pictures.compared`. Rows in which either is undefined are not drawn; the axis says how many. The
    dashed line is the strongest baseline over all rows of a task. In `theirs`, the paper's figures, the precision and
    the generality of one data set form one open mark.
    """
    drawn = table.dropna(subset=["precision", "generality"])
    missing = len(table) - len(drawn)
    rows = drawn.to_dict("records")
    figure = on_a_plane.plane(
        drawn.assign(
            x=drawn["precision"],
            x_low=drawn["precision_low"],
            x_high=drawn["precision_high"],
            y=drawn["generality"],
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
        [on_a_plane.ReferenceLine(*line) for line in _strongest(drawn)],
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
        on_a_plane.add_published(figure, points)
    return figure


def code(table: DataFrame, similarity: str, file: str) -> str:
    """Return a program that draws the marks and the strongest baselines from the CSV file of `table`."""
    drawn = table.dropna(subset=["precision", "generality"])
    return script(PLANE, FILE=file, SIMILARITY=similarity, BASELINES=list(_strongest(drawn)))


def _short(labels: Sequence[str]) -> list[str]:
    """Shorten names by dropping the provider, if they remain distinct: "openai/gpt-5, cot" -> "gpt-5, cot"."""
    short = [label.rpartition("/")[2] for label in labels]
    return short if len(set(short)) == len(set(labels)) else list(labels)


def _strongest(drawn: DataFrame) -> Iterator[tuple[float, str]]:
    """Yield for each task the highest baseline over all questions of its rows, and its label. Baselines over fewer than
    ten questions are used only if there is no other.
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


def _point(row: dict[Any, Any], similarity: str) -> str:
    """Return the hover text of a mark: both figures with intervals, the number of questions, and each baseline."""

    def figure(name: str) -> str:
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        return f"{row[name]:.2f}" + (f" ({low:.2f} to {high:.2f})" if low == low and low is not None else "")

    return "<br>".join(
        [
            f"<b>{safe(str(row['label']))}</b>",
            f"precision {figure('precision')}, {row['n']} of {row['of']} questions",
            f"generality {figure('generality')} ({similarity})",
            *(
                f"{words}: {row[name]:.2f}, {row[f'n_{name}']} questions"
                for name, words in BASELINES.items()
                if row[f"n_{name}"]
            ),
            *(["the predictor failed the qualification test"] if row["failed"] else []),
        ]
    )
