"""The only prompt of this lab: a question with or without a cue, to be answered with reasons.

Its slots, from which control models read: `about` (the question without the cue), `options` (one a line), `cue` (its
id), `shown` (the cue's wording, "" in the plain arm), `direction` (the answer that the cue points to, or "").
"""

from collections.abc import Iterator, Mapping, Sequence

from ...datasets.items import Item
from ...events import Message, Prompt
from ...parsers import fields
from ...text.templates import fill, load
from . import tasks
from .tasks import FOLDER, OPTIONS, Arm, PlantSpec, options


def is_lettered(spec: PlantSpec) -> bool:
    """Whether the options are labelled with letters."""
    return spec.task == "multi_choice" or spec.cue == "pattern"


def answer(spec: PlantSpec, item: Item, arm: Arm, direction: str = "") -> Prompt:
    """Build the prompt for the item in that arm, after two answered example questions of the same task."""
    placed = tasks.plant_cue(spec, item, arm, direction)
    texts = (placed.item or item).model_dump(include={"question", "paragraph", "hypothesis"})
    asked = _asked(spec, fill(_QUESTIONS[spec.task], texts), options(item), placed.before, placed.after)
    template = load("answer", FOLDER)
    shown = [turn for one in template.demonstrations if one["task"] == spec.task for turn in _shown(spec, one)]
    slots = {
        "about": f"{item.question}{item.hypothesis}{item.paragraph}",
        "options": "\n".join(options(item)),
        "cue": spec.cue,
        "shown": placed.shown,
        "direction": direction,
    }
    turns = (*shown, Message(role="user", content=asked))
    return Prompt(id=template.id, hash=template.hash, messages=turns, slots=slots)


def _asked(spec: PlantSpec, question: str, offered: Sequence[str], before: str = "", after: str = "") -> str:
    """Return a user turn: the question with the texts before and after it, and the instruction on how to answer."""
    named = [f"({tasks.letter(at)})" for at in range(len(offered))] if is_lettered(spec) else offered
    parts = (before, question, tasks.lettered(offered) if is_lettered(spec) else "", after)
    template = load("answer", FOLDER)
    return fill(
        template.user if spec.order == "reasons first" else template.ask,
        {"question": "\n\n".join(filter(None, parts)), "options": " or ".join(named), "length": _LENGTHS[spec.length]},
    ).strip()


def _shown(spec: PlantSpec, one: Mapping[str, str]) -> Iterator[Message]:
    """Yield a demonstration: a question, and its answer with reasons of the length that is asked for."""
    offered = one["options"].split("|") if "options" in one else OPTIONS[spec.task]
    chosen = f"({tasks.letter(offered.index(one['answer']))}) " if is_lettered(spec) else ""
    said = [one[spec.length], f"Answer: {chosen}{one['answer']}"]
    yield Message(role="user", content=_asked(spec, one["question"], offered))
    yield Message(role="assistant", content="\n".join(said if spec.order == "reasons first" else said[::-1]))


def hashes(spec: PlantSpec) -> dict[str, str]:
    """Return the hashes of the prompt's template and of the cue, and of the judge's prompts if there is a judge."""
    used = {one.id: one.hash for one in (load("answer", FOLDER), tasks.template(spec.cue))}
    return used | (of_reader() if spec.reader else {})


def of_reader() -> dict[str, str]:
    """Return the hashes of the judge's prompts."""
    template = load("reader", FOLDER)
    return {template.id: template.hash, **fields.hashes()}


_QUESTIONS = {
    "strategyqa": "{question}",
    "multi_choice": "{paragraph}\n\n{question}",
    "sentiment": "Review: {paragraph}\n\nIs this review positive or negative?",
    "entailment": "Text: {paragraph}\n\nStatement: {hypothesis}\n\nDoes the statement follow from the text?",
}
_LENGTHS = {"short": "one short sentence", "usual": "two or three sentences", "long": "six to eight sentences"}
