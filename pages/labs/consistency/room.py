"""What Check's page draws by hand."""

from __future__ import annotations

import streamlit as st

from core.labs.consistency.lab import LAB
from core.labs.consistency.view import CheckView
from core.models.ids import is_control
from core.transcript import Transcript
from pages import lab as driver
from pages.labs.consistency import draw, form, methods, table
from pages.labs.consistency.side import SIDE
from pages.parts.models import SHIPPED
from pages.parts.rooms import Room


def _after(transcript: Transcript, view: CheckView, run_id: str) -> bool:
    spec = view.spec
    if spec is None or not is_control(spec.model) or transcript.status != "completed":
        return True
    if st.button("Now ask a real language model", icon=":material/smart_toy:", key="check-real"):
        driver.start(LAB, spec.model_copy(update={"model": SHIPPED}), {})
    return True


ROOM = Room(
    fields=form.fields,
    settings=form.settings,
    drawn=form.DRAWN,
    line=form.line,
    fill=form.fill,
    button=form.button,
    choose=draw.choose,
    several=table.draw,
    after=_after,
    methods=methods.draw,
    words=dict([*form.TASKS.items(), *form.EXPLANATIONS.items()]),
    side=SIDE,
)
