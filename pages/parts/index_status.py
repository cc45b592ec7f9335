"""The index of the runs, opened for a page."""

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
