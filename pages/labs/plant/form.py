"""Which cue is planted in what, and whose explanations are parsed: the hand-written parts of Plant's form."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.labs.plant import cues
from core.labs.plant.controls import is_misled
from core.labs.plant.lab import LAB
from core.labs.plant.tasks import CUES, LONGEST, OPTIONS, Cue, PlantSpec, Task, shipped
from core.text.glossary import on_hover
from core.text.plurals import count_noun
from pages.components import models
from pages.components.datasets import from_dataset, of_dataset
from pages.components.lab_page import FormPlaces
from pages.components.text import plain
from pages.components.widgets import one_of

NAMES: dict[Cue, str] = {
    "key": "Answer key",
    "hint": "A guess",
    "crowd": "Most people",
    "pattern": "A pattern",
    "word": "A word",
    "name": "A name",
    "aside": "A remark",
}
"""Names of the cues on the screen."""

SOURCES = {"own": "Your question", "shipped": "Built-in examples", "dataset": "A data set"}

_TASKS: dict[Task, str] = {
    "strategyqa": "Yes or no",
    "multi_choice": "A story with choices",
    "sentiment": "Sentiment",
    "entailment": "Does a statement follow?",
}

DRAWN = frozenset({"task", "question", "gold", "cue", "model", "dataset", "path", "split", "limit", "columns"})
"""The fields that this form draws itself."""


def fields(places: FormPlaces) -> dict[str, Any]:
    """Draw the model, the questions that the cue is planted in, and the cue. Raises ValueError if there is no
    question.
    """
    cue: Cue = (
        places.below.pills(
            "Hint",
            CUES,
            default="key",
            required=True,
            format_func=NAMES.__getitem__,
            key="plant-cue",
            persist_state="session",
            wrap=True,
            help=on_hover("Hint"),
        )
        or "key"
    )
    places.below.caption(_whispered(cue))
    with places.more:
        source = one_of("Question", SOURCES, "plant-source", is_named=True)
    with places.model:
        model = models.pick("Model", key="plant-model", lab=LAB)
    with places.question:
        what = _own() if source == "own" else _many(source == "dataset", places)
    return {"cue": cue, "model": model, **what}


def settings(given: dict[str, Any]) -> dict[str, Any]:
    """Draw the correct answer to the user's own question."""
    if "question" not in given:
        return {}
    return {
        "gold": st.selectbox(
            "Correct answer",
            OPTIONS["strategyqa"],
            index=None,
            placeholder="not known",
            key="plant-gold",
            persist_state="session",
        )
    }


def _whispered(cue: Cue) -> str:
    """Return the cue's text, and that of a neutral cue."""
    if cue == "pattern":
        return "Examples whose answer always has the same letter; with the neutral cue, each letter in turn."
    template = cues.template(cue)
    texts = [template.user.replace("{direction}", "…"), *template.twins]
    texts = [template.user.replace("{drawn}", draw) for draw in template.draws] or texts
    return plain(f"“{texts[0]}” The neutral cue, which points nowhere: “{texts[1]}”")


def _own() -> dict[str, Any]:
    """Draw the user's own question. The default is one that robots answer correctly until the cue misleads them."""
    known = {item.question: item.label for item in shipped("strategyqa")}
    if "plant-question" not in st.session_state:
        first = next(question for question, label in known.items() if is_misled(question, OPTIONS["strategyqa"], label))
        st.session_state.update({"plant-question": first, "plant-gold": known[first]})

    def label() -> None:
        # The correct answer to a typed question is unknown, unless it is a built-in one.
        st.session_state["plant-gold"] = known.get(st.session_state["plant-question"])

    question = st.text_input(
        "Your yes-or-no question",
        key="plant-question",
        max_chars=LONGEST,
        persist_state="session",
        on_change=label,
    ).strip()
    if not question:
        raise ValueError("Type a question that can be answered with yes or no.")
    return {"task": "strategyqa", "question": question}


def _many(of_data: bool, places: FormPlaces) -> dict[str, Any]:
    with places.more:
        task = one_of("Task", _TASKS, "plant-task")
    if of_data:
        return {"task": task, **from_dataset(task, "Items", "plant-", places.question, places.below)}
    most = len(shipped(task))
    limit = st.slider("Items", 1, most, min(20, most), key=f"plant-shipped-{task}", persist_state="session")
    return {"task": task, "limit": limit}


def line(spec: PlantSpec) -> list[str]:
    """Return what was asked, the cue, and the model."""
    many = f"{_TASKS[spec.task]}, {count_noun(spec.limit or len(shipped(spec.task)), 'question')}"
    return [spec.question or (spec.title if spec.dataset else many), NAMES[spec.cue].lower(), models.short(spec.model)]


def fill(spec: PlantSpec) -> dict[str, Any]:
    """Return the widgets' values for a run that was started with `spec`."""
    held: dict[str, Any] = {"plant-cue": spec.cue, "plant-model": spec.model, "plant-task": spec.task}
    if spec.question:
        return {**held, "plant-source": "own", "plant-question": spec.question, "plant-gold": spec.gold}
    if spec.dataset:
        return {**held, "plant-source": "dataset", **of_dataset(spec, "plant-")}
    most = len(shipped(spec.task))
    return {**held, "plant-source": "shipped", f"plant-shipped-{spec.task}": min(spec.limit or most, most)}
