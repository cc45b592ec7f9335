"""What to check, whose explanations, and how: what only Check's form has."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import streamlit as st

from core.datasets.items import Item
from core.labs.base.spec import knobs
from core.labs.check.controls import LexiconControl
from core.labs.check.lab import LAB
from core.labs.check.lexicon import Slots
from core.labs.check.tasks import LABELS, LONGEST, CheckSpec, Task, Wording, shipped
from pages.components import models
from pages.components.lab_page import FormPlaces, LabPage
from pages.components.widgets import widget

SHOWN_EXAMPLES = 4
TWO_LINES = 84
"""Height in pixels of the field for a paragraph."""

SHOWN_KNOWN = 3

EXPLANATIONS = knobs(CheckSpec)["explanations"].names


class CheckForm(LabPage):
    """The form of Check."""

    sources = MappingProxyType({"own": "One paragraph", "shipped": "Built-in examples", "dataset": "A data set"})

    def more_settings(self, given: dict[str, Any]) -> None:
        """Draw the wording of the prompts."""
        wording: dict[str, Any] = {}
        for column, names in zip(st.columns(2), Wording.GROUPS.values(), strict=True):
            with column:
                wording |= {name: widget(LAB, knobs(Wording)[name]) for name in names}
        given["wordings"] = (Wording.model_validate(wording),)

    def subject(self, places: FormPlaces, given: Mapping[str, Any]) -> dict[str, Any]:
        """Draw what is classified. Raises ValueError if no way to explain is chosen."""
        subject = super().subject(places, given)
        if not given["explanations"]:
            raise ValueError("Choose at least one kind of explanation.")
        return subject

    def shipped(self, task: str) -> tuple[int, int]:
        """Return how many items ship for the task, and how many are chosen at first."""
        return len(shipped(task)), 10

    def line(self, spec: CheckSpec) -> list[str]:
        """Return what was checked, the model, and the kinds of explanation."""
        kinds = " and ".join(EXPLANATIONS[one].lower() for one in spec.explanations)
        return [spec.title, models.short(spec.model), f"{kinds}, every wording" if spec.every_wording else kinds]

    def fill(self, spec: CheckSpec) -> dict[str, Any]:
        """Return the widgets' values for a run that was started with `spec`."""
        held = super().fill(spec) | {self.key(name): value for name, value in spec.wordings[0]}
        return held | {self.key("source"): "own"} | of_item(spec.task, spec.items[0]) if spec.items else held

    def is_at_most(self, spec: CheckSpec) -> bool:
        """Whether a check may have fewer words to mask at random than asked for."""
        return bool(spec.controls)

    def own(self, places: FormPlaces, given: Mapping[str, Any]) -> dict[str, Any]:
        """Draw the user's own paragraph, with the question about it; folded, the correct answer, if known."""
        task, model = given["task"], given["model"]
        if f"paragraph-{task}" not in st.session_state:
            use_item(task, shipped(task)[0].id)
        paragraph = places.question.text_area(
            "Premise (only this is edited)" if task == "entailment" else "Paragraph",
            key=f"paragraph-{task}",
            height=TWO_LINES,
            max_chars=LONGEST,
            persist_state="session",
            on_change=unlabel,
            args=(task,),
        )
        about = ""
        choices: tuple[str, ...] = ()
        with places.below:
            self._examples(task)
            if task != "sentiment":
                words = "Question" if task == "multi_choice" else "Statement"
                about = st.text_input(
                    words, key=f"about-{task}", max_chars=2000, persist_state="session", on_change=unlabel, args=(task,)
                )
            if task == "multi_choice":
                lines = st.text_area("Choices, one per line", key="choices", height=110, persist_state="session")
                choices = tuple(dict.fromkeys(line.strip() for line in lines.splitlines() if line.strip()))
            self._outside(task, model, Slots(paragraph=paragraph, question=about, hypothesis=about, choices=choices))
        labels = choices or LABELS.get(task, ())
        if st.session_state.get(f"label-{task}") not in labels:
            st.session_state[f"label-{task}"] = None
        label = places.more.selectbox(
            "Correct answer",
            labels,
            index=None,
            key=f"label-{task}",
            placeholder="not known",
            persist_state="session",
            help="If given, the target of a counterfactual is chosen from it, as in the paper, and wrong first answers "
            "do not count. If not, the target is chosen from the model's first answer.",
        )
        item = {
            "id": "text",
            "task": task,
            "paragraph": paragraph,
            "question": about if task == "multi_choice" else "",
            "hypothesis": about if task == "entailment" else "",
            "choices": choices,
            "label": label,
        }
        return {"items": (item,)}

    def _examples(self, task: Task) -> None:
        items = [item.id for item in shipped(task)]

        def shown(turn: int) -> list[str]:
            return [items[(turn * SHOWN_EXAMPLES + step) % len(items)] for step in range(SHOWN_EXAMPLES)]

        self.examples(shown, lambda id: use_item(task, id), lambda id: id.replace("-", " "))

    def _outside(self, task: Task, model: str, asked: Slots) -> None:
        """Tell the user, before the run, that a control finds nothing in the paragraph to base a decision on."""
        control = LAB.robots.controls().get(model)
        if not isinstance(control, LexiconControl) or not asked.paragraph.strip() or control.knows(task, asked):
            return
        said = f"{model} decides by single words and knows none of these: it would answer “unknown”."
        known = {item.id: item.id.replace("-", " ") for item in shipped(task)[:SHOWN_KNOWN]}
        models.outside(said, known, lambda id: use_item(task, id), self.key("model"), LAB)


def use_item(task: Task, id: str) -> None:
    """Fill the fields with an example."""
    st.session_state.update(of_item(task, next(item for item in shipped(task) if item.id == id)))


def of_item(task: Task, item: Item) -> dict[str, Any]:
    """Return the values of the fields for the user's own paragraph that make up `item`."""
    return {
        f"paragraph-{task}": item.paragraph,
        f"about-{task}": item.question or item.hypothesis,
        "choices": "\n".join(item.choices),
        f"label-{task}": item.label,
    }


def unlabel(task: Task) -> None:
    """Remove the correct answer after an edit, unless the text is a built-in item again."""
    now = st.session_state[f"paragraph-{task}"], st.session_state.get(f"about-{task}") or ""
    same = (item.label for item in shipped(task) if (item.paragraph, item.question or item.hypothesis) == now)
    st.session_state[f"label-{task}"] = next(same, None)
