"""Tables that one may take along."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import streamlit as st

from core.lab.lab import Lab
from core.published import figures
from core.telling import export

if TYPE_CHECKING:
    from pandas import DataFrame

WITHOUT_THEIRS = '<style>[data-testid="stElementToolbar"] [aria-label^="Download as CSV"] {display: none}</style>'
"""Streamlit's own button makes a file in which what a model wrote can be a formula."""


def published(lab: Lab, words: Mapping[str, str], key: str) -> None:
    """The figures that the lab's paper reported, with their place, in `words` for its values."""
    import pandas as pd

    frame = pd.DataFrame(figures(lab.name)).replace(dict(words))
    frame["metric"] = [lab.metric(name).title for name in frame["metric"]]
    st.subheader("What the paper reported", anchor=False)
    st.dataframe(
        frame.rename(columns=lambda name: str(name).replace("_", " ").capitalize()),
        hide_index=True, placeholder="", key=key, alt="Published figures with their place in the paper",
    )  # fmt: skip


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
