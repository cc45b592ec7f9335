"""What holds where two processes of the app work on one folder of runs."""

from __future__ import annotations

import streamlit as st

from core.store.keeper import Keeper


def note(keeper: Keeper) -> None:
    """In the second of two processes: what it can do, and what it cannot."""
    if keeper.beside is None:
        return
    who = f"process {keeper.beside.pid}" if keeper.beside.pid else "another process"
    st.info(
        f"Another copy of this app ({who}) works on the same runs. This one keeps a list of its own, with all of them: "
        "look, search, query, export and begin runs here as usual. A run that goes on over there can be watched here, "
        "and stopped only there.",
        icon=":material/content_copy:",
    )
