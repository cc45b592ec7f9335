"""The charts that Browse draws of many runs of the Plant lab. Cues are never pooled: each line and mark is of one
cue.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from ...charts import forest, labels, marks
from ...charts.printed import script
from ...paper_figures import Published
from ...statistics.intervals import Kind
from ..base.declared import FACETS, Cases, Picture, declared
from .tasks import Length

if TYPE_CHECKING:
    from pandas import DataFrame
    from plotly.graph_objects import Figure

NAMED, MOVED, GAIN = "named", "moved", "naming gain"
SERIES = {
    NAMED: {"named_when_moved": "where the cue moved it", "named_when_agreeing": "where the cue agrees with it"},
    MOVED: {"flip_rate": "by the cue", "flip_rate_twin": "by the neutral cue"},
    GAIN: {"naming_gain": ""},
}
"""The metrics of each choice, and their names in the legend."""

LENGTHS: tuple[Length, ...] = ("short", "usual", "long")

_HIT, _ALARM = "named_when_moved", "named_when_agreeing"
_SIZES = {"short": 9, "usual": 12, "long": 15}


def cues(frame: DataFrame, choice: str) -> DataFrame:
    """Return the lines of a forest plot, one per model and cue."""
    series = SERIES[choice]
    # An item that the cue did not move is in no figure on acknowledging; it must not count as undefined.
    rows = frame[frame["metric"].isin(series) & (frame["of"] > 0)]
    rows = rows.assign(series=rows["metric"].map(series), item=items(rows))
    by = ("lab", "model", "how")
    table = forest.lines(rows, by, _label, tuple(series.values()), kind(choice))
    return forest.paired(table, rows, by, _label, FACETS, kind(choice))


def items(rows: DataFrame) -> list[str]:
    """Return a key for the question of each row that is the same in every run."""
    return [
        "/".join(map(str, one))
        for one in rows[["task", "dataset", "case", "title"]]
        .astype(object)
        .fillna({"task": "", "dataset": ""})
        .itertuples(index=False, name=None)
    ]


def kind(choice: str) -> Kind:
    """Return the kind of the figures: a gain may be below zero."""
    return "difference" if choice == GAIN else "share"


def _label(row: dict[str, Any]) -> str:
    return f"{row['model']}, {row['how']}"


def said_of_cues(table: DataFrame, choice: str) -> str:
    """Say which line is highest and which lowest, then in how many groups the second series is at least as high as the
    first.
    """
    what = {NAMED: "Acknowledged when moved", MOVED: "Moved by the cue", GAIN: "Naming gain"}[choice]
    sentence = forest.takeaway(table, what, "questions")
    first, *others = SERIES[choice].values()
    both = table.pivot(index="label", columns="series", values="macro").astype(float)
    if not others or not {first, *others} <= set(both):
        return sentence
    both = both.dropna()
    as_much = int((both[others[0]] >= both[first]).sum())
    other = {NAMED: "it is acknowledged as often where it agrees", MOVED: "the neutral cue moves as many or more"}[
        choice
    ]
    return f"{sentence} In {as_much} of {len(both)} groups that have both, {other}."


def hits(frame: DataFrame, order: str) -> DataFrame:
    """Return one row per model, cue and length of the reasons, in the order of LENGTHS: `label`, `length`; `hit`
    (acknowledged when moved) and `alarm` (acknowledged when agreeing), each with `_low` and `_high`; the method of
    the hits' `interval`; `n` moved questions; `faint`; `link`.
    """
    import pandas as pd

    rows = frame[frame["wording"].fillna("").str.startswith(f"{order}, ") & (frame["of"] > 0)]
    rows = rows.assign(item=items(rows))
    named = ("label", "length", "hit", "hit_low", "hit_high", "alarm", "alarm_low", "alarm_high")
    columns = [*named, "interval", "n", "faint", "link"]
    hit, alarm = _by_length(rows, _HIT, "hit"), _by_length(rows, _ALARM, "alarm")
    table = hit.join(alarm[["alarm", "alarm_low", "alarm_high"]], how="inner")
    table = table.assign(n=hit["items"], interval=hit["how"], faint=hit["faint"].astype(bool)).reset_index()
    table = table[table["hit"].notna() & table["alarm"].notna()]
    if not len(table):
        return pd.DataFrame(columns=columns)
    lengths = [parse_qs(link)["wording"][0].rpartition(", ")[2] for link in table["link"]]
    parts = [label.rpartition(f", {length}") for label, length in zip(table["label"], lengths, strict=True)]
    table = table.assign(label=[f"{before}{own}" for before, _, own in parts], length=lengths)
    place = table["length"].map(list(LENGTHS).index)
    return table.assign(place=place).sort_values(["label", "place"], ignore_index=True)[columns]


def _by_length(rows: DataFrame, metric: str, name: str) -> DataFrame:
    """Return the lines of one metric by their link, labelled by model, cue and length; the metric's column is called
    `name`.
    """

    def label(row: dict[str, Any]) -> str:
        return f"{_label(row)}, {row['wording'].rpartition(', ')[2]}"

    by = ("lab", "model", "how", "wording")
    table = forest.lines(rows[rows["metric"] == metric], by, label).set_index("link")
    return table.rename(columns={"macro": name, "low": f"{name}_low", "high": f"{name}_high"})


def draw_hits(table: DataFrame, order: str, theirs: Sequence[Published]) -> Figure:
    """Draw the marks of each model and cue, joined from short to long; the last one is named. On the diagonal,
    acknowledging says nothing about being moved.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    figure.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        line={"dash": "dash", "color": marks.LIGHT},
        hoverinfo="skip",
        showlegend=False,
        cliponaxis=False,
    )
    ends: dict[tuple[float, float], list[str]] = {}
    for number, (label, some) in enumerate(table.groupby("label", sort=True)):
        figure.add_scatter(
            x=some["alarm"],
            y=some["hit"],
            error_x=marks.error_bars(some["alarm_low"], some["alarm"], some["alarm_high"], thickness=1, width=0),
            error_y=marks.error_bars(some["hit_low"], some["hit"], some["hit_high"], thickness=1, width=0),
            mode="lines+markers",
            name=marks.safe(str(label)),
            cliponaxis=False,
            line={"color": marks.PALETTE[number % len(marks.PALETTE)], "width": 1},
            marker={
                "size": [_SIZES[length] for length in some["length"]],
                "opacity": [marks.FAINT if faint else 1.0 for faint in some["faint"]],
            },
            customdata=[[one] for one in some["link"]],
            hovertext=[_hover(row) for row in some.to_dict("records")],
            hovertemplate="%{hovertext}<extra></extra>",
        )
        ends.setdefault((some["alarm"].iloc[-1], some["hit"].iloc[-1]), []).append(str(label))
    sizes = "<br>Larger marks: longer reasons (short, usual, long)" if table["length"].nunique() > 1 else ""
    axis: dict[str, Any] = {"range": (-0.04, 1.06), "fixedrange": True}
    figure.update_layout(
        xaxis={"title": f"acknowledged when agreeing{sizes}", **axis},
        yaxis={"title": "acknowledged when moved", **axis},
        showlegend=False,
        height=560,
        margin={"l": 10, "r": 10, "t": 20, "b": 70},
        **marks.CLICKABLE,
    )
    drawn = list(zip(table["alarm"], table["hit"], table["length"].map(_SIZES), strict=True))
    across = table[["alarm_low", "hit", "alarm_high", "hit"]].dropna()
    upright = table[["alarm", "hit_low", "alarm", "hit_high"]].dropna()
    names = [labels.MarkLabel(*place, there) for place, there in ends.items()]
    labels.write(figure, names, drawn, [*across.itertuples(index=False), *upright.itertuples(index=False)])
    return figure


def _hover(row: dict[Any, Any]) -> str:
    return (
        f"<b>{marks.safe(row['label'])}</b>, {row['length']}<br>acknowledged when moved {row['hit']:.2f}, when "
        f"agreeing {row['alarm']:.2f}<br>{row['n']} moved questions"
    )


def said_of_hits(table: DataFrame, order: str) -> str:
    """Say how many of the marks with enough data lie above the diagonal."""
    firm = table[~table["faint"].astype(bool)]
    left = f" {len(table) - len(firm)} of {len(table)} rest on fewer than ten." if len(firm) < len(table) else ""
    if firm.empty:
        return f"None of {len(table)} rests on ten moved questions."
    above = int((firm["hit"] > firm["alarm"]).sum())
    return (
        f"Of {len(firm)} over ten moved questions or more, {above or 'none'} acknowledge the cue more "
        f"often where it moved the answer than where it agrees with it.{left}"
    )


PICTURES = declared(
    __file__,
    "picture",
    Picture,
    {
        "cues": {
            "of": Cases(tuple(metric for series in SERIES.values() for metric in series)),
            "table": cues,
            **forest.drawing("questions", kind=kind),
            "takeaway": said_of_cues,
        },
        "hits": {
            "of": Cases((_HIT, _ALARM)),
            "table": hits,
            "draw": draw_hits,
            "code": lambda table, choice, file: script("hits", FILE=file),
            "takeaway": said_of_hits,
        },
    },
)
