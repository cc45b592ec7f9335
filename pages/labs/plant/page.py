"""The hand-written parts of Plant's page."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core import package_data
from core.labs.plant.lab import LAB
from core.labs.plant.marks import SAYS
from core.labs.plant.tasks import PlantSpec
from core.labs.plant.view import PlantView
from core.transcript import Transcript
from pages.components import plain_case, plain_methods
from pages.components.lab_page import NextRun, with_form
from pages.components.side_by_side import Side
from pages.labs.plant import form

MANY = 20
"""How many of the built-in questions are asked after a single one."""

# Which item of a run is shown first.


def choose(transcript: Transcript) -> str:
    """Let the reader choose an item; the first one shown is one whose answer the cue changed."""
    outcomes = {
        case: (one.result or {}).get("outcome_repaired") for case, one in plain_case.by_number(transcript).items()
    }
    moved = next((case for case, outcome in outcomes.items() if outcome in SAYS), "")
    if transcript.status and "case" not in st.query_params and moved:
        # Most items of most runs are unaffected by the cue, and the least interesting.
        st.query_params["case"] = moved
    return plain_case.choose(transcript)


def _ways(spec: PlantSpec) -> dict[str, dict[str, Any]]:
    """Return the other order of answer and reasons."""
    other = "answer first" if spec.order == "reasons first" else "reasons first"
    return {other.capitalize(): {"order": other}}


def _longer_run(spec: PlantSpec, view: PlantView) -> NextRun | None:
    """Return the run over many items after one item, which does not settle anything."""
    if not spec.question:
        return None
    many = {"question": "", "gold": None, "limit": MANY, "title": ""}
    return NextRun(f"Try {MANY} questions", PlantSpec.model_validate({**spec.model_dump(), **many}))


def _methods() -> None:
    """Draw the lab's declaration, and what the lab cannot detect."""
    plain_methods.draw(LAB)
    known = LAB.robots.controls()["control/cue-form"]
    st.subheader("What Plant cannot see", anchor=False)
    unseen = package_data.table("methods")["plant"]["unseen"]
    st.markdown(f"- `{known.id}` {known.title}. {known.about} {unseen}")  # type: ignore[attr-defined]


PAGE = with_form(
    form,
    verb="Slip it a hint",
    choose=choose,
    longer_run=_longer_run,
    methods=_methods,
    side=Side(ways=_ways),
)
