"""The hand-written parts of Probe's page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.labs.probe.lab import LAB
from core.labs.probe.null_controls import worthless
from core.labs.probe.report import ProbeReport
from core.labs.probe.sketch import is_drawn
from core.labs.probe.tasks import BY_MODEL, CAN, NAMES, ProbeSpec
from core.runs.library import RunNotFoundError
from core.text.templates import PROMPTS
from core.transcript import Transcript
from pages import lab as driver
from pages.components import plain_methods, session
from pages.components.lab_page import NextRun
from pages.components.models import SHIPPED
from pages.components.tables import draw_published
from pages.labs.probe import drawn, figures, picking, turn
from pages.labs.probe.form import KNOBS, ProbeForm

WORDS: Mapping[str, str] = dict([*KNOBS["category"].names.items(), *NAMES.items()])
"""The categories and the interpreters."""

OTHERS = (
    ("agent", SHIPPED, "small local model", "smart_toy", "A minute or two."),
    ("robot", drawn.ROBOT, "robot", "precision_manufacturing", None),
)
"""Who else may try a function that a person tried: the button's key, the model, its name, an icon, and the time it
takes.
"""


def _yours(spec: ProbeSpec, beside: str) -> ProbeSpec:
    return spec.model_copy(update={"interpreter": "you", "model": "", "beside": beside})


def _next(spec: ProbeSpec) -> dict[str, object]:
    """Return the changes for the next function, because the truth about this one is known: the next seed, sampled in
    the same way.
    """
    seed = spec.seed + 1
    fresh = ProbeSpec(category=spec.category, seed=seed, difficulty=spec.difficulty, interpreter="you")
    return {"seed": seed, "function": "", "find_dir": None, "title": fresh.title}


def _other(run_id: str) -> ProbeReport | None:
    try:
        state = session.run(run_id).watch().transcript
    except RunNotFoundError:
        return None
    view: ProbeReport = LAB.view(state.case(state.only))
    return view


class ProbePage(ProbeForm):
    """The page of Probe."""

    verb = "Guess the function"
    guess_param = "hold"
    words = WORDS

    def begin(self) -> None:
        """Offer to draw the function of the day."""
        drawn.begin()

    def ways(self, spec: ProbeSpec) -> dict[str, dict[str, Any]]:
        """Return the other interpreters that fit the function and need no person; those that use a model only if the
        run has one.
        """
        return {
            NAMES[one]: {"interpreter": one} | ({} if one in BY_MODEL else {"model": ""})
            for one, categories in CAN.items()
            if spec.category in categories
            and one not in ("you", "given", spec.interpreter)
            and (spec.model or one not in BY_MODEL)
        }

    def other(self, spec: ProbeSpec, fields: dict[str, Any], run_id: str, view: ProbeReport | None) -> ProbeSpec:
        """Return the specification with the same function and budget. A model added to a run without one becomes an
        agent.
        """
        alone: dict[str, Any] = {"beside": "", "given": None}
        if fields.get("model") and spec.interpreter not in BY_MODEL:
            alone["interpreter"] = "aia"
        return ProbeSpec.model_validate({**spec.model_dump(), **alone, **fields})

    def methods(self) -> None:
        """Draw procedure, figures, rules, prompts, backbones and what the paper reported."""
        texts = plain_methods.method_texts(LAB)
        plain_methods.folded(plain_methods.RULES, "rule", "probe-rules", texts["rules"])
        robots = (f"`{id}`: {robot.about} It fools {robot.fools}." for id, robot in worthless().items())
        plain_methods.folded("Robots that explain nothing", "smart_toy", "probe-worthless", texts["robots"], robots)
        st.subheader("Prompts", anchor=False)
        plain_methods.prompts(PROMPTS / "find", "probe-template")
        st.subheader("Can the entity functions be trusted?", anchor=False)
        st.markdown(texts["backbones"])
        draw_published(LAB, WORDS, "probe-published")

    def sealed(self, view: ProbeReport, active: bool) -> bool:
        """Whether the reader has yet to try the function."""
        return bool(st.query_params.get("hold"))

    def replacement(self, view: ProbeReport, active: bool) -> bool:
        """Draw what the reader does before the case is shown."""
        spec = view.spec
        if spec and spec.interpreter == "you" and view.interpretation is None and not active and view.log.started:
            turn.turn(view.log.started.run, view)
            return True
        if active and spec and not view.probes and spec.is_module and spec.backbone == "embedding":
            st.caption("The sentence encoder is loaded on first use: this takes a few seconds, once.")
        if view.truth is not None and view.log.started and is_drawn(view.interpretation) and not active:
            drawn.picture(view.log.started.run, view)
            return True
        if view.truth is not None and not active and picking.is_picked(view):
            picking.draw_end(view)
            return True
        if is_held := self.sealed(view, active):
            self._held(view, active)
        return is_held

    def _held(self, view: ProbeReport, active: bool) -> None:
        state = f"It is done: {len(view.probes)} calls in {len(view.exchanges)} rounds"
        with st.container(border=True, key="held"):
            st.markdown(
                f"**{'It is working' if active else state}.** Its findings and the function stay hidden until you "
                "have tried it yourself."
            )

    def extra_panel(self, view: ProbeReport, active: bool) -> None:
        """Draw the figures of the researchers."""
        if view.truth is not None:
            figures.researchers(view)

    def follow_up(self, transcript: Transcript, view: ProbeReport, run_id: str) -> bool:
        """Draw what can be done after a run: try the function oneself, let an agent try it, compare."""
        spec = view.spec
        if spec is None:
            return True
        yours = spec.interpreter == "you"
        if (
            spec.beside
            and not is_drawn(view.interpretation)
            and view.truth is not None
            and (other := _other(spec.beside)) is not None
        ):
            turn.compare_figures(view, other)
        if self.sealed(view, False):
            with st.container(horizontal=True):
                if st.button("Your turn", icon=":material/front_hand:", type="primary", key="turn"):
                    driver.start(LAB, _yours(spec, run_id), {})
                if st.button("Show me the truth", icon=":material/visibility:", key="reveal"):
                    del st.query_params["hold"]
                    st.rerun()
            return False
        if transcript.status != "completed" or transcript.planned > 1:
            return not (yours and view.truth is None)
        if yours and view.truth is None:
            return False
        with st.container(horizontal=True):
            others = OTHERS if yours and not spec.beside and not is_drawn(view.interpretation) else ()
            for key, model, who, icon, takes in others:
                if st.button(f"Let a {who} try it", icon=f":material/{icon}:", key=key, help=takes):
                    agent = {"interpreter": "aia", "model": model, "beside": run_id}
                    driver.start(LAB, spec.model_copy(update=agent), {})
            if not spec.own and st.button("Try the next function yourself", icon=":material/front_hand:", key="turn"):
                driver.start(LAB, _yours(spec.model_copy(update=_next(spec)), ""), {})
        return True

    def with_real_model(self, spec: ProbeSpec, view: ProbeReport) -> NextRun:
        """Return the run of a real model, with a budget that it can use."""
        return NextRun("", spec.model_copy(update={"model": SHIPPED, "rounds": min(spec.rounds, 8)}))


PAGE = ProbePage
