"""Tables that one may take along."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from core.store import export

if TYPE_CHECKING:
    from pandas import DataFrame

WITHOUT_THEIRS = '<style>[data-testid="stElementToolbar"] [aria-label^="Download as CSV"] {display: none}</style>'
"""Streamlit's own button makes a file in which what a model wrote can be a formula."""


def as_csv(table: DataFrame | Callable[[], DataFrame], name: str) -> None:
    """A button that downloads the table under that name; one that is given as a function is made when it is wanted."""
    as_file(table, name, "csv")


def as_file(table: DataFrame | Callable[[], DataFrame], name: str, kind: export.Kind) -> None:
    """The same, as a file of that kind."""
    st.download_button(
        f"Download as {export.FORMATS[kind].title}",
        lambda: export.table(table() if callable(table) else table, kind),
        file_name=f"{name}.{kind}",
        mime=export.FORMATS[kind].mime,
        icon=":material/table:",
        on_click="ignore",
        type="tertiary",
        key=f"{kind}-{name}",
    )
