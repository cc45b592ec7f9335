"""What only Plant's page has."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import streamlit as st

from core import package_data
from core.labs.base.spec import knobs
from core.labs.plant import tasks
from core.labs.plant.controls import is_misled
from core.labs.plant.lab import LAB
from core.labs.plant.report import IMPLIES
from core.labs.plant.tasks import LONGEST, OPTIONS, Cue, PlantSpec, shipped
from core.labs.plant.view import PlantView
from core.text.display import count_noun
from core.transcript import Transcript
from pages.components import widgets
from pages.components.lab_page import FormPlaces, LabPage, NextRun
from pages.components.text import plain

MANY = 20
"""How many of the built-in questions are asked at first, and after a single one."""


class PlantPage(LabPage):
    """The page of Plant."""

    verb = "Slip it a hint"
    words = MappingProxyType(knobs(PlantSpec)["cue"].names)
    sources = MappingProxyType({"own": "Your question", "shipped": "Built-in examples", "dataset": "A data set"})
    source_title = "Question"
    is_source_named = True

    def applies(self, name: str, given: Mapping[str, Any]) -> bool:
        """Whether the form has that field: the user's own question is always one of yes or no."""
        return name != "task" or given["source"] != "own"

    def field(self, name: str, given: Mapping[str, Any]) -> Any:
        """Draw a field, and below the choice of a cue its text."""
        chosen = super().field(name, given)
        if name == "cue":
            st.caption(_whispered(chosen))
        return chosen

    def own(self, places: FormPlaces, given: Mapping[str, Any]) -> dict[str, Any]:
        """Draw the user's own question and, folded, its correct answer. The default is one that robots answer correctly
        until the cue misleads them. Raises ValueError if there is no question.
        """
        question, gold = self.key("question"), self.key("gold")
        known = {item.question: item.label for item in shipped("strategyqa")}
        yes_no = OPTIONS["strategyqa"]
        if question not in st.session_state:
            first = next(question for question, label in known.items() if is_misled(question, yes_no, label))
            st.session_state.update({question: first, gold: known[first]})

        def label() -> None:
            # The correct answer to a typed question is unknown, unless it is a built-in one.
            st.session_state[gold] = known.get(st.session_state[question])

        kept: dict[str, Any] = {"persist_state": "session"}
        asked = places.question.text_input(
            "Your yes-or-no question", key=question, max_chars=LONGEST, on_change=label, **kept
        ).strip()
        if not asked:
            raise ValueError("Type a question that can be answered with yes or no.")
        right = places.more.selectbox("Correct answer", yes_no, index=None, placeholder="not known", key=gold, **kept)
        return {"task": "strategyqa", "question": asked, "gold": right}

    def shipped(self, task: str) -> tuple[int, int]:
        """Return how many items ship for the task, and how many are chosen at first."""
        most = len(shipped(task))
        return most, min(MANY, most)

    def line(self, spec: PlantSpec) -> list[str]:
        """Return what was asked, the cue, and the model."""
        named = {name: knob.names for name, knob in knobs(PlantSpec).items()}
        many = f"{named['task'][spec.task]}, {count_noun(spec.limit or len(shipped(spec.task)), 'question')}"
        about = spec.question or (spec.title if spec.dataset else many)
        return [about, named["cue"][spec.cue].lower(), widgets.short(spec.model)]

    def fill(self, spec: PlantSpec) -> dict[str, Any]:
        """Return the widgets' values for a run that was started with `spec`."""
        return super().fill(spec) | ({self.key("source"): "own"} if spec.question else {})

    def choose(self, transcript: Transcript) -> str:
        """Let the reader choose an item; the first one shown is one whose answer the cue changed."""
        moved = next((case for case, one in transcript.in_order.items() if one.outcome in IMPLIES), "")
        if transcript.status and "case" not in st.query_params and moved:
            # Most items of most runs are unaffected by the cue, and the least interesting.
            st.query_params["case"] = moved
        return super().choose(transcript)

    def ways(self, spec: PlantSpec) -> dict[str, dict[str, Any]]:
        """Return the other order of answer and reasons."""
        other = "answer first" if spec.order == "reasons first" else "reasons first"
        return {other.capitalize(): {"order": other}}

    def longer_run(self, spec: PlantSpec, view: PlantView) -> NextRun | None:
        """Return the run over many items after one item, which does not settle anything."""
        if not spec.question:
            return None
        many = {"question": "", "gold": None, "limit": MANY, "title": ""}
        return NextRun(f"Try {MANY} questions", PlantSpec.model_validate({**spec.model_dump(), **many}))

    def methods(self) -> None:
        """Draw the lab's declaration, and what the lab cannot detect."""
        super().methods()
        known = LAB.robots.controls()["control/cue-form"]
        st.subheader("What Plant cannot see", anchor=False)
        unseen = package_data.table("methods")["plant"]["unseen"]
        st.markdown(f"- `{known.id}` {known.title}. {known.about} {unseen}")  # type: ignore[attr-defined]


def _whispered(cue: Cue) -> str:
    """Return the cue's text, and that of a neutral cue."""
    if cue == "pattern":
        return "Examples whose answer always has the same letter; with the neutral cue, each letter in turn."
    template = tasks.template(cue)
    texts = [template.user.replace("{direction}", "…"), *template.twins]
    texts = [template.user.replace("{drawn}", draw) for draw in template.draws] or texts
    return plain(f"The cue: “{texts[0]}”. The neutral cue, which points to no answer: “{texts[1]}”.")


PAGE = PlantPage
