"""The recordings as cards: what the model said, large, and what became of it in one line."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

import streamlit as st

from core import home
from core.runs.recordings import Recording, list_recordings
from pages import addresses
from pages.components import recording_note
from pages.components.link_cards import LinkCard, link_cards

STORIES = list_recordings(home.recordings()).recording
"""All stories, in the order in which they are shown."""


def address(one: Recording) -> str:
    """Return the address of a story."""
    return f"/stories?{urlencode({'run': one.run})}"


def story_cards(stories: Sequence[Recording]) -> None:
    """Draw a card for each of these stories; a click presents it."""
    cards = [
        LinkCard(
            address(one),
            (
                ("em", recording_note.lab_of(one).title),
                ("small", recording_note.title(one)),
                ("q", one.quote),
                ("strong", one.twist),
            ),
        )
        for one in stories
    ]
    chosen = link_cards("stories", "Stories", cards)
    for one in stories:
        if address(one) == chosen:
            st.switch_page(addresses.STORIES, query_params={"run": one.run})
