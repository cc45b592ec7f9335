"""Names beside the marks of a scatter plot: near their mark, where they cover no other name and no mark. If there is no
room for all of them, numbers are written instead, and a key of names stands below the plot.

A figure keeps in its `layout.meta` what it is to name, so that it can be labelled again for another width.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby, starmap
from typing import TYPE_CHECKING, Any, NamedTuple

from .marks import LIGHT, safe

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


WIDE, NARROW = (640, 710, 1000), (230, 290, 420, 640)
"""Widths of a plot in pixels, without its margins, for which labels are placed: in a browser window, and on a phone."""

LINE = 15
"""Pixels per line of text."""

_SIZE = 12
_LONGEST = 34
"""Maximum number of characters of a name beside a mark; the hover text and a key show more of it."""

_LEFT, _RIGHT, _BELOW = 64, 16, 70
"""Margins of a printed plot in pixels: beside it, and below it for the axis."""

_NEAR, _FAR = 2, 26
"""How many lines away from its mark a name, and a number, may stand."""

Box = tuple[float, float, float, float]
"""Left, lower, right and upper edge, in pixels."""


class MarkLabel(NamedTuple):
    """The names of all that a mark stands for, and where it is. Those in bold get their places first."""

    x: float
    y: float
    names: Sequence[str]
    is_bold: bool = False


class ReferenceLine(NamedTuple):
    """A value of x to compare marks with, and its name."""

    x: float
    name: str


class Scale(NamedTuple):
    """The size of a plot in pixels and the ends of its axes."""

    width: float
    height: float
    x_ends: tuple[float, float]
    y_ends: tuple[float, float]

    def pixels(self, x: float, y: float) -> tuple[float, float]:
        """Return how far a place is from the plot's lower left corner."""
        (left, right), (low, high) = self.x_ends, self.y_ends
        return (x - left) / (right - left) * self.width, (y - low) / (high - low) * self.height


def text_width(text: str, is_bold: bool = True) -> float:
    """Return the width of a text in Helvetica, in pixels, rather too much than too little."""
    return _SIZE * sum(_ems(letter)[is_bold] for letter in text)


def _ems(letter: str) -> tuple[float, float]:
    """Return the width of a letter, and in bold, in multiples of the size of the text."""
    if letter in "fijlrtI.,;:'|!()[] /-·":
        return 0.3, 0.36
    if letter in "mwMW@%&…" or not letter.isascii():
        return 0.95, 1.0
    return (0.75, 0.78) if letter.isupper() else (0.56, 0.61)


def write(
    figure: Figure,
    labels: Sequence[MarkLabel],
    marks: Sequence[tuple[float, float, float]],
    bars: Sequence[tuple[float, float, float, float]] = (),
    lines: Sequence[ReferenceLine] = (),
) -> None:
    """Label the marks of a figure whose axes have a range and which has a height and margins.

    `marks` are all marks, with x, y and size in pixels: no label covers one. `bars` (from x, y to x, y) are crossed
    only if that cannot be avoided. `lines` are named above the plot. For a phone there are labels of their own, which
    `style` shows instead of the others.
    """
    figure.update_layout(
        meta={"labels": [*map(list, labels)], "marks": marks, "bars": bars, "lines": [*map(list, lines)]}
    )
    above = max(int(figure.layout.margin.t), 10 + LINE * len(lines))
    figure.update_layout(height=figure.layout.height + above - figure.layout.margin.t, margin={"t": above})
    wide, are_names = _beside(figure, WIDE)
    wide += list(starmap(_above, enumerate(lines)))
    narrow, are_names_narrow = _beside(figure, NARROW)
    figure.layout.annotations = [*wide, *narrow]
    figure.layout.meta |= {"wide": len(wide), "keys": [not are_names, not are_names_narrow]}


def add(figure: Figure, labels: Sequence[MarkLabel], size: float) -> None:
    """Label further marks of that size in a figure that is labelled already."""
    known, marks, bars, lines = _written(figure)
    write(figure, [*known, *labels], [*marks, *((one.x, one.y, size) for one in labels)], bars, lines)


def write_for_paper(figure: Figure, width: int) -> None:
    """Label the marks again for a figure of that width in pixels, with a key in the figure if they get numbers. Changes
    the figure's margins, and its height if more is to be written above or below the plot.
    """
    labels, _, _, lines = _written(figure)
    said = [part for line in lines for part in _wrapped(line.name, width - 20)]
    high = figure.layout.height - figure.layout.margin.t - figure.layout.margin.b
    above = max(20, 10 + LINE * len(said))
    figure.update_layout(height=high + above + _BELOW, margin={"l": _LEFT, "r": _RIGHT, "t": above, "b": _BELOW})
    figure.update_xaxes(automargin=False)
    figure.update_yaxes(automargin=False)
    beside, are_names = _beside(figure, (width - _LEFT - _RIGHT,), has_all=True)
    figure.layout.annotations = [*beside, *(_written_at(0, 1, text, 10, LINE * n) for n, text in enumerate(said[::-1]))]
    if are_names:
        return
    # The key has the names of all that is at one place, so that a number of them would only be mistaken for a label.
    figure.for_each_trace(lambda trace: trace.update(text=None))
    entries = list(_entries(labels))
    across = max(1, int((width - 20) // (max(text_width(entry, False) for entry in entries) + 12)))
    column, rows = (width - 20) / across, math.ceil(len(entries) / across)
    for number, entry in enumerate(entries):
        left, down = number // rows * column, number % rows * LINE
        figure.add_annotation(_written_at(0, 0, _shortened(entry, column - 12), left + 10, -_BELOW - 4 - down, "top"))
    below = _BELOW + 12 + rows * LINE
    figure.update_layout(height=high + above + below, margin={"b": below})


def key(figure: Figure) -> list[str]:
    """Return the key of a figure on the screen: the names of its numbers, if it has any, and those of its lines."""
    labels, _, _, lines = _written(figure)
    entries = list(_entries(labels)) if any(figure.layout.meta["keys"]) else []
    return [*entries, *(f"dashed: {line.name}" for line in lines)]


def style(figure: Figure, place: str, key: str) -> str:
    """Return the CSS by which the figure in the element `place` has its labels for a phone where it is narrow, and the
    others elsewhere. `key` is the element with its key, which is shown where the figure has not all names.
    """
    wide, (is_key, is_key_narrow) = figure.layout.meta["wide"], figure.layout.meta["keys"]
    every = [f'.annotation[data-index="{number}"]' for number in range(len(figure.layout.annotations))]
    hidden = [every[:wide], every[wide:]]
    hidden[0] += [] if is_key_narrow or figure.layout.meta["lines"] else [key]
    hidden[1] += [] if is_key else [key]
    rules = (
        f"@container ({when}) {{{', '.join(some)} {{display: none}}}}"
        for when, some in zip(("max-width: 720px", "min-width: 720.1px"), hidden, strict=True)
        if some
    )
    return f"<style>{place} {{container-type: inline-size}} {' '.join(rules)}</style>"


def is_labelled(figure: Figure) -> bool:
    """Whether `write` labelled the figure."""
    return isinstance(figure.layout.meta, dict) and "labels" in figure.layout.meta


def _written(figure: Figure) -> tuple[list[MarkLabel], list[Any], list[Any], list[ReferenceLine]]:
    """Return labels, marks, bars and lines of a figure."""
    meta = figure.layout.meta
    return (
        list(starmap(MarkLabel, meta["labels"])),
        list(meta["marks"]),
        list(meta["bars"]),
        list(starmap(ReferenceLine, meta["lines"])),
    )


def _numbered(labels: Sequence[MarkLabel]) -> list[tuple[int, MarkLabel]]:
    """Return the labels from top to bottom, each with the number of its first name."""
    found, number = [], 1
    for label in sorted(labels, key=lambda one: (-one.y, one.x)):
        found.append((number, label))
        number += len(label.names)
    return found


def _entries(labels: Sequence[MarkLabel]) -> Iterator[str]:
    for first, label in _numbered(labels):
        yield from (f"{number} {name}" for number, name in enumerate(label.names, first))


def _beside(figure: Figure, widths: Sequence[float], has_all: bool = False) -> tuple[list[dict[str, Any]], bool]:
    """Return the annotations beside the marks at any of these widths of the plot, and whether they are names. With
    `has_all`, no name may be missing because others are at its place.
    """
    labels, marks, bars, lines = _written(figure)
    layout = figure.layout
    high = layout.height - layout.margin.t - layout.margin.b
    scales = [Scale(width, high, tuple(layout.xaxis.range), tuple(layout.yaxis.range)) for width in widths]
    bars += [(line.x, layout.yaxis.range[0], line.x, layout.yaxis.range[1]) for line in lines]
    labels.sort(key=lambda one: not one.is_bold)
    texts = [_name(one) for one in labels]
    found = offsets(labels, texts, scales, marks, bars, _NEAR)
    are_names = None not in found and not (has_all and any(len(one.names) > 1 for one in labels))
    if not are_names:
        labels, texts = [one for _, one in _numbered(labels)], [*map(_number, _numbered(labels))]
        found = offsets(labels, texts, scales, marks, bars, _FAR)
    return [
        _pointing(label, text, offset, _is_doubtful(label, offset, marks, scales))
        for label, text, offset in zip(labels, texts, found, strict=True)
        if offset is not None
    ], are_names


def _name(label: MarkLabel) -> str:
    name, more = label.names[0], len(label.names) - 1
    cut = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
    return f"{cut} and {more} more" if more else cut


def _number(one: tuple[int, MarkLabel]) -> str:
    first, label = one
    return f"{first}–{first + len(label.names) - 1}" if len(label.names) > 1 else str(first)


def _is_doubtful(
    label: MarkLabel, offset: tuple[float, float], marks: Sequence[tuple[float, float, float]], scales: Sequence[Scale]
) -> bool:
    """Whether a line has to say which mark is named: it is further away, or another is nearer."""
    away = math.hypot(*offset)
    for scale in scales:
        x, y = scale.pixels(label.x, label.y)
        others = (scale.pixels(*mark[:2]) for mark in marks if mark[:2] != (label.x, label.y))
        if any(math.dist((x + offset[0], y + offset[1]), other) < away for other in others):
            return True
    return abs(offset[1]) > 2 * LINE


def _pointing(label: MarkLabel, text: str, offset: tuple[float, float], has_line: bool) -> dict[str, Any]:
    words = safe(text)
    return {
        **{"x": label.x, "y": label.y, "ax": offset[0], "ay": -offset[1], "text": words},
        **{"showarrow": True, "arrowhead": 0, "arrowwidth": 1, "borderpad": 0, "standoff": 5},
        **{"arrowcolor": LIGHT if has_line else "rgba(0,0,0,0)", "xanchor": "center", "yanchor": "middle"},
    } | ({"text": f"<b>{words}</b>"} if label.is_bold else {})


def _above(number: int, line: ReferenceLine) -> dict[str, Any]:
    side = "right" if line.x > 0.5 else "left"
    return {
        **{"x": line.x, "y": 1.0, "yref": "paper", "text": safe(line.name), "showarrow": False},
        **{"xanchor": side, "yanchor": "bottom", "yshift": LINE * number},
    }


def _written_at(x: float, y: float, text: str, left: float, up: float, anchor: str = "bottom") -> dict[str, Any]:
    """Return a text whose left end is so many pixels from the left edge of a printed figure."""
    return {
        **{"x": x, "y": y, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": anchor, "align": "left"},
        **{"text": safe(text), "showarrow": False, "borderpad": 0, "xshift": left - _LEFT, "yshift": up},
    }


def _shortened(text: str, width: float) -> str:
    """Return the text with so much of its middle left out that it fits; names often differ at their ends."""
    kept = len(text)
    while kept > 2 and text_width(shown := _without_middle(text, kept), False) > width:
        kept -= 1
    return shown if kept > 2 else text[:1]


def _without_middle(text: str, kept: int) -> str:
    end = kept // 2
    return text if kept >= len(text) else f"{text[: kept - end]}…{text[len(text) - end :]}"


def _wrapped(text: str, width: float) -> list[str]:
    """Return the lines of a text of that width in pixels; a longer word has a line of its own."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if text_width(longer, False) > width and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


# Places for labels


def offsets(
    labels: Sequence[MarkLabel],
    texts: Sequence[str],
    scales: Sequence[Scale],
    marks: Sequence[tuple[float, float, float]],
    bars: Sequence[tuple[float, float, float, float]] = (),
    steps: int = _NEAR,
) -> list[tuple[float, float] | None]:
    """Return for each text the offset of its middle from its mark, in pixels to the right and up; None if there is no
    room. An allowed place covers no mark and no earlier text, in any of the `scales`. The nearest is used, and of
    those as near the one that crosses the fewest bars in the middle scale. `steps`: how many lines away a text may be.
    """
    taken = [[_around(*scale.pixels(x, y), size / 2 + 2, size / 2 + 2) for x, y, size in marks] for scale in scales]
    middle = len(scales) // 2
    crossing = [_box(scales[middle], bar) for bar in bars]
    found: list[tuple[float, float] | None] = []
    for label, text in zip(labels, texts, strict=True):
        half, best = text_width(text) / 2 + 2, None
        mark = max((size / 2 + 2 for x, y, size in marks if (x, y) == (label.x, label.y)), default=0.0)
        starts = [scale.pixels(label.x, label.y) for scale in scales]
        for _, ring in groupby(_places(half, mark, steps), key=lambda one: one[0]):
            allowed: list[tuple[int, int, float, float, list[Box]]] = []
            for _, right, up in ring:
                boxes = [_around(x + right, y + up, half, LINE / 2) for x, y in starts]
                if all(
                    _within(box, scale) and not any(_meet(box, other) for other in others)
                    for box, scale, others in zip(boxes, scales, taken, strict=True)
                ):
                    allowed.append((sum(_meet(boxes[middle], bar) for bar in crossing), len(allowed), right, up, boxes))
            if allowed:
                best = min(allowed)
                break
        found.append(best[2:4] if best else None)
        for others, box in zip(taken, best[4] if best else (), strict=False):
            others.append(box)
    return found


def _places(half: float, mark: float, steps: int) -> Iterator[tuple[int, float, float]]:
    """Yield the distance in lines and the offsets to try around a mark, for a text of that half width: the four
    corners, the sides, above and below, then further away all around.
    """
    side, above = half + mark, mark + LINE / 2 + 1
    yield from ((0, right, up) for up in (12.0, -12.0) for right in (side, -side))
    yield from ((0, right, up) for right, up in ((side + 1, 0.0), (-side - 1, 0.0), (0.0, above), (0.0, -above)))
    for step in range(1, steps + 1):
        far = (LINE + 1.0) * step
        for turn in range(16):
            across, up = math.cos(math.pi * turn / 8), math.sin(math.pi * turn / 8)
            yield step, across * (side + far), up * (above + far)


def _around(x: float, y: float, across: float, up: float) -> Box:
    return x - across, y - up, x + across, y + up


def _box(scale: Scale, bar: tuple[float, float, float, float]) -> Box:
    (left, low), (right, high) = scale.pixels(*bar[:2]), scale.pixels(*bar[2:])
    return min(left, right) - 1, min(low, high) - 1, max(left, right) + 1, max(low, high) + 1


def _within(box: Box, scale: Scale) -> bool:
    return box[0] >= 0 and box[1] >= 0 and box[2] <= scale.width and box[3] <= scale.height


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
