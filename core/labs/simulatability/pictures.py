"""What Browse draws of many runs of the Ask lab."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from core import published
from core.charts import board, forest
from core.charts.marks import link
from core.lab import Picture
from core.labs.simulatability import charts, metrics
from core.labs.simulatability.records import Examined
from core.published import Published
from core.runs.transcript import name_of

if TYPE_CHECKING:
    from pandas import DataFrame
    from plotly.graph_objects import Figure

LAB = "simulatability"
PRECISION, GAIN = "precision", "what the explanation adds"
_METRIC = {PRECISION: "precision", GAIN: "simulatability_gain"}
_ENDS = {PRECISION: forest.SHARES, GAIN: (-1.0, 1.0)}


def runs(frame: DataFrame, similarity: str) -> DataFrame:
    """One row a run, as it is drawn: `generality` by the chosen similarity; `failed`, whether its predictor is known to
    have failed the exam.
    """
    gone = [name for name in frame if name.startswith("generality_")]
    return frame.assign(
        generality=frame[f"generality_{similarity}"],
        failed=frame["examined_passed"].eq(False),
        link=[link({"run": run}) for run in frame["run"]],
    ).drop(columns=[*gone, "examined_passed"])


def said_of_runs(table: DataFrame, similarity: str) -> str:
    """How many runs have a precision that says something."""
    defined = table[table["precision"].notna()]
    known = defined[defined["constant_guess"].notna()]
    nothing = [
        metrics.shows_nothing(one, guess)
        for one, guess in zip(known["precision"], known["constant_guess"], strict=True)
    ]
    undefined = len(table) - len(defined)
    return (
        f"{sum(nothing)} of {len(known)} runs kept no more promises than always guessing the same would have."
        if len(known)
        else f"{len(defined)} of {len(table)} runs have a precision."
    ) + (f" {undefined} of {len(table)} have no precision: none of their questions count." if undefined else "")


def counted(frame: DataFrame, choice: str) -> DataFrame:
    """The cases that a figure is made of. Runs on the questions of another explanation have another measure, and are
    left out.
    """
    rows = frame[(frame["metric"] == _METRIC[choice]) & (frame["given_from"].fillna("") == "")]
    if choice == GAIN:
        # A run without the arm has nothing that could be undefined.
        rows = rows[rows["of"] > 0]
    return rows.assign(item=rows["title"].fillna(rows["case"]))


def pooled(frame: DataFrame, choice: str) -> DataFrame:
    """One line a model and method, over all questions of its runs."""
    rows = counted(frame, choice)
    several = rows["task"].nunique() > 1

    def label(row: dict[str, Any]) -> str:
        return ", ".join(word for word in (row["model"], row["how"], row["task"] if several else "") if word)

    return forest.lines(rows, ("lab", "model", "how", "task"), label, ends=_ENDS[choice])


def draw_pooled(table: DataFrame, choice: str, theirs: Sequence[Published]) -> Figure:
    """The lines with the paper's below."""
    return forest.forest(table, choice, "questions", theirs, _ENDS[choice])


def theirs(choice: str) -> list[Published]:
    """What Chen et al. report by model and method."""
    found = published.published(LAB, "precision") if choice == PRECISION else []
    return [one for one in found if {"model", "method"} <= set(one.about)]


def their_data_sets(similarity: str) -> list[Published]:
    """What Chen et al. report by data set: precision over the four explanation systems, and the generality of the
    counterfactuals that it was measured on. They print the two in separate tables.
    """
    precision = [one for one in published.published(LAB, "precision") if one.about.keys() == {"dataset"}]
    return precision + published.published(LAB, f"generality_{similarity}", generator="GPT-mix")


PICTURES = (
    Picture(
        "runs",
        "Precision and generality",
        "One mark a run, larger the more it rests on; the bar is the 95 % interval of the precision. Further right: "
        "the explanation kept its promises. Higher: it settles more varied questions. Faint: fewer than ten things "
        "count, or less than 70 % of them. Grey: always guessing the same would have got as much, or who predicted "
        "failed the exam. Marks that would cover each other stand side by side. The box in the "
        "bar above the picture chooses several runs. The paper prints precision and generality by data set, in two "
        "tables; an open mark joins them.",
        "runs",
        ("precision", "generality_cosine", "generality_bleu", "generality_jaccard", "constant_guess"),
        runs,
        charts.scatter,
        said_of_runs,
        fields=("method", "task"),
        held=((name_of(Examined), "passed"),),
        choices=("cosine", "bleu", "jaccard"),
        published=their_data_sets,
        is_box=True,
    ),
    Picture(
        "pooled",
        "Precision by model and method",
        "Each question counts alike, however many runs asked it; the 95 % interval draws whole questions again. Faint: "
        "fewer than ten questions, or less than 70 % of what should count.",
        "cases",
        tuple(_METRIC.values()),
        pooled,
        draw_pooled,
        lambda table, choice: forest.takeaway(table, choice, "questions"),
        fields=("given_from",),
        choices=tuple(_METRIC),
        published=theirs,
    ),
    Picture(
        "leaderboard",
        "Leaderboard",
        board.CAPTION.format("questions", "question"),
        "cases",
        tuple(_METRIC.values()),
        lambda frame, choice: board.board(counted(frame, choice), ("task", "dataset"), _ENDS[choice]),
        lambda table, choice, theirs: forest.forest(table, choice, "questions", ends=_ENDS[choice]),
        lambda table, choice: board.takeaway(table, choice, "questions"),
        fields=("given_from",),
        choices=tuple(_METRIC),
    ),
)
