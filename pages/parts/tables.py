"""Tables that one may take along."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import streamlit as st

from core.lab import Lab
from core.published import figures
from core.store import export

if TYPE_CHECKING:
    from pandas import DataFrame

WITHOUT_THEIRS = '<style>[data-testid="stElementToolbar"] [aria-label^="Download as CSV"] {display: none}</style>'
"""Streamlit's own button makes a file in which what a model wrote can be a formula."""


from collections.abc import Callable, Mapping
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
