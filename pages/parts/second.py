"""The list of runs, opened for a page; and what holds where two processes of the app work on one folder of runs."""

from __future__ import annotations

import streamlit as st

from core import entry
from core.store.keeper import Keeper
from core.store.store import StoreError
from pages.parts.text import plain
from pages.parts.throttle import waits


def opened() -> Keeper:
    """The list of runs, once it was read; a page that cannot have it says why, and ends here."""
    try:
        keeper = entry.keeper()
    except StoreError as error:
        st.error(plain(str(error)), title="The list of runs cannot be opened", icon=":material/error:")
        st.stop()
    with waits("Reading the journals …"):
        keeper.looked.wait(timeout=60)
    return keeper


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
