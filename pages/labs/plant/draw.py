"""Of a run of the Plant lab which item is shown first."""

from __future__ import annotations

import streamlit as st

from core.labs.plant.marks import SAYS
from core.transcript import Transcript
from pages.components import plain_case


def choose(transcript: Transcript) -> str:
    """The item that the reader wants to see; at first one that the cue moved."""
    outcomes = {
        case: (one.result or {}).get("outcome_repaired") for case, one in plain_case.by_number(transcript).items()
    }
    moved = next((case for case, outcome in outcomes.items() if outcome in SAYS), "")
    if transcript.status and "case" not in st.query_params and moved:
        # What the cue did not move is the longest part of most runs, and the least told.
        st.query_params["case"] = moved
    return plain_case.choose(transcript)
