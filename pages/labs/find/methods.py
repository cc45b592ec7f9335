"""The Methods page's section on the Probe lab, with a test of what carries entity functions out."""

from __future__ import annotations

import streamlit as st

from core.labs.find.functions.modules import Backbone
from core.labs.find.lab import LAB as PROBE
from core.labs.find.reliability.lab import LAB
from core.labs.find.reliability.view import ReliabilitySpec
from core.labs.find.tasks import NAMES
from core.labs.find.worthless import worthless
from core.text.templates import PROMPTS
from pages import lab as driver
from pages.labs.find.form import TITLES
from pages.parts import models, plain_methods
from pages.parts.live import Shown, look, named_run, watched
from pages.parts.run import actions, go_on, problems
from pages.parts.tables import published

BACKBONES: dict[Backbone, str] = {
    "embedding": "sentence embeddings",
    "model": "a language model",
    "table": "word lists",
}


def draw() -> None:
    """Procedure, figures, rules, prompts, backbones and what the paper reported."""
    texts = plain_methods.told(PROBE)
    plain_methods.folded(plain_methods.RULES, "rule", "probe-rules", texts["rules"])
    robots = (f"`{id}`: {robot.about} It fools {robot.fools}." for id, robot in worthless().items())
    plain_methods.folded("Robots that explain nothing", "smart_toy", "probe-worthless", texts["robots"], robots)
    st.subheader("Prompts", anchor=False)
    plain_methods.prompts(PROMPTS / "find", "probe-template")
    _backbones(texts["backbones"])
    published(PROBE, dict([*NAMES.items(), *TITLES.items()]), "probe-published")


def _backbones(about: str) -> None:
    """Table A1 and figure A4 of the paper, for any backbone."""
    st.subheader("Can the entity functions be trusted?", anchor=False)
    st.markdown(about)
    with st.container(border=True, key="reliability"):
        backbone: Backbone = st.segmented_control(
            "Backbone", list(BACKBONES), default="embedding", format_func=BACKBONES.__getitem__, required=True,
            key="reliability-backbone",
        ) or "embedding"  # fmt: skip
        model = ""
        if backbone == "model":
            model = models.pick_or_none("Its model", "choose one", key="reliability-model", lab=LAB)
        left, right = st.columns(2)
        with left:
            many = st.slider(
                "Subjects", 2, 140, 16 if backbone != "model" else 6, key=f"reliability-{backbone}-concepts"
            )
            across = st.checkbox("Every function on all their words", value=True, key="reliability-across")
        with right:
            words = st.slider(
                "Words of each", 1, 10, 5 if backbone != "model" else 2, key=f"reliability-{backbone}-words"
            )
        spec = None
        try:
            if backbone == "model" and not model:
                raise ValueError("Choose the language model that is to carry the functions out.")
            spec = ReliabilitySpec(backbone=backbone, model=model, concepts=many, words=words, across=across)
        except ValueError as error:
            problems(error)
        outputs = spec.outputs if spec else 0
        label = f"Measure · {outputs} model calls" if backbone == "model" and spec else "Measure"
        if st.button(label, icon=":material/speed:", key="measure", disabled=spec is None) and spec is not None:
            driver.start(LAB, spec, {})
    named_run(_show)


def _show(run_id: str) -> None:
    """The test, live while it goes on."""
    state, active = look(run_id)
    if state.started and state.started.lab != LAB.name:
        return
    watched(Shown(LAB, run_id, state, active))
    if not active:
        go_on(run_id, state)
        if state.status == "completed":
            actions(run_id, state, here="methods")
