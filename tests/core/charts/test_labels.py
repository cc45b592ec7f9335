"""Labels beside marks: no two overlap, none covers a mark, and all names are there, on paper and on screens."""

import random
from functools import cache
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from core.charts import labels, printed, scatter
from core.charts.labels import MarkLabel, ReferenceLine, Scale
from core.labs.plant.pictures import PICTURES
from tests.support.chance import tenth

Box = tuple[float, float, float, float]

GROUPS = 26
"""More than there is room for names."""


@cache
def plane(groups: int = GROUPS) -> go.Figure:
    """A plane of models whose figures are close to each other, three of them at one place, and a published one."""
    dice, rows = random.Random(1), []
    for number in range(groups):
        x, y = dice.gauss(0.72, 0.09), dice.gauss(0.55, 0.07)
        if number in (9, 10):
            x, y = rows[8]["x"], rows[8]["y"]
        ends = {"x_low": x - 0.08, "x_high": x + 0.08, "y_low": y - 0.04, "y_high": y + 0.04}
        name = f"{('gpt-5', 'Llama-3.1-70B-Instruct', 'smollm2-135m')[number % 3]}-v{number}, posthoc"
        more = {"kind": "", "open": False, "faint": False, "text": "", "link": "model=a"}
        rows.append({"x": x, "y": y, **ends, "name": name, "n": 30, "chosen": number < 6, "own": 0.6, **more})
    lines = [ReferenceLine(0.58, "strongest baseline: another question's reasons, 0.58 over 1638 questions")]
    figure = scatter.plane(pd.DataFrame(rows), ("precision", "generality"), lines)
    scatter.add_published(figure, [(0.8, 0.2, "strategyqa", "")])
    return figure


@cache
def hits(groups: int = GROUPS) -> go.Figure:
    """Lines of three marks, of models whose figures are close to each other."""
    dice, rows = random.Random(2), []
    for number in range(groups):
        for place, length in enumerate(("short", "usual", "long")):
            hit, alarm = 0.5 + dice.gauss(0.05 * place, 0.15), 0.4 + dice.gauss(0.03 * place, 0.12)
            ends = {"hit_low": hit - 0.1, "hit_high": hit + 0.1, "alarm_low": alarm - 0.1, "alarm_high": alarm + 0.1}
            more = {"label": f"model-{number}-instruct, metadata", "length": length, "n": 30, "faint": False}
            rows.append({"hit": hit, "alarm": alarm, **ends, **more, "link": "model=a"})
    drawn: go.Figure = PICTURES[1].draw(pd.DataFrame(rows), "reasons first", ())
    return drawn


FIGURES = {"plane": plane, "hits": hits}


def names_of(figure: go.Figure) -> list[str]:
    return [name for _, _, names, _ in figure.layout.meta["labels"] for name in names]


def marks_of(figure: go.Figure, scale: Scale) -> list[Box]:
    """The boxes of all marks as they are drawn, from the traces."""
    boxes = []
    for trace in figure.data:
        if "markers" in (trace.mode or ""):
            size = trace.marker.size
            sizes = [size] * len(trace.x) if isinstance(size, int) else size
            for x, y, size in zip(trace.x, trace.y, sizes, strict=True):
                (right, up), half = scale.pixels(x, y), size / 2
                across = 1.0 if trace.marker.symbol == "line-ns" else half
                boxes.append((right - across, up - half, right + across, up + half))
    return boxes


def text_box(one: Any, middle: tuple[float, float], font: str = "") -> Box:
    """The box of a label, by the metrics of the font in which it is printed."""
    from reportlab.pdfbase.pdfmetrics import stringWidth

    text = one.text.replace("<b>", "").replace("</b>", "").replace("&lt;", "<")
    half = stringWidth(text, font or ("Helvetica-Bold" if "<b>" in one.text else "Helvetica"), 12) / 2
    return middle[0] - half, middle[1] - 6, middle[0] + half, middle[1] + 6


def beside(figure: go.Figure, scale: Scale, annotations: Any) -> list[Box]:
    """The boxes of the labels beside marks."""
    found = []
    for one in annotations:
        if one.showarrow:
            x, y = scale.pixels(one.x, one.y)
            found.append(text_box(one, (x + one.ax, y - one.ay)))
    return found


def are_apart(boxes: list[Box], others: list[Box]) -> bool:
    """Whether no box meets another one or one of the others."""
    every = [*others, *boxes]
    return not any(
        one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
        for number, one in enumerate(boxes)
        for other in [*every[: len(others)], *boxes[:number]]
    )


def scale_of(figure: go.Figure, width: float) -> Scale:
    layout = figure.layout
    high = layout.height - layout.margin.t - layout.margin.b
    return Scale(width, high, tuple(layout.xaxis.range), tuple(layout.yaxis.range))


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("width", [8.5, 17.0])
@pytest.mark.parametrize("is_grey", [False, True])
def test_twenty_six_groups_on_paper_are_all_named_and_no_label_covers_anything(
    name: str, width: float, is_grey: bool
) -> None:
    pytest.importorskip("reportlab")
    screen = FIGURES[name]()
    figure = printed.for_paper(screen, width, is_grey)
    layout = figure.layout
    inner = layout.width - layout.margin.l - layout.margin.r
    scale = scale_of(figure, inner)
    boxes = beside(figure, scale, layout.annotations)
    assert are_apart(boxes, marks_of(screen, scale))
    assert all(box[0] >= 0 and box[2] <= inner and box[1] >= 0 and box[3] <= scale.height for box in boxes)
    # Each number beside a mark has its names in the key, which is below the axis and within the picture.
    numbers = [one.text.removeprefix("<b>").removesuffix("</b>") for one in layout.annotations if one.showarrow]
    ends = [(int(first), int(last or first)) for first, _, last in (one.partition("–") for one in numbers)]
    told = sorted(number for first, last in ends for number in range(first, last + 1))
    key = [one for one in layout.annotations if one.y == 0 and not one.showarrow]
    assert told == [int(one.text.partition(" ")[0]) for one in key] == list(range(1, len(names_of(screen)) + 1))
    assert sorted(one.text.partition(" ")[2] for one in key) == sorted(names_of(screen))
    left = [layout.margin.l + one.xshift for one in key]
    lines = [text_box(one, (0, one.yshift - 6)) for one in key]
    at = [(x, low, x + right * 2, high) for x, (_, low, right, high) in zip(left, lines, strict=True)]
    assert are_apart(at, []) and min(left) >= 0 and max(box[2] for box in at) <= layout.width
    assert min(box[1] for box in at) >= -layout.margin.b and max(box[3] for box in at) <= -60
    above = [one for one in layout.annotations if one.y == 1 and not one.showarrow]
    assert " ".join(one.text for one in above[::-1]) == " ".join(line[1] for line in screen.layout.meta["lines"])
    assert not any(trace.text for trace in figure.data), "a number on a mark would be taken for its label"
    assert layout.height == printed.size(screen, width)[1] - screen.layout.margin.t - screen.layout.margin.b + (
        layout.margin.t + layout.margin.b
    )


def test_few_groups_have_their_names_beside_them_also_on_paper() -> None:
    figure = printed.for_paper(hits(3), 17.0, is_grey=False)
    assert sorted(one.text for one in figure.layout.annotations) == sorted(names_of(hits(3)))


@pytest.mark.parametrize("name", FIGURES)
def test_in_a_window_and_on_a_phone_there_are_labels_for_each(name: str) -> None:
    pytest.importorskip("reportlab")
    figure = FIGURES[name]()
    wide = figure.layout.meta["wide"]
    for some_of, widths in ((slice(wide), labels.WIDE), (slice(wide, None), labels.NARROW)):
        for width in widths:
            scale = scale_of(figure, width)
            boxes = beside(figure, scale, figure.layout.annotations[some_of])
            assert len(boxes) > 20 and are_apart(boxes, marks_of(figure, scale)), width
    key = "; ".join(labels.key(figure))
    assert all(one in key for one in names_of(figure))
    css = labels.style(figure, ".plot", ".key")
    phone, window = css.split("@container")[1:]
    assert "max-width" in phone and '"0"' in phone and f'"{wide}"' not in phone and ".key" not in phone
    assert "min-width" in window and '"0"' not in window and f'"{wide}"' in window and ".key" not in window


def test_where_names_have_room_the_key_is_for_a_phone_alone() -> None:
    figure = hits(5)
    assert figure.layout.meta["keys"] == [False, True]
    _, phone, window = labels.style(figure, ".plot", ".key").split("@container")
    assert ".key" in window and ".key" not in phone and len(labels.key(figure)) == 5


def test_a_published_figure_is_within_the_axis() -> None:
    low, high = plane().layout.yaxis.range
    assert low < 0.2 < high


POINTS = some.lists(some.tuples(some.floats(0, 1), some.floats(0, 1), some.integers(1, 30)), min_size=1, max_size=24)
ENDS = (-0.03, 1.05), (0.0, 1.0)


@settings(max_examples=tenth(40), deadline=None)
@given(POINTS)
def test_names_cover_no_name_and_no_mark_at_any_width_between(drawn: list[tuple[float, float, int]]) -> None:
    """Computed here anew, in pixels; a name without room has no place. The first always finds one, where it fits."""
    names = ["n" * letters for *_, letters in drawn]
    points = [(x, y) for x, y, _ in drawn]
    scales = [Scale(width, 480.0, *ENDS) for width in labels.WIDE]
    found = labels.offsets([MarkLabel(x, y, []) for x, y in points], names, scales, [(x, y, 13) for x, y in points])
    assert len(found) == len(points)
    for width, high in [(width, 480.0) for width in (640, 710, 1000)]:
        scale = width / 1.08
        boxes = [
            (x * scale + at[0] - 3.5 * len(name), y * high + at[1] - 7, x * scale + at[0] + 3.5 * len(name),
             y * high + at[1] + 7)
            for (x, y), name, at in zip(points, names, found, strict=True)
            if at is not None
        ]  # fmt: skip
        assert are_apart(boxes, [(x * scale - 7, y * high - 7, x * scale + 7, y * high + 7) for x, y in points])


def test_a_name_keeps_off_bars_where_it_can() -> None:
    scales = [Scale(width, 480.0, *ENDS) for width in labels.WIDE]

    def place(bars: list[tuple[float, float, float, float]]) -> tuple[float, float] | None:
        return labels.offsets([MarkLabel(0.5, 0.5, [])], ["model"], scales, [(0.5, 0.5, 13)], bars)[0]

    free, taken = place([]), place([(0.5, 0.52, 1.0, 0.52)])
    assert free is not None and free[0] > 0 < free[1]
    assert taken is not None and taken[0] < 0, "to the left, for to the right runs a bar"


def test_a_name_that_is_too_long_for_the_key_keeps_its_end() -> None:
    long = "1 " + "a" * 200 + ", posthoc · 30"
    shown = labels._shortened(long, 200)
    assert shown.startswith("1 aaa") and shown.endswith("posthoc · 30") and labels.text_width(shown, False) <= 200
