"""Pictures for a paper: a figure at a width in centimetres, in grey if wanted, and the files that are made of it.

A browser draws the figure (core/report/viewer/printed.js), so that no second browser is needed; svglib and ReportLab
turn its SVG into PDF. What comes from the browser is untrusted: only elements and attributes that Plotly uses are kept.
"""

from __future__ import annotations

import re
import struct
import zlib
from io import BytesIO
from typing import TYPE_CHECKING, Any

from ..package_data import DATA
from .labels import is_labelled, write_for_paper
from .marks import FAINT

if TYPE_CHECKING:
    from lxml.etree import _Element
    from pandas import DataFrame, Series
    from plotly.graph_objects import Figure


WIDTHS = (4.0, 40.0)
"""The least and the largest width, in centimetres."""

CM = 96 / 2.54
"""Pixels per centimetre, as CSS and SVG count."""

NARROWEST = 480
"""Pixels. A narrower picture is drawn at this width and made smaller, because labels beside marks need the room."""

_TEXT = 12
"""Size of the text in pixels as drawn: 9 points where the picture is not made smaller."""

DPI = 300

LONGEST = 1_500_000
"""Characters of an SVG that are accepted. A picture of 40 groups has 100,000."""

MOST = 10_000
"""Elements of an SVG that are accepted."""

LONGEST_PNG = 20_000_000
"""Bytes of a PNG that are accepted."""

LIGHTEST = 0x76
"""The lightest grey of a mark or line, of 255: its contrast with white paper is 4.5 to 1."""

SYMBOLS = tuple(
    name + form
    for form in ("", "-open")
    for name in (
        *("circle", "square", "diamond", "triangle-up", "x", "star", "triangle-down", "cross", "pentagon"),
        *("hexagram", "bowtie", "hourglass"),
    )
)

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")

LEVELS = ("#ffffff", "#bdbdbd", "#e6e6e6", "#9a9a9a", "#d4d4d4", "#adadad")
"""The fills of bars in grey, all light enough for black words on them. Bars have a black outline too."""

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")

SVG = "http://www.w3.org/2000/svg"

_ELEMENTS = frozenset(
    ("svg", "g", "defs", "clipPath", "path", "rect", "circle", "line", "polyline", "polygon", "text", "tspan")
)
_ATTRIBUTES = frozenset(
    (
        *("id", "d", "x", "y", "x1", "x2", "y1", "y2", "dx", "dy", "cx", "cy", "r", "rx", "ry", "width", "height"),
        *("points", "viewBox", "transform", "style", "clip-path", "clip-rule", "display", "opacity", "text-anchor"),
        *("fill", "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray"),
        *("stroke-linecap", "stroke-linejoin", "stroke-miterlimit"),
        *("font-family", "font-size", "font-style", "font-weight"),
    )
)
_REFERENCE = re.compile(r"""url\((?!['"]?#[\w-]{1,100}['"]?\))|@|\\|expression""", re.IGNORECASE)
"""A reference to anything but a part of the same picture."""


class PrintError(ValueError):
    """A picture that cannot be made, and why."""


def size(figure: Figure, width_cm: float) -> tuple[int, int]:
    """Return width and height in pixels at which the figure is drawn, before it is made as wide as wanted."""
    return max(round(width_cm * CM), NARROWEST), int(figure.layout.height or 450)


def points_of_text(width_cm: float) -> float:
    """Return the size of most text, in points, in a picture of that width."""
    return round(_TEXT * 0.75 * min(1.0, width_cm * CM / NARROWEST), 1)


def for_paper(figure: Figure, width_cm: float, is_grey: bool) -> Figure:
    """Return a copy on white paper, in Helvetica, of the size in pixels at which it is drawn: that of `size`, or higher
    if a key of names is below it. In grey, marks and lines that a legend tells apart differ by symbol and dash, and
    bars by lightness.
    """
    import plotly.graph_objects as go

    copy = go.Figure(figure)
    wide, high = size(figure, width_cm)
    family = "Helvetica, Arial, sans-serif"
    copy.update_layout(
        template="plotly_white", width=wide, height=high, font={"family": family, "size": _TEXT, "color": "#000000"}
    )
    copy.update_xaxes(showline=True, linecolor="#000000", ticks="outside")
    if is_labelled(copy):
        write_for_paper(copy, wide)
    return _grey(copy) if is_grey else copy


def _grey(figure: Figure) -> Figure:
    import plotly.graph_objects as go

    told = [trace for trace in figure.data if trace.showlegend is not False and trace.type == "scatter"]
    places = {name: place for place, name in enumerate(dict.fromkeys(_legend(trace) for trace in told))}
    marked = [trace for trace in figure.data if _legend(trace) in places and "markers" in (trace.mode or "")]
    # Marks that differ already keep their symbols, which may have a meaning.
    is_distinct = len({str(trace.marker.symbol) for trace in marked}) >= len({_legend(trace) for trace in marked})
    for number, trace in enumerate(trace for trace in figure.data if trace.type == "bar"):
        trace.update(marker={"color": LEVELS[number % len(LEVELS)], "line": {"color": "#000000", "width": 1}})
        trace.update(textfont={"color": "#000000"})
    for trace in (trace for trace in figure.data if trace.type == "scatter"):
        place, mode = places.get(_legend(trace)), trace.mode or ""
        if place is not None and "markers" in mode and not is_distinct:
            trace.marker.symbol = SYMBOLS[place % len(SYMBOLS)]
        if place is not None and "lines" in mode and not trace.line.dash:
            trace.line.dash = DASHES[place % len(DASHES)]
        if "markers" in mode and trace.textposition in (None, "middle center"):
            # Numbers on marks, which are black unless they are open.
            trace.textfont.color = "#000000" if "open" in str(trace.marker.symbol) else "#ffffff"
        if trace.opacity is not None and trace.opacity > FAINT:
            trace.opacity = 1.0
    figure.update_layout(colorway=["#000000"])
    plain = figure.to_plotly_json()
    template = plain["layout"].pop("template")
    return go.Figure({"data": _in_grey(plain["data"]), "layout": {**_in_grey(plain["layout"]), "template": template}})


def _legend(trace: Any) -> str:
    """Return what a legend tells the trace by."""
    return str(trace.legendgroup or trace.name)


def _in_grey(part: Any) -> Any:
    """Return a part of a figure without colours: those are black, and greys as dark as they must be to be seen."""
    if isinstance(part, dict):
        return {name: _in_grey(value) for name, value in part.items()}
    if isinstance(part, (list, tuple)):
        return [_in_grey(value) for value in part]
    if not isinstance(part, str) or not _COLOUR.fullmatch(part) or part in LEVELS:
        return part
    level = min(int(part[1:3], 16), LIGHTEST) if part[1:3] == part[3:5] == part[5:] else 0
    return "#" + 3 * f"{level:02x}"


def svg(text: str, width_cm: float) -> bytes:
    """Return an SVG file of that width, with only what Plotly draws. Raises PrintError if the text is no such SVG."""
    from lxml import etree

    root = _cleaned(text)
    wide, high = _box(root)
    root.set("width", f"{width_cm:g}cm")
    root.set("height", f"{width_cm * high / wide:.3f}cm")
    return bytes(etree.tostring(root, xml_declaration=True, encoding="utf-8"))


def pdf(text: str, width_cm: float) -> tuple[bytes, str]:
    """Return a PDF of one page of that width, made of an SVG, and the characters that its fonts lack, which are drawn
    as boxes. Raises PrintError.
    """
    from lxml import etree
    from reportlab.graphics import renderPDF
    from svglib.svglib import svg2rlg

    root = _cleaned(text)
    _box(root)
    _give_opacity_to_shapes(root)
    missing = {letter for words in root.itertext() for letter in words if _is_missing(letter)}
    try:
        drawing: Any = svg2rlg(BytesIO(etree.tostring(root)))
        scale = width_cm / 2.54 * 72 / drawing.width
        drawing.scale(scale, scale)
        drawing.width, drawing.height = drawing.width * scale, drawing.height * scale
        return bytes(renderPDF.drawToString(drawing)), "".join(sorted(missing))
    except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise PrintError("The picture cannot be turned into a PDF. Save it as SVG.") from error


def png(content: bytes) -> bytes:
    """Return a PNG file that says how large it is printed (DPI). Raises PrintError if it is no PNG."""
    if content[:8] != b"\x89PNG\r\n\x1a\n" or content[12:16] != b"IHDR" or len(content) > LONGEST_PNG:
        raise PrintError("The browser sent no picture. Reload the page and try again.")
    a_metre = round(DPI / 0.0254)
    chunk = b"pHYs" + struct.pack(">IIB", a_metre, a_metre, 1)
    return content[:33] + struct.pack(">I", 9) + chunk + struct.pack(">I", zlib.crc32(chunk)) + content[33:]


def _cleaned(text: str) -> _Element:
    """Return the root of an SVG with only the elements and attributes that are allowed. Raises PrintError."""
    from lxml import etree

    refused = PrintError("The browser sent no picture that can be saved. Reload the page and try again.")
    if len(text) > LONGEST:
        raise PrintError("The picture has too many marks for a file. Filter it, or save it as PNG.")
    if "<!" in text:
        raise refused
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    try:
        root = etree.fromstring(text.encode("utf-8"), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise refused from error
    if root.tag != f"{{{SVG}}}svg":
        raise refused
    for number, one in enumerate([*root.iter()]):
        if number > MOST:
            raise PrintError("The picture has too many marks for a file. Filter it, or save it as PNG.")
        name = one.tag.removeprefix(f"{{{SVG}}}") if isinstance(one.tag, str) else ""
        if name not in _ELEMENTS:
            if one.getparent() is not None:
                one.getparent().remove(one)
            continue
        for attribute, value in one.items():
            if attribute not in _ATTRIBUTES or _REFERENCE.search(value):
                del one.attrib[attribute]
    return root


def _give_opacity_to_shapes(root: _Element) -> None:
    """Multiply the opacity of groups into that of their shapes, because svglib leaves out that of a group."""
    above = {root: 1.0}
    for one in root.iterdescendants():
        parts = (part.partition(":") for part in one.get("style", "").split(";") if ":" in part)
        style = {name.strip(): value.strip() for name, _, value in parts}
        above[one] = above[one.getparent()] * _number(style.pop("opacity", "1"))
        if len(one) == 0 and above[one] < 1:
            for name in ("fill-opacity", "stroke-opacity"):
                style[name] = f"{_number(style.get(name, '1')) * above[one]:.4g}"
        one.set("style", "; ".join(f"{name}: {value}" for name, value in style.items()))


def _number(text: str) -> float:
    """Return an opacity, 1 if the text is none."""
    try:
        return min(max(float(text), 0.0), 1.0)
    except ValueError:
        return 1.0


def _box(root: _Element) -> tuple[float, float]:
    """Return width and height of an SVG's view box. Raises PrintError if it has none."""
    found = re.fullmatch(r"0 0 (\d{2,5}) (\d{2,5})", root.get("viewBox", ""))
    if not found:
        raise PrintError("The browser sent a picture without a size. Reload the page and try again.")
    return float(found[1]), float(found[2])


def _is_missing(letter: str) -> bool:
    """Whether the fonts of every PDF reader lack this character. ReportLab then draws a box, from Zapf Dingbats."""
    from reportlab.pdfbase import pdfmetrics

    if letter.isascii() or letter == "■":
        return False
    font = pdfmetrics.getFont("Helvetica")
    return [drawn for _, drawn in pdfmetrics.unicode2T1(letter, [font, *font.substitutionFonts])] == [b"n"]


# Short Python programs that draw a picture of Browse from its table, downloaded as CSV, with pandas and plotly alone:
# `data/programs`.
#
# Each is for a paper: the marks and error bars are those of the picture, and marks differ by symbol as well as by
# colour, so that they can be told apart in grey. A paper's published figures, which are not in the file, are left
# out.


def script(program: str, **constants: object) -> str:
    """Return the program of that name with these values of its constants, written as Python literals, so that no text
    from a model or a person can act as code.
    """
    lines = (DATA / "programs" / f"{program}.py").read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(
        f"{name} = {constants[name]!r}\n" if (name := line.partition(" = ")[0]) in constants else line for line in lines
    )


# The caption of a picture for a paper: how many things a mark rests on, which interval its bars show, its baseline.


METHODS = {
    "wilson over items": "Wilson's score interval",
    "wilson over items, by their spread": "Wilson's score interval with n adjusted to the spread",
    "bonett and price over items": "Bonett and Price's interval of a paired difference",
    "t over items": "Student's t interval",
    "order statistics over items": "order statistics of the median",
}
"""What the methods of `core.statistics.interval_of_items` are called in a paper."""


def caption(table: DataFrame, things: str, baseline: str) -> str:
    """Return three short sentences on the `table` of a picture: n, the kind of interval and the baseline.

    `things` is the plural of what n counts. n is the column `items` or, without it, `n`, a number for each mark; else
    the sum of the column `checks`, or the number of rows. The methods of the intervals are in the column `interval` or,
    beside `macro`, in `how`. An empty `baseline` is said to be none.
    """
    said = [f"n = {_counted(table)} ({things}{' behind each mark' if {'items', 'n'} & {*table} else ''})."]
    methods = table["interval"] if "interval" in table else table["how"] if "macro" in table else None
    said.append("No intervals." if methods is None else _intervals(methods, things))
    said.append(f"Baseline: {baseline or 'none is drawn'}.")
    return " ".join(said)


def _counted(table: DataFrame) -> str:
    name = next((name for name in ("items", "n") if name in table), None)
    if name is None:
        return f"{int(table['checks'].sum()) if 'checks' in table else len(table):,}"
    low, high = int(table[name].min()), int(table[name].max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _intervals(methods: Series[str], things: str) -> str:
    of_marks = methods.tolist()
    used = [words for method, words in METHODS.items() if method in of_marks]
    without = sum(method not in METHODS for method in of_marks)
    if not used:
        return "No mark has an interval."
    left = f" {without} of {len(methods)} marks {'has' if without == 1 else 'have'} no interval." if without else ""
    return f"Bars: 95 % intervals over {things} ({'; '.join(used)}).{left}"
