"""What can be downloaded, such as models, parts of the app and data sets: rows that follow the progress."""

from collections.abc import Callable, Sequence

import streamlit as st

from core.models.download import Fetches, What
from pages.components.session import problems
from pages.components.throttle import PACE

SECONDS = 0.5
"""Seconds between two looks at a download."""


def follow(wanted: Sequence[What], fetches: Fetches[What], kind: str, draw: Callable[[What], None]) -> None:
    """Draw each thing that can be downloaded, in a frame whose key is its `kind` and name, again and again while any
    is being downloaded, and the whole page once a download ends.
    """
    going = [fetch for one in wanted if (fetch := fetches.get(one.name)) and fetch.going]

    @st.fragment(run_every=PACE.seconds(SECONDS) if going else None)
    def rows() -> None:
        for one in wanted:
            with st.container(border=True, key=f"{kind}-{one.name}"):
                draw(one)
        if any(not fetch.going for fetch in going):
            st.rerun()

    rows()


def offer(what: What, fetches: Fetches[What], about: str, verb: str, key: str, in_packages: bool = False) -> None:
    """Draw what the thing is (`about`, Markdown) beside a button with that verb, whose key begins with `key`; or the
    progress, in MB or `in_packages`. Packages cannot be stopped.
    """
    fetch = fetches.get(what.name)
    words, button = st.columns([3, 1], vertical_alignment="center")
    words.markdown(about)
    if fetch is not None and fetch.going:
        so_far = f"{fetch.done / 1e6:.0f} of {fetch.size / 1e6:.0f} MB"
        if in_packages:
            so_far = f"{fetch.done} of {fetch.size or 'all'} packages"
        elif button.button("Stop", icon=":material/stop_circle:", key=f"stop-{what.name}"):
            fetch.stop.set()
        words.progress(min(fetch.done / max(fetch.size, 1), 1.0), text=so_far)
        return
    if fetch is not None and fetch.failure is not None:
        problems(fetch.failure)
    if button.button(verb, icon=":material/download:", key=f"{key}-{what.name}"):
        fetches.start(what)
        st.rerun()
