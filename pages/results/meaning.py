"""Browse by meaning: sentence vectors made in the background, rows like a text or a row."""

from functools import partial

import streamlit as st

from core import entry
from core.store import vectors
from core.store.listing import RowPlace, Selection
from core.text import embed
from pages.components.tables import button
from pages.components.text import plain, shortened
from pages.results import address


def encoder() -> embed.Encoder | None:
    """Return the encoder; without one, say what to do."""
    try:
        return embed.encoder()
    except embed.NoEncoderError as error:
        st.error(plain(str(error)), title="Texts cannot be compared by meaning here", icon=":material/error:")
        return None


def when_ready(looked: Selection) -> embed.Encoder | None:
    """Return the encoder once all texts of the selected rows have vectors; until then show how far they are, and draw
    the page again at the end.
    """
    if (by := encoder()) is None:
        return None
    rows = vectors.texts(looked)
    wanted = vectors.all_texts(rows)
    left = vectors.missing(looked.store, by.name, wanted)
    if not left:
        return by
    maker = entry.vector_maker()
    if maker.problem:
        st.error(plain(maker.problem), title="Vectors are missing", icon=":material/error:")
    if not maker.is_busy:
        st.markdown(
            f"{len(left):,} texts have no sentence vector yet. They are computed once, on this machine, and kept."
        )
        words = f"Compute {len(left):,} vectors"
        button(words, "play_arrow", "make-vectors", maker.want, looked.store, left, type="primary")
        return None

    @st.fragment(run_every=1.0)
    def watch() -> None:
        if not maker.is_busy:
            st.rerun()
        share = min(1.0, maker.done / max(1, maker.of))
        st.progress(share, text=f"Sentence vectors: {maker.done:,} of {maker.of:,} texts, in the background.")
        st.button("Stop", icon=":material/stop:", key="stop-vectors", on_click=maker.stop)

    watch()
    return None


def like(looked: Selection) -> None:
    """Draw what the list by meaning is compared with, and how far the vectors are."""
    now = address.like()
    if isinstance(now, RowPlace):
        with st.container(horizontal=True, vertical_alignment="center", key="like-row"):
            rows = looked.row(now).to_dict("records")
            named = plain(shortened(rows[0]["about"] or rows[0]["title"], 120)) if rows else "a row that is gone"
            st.markdown(f"More like **{named}**")
            button("Compare with a text", "close", "like-text", lambda: address.open_list(like=()))
    else:
        st.text_input(
            "Rows whose question or explanation means something like",
            placeholder="for example: confuses a plan with a fact",
            max_chars=300,
            **address.bound("like", now, lambda text: address.open_list(like=[text.strip()] if text.strip() else ())),
        )
    when_ready(looked)


def more_like(at: RowPlace) -> None:
    """Draw the way to the rows that are most like this one."""
    about = "The filtered rows nearest in meaning: question and explanation."
    show = partial(address.open_list, show="cases", sort_by="meaning", like=list(at), at=at)
    button("More like this", "join_inner", "more-like", show, help=about)
