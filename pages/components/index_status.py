"""The index of the runs, opened for a page."""

from __future__ import annotations

import streamlit as st

from core import entry
from core.store.index_watcher import Keeper
from core.store.store import StoreError
from pages.components.text import plain
from pages.components.throttle import waits


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
