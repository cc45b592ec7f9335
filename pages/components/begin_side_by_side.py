"""Starting runs to compare side by side: the same run again with another model or another way to explain."""

from __future__ import annotations

from typing import Any

import streamlit as st
from pydantic import ValidationError

from core import entry
from core.events import CallError
from core.labs.base.lab import Lab
from core.labs.base.spec import Spec
from core.server.quotas import QuotaExceededError
from core.transcript import Transcript
from pages import addresses
from pages.components import lab_page, models, session
from pages.components.side_by_side import MOST
from pages.components.text import plain


def button(run_id: str, transcript: Transcript) -> None:
    """Offer to start runs to be compared with a finished run."""
    lab = entry.labs().get(transcript.started.lab) if transcript.started else None
    if lab is None or lab.hidden or session.run(run_id).active() or "model" not in lab.spec.model_fields:
        return
    words = "Side by side" if transcript.status == "completed" else "Ask another model"
    if st.button(words, icon=":material/view_column:", type="tertiary", key="side"):
        try:
            spec = lab.spec.model_validate(transcript.started.spec if transcript.started else {})
        except ValidationError:
            st.warning("Its settings are those of another version, so it cannot be begun once more.")
        else:
            choose(lab, spec, run_id, transcript)


@st.dialog("Side by side")
def choose(lab: Lab, spec: Spec, run_id: str, transcript: Transcript) -> None:
    """Let the visitor choose the other runs to start, one per model or way; then show all in columns."""
    page = lab_page.page_of(lab)
    st.markdown("Once more with **another model** or **another way to explain**: a run each, row against row.")
    own = getattr(spec, "model", "")
    help = "Any model that can be asked here; an id that is not listed can be typed."
    others = models.pick_many("Other models", "one or two", f"side-models-{run_id}", help, lab, but=own)
    fields: list[dict[str, Any]] = [{"model": model} for model in others if model != own]
    if ways := page.ways(spec):
        chosen = st.pills("Or the same model, but", list(ways), selection_mode="multi", key="side-ways", wrap=True)
        fields += [ways[one] for one in chosen]
    if len(fields) >= MOST:
        st.warning(f"{MOST} fit side by side: choose two others at most.", icon=":material/edit:")
    pressed = st.button(
        f"Begin {len(fields)} {'run' if len(fields) == 1 else 'runs'}" if fields else "Begin",
        type="primary",
        icon=lab.icon,
        key="side-begin",
        disabled=not 0 < len(fields) < MOST,
    )
    if pressed:
        view = lab.view(transcript.case(transcript.only)) if transcript.planned == 1 else None
        try:
            begin(lab, [page.other(spec, one, run_id, view) for one in fields], run_id)
        except (CallError, ValueError, QuotaExceededError) as error:
            hint = getattr(error, "hint", "")
            st.warning(plain(f"{error} {hint}".strip()), icon=":material/edit:")


def begin(lab: Lab, specs: list[Spec], *there: str) -> None:
    """Start a run for each specification and show them side by side, after the runs `there`. Raises CallError and
    ValueError before any run begins if one of them cannot; QuotaExceededError.
    """
    for spec in specs:
        lab.check(spec)
        for model in spec.models:
            session.catalog().get(model)
    runs = [session.runs().start(lab.name, spec, session.catalog().get) for spec in specs]
    st.switch_page(addresses.SIDE, query_params={"runs": ",".join([*there, *runs])})


def first(lab: Lab) -> None:
    """Draw a button for the side-by-side runs that the lab offers to newcomers, if it has any."""
    sides = lab.robots.demo_comparison()
    if sides and st.button(sides.words, icon=":material/view_column:", key=f"sides-{lab.path}", help=sides.help):
        try:
            begin(lab, list(sides.specs))
        except QuotaExceededError as error:
            st.warning(plain(str(error)), icon=":material/edit:")
