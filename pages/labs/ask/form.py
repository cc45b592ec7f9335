"""What to ask, which model, and how: what only Ask's form has."""

from __future__ import annotations

import random
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import streamlit as st

from core import entry
from core.datasets import own
from core.labs.ask import qualification, tasks
from core.labs.ask.controls import AskRobot
from core.labs.ask.lab import LAB
from core.labs.ask.questions import pairs, questions
from core.labs.ask.records import Examined
from core.labs.ask.tasks import AskSpec, calls, usual
from core.labs.ask.words import METHODS
from core.labs.base.lab import Prerequisite
from core.labs.base.qualification import QualificationSpec
from core.labs.base.spec import knobs
from core.models.errors import UnknownQuestionError
from core.models.ids import is_control
from core.text.plurals import count_noun
from pages.components import models, session
from pages.components.lab_page import FormPlaces, LabPage
from pages.components.text import plain
from pages.components.widgets import widget

FIRST_QUESTION = "Can a penguin fly?"
SHOWN_EXAMPLES = 3

LOCAL_SECONDS = 3
"""About how many seconds a call of a local model takes (`benchmarks/local.py`)."""

TEXTS = ("context", "response_1", "response_2")
"""The fields of a preference."""


class AskForm(LabPage):
    """The form of Ask."""

    sources = MappingProxyType({"own": "One question", "dataset": "A data set"})
    source_title = "What it is asked"

    def applies(self, name: str, given: Mapping[str, Any]) -> bool:
        """Whether the form has that field: some are for yes-or-no questions only."""
        needs = {"extra": "question" in given, "exam": given.get("task") == "strategyqa"}
        return needs.get(name, True)

    def field(self, name: str, given: Mapping[str, Any]) -> Any:
        """Draw a field. The default number of new questions depends on the other fields, and so does its key."""
        knob = knobs(AskSpec)[name]
        if name == "simulator":
            help = (
                "Nobody: an available model that passed the qualification test, "
                "other than the one that explains; if there is none, and for robots, the model itself."
            )
            nobody = "one that passed the qualification test, else the model itself"
            return widget(LAB, knob._replace(nobody=nobody, help=help))
        if name != "counterfactuals":
            return widget(LAB, knob)
        task, single, model = given["task"], "dataset" not in given, given["model"]
        named, first = _number(task, single, model), usual(task, single, model)
        number: int = widget(LAB, knob._replace(name=named, help=knob.title, low=1, first=first))
        if single:
            st.caption(" ".join((tasks.sample_size_note(number), _minutes(task, model, number))).strip())
        return number

    def own(self, places: FormPlaces, given: Mapping[str, Any]) -> dict[str, Any]:
        """Draw the question or pair, and return it."""
        return self._question(places, given["model"]) if given["task"] == "strategyqa" else self._pair(places)

    def _question(self, places: FormPlaces, model: str) -> dict[str, Any]:
        key = self.key("question")
        st.session_state.setdefault(key, FIRST_QUESTION)
        question = places.question.text_input(
            "Your question",
            key=key,
            placeholder="Can a penguin fly?",
            persist_state="session",
            max_chars=2000,
            live=model in LAB.robots.controls(),
        )
        # For a control, only the examples of its own world.
        known = [one.question for one in questions() if one.world or not is_control(model)]

        def take(known: str) -> None:
            st.session_state[key] = known

        with places.below:
            self._outside(model, question)
            self.examples(lambda turn: random.Random(turn).sample(known, min(SHOWN_EXAMPLES, len(known))), take)
        gold = next((one.answer for one in questions() if one.question == question.strip()), None)
        return {"question": question, "gold": gold}

    def _outside(self, model: str, question: str) -> None:
        """Tell the user, while typing, that a question is outside a control's world."""
        control = LAB.robots.controls().get(model)
        if not isinstance(control, AskRobot) or not question.strip():
            return
        try:
            control.read(question)
        except UnknownQuestionError as error:

            def take(known: str) -> None:
                st.session_state[self.key("question")] = known

            models.outside(error.message, {one: one for one in error.questions}, take, self.key("model"), LAB)

    def _pair(self, places: FormPlaces) -> dict[str, Any]:
        def use(id: str) -> None:
            if pair := next((pair for pair in pairs() if pair.id == id), None):
                st.session_state.update({self.key(name): getattr(pair, name) for name in TEXTS})

        if self.key("context") not in st.session_state:
            use(pairs()[0].id)
        titles = {pair.id: f"{pair.topic}: {pair.context[:70]}…" for pair in pairs()}
        with places.question:
            st.selectbox(
                "Examples",
                list(titles),
                format_func=lambda id: titles[id],
                key="pair",
                on_change=lambda: use(st.session_state["pair"]),
            )
        kept: dict[str, Any] = {"persist_state": "session"}
        context = places.below.text_area("The post", key=self.key("context"), **kept)
        left, right = places.below.columns(2)
        first = left.text_area("Response 1", key=self.key("response_1"), height=150, **kept)
        second = right.text_area("Response 2", key=self.key("response_2"), height=150, **kept)
        asked = dict(zip(TEXTS, (context, first, second), strict=True))
        given = [text.strip() for text in asked.values()]
        preferred = next((one.preferred for one in pairs() if [getattr(one, name) for name in TEXTS] == given), None)
        return {**asked, "gold": preferred}

    def line(self, spec: AskSpec) -> list[str]:
        """Return what was asked, the model, and how it explains."""
        about = spec.title if spec.dataset else spec.question or spec.context
        return [about, models.short(spec.model), METHODS[spec.method].lower()]

    def fill(self, spec: AskSpec) -> dict[str, Any]:
        """Return the widgets' values for a run that was started with `spec`."""
        single = not spec.dataset
        held = super().fill(spec) | {self.key(_number(spec.task, single, spec.model)): max(spec.counterfactuals, 1)}
        if spec.is_by_person:
            arms = AskSpec.model_fields["arms"].default[1:]
            held |= {self.key("arms"): list(arms), self.key("simulator"): None}
        return held

    def cases(self, spec: AskSpec) -> int:
        """Return the number of questions, at most; the number of rows in the user's own file is not known until it is
        read.
        """
        return (spec.limit or 1) if spec.dataset else 1

    def calls(self, spec: AskSpec) -> int:
        """Return the number of calls, including those of the qualification test if it is needed."""
        exams = (
            one
            for one in qualification.prerequisites(spec)
            if isinstance(one, Prerequisite) and session.runs().lacks(one)
        )
        return sum(LAB.count_calls(spec, self.cases(spec)).values()) + sum(
            len(one.spec.questions) for one in exams if isinstance(one.spec, QualificationSpec)
        )

    def is_at_most(self, spec: AskSpec) -> bool:
        """Whether the number of questions is only known as a limit."""
        return own.is_own(spec.dataset)

    def beside(self, spec: AskSpec | None) -> dict[str, str]:
        """Say who predicts, and let the reader choose to guess first; then return the name under which guesses are
        stored.
        """
        if spec is not None:
            named = ("simulator",) if st.session_state.get(self.key("simulator")) else ()
            chosen = qualification.choose_predictor(spec, named, session.catalog().is_at_hand, session.runs().made)
            itself = " (the model itself)" if chosen.simulator == spec.model else ""
            st.caption(f"Predictor: {plain(models.short(chosen.simulator))}{itself}.")
            known = _known(spec)
            if known is not None and not known.passed:
                st.markdown(
                    f":orange[:material/person_raised_hand:] **You predict**: {plain(models.short(known.simulator))} "
                    f"failed the qualification test ({known.right} of {known.of}; guessing gets "
                    f"{round(known.of / 3)}), so its predictions get no verdict. Yours do."
                )
        guess = st.checkbox(
            "Let me guess first",
            key="guess",
            persist_state="session",
            help="Predict each answer before it is shown, and get your own precision.",
        )
        return {"reader": entry.new_reader()} if guess else {}


def _number(task: str, single: bool, model: str) -> str:
    """Return the name of the slider for new questions, one per default value."""
    return f"number-{task}-{usual(task, single, model)}"


def _minutes(task: str, model: str, number: int) -> str:
    """Estimate how long a local model takes for that many questions; empty for any other model."""
    if not model.startswith("local/"):
        return ""
    asked = dict.fromkeys(("question", *TEXTS), "?")
    spec = AskSpec.model_validate({**asked, "task": task, "model": model, "counterfactuals": number})
    takes = count_noun(max(1, round(calls(spec, 1) * LOCAL_SECONDS / 60)), "minute")
    longer = f" More than {number} questions take longer and show more." if number < tasks.fewest() else ""
    return f"On this computer that takes about {takes}.{longer}"


def _known(spec: AskSpec) -> Examined | None:
    """Return the predictor's result in the qualification test; None if it is not known yet."""
    first = qualification.prerequisites(spec)[0]
    found = session.runs().came_to(first) if isinstance(first, Prerequisite) else first
    return found if isinstance(found, Examined) else None
