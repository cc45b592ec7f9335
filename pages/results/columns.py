"""Which columns a list of Browse shows, and in which order; the address has them."""

from __future__ import annotations

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.results import address


def choose_columns(table: pd.DataFrame, line: DeltaGenerator) -> pd.DataFrame:
    """Draw the choice of columns in `line`. Returns the table with those that were chosen, in that order, or with all;
    a column without a name, which marks rows, stays first.
    """
    known = [name for name in table if name]
    now = address.columns(known)
    with line.popover(
        f"Columns: {len(now)} of {len(known)}" if now else "Columns", icon=":material/view_column:", type="tertiary"
    ):
        st.multiselect(
            "Columns, in this order",
            known,
            placeholder="All",
            width=420,
            **address.bound("columns", now, lambda chosen: address.update(columns=chosen)),
        )
    marks = [name for name in table if not name]
    return table[[*marks, *now]] if now else table
