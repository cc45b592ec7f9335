"""Pictures of the Probe lab. Data in, figure out: no colour of paper or font is set, so light and dark themes both fit.

Colours are of Okabe and Ito's set, the blue a little lighter, for dark pages; what a colour says, a dash, a symbol or
a word says too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from core.charts.marks import safe
from core.labs.find.agreement import absolute_bound

if TYPE_CHECKING:
    from pandas import DataFrame
    from plotly.graph_objects import Figure

TRUTH, ESTIMATE, PROBED, CORRUPTED = "#2B8CC4", "#D55E00", "#8A8A8A", "#E69F00"

Number = float | None

_FEW = 40
"""As many probes are drawn large; more are drawn small, to leave the curves in view."""

_LEFT = 64
"""Pixels left of the axis: pictures that stand above each other have their x in line."""

_FAR = 3.0
"""The picture reaches this many times the truth's spread beyond it; what leaves it is cut off."""

_FAR_OF_FEW = 1e6
"""The same where there are fewer than twenty values: powers of ten are then no outliers."""

_APART = 10.0
"""Differences are drawn up to so many times the height of the picture of the curves."""

_LARGEST = 1e300
"""Nothing beyond is reckoned with: sums and differences stay finite."""


class Cut(NamedTuple):
    """What the picture of the curves leaves out: probes `outside` of the range of x, probes `beyond` its ends `low` and
    `high` (both of columns x, y, round, number), and at how many points truth and estimate lie beyond them.
    """

    outside: DataFrame
    beyond: DataFrame
    low: float | None
    high: float | None
    truth: int
    estimate: int


def cut(
    probes: DataFrame,
    truth: Sequence[Number] = (),
    estimate: Sequence[Number] = (),
    within: tuple[float, float] | None = None,
) -> Cut:
    """What `curves` of the same leaves out."""
    seen = probes.dropna(subset=["y"]) if len(probes) else probes
    inside = seen if within is None or not len(seen) else seen[seen["x"].between(*within)]
    low, high = upright(truth, inside["y"].tolist() if len(inside) else []) or (None, None)

    def far(values: Sequence[Number]) -> int:
        return sum(y is not None and low is not None and high is not None and not low <= y <= high for y in values)

    beyond = inside if low is None or not len(inside) else inside[~inside["y"].between(low, high)]
    outside = seen.drop(inside.index)
    return Cut(outside, beyond if low is not None else inside.head(0), low, high, far(truth), far(estimate))


def curves(
    probes: DataFrame,
    x: Sequence[float] = (),
    truth: Sequence[Number] = (),
    estimate: Sequence[Number] = (),
    corrupted: tuple[Number, Number] | None = None,
    claimed: Sequence[tuple[Number, Number]] = (),
    within: tuple[float, float] | None = None,
) -> Figure:
    """Truth, estimate and probes on one picture, as the paper's figure 3. All but the probes may be missing.

    `probes` has columns x, y, round, number (y null where there was no output). `corrupted` is shaded; an interval that
    was `claimed` is marked by dotted lines; None is an open end. Probes that do not lie `within` the range of x are not
    drawn, nor those beyond the ends of the axis (see `cut`).
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    low, high = within or ((min(x), max(x)) if len(x) else (-128.0, 128.0))
    left_out = cut(probes, truth, estimate, within)
    if corrupted is not None:
        figure.add_vrect(
            x0=corrupted[0] if corrupted[0] is not None else low,
            x1=corrupted[1] if corrupted[1] is not None else high,
            fillcolor=CORRUPTED,
            opacity=0.2,
            line_width=0,
            annotation_text="replaced",
            annotation_position="top left",
        )
    for ends in claimed:
        for end in ends:
            if end is not None:
                figure.add_vline(x=end, line={"color": ESTIMATE, "dash": "dot", "width": 1})
    # First, so that they lie behind the curves.
    heard = probes.dropna(subset=["y"]) if len(probes) else probes
    seen = heard.drop([*left_out.outside.index, *left_out.beyond.index])
    if len(seen):
        few = len(seen) <= _FEW
        figure.add_scatter(
            x=seen["x"],
            y=seen["y"],
            mode="markers",
            name="probes",
            marker={"color": PROBED, "size": 8 if few else 4, "symbol": "circle"},
            opacity=0.8 if few else 0.5,
            customdata=seen[["number", "round"]],
            hovertemplate="call %{customdata[0]}, round %{customdata[1]}<br>f(%{x}) = %{y}<extra></extra>",
        )
    drawn = (
        (truth, "the function", {"color": TRUTH, "width": 4}, 0.75),
        (estimate, "its code", {"color": ESTIMATE, "width": 2, "dash": "dash"}, 1.0),
    )
    for values, name, line, opacity in drawn:
        if any(y is not None for y in values):
            figure.add_scatter(
                x=list(x),
                y=_near(values, left_out),
                text=_said(values),
                hovertemplate="%{text}",
                mode="lines",
                name=name,
                line=line,
                opacity=opacity,
            )
    lost = len(probes) - len(heard)
    upright = {} if left_out.low is None else {"range": [left_out.low, left_out.high]}
    room = 0.02 * (high - low)
    sideways = {"range": [low - room, high + room]} if within or len(x) > 1 else {}
    figure.update_layout(
        xaxis={"title": f"x ({lost} calls gave no number)" if lost else "x", "zeroline": False, **sideways},
        yaxis={"title": "f(x)", "zeroline": False, **upright},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0},
        margin={"l": _LEFT, "r": 10, "t": 40, "b": 40},
        height=380,
        hovermode="closest",
    )
    return figure


def residuals(x: Sequence[float], truth: Sequence[Number], estimate: Sequence[Number]) -> Figure:
    """What the code gives less what the function gives, over x; nothing where either has no value.

    Differences within the bounds of `agreement` look as small as they are; larger ones are drawn as far as `reach`.
    """
    import plotly.graph_objects as go

    off, most = differences(truth, estimate), reach(truth, estimate)
    drawn = [None if one is None else max(-2 * most, min(2 * most, one)) for one in off]
    figure = go.Figure()
    figure.add_hline(y=0, line={"color": TRUTH, "width": 2})
    figure.add_scatter(
        x=list(x),
        y=drawn,
        text=_said(off),
        hovertemplate="%{text}",
        mode="lines",
        name="difference",
        line={"color": ESTIMATE, "width": 2},
    )
    figure.update_layout(
        xaxis={"title": "x", "zeroline": False, **({"range": [min(x), max(x)]} if len(x) > 1 else {})},
        yaxis={"title": "code − function", "zeroline": False, "range": [-most, most], "nticks": 5},
        margin={"l": _LEFT, "r": 10, "t": 10, "b": 40},
        height=190,
        showlegend=False,
    )
    return figure


def differences(truth: Sequence[Number], estimate: Sequence[Number]) -> list[Number]:
    """What the code gives less what the function gives, None where either has no value or it is not finite."""
    both = zip(truth, estimate, strict=True)
    return [None if y is None or g is None or not math.isfinite(g - y) else g - y for y, g in both]


def reach(truth: Sequence[Number], estimate: Sequence[Number]) -> float:
    """The largest difference that `residuals` draws."""
    largest = max((abs(one) for one in differences(truth, estimate) if one is not None), default=0.0)
    low, high = upright(truth, []) or (0.0, _LARGEST / _APART)
    return max(min(1.1 * largest, _APART * (high - low)), absolute_bound(truth)) or 1.0


def _said(values: Sequence[Number]) -> list[str]:
    """Values in words for who points at a curve: what is cut off keeps its own."""
    return ["" if y is None else f"{y:.6g}" for y in values]


def _near(values: Sequence[Number], left_out: Cut) -> list[Number]:
    """A curve that leaves the picture goes on for another picture's height, and no farther."""
    if left_out.low is None or left_out.high is None:
        return list(values)
    height = left_out.high - left_out.low
    return [None if y is None else max(left_out.low - height, min(left_out.high + height, y)) for y in values]


def ends(truth: Sequence[Number]) -> tuple[float, float]:
    """The ends of an axis on which a function is seen; 0 and 1 for one without values."""
    return upright(truth, []) or (0.0, 1.0)


def upright(truth: Sequence[Number], seen: Sequence[float]) -> tuple[float, float] | None:
    """The ends of the upright axis: what is true and seen, with some room; None where that is not known. Outliers are
    cut.
    """
    known = sorted(max(-_LARGEST, min(_LARGEST, y)) for y in (*truth, *seen) if y is not None and math.isfinite(y))
    if len(known) < 2:
        return None
    is_few = len(known) < 20
    edge = (1 if len(known) > 2 else 0) if is_few else len(known) // 20
    middle = known[edge : len(known) - edge]
    low, high = middle[0], middle[-1]
    room = (high - low) or abs(high) or 1.0
    far = min((_FAR_OF_FEW if is_few else _FAR) * room, _LARGEST)
    kept = [y for y in known if low - far <= y <= high + far]
    some = 0.08 * (kept[-1] - kept[0] or room)
    return kept[0] - some, kept[-1] + some


def bars(probes: DataFrame, most: int = 60) -> Figure:
    """One bar a word with its value, 0 to 1, the highest on top; at most `most` of them.

    `probes` has columns input, y (null: no output), number. A word probed twice keeps its last value.
    """
    import plotly.graph_objects as go

    seen = probes.drop_duplicates("input", keep="last").dropna(subset=["y"])
    seen = seen.sort_values(["y", "number"], ascending=[False, True]).head(most)
    figure = go.Figure()
    figure.add_bar(
        x=seen["y"],
        y=[safe(text) for text in seen["input"]],
        orientation="h",
        marker={"color": [TRUTH if value >= 0.5 else PROBED for value in seen["y"]]},
        text=[f"{value:.2f}" for value in seen["y"]],
        hovertemplate="%{y}: %{x:.4f}<extra></extra>",
    )
    figure.add_vline(x=0.5, line={"dash": "dot", "width": 1, "color": PROBED})
    figure.update_layout(
        xaxis={"range": [0, 1.05], "title": "f(word)", "zeroline": False},
        yaxis={"autorange": "reversed", "type": "category", "automargin": True},
        height=110 + 22 * len(seen),
        margin={"l": 10, "r": 10, "t": 10, "b": 40},
        showlegend=False,
    )
    return figure


def heat_map(names: Sequence[str], means: Sequence[Sequence[float | None]], largest: float = 1.0) -> Figure:
    """Selectivity as the paper's figure A4: rows are functions, columns the words of each concept, values from 0 to
    `largest`.
    """
    import plotly.graph_objects as go

    labels = [safe(name) for name in names]
    figure = go.Figure(
        go.Heatmap(
            z=means,
            x=labels,
            y=labels,
            zmin=0,
            zmax=largest,
            colorscale="Viridis",
            colorbar={"title": "mean"},
            hovertemplate="function: %{y}<br>words of: %{x}<br>mean %{z:.2f}<extra></extra>",
        )
    )
    figure.update_layout(
        xaxis={"title": "words of", "tickangle": -60, "dtick": 1, "automargin": True},
        yaxis={"title": "function", "autorange": "reversed", "dtick": 1, "automargin": True},
        height=max(360, 60 + 22 * len(names)),
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
    )
    return figure
