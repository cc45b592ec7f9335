"""Pictures for a paper, as a Streamlit component (core/report/viewer/printed.js): the browser draws, the server makes
the file.
"""

from __future__ import annotations

import base64
import binascii
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from core.charts import printed
from core.report.viewer_assets import plotly_version, printing_script
from pages.components.tables import download

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Kind = Literal["PDF", "SVG", "PNG"]

_MIME = {"PDF": "application/pdf", "SVG": "image/svg+xml", "PNG": "image/png"}

_KEPT = "printed-"


@cache
def _component() -> Any:
    return st.components.v2.component("printed", html='<div class="printed"></div>', js=printing_script())


def save_for_paper(figure: Figure, name: str, alt: str) -> None:
    """Let the reader choose kind, width and grey, show the picture as it will be, and offer its file."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind: Kind = st.segmented_control(
            "File", ["PDF", "SVG", "PNG"], default="PDF", required=True, key=f"{name}-file"
        )
        low, high = printed.WIDTHS
        width = st.number_input("Width in cm", low, high, 17.0, 0.5, format="%.1f", width=150, key=f"{name}-width")
        is_grey = st.toggle("Grey", help="Lines differ by marks and dashes, not by colour.", key=f"{name}-grey")
    drawn = printed.for_paper(figure, width, is_grey)
    wide, high_px = printed.size(figure, width)
    text = str(drawn.to_json())
    wanted = sha256(f"{kind} {width} {text}".encode()).hexdigest()[:16]
    data = {
        **{"id": wanted, "figure": text, "width": wide, "height": high_px, "wide": width, "kind": kind, "alt": alt},
        "scale": printed.DPI / 96 * width * printed.CM / wide,
        "plotly": f"/stage/{plotly_version()}/plotly.js",
    }
    made = _component()(data=data, key=f"{name}-printed", on_made_change=lambda: None).made
    if made and made.get("id") == wanted:
        st.session_state[_KEPT + name] = wanted, *_file(kind, str(made.get("file", "")), width)
    of, content, said = st.session_state.get(_KEPT + name, ("", b"", ""))
    if of != wanted:
        st.caption("Drawing the picture …")
        return
    st.caption(f"Most text is {printed.points_of_text(width):g} pt high. {said}".strip())
    if content:
        download(f"Download {kind}", content, f"{name}.{kind.lower()}", _MIME[kind], "print", f"{name}-download")


def _file(kind: Kind, drawn: str, width: float) -> tuple[bytes, str]:
    """Return the content of the file and what is to be said of it; no content if it cannot be made."""
    try:
        if kind == "PNG":
            return printed.png(base64.b64decode(drawn[: 2 * printed.LONGEST_PNG], validate=True)), ""
        if kind == "SVG":
            return printed.svg(drawn, width), ""
        content, missing = printed.pdf(drawn, width)
    except binascii.Error:
        return b"", "The browser sent no picture. Reload the page and try again."
    except printed.PrintError as error:
        return b"", str(error)
    lacks = f"The PDF's fonts lack {missing[:40]}, drawn as boxes: save it as SVG." if missing else ""
    return content, lacks
