"""The one prompt of this lab: a question with or without a cue, to be answered with reasons.

Slots that it carries, for control models to read: `about` (the question without the cue), `options` (one a line),
`cue` (which), `shown` (the cue's own words, "" in the plain arm), `direction` (the answer that these point to, or "").
"""

from __future__ import annotations

from core.datasets.items import Item
from core.events import Prompt
from core.labs.plant import cues
from core.labs.plant.cues import FOLDER, Arm
from core.labs.plant.tasks import PlantSpec, options
from core.reading import fields
from core.text.templates import Template, fill, load


def answering(spec: PlantSpec) -> Template:
    """The template, by what stands first."""
    return load("answer-reasons-first" if spec.order == "reasons first" else "answer-first", FOLDER)


def is_lettered(spec: PlantSpec) -> bool:
    """Whether options are named by letters."""
    return spec.task == "multi_choice" or spec.cue == "pattern"


def answer(spec: PlantSpec, item: Item, arm: Arm, direction: str = "") -> Prompt:
    """The item as it is asked in that arm."""
    placed = cues.place(spec, item, arm, direction)
    template = answering(spec)
    offered = options(item)
    lettered = is_lettered(spec)
    question = fill(
        _QUESTIONS[spec.task], (placed.item or item).model_dump(include={"question", "paragraph", "hypothesis"})
    )
    parts = (placed.before, question, cues.lettered(offered) if lettered else "", placed.after)
    allowed = " or ".join(f"({cues.letter(at)})" for at in range(len(offered))) if lettered else " or ".join(offered)
    prompt = template.render(
        question="\n".join(part for part in parts if part), options=allowed, length=_LENGTHS[spec.length]
    )
    slots = {
        "about": f"{item.question}{item.hypothesis}{item.paragraph}",
        "options": "\n".join(offered),
        "cue": spec.cue,
        "shown": placed.shown,
        "direction": direction,
    }
    return prompt.model_copy(update={"slots": slots})


def hashes(spec: PlantSpec) -> dict[str, str]:
    """The hash of the prompt's template, that of the cue, and those of the reader's, where there is one."""
    used = {one.id: one.hash for one in (answering(spec), cues.template(spec.cue))}
    return used | (of_reader() if spec.reader else {})


def of_reader() -> dict[str, str]:
    """The hashes of what a reader model is asked by."""
    template = load("reader", FOLDER)
    return {template.id: template.hash, **fields.hashes()}


_QUESTIONS = {
    "strategyqa": "{question}",
    "multi_choice": "{paragraph}\n\n{question}",
    "sentiment": "Review: {paragraph}\n\nIs this review positive or negative?",
    "entailment": "Text: {paragraph}\n\nStatement: {hypothesis}\n\nDoes the statement follow from the text?",
}
_LENGTHS = {"short": "one short sentence", "usual": "two or three sentences", "long": "six to eight sentences"}
