"""Tables that one may take along."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.text.cells import csv

if TYPE_CHECKING:
    from pandas import DataFrame

WITHOUT_THEIRS = '<style>[data-testid="stElementToolbar"] [aria-label^="Download as CSV"] {display: none}</style>'
"""Streamlit's own button makes a file in which what a model wrote can be a formula."""


def as_csv(table: DataFrame, name: str) -> None:
    """A button that downloads the table under that name."""
    st.download_button(
        "Download as CSV",
        lambda: csv(table),
        file_name=f"{name}.csv",
        mime="text/csv",
        icon=":material/table:",
        on_click="ignore",
        type="tertiary",
        key=f"csv-{name}",
    )
