"""What to check, whose explanations, and how: the hand-written parts of Check's form."""

from __future__ import annotations

from typing import Any, get_args

import streamlit as st

from core.datasets.items import Item
from core.labs.check.controls import LexiconControl
from core.labs.check.lab import LAB
from core.labs.check.lexicon import Slots
from core.labs.check.scene import KINDS
from core.labs.check.tasks import (
    LABELS,
    LONGEST,
    CheckSpec,
    Mask,
    Persona,
    Target,
    Task,
    Wording,
    calls,
    cases,
    shipped,
)
from core.text.glossary import on_hover
from pages.components import models
from pages.components.datasets import from_dataset, of_dataset
from pages.components.lab_page import FormPlaces
from pages.components.text import plain
from pages.components.widgets import one_of, widget

TASKS: dict[Task, str] = {
    "sentiment": "Sentiment of a paragraph",
    "multi_choice": "A question with choices",
    "entailment": "Does a statement follow?",
}
SOURCES = {"own": "One paragraph", "shipped": "Built-in examples", "dataset": "A data set"}
EXPLANATIONS = KINDS
PERSONAS: tuple[Persona, ...] = get_args(Persona)
TARGETS: tuple[Target, ...] = get_args(Target)
MASKS: tuple[Mask, ...] = get_args(Mask)
SHOWN_EXAMPLES = 4
TWO_LINES = 84
"""Height in pixels of the field for a paragraph."""

SHOWN_KNOWN = 3

DRAWN = frozenset({"task", "model", "explanations", "every_wording", "dataset", "path", "split", "limit", "columns"})
"""The fields that this form draws itself, besides those that have no widget of their own."""


def fields(places: FormPlaces) -> dict[str, Any]:
    """Draw the model and what is classified; folded, the task and the ways to explain. Raises ValueError if no way to
    explain is chosen.
    """
    with places.more:
        task = one_of("Task", TASKS, "check-task")
        source = one_of("What it is asked about", SOURCES, "source")
        explanations = st.pills(
            "Kind of explanation",
            list(EXPLANATIONS),
            selection_mode="multi",
            default=["attribution"],
            format_func=EXPLANATIONS.__getitem__,
            key="explanations",
            persist_state="session",
            wrap=True,
            help=on_hover("Kind of explanation"),
        )
        every = widget(LAB, "every_wording")
    with places.model:
        model = models.pick("Model", key="check-model", lab=LAB)
    what: dict[str, Any] = {}
    if source == "dataset":
        what = from_dataset(task, "Items", line=places.question, below=places.below)
    elif source == "own":
        what = own_paragraph(task, model, places)
    else:
        with places.question:
            what["limit"] = st.slider("Items", 1, len(shipped(task)), 10, key="shipped", persist_state="session")
    if not explanations:
        raise ValueError("Choose at least one kind of explanation.")
    chosen = {"task": task, "model": model, "explanations": tuple(explanations), "every_wording": every}
    return {**chosen, **what}


def settings(given: dict[str, Any]) -> dict[str, Any]:
    """Draw the wording of the prompts."""
    left, right = st.columns(2)
    with left:
        persona = st.segmented_control(
            "Persona",
            PERSONAS,
            default="objective",
            required=True,
            key="persona",
            persist_state="session",
            help=on_hover("Persona", "The same in all three sessions."),
        )
        target = st.segmented_control(
            "Target of a counterfactual",
            TARGETS,
            default="explicit",
            required=True,
            key="target",
            persist_state="session",
            help=on_hover("Target of a counterfactual"),
        )
    with right:
        mask = st.segmented_control(
            "Mask",
            MASKS,
            default="[REDACTED]",
            required=True,
            key="mask",
            format_func=plain,
            persist_state="session",
            help=on_hover("Mask"),
        )
        mask_sentence = st.toggle(
            "Say that words can be masked",
            value=True,
            key="mask-sentence",
            persist_state="session",
            help="A sentence in the classification prompt, the same before and after the edit.",
        )
        short = st.toggle("Short redaction prompt", key="short", persist_state="session")
    wording = Wording(persona=persona, target=target, mask=mask, mask_sentence=mask_sentence, short=short)
    return {"wordings": (wording,)}


def line(spec: CheckSpec) -> list[str]:
    """Return what was checked, the model, and the kinds of explanation."""
    kinds = " and ".join(EXPLANATIONS[one].lower() for one in spec.explanations)
    return [spec.title, models.short(spec.model), f"{kinds}, every wording" if spec.every_wording else kinds]


def fill(spec: CheckSpec) -> dict[str, Any]:
    """Return the widgets' values for a run that was started with `spec`."""
    wording = spec.wordings[0]
    held: dict[str, Any] = {
        "check-task": spec.task,
        "check-model": spec.model,
        "explanations": list(spec.explanations),
        f"{LAB.path}-every_wording": spec.every_wording,
        "persona": wording.persona,
        "target": wording.target,
        "mask": wording.mask,
        "mask-sentence": wording.mask_sentence,
        "short": wording.short,
    }
    if spec.dataset:
        return {**held, "source": "dataset", **of_dataset(spec)}
    if not spec.items:
        number = len(shipped(spec.task))
        return {**held, "source": "shipped", "shipped": min(spec.limit or number, number)}
    return {**held, "source": "own", **of_item(spec.task, spec.items[0])}


def button(spec: CheckSpec | None) -> str:
    """Return the primary button's label with the number of calls."""
    if spec is None:
        return "Check"
    number = calls(spec, _cases(spec))
    return f"Check · {'at most ' if spec.controls else ''}{number} calls"


@st.cache_data(max_entries=8, ttl=30, show_spinner=False)
def _cases(spec: CheckSpec) -> int:
    """Count the checks of a run. Raises DatasetError."""
    return sum(1 for _ in cases(spec))


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


def _outside(task: Task, model: str, asked: Slots) -> None:
    """Tell the user, before the run, that a control finds nothing in the paragraph to base a decision on."""
    control = LAB.robots.controls().get(model)
    if not isinstance(control, LexiconControl) or not asked.paragraph.strip() or control.knows(task, asked):
        return
    said = f"{model} decides by single words and knows none of these: it would answer “unknown”."
    known = {item.id: item.id.replace("-", " ") for item in shipped(task)[:SHOWN_KNOWN]}
    models.outside(said, known, lambda id: use_item(task, id), "check-model", LAB)


def examples(task: Task) -> None:
    """Draw example paragraphs."""

    def chosen() -> None:
        if id := st.session_state["check-example"]:
            use_item(task, id)
            st.session_state["check-example"] = None

    def others() -> None:
        st.session_state["examples-from"] = st.session_state.get("examples-from", 0) + SHOWN_EXAMPLES

    items = shipped(task)
    first = st.session_state.get("examples-from", 0) % len(items)
    shown = [items[(first + step) % len(items)].id for step in range(SHOWN_EXAMPLES)]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.pills(
            "Examples",
            shown,
            format_func=lambda id: id.replace("-", " "),
            key="check-example",
            on_change=chosen,
            label_visibility="collapsed",
            wrap=True,
        )
        st.button("Others", icon=":material/casino:", type="tertiary", key="check-others", on_click=others)


def own_paragraph(task: Task, model: str, places: FormPlaces) -> dict[str, Any]:
    """Draw the user's own paragraph, with the question about it; folded, the correct answer, if known."""
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
        examples(task)
        if task != "sentiment":
            words = "Question" if task == "multi_choice" else "Statement"
            about = st.text_input(
                words, key=f"about-{task}", max_chars=2000, persist_state="session", on_change=unlabel, args=(task,)
            )
        if task == "multi_choice":
            lines = st.text_area("Choices, one per line", key="choices", height=110, persist_state="session")
            choices = tuple(dict.fromkeys(line.strip() for line in lines.splitlines() if line.strip()))
        _outside(task, model, Slots(paragraph=paragraph, question=about, hypothesis=about, choices=choices))
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
        help="If given, the target of a counterfactual is chosen from it, as in the paper, and wrong first answers do "
        "not count. If not, the target is chosen from the model's first answer.",
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
