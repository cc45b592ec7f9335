"""There is one place for colours, they can be read in both schemes, and one accent colour is used everywhere."""

import colorsys
import re
import tomllib
from pathlib import Path

import pytest

from core.charts.marks import OURS
from core.report.viewer_assets import viewer_style

ROOT = Path(__file__).resolve().parents[3]
NAMED = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", viewer_style("base.css"))
SCHEMES = {"light": {name: one for name, one, _ in NAMED}, "dark": {name: one for name, _, one in NAMED}}
READ_ON = {
    **dict.fromkeys(("ink", "soft", "said", "kept", "broken", "cue"), ("paper", "wash")),
    "on": ("said", "kept", "broken"),
}
WASHED = ("said", "kept", "broken", "cue")
COLOUR = r"(?<![\w&])#(?:[0-9a-f]{3}){1,2}\b|\b(?:rgba?|hsla?|oklch)\("
ELSEWHERE = {
    "data/page/room.css": {"#fff"},
    "data/page/room.js": {"#111"},
    "data/page/worksheet.css": {"#fff", "#000", "#777"},
    "pages/icon.svg": {"#3b2fa0", "#fff"},
}
"""Colours outside base.css: a QR code is dark on white in both schemes, a sheet is printed, and an icon knows no
variables.
"""


def rgb(colour: str) -> list[float]:
    return [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]


def luminance(colour: str) -> float:
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in rgb(colour)]
    return sum(share * one for share, one in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def hue(colour: str) -> float:
    red, green, blue = rgb(colour)
    return 360 * colorsys.rgb_to_hls(red, green, blue)[0]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_in_every_colour_can_be_read(scheme: str) -> None:
    colours = SCHEMES[scheme]
    pairs = [(name, on) for name, grounds in READ_ON.items() for on in grounds]
    pairs += [(name, f"{name}-wash") for name in WASHED] + [("soft", "said-wash")]
    assert len(colours) >= 15 and {f"{a} on {b}" for a, b in pairs if contrast(colours[a], colours[b]) < 4.5} == set()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_streamlit_draws_with_the_same_colours(scheme: str) -> None:
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"][scheme]
    colours = SCHEMES[scheme]
    accents = ("primary", "link", "blue", "blueText", "violet", "violetText")
    expected = {
        **{f"{name}Color": colours["said"] for name in accents},
        **{f"{name}BackgroundColor": colours["said-wash"] for name in ("blue", "violet")},
        **{"backgroundColor": colours["paper"], "secondaryBackgroundColor": colours["wash"]},
        **{"textColor": colours["ink"], "borderColor": colours["line"]},
    }
    first, *_ = theme.pop("chartCategoricalColors")
    assert theme == expected and first == colours["said"]


def test_no_other_file_has_a_colour_of_its_own() -> None:
    kinds = ("css", "js", "html", "svg")
    folders = ("core/report/viewer", "data/page", "pages")
    files = [path for kind in kinds for folder in folders for path in (ROOT / folder).rglob(f"*.{kind}")]
    found = {
        str(path.relative_to(ROOT)): set(
            re.findall(r"(?<![\w&])#(?:[0-9a-f]{3}){1,2}\b|\b(?:rgba?|hsla?|oklch)\(", text)
        )
        for path in files
        if path.name != "base.css"
        for text in [path.read_text(encoding="utf-8")]
    }
    assert {path: colours for path, colours in found.items() if colours} == ELSEWHERE


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_accent_of_charts_has_the_hue_of_the_page_and_is_seen_on_it(scheme: str) -> None:
    colours = SCHEMES[scheme]
    assert abs(hue(OURS) - hue(colours["said"])) < 3 and contrast(OURS, colours["paper"]) >= 3
