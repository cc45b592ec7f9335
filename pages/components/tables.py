"""Tables that can be downloaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.labs.base.lab import Lab
from core.paper_figures import figures
from core.report import export

if TYPE_CHECKING:
    from pandas import DataFrame

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
    download(
        f"Download as {form.title}",
        lambda: export.table(frame() if callable(frame) else frame, kind),
        f"{name}.{kind}",
        form.mime,
        "table",
        f"{kind}-{name}",
    )


def download(
    label: str, content: Any, name: str, mime: str, icon: str, key: str, help: str | None = None, type: Any = "tertiary"
) -> None:
    """Draw a button that downloads a file without redrawing the page; content given as a function is made at the
    click.
    """
    st.download_button(
        label,
        content,
        file_name=name,
        mime=mime,
        icon=f":material/{icon}:",
        on_click="ignore",
        type=type,
        key=key,
        help=help,
    )
