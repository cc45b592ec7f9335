"""Pictures for a paper: grey ones are told apart by marks, and files have the width that was asked for."""

import json
import re
import struct
import time
import zlib
from base64 import b64decode
from itertools import pairwise

import plotly.graph_objects as go
import pytest

from core.charts import printed
from core.charts.marks import FAINT, PALETTE

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 642 400">{}</svg>'


def figure() -> go.Figure:
    drawn = go.Figure()
    for number, colour in enumerate(PALETTE):
        drawn.add_scatter(
            x=[number], y=[1], name=f"model {number}", mode="lines+markers", marker={"color": colour}, opacity=FAINT
        )
    drawn.add_scatter(x=[0], y=[0], mode="markers", marker={"color": "#9C9C9C"}, showlegend=False, opacity=0.75)
    for name in ("yes", "no"):
        drawn.add_bar(x=[1], y=[1], name=name, marker={"color": PALETTE[0]}, text=[name])
    return drawn.update_layout(height=500)


def contrast_with_white(colour: str, opacity: float = 1.0) -> float:
    levels = [255 - opacity * (255 - int(colour[at : at + 2], 16)) for at in (1, 3, 5)]
    linear = [(one / 255 + 0.055) / 1.055 for one in levels]
    light = sum(
        part * (level / 12.92 / 255 if level <= 10 else one**2.4)
        for part, one, level in zip((0.2126, 0.7152, 0.0722), linear, levels, strict=True)
    )
    return 1.05 / (light + 0.05)


def test_a_grey_picture_has_no_colour_and_tells_series_apart_without() -> None:
    grey = printed.for_paper(figure(), 17.0, is_grey=True)
    text = json.dumps({**grey.to_plotly_json(), "layout": {**grey.to_plotly_json()["layout"], "template": ""}})
    colours = set(re.findall(r"#[0-9a-fA-F]{6}", text))
    assert colours and all(one[1:3] == one[3:5] == one[5:] for one in colours)
    scatter = [trace for trace in grey.data if trace.type == "scatter" and trace.showlegend is not False]
    assert len({trace.marker.symbol for trace in scatter}) == len(scatter) == len(PALETTE)
    assert len({trace.line.dash for trace in scatter}) == len(scatter)
    for trace in grey.data:
        if trace.type == "scatter":
            assert contrast_with_white(trace.marker.color, trace.opacity) >= 3
    bars = [trace for trace in grey.data if trace.type == "bar"]
    assert len({trace.marker.color for trace in bars}) == 2 and {trace.marker.line.color for trace in bars} == {
        "#000000"
    }
    assert {trace.textfont.color for trace in bars} == {"#000000"}
    assert contrast_with_white("#777777") == pytest.approx(4.48, abs=0.01), "the test's own measure"


def test_in_colour_the_marks_stay_as_they_are_and_the_paper_is_white() -> None:
    drawn = printed.for_paper(figure(), 8.5, is_grey=False)
    assert [trace.marker.color for trace in drawn.data] == [trace.marker.color for trace in figure().data]
    assert (drawn.layout.width, drawn.layout.height) == (printed.NARROWEST, 500) == printed.size(figure(), 8.5)
    assert drawn.layout.template.layout.paper_bgcolor == "white"
    assert printed.points_of_text(17.0) == 9.0 and printed.points_of_text(8.5) == 6.0


def test_files_have_the_width_in_centimetres() -> None:
    pytest.importorskip("svglib")
    text = SVG.format('<path d="M1,1L600,300" style="stroke: rgb(0, 0, 0)"/><text x="5" y="9">λ ≤ 2 · Жя</text>')
    content, missing = printed.pdf(text, 8.5)
    [box] = re.findall(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", content)
    assert content.startswith(b"%PDF-")
    assert float(box[0]) == pytest.approx(8.5 / 2.54 * 72, abs=0.01)
    assert float(box[1]) == pytest.approx(8.5 / 2.54 * 72 * 400 / 642, abs=0.01)
    assert missing == "Жя", "Greek and signs are in the fonts that every reader has"
    assert b'width="8.5cm" height="5.296cm"' in printed.svg(text, 8.5)


def test_a_faint_group_is_faint_in_the_pdf_too() -> None:
    pytest.importorskip("svglib")
    path = '<path d="M1,1L600,300" style="stroke: rgb(0, 0, 0); stroke-opacity: 0.5"/>'
    text = SVG.format(f'<g style="opacity: 0.5"><g style="opacity: 0.5">{path}</g></g>')
    root = printed._cleaned(text)
    printed._give_opacity_to_shapes(root)
    assert "stroke-opacity: 0.125" in root[0][0][0].get("style", "") and "opacity" not in root[0].get("style", "")


def test_a_png_says_how_large_it_is() -> None:
    plain = b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
    sized = printed.png(plain)
    length, kind, across, down, unit = struct.unpack(">I4sIIB", sized[33:50])
    assert (length, kind, across, down, unit) == (9, b"pHYs", 11_811, 11_811, 1), "300 dots an inch"
    assert struct.unpack(">I", sized[50:54])[0] == zlib.crc32(sized[37:50])
    assert sized[:33] + sized[54:] == plain
    with pytest.raises(printed.PrintError):
        printed.png(b"GIF89a")


HOSTILE = [
    '<image href="file:///etc/passwd"/>',
    '<image xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="http://169.254.169.254/"/>',
    '<use href="/etc/hosts#a"/>',
    "<script>alert(1)</script>",
    "<style>@import url(http://x/a.css);</style>",
    '<path d="M1,1" onload="alert(1)" style="fill: url(http://x/y)"/>',
    '<path d="M1,1" style="fill: u\\72l(http://x/y)"/>',
    '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"/></foreignObject>',
    '<g clip-path="url(file:///etc/passwd)"/>',
]


@pytest.mark.parametrize("part", HOSTILE)
def test_nothing_but_what_is_drawn_is_kept_of_an_svg(part: str) -> None:
    found = printed.svg(SVG.format(part + '<rect width="3" height="3"/>'), 8.5).decode()
    assert not re.search(r"script|import|url|href|onload|image|use|style>|foreign|passwd", found, re.I)
    assert "<rect" in found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<svg",
        "<html/>",
        "x" * (printed.LONGEST + 1),
        '<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + SVG.format("<text>&a;</text>"),
        SVG.format("<g/>" * (printed.MOST + 1)),
        SVG.format("<g>" * 5_000 + "</g>" * 5_000),
        SVG.replace("642", "9e999"),
        SVG.format("\x00"),
    ],
)
def test_what_is_no_picture_is_refused_kindly(text: str) -> None:
    with pytest.raises(printed.PrintError, match=r"^The (browser|picture) .*\.$"):
        printed.svg(text, 8.5)
    with pytest.raises(printed.PrintError):
        printed.pdf(text, 8.5)


@pytest.mark.thorough
def test_a_pdf_takes_time_in_proportion_to_the_picture() -> None:
    pytest.importorskip("svglib")
    parts = ('<path d="M1,1L2,2" style="opacity: 0.5"/>', "L2,2", "word ", "fill: red; ")
    around = ("{}", '<path d="M1,1{}"/>', "<text>{}</text>", '<text style="{}">a</text>')
    for part, form in zip(parts, around, strict=True):
        took = []
        for count in (1_000, 2_000, 4_000):
            start = time.process_time()
            printed.pdf(SVG.format(form.format(part * count)), 8.5)
            took.append(time.process_time() - start)
        assert all(later < 0.3 or later < 3 * earlier for earlier, later in pairwise(took)), (part, took)
