"""Tables and pictures that can be downloaded, and buttons."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from core.charts import printed
from core.labs.base.lab import Lab
from core.paper_figures import figures
from core.report import export
from core.report.viewer_assets import plotly_version, printing_script

if TYPE_CHECKING:
    from pandas import DataFrame
    from plotly.graph_objects import Figure


# How pictures are shown.


PLAIN = {"displayModeBar": False}
"""Hides the tool bar, which covers the legend on a phone."""


def saved_as(name: str) -> dict[str, object]:
    """Return a tool bar with one tool, which saves the picture as a PNG file of that name, as it is on the screen."""
    return {
        "displaylogo": False,
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {"format": "png", "filename": name, "scale": 2},
    }


WITHOUT_THEIRS = '<style>[data-testid="stElementToolbar"] [aria-label^="Download as CSV"] {display: none}</style>'
"""Hides Streamlit's own download button: in its file, text written by a model could act as a formula."""


def table(rows: Any, key: str, alt: str, **more: Any) -> Any:
    """Draw a table without row numbers, with empty cells left blank; `more` goes to Streamlit. Returns the selection if
    rows can be selected.
    """
    return st.dataframe(rows, hide_index=True, placeholder="", key=key, alt=alt, **more)


def opens(cases: Sequence[str], key: str) -> dict[str, Any]:
    """Return the arguments that make a click on a table's row open its case on this page; `key` is the table's."""

    def show() -> None:
        if rows := st.session_state[key]["selection"]["rows"]:
            st.query_params["case"] = cases[rows[0]]

    return {"on_select": show, "selection_mode": "single-row"}


def draw_published(lab: Lab, words: Mapping[str, str], key: str) -> None:
    """Draw the figures that the lab's paper reported, with their place in the paper; `words` replaces values by their
    titles.
    """
    import pandas as pd

    frame = pd.DataFrame(figures(lab.name)).replace(dict(words))
    frame["metric"] = [lab.metric(name).title for name in frame["metric"]]
    st.subheader("What the paper reported", anchor=False)
    frame = frame.rename(columns=lambda name: str(name).replace("_", " ").capitalize())
    table(frame, key, "Published figures with their place in the paper")


def as_csv(frame: DataFrame | Callable[[], DataFrame], name: str) -> None:
    """Draw a button that downloads the table as CSV; a table given as a function is made at the click."""
    as_file(frame, name, "csv")


def as_file(frame: DataFrame | Callable[[], DataFrame], name: str, kind: export.Kind) -> None:
    """Draw a button that downloads the table as a file of that kind, as `as_csv` does."""
    form = export.FORMATS[kind]

    def made() -> bytes:
        return export.table(frame() if callable(frame) else frame, kind)

    download(f"Download as {form.title}", made, f"{name}.{kind}", form.mime, "table", f"{kind}-{name}")


def button(
    label: str, icon: str, key: str, does: Callable[..., None], *args: Any, type: Any = "tertiary", **more: Any
) -> None:
    """Draw a button. When it is pressed, `does` is called with `args` before the page is drawn again; `more` goes to
    Streamlit.
    """
    st.button(label, icon=f":material/{icon}:", key=key, on_click=does, args=args, type=type, **more)


def download(
    label: str, content: Any, name: str, mime: str, icon: str, key: str, help: str | None = None, type: Any = "tertiary"
) -> None:
    """Draw a button that downloads a file without redrawing the page; content given as a function is made at the
    click.
    """
    look = {"icon": f":material/{icon}:", "type": type}
    st.download_button(label, content, name, mime, key, help, on_click="ignore", **look)


# Pictures for a paper, as a Streamlit component (core/report/viewer/printed.js): the browser draws, the server makes
# the file.


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
    wide, high_px = drawn.layout.width, drawn.layout.height
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
