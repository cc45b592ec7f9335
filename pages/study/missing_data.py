"""Downloading data sets that a study needs and that are missing."""

from __future__ import annotations

import streamlit as st

from core import entry
from core.datasets import get
from core.datasets.sources import Source
from core.events import CallError
from core.models.download import Fetch
from pages.components.run import problems
from pages.components.text import plain
from pages.components.throttle import PACE, waits

SECONDS = 0.5
"""Seconds between two checks of a download."""


def draw(absent: list[Source]) -> None:
    """Draw a row for each data set."""
    if not absent:
        return
    going = [fetch for one in absent if (fetch := entry.dataset_fetches().get(one.name)) and fetch.going]

    @st.fragment(run_every=PACE.seconds(SECONDS) if going else None)
    def rows() -> None:
        for source in absent:
            with st.container(border=True, key=f"study-data-{source.name}"):
                _row(source)
        if any(not fetch.going for fetch in going):
            st.rerun()

    rows()


def _row(source: Source) -> None:
    """Draw one data set: what it is and, before anything is downloaded, what is known about its files."""
    fetch = entry.dataset_fetches().get(source.name)
    st.markdown(f"**{plain(source.title)}** · licence: {plain(source.licence)} · {plain(source.page)}")
    if fetch is not None and fetch.going:
        _progress(fetch)
        if st.button("Stop", icon=":material/stop_circle:", key=f"study-data-stop-{source.name}"):
            fetch.stop.set()
        return
    if fetch is not None and fetch.failure is not None:
        problems(fetch.failure)
    key = f"study-data-looked-{source.name}"
    if key not in st.session_state:
        if st.button("Look at the download", icon=":material/info:", key=f"study-data-look-{source.name}"):
            try:
                with waits("Asking the server …"):
                    st.session_state[key] = get.list_files(source)
            except CallError as failure:
                problems(failure)
            else:
                st.rerun()
        return
    expected = st.session_state[key]
    st.markdown("  \n".join(plain(line) for line in get.about(source, expected)[2:]))
    with st.expander("Address, size and digest", key=f"study-data-files-{source.name}"):
        st.markdown("\n".join(f"- {plain(line)}" for line in get.about_files(expected)))
    if st.button(f"Download {source.title}", icon=":material/download:", key=f"study-data-get-{source.name}"):
        del st.session_state[key]
        entry.dataset_fetches().start(source)
        st.rerun()


def _progress(fetch: Fetch) -> None:
    if not fetch.done:
        st.progress(0.0, text="Asking the server …")
    elif fetch.done == fetch.size:
        st.progress(1.0, text="Checking and unpacking …")
    else:
        size = f" of {get.mb(fetch.size)}" if fetch.size else ""
        st.progress(min(fetch.done / max(fetch.size, fetch.done), 1.0), text=f"{get.mb(fetch.done)}{size}")
