"""The tasks of the lab: three tasks, three explanations, the paper's wordings, and the specification of a run."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_args

from pydantic import Field, model_validator

from ...datasets import own
from ...datasets.items import Item, Loaded
from ...datasets.registry import OnData
from ...events import Sampling
from ...package_data import table
from ...parsers.fields import Answers
from ...text.templates import PROSE_ONLY
from ..base.report import Case
from ..base.spec import MOST_CASES, Sampled, SpecFields

Task = Literal["sentiment", "multi_choice", "entailment"]
Explanation = Literal["counterfactual", "attribution", "redaction"]
Persona = Literal["objective", "human", "you"]
Target = Literal["explicit", "implicit"]
Mask = Literal["[REDACTED]", "[REMOVED]"]

TASKS: tuple[Task, ...] = get_args(Task)
EXPLANATIONS: tuple[Explanation, ...] = get_args(Explanation)

PAPER_SAMPLING = Sampling(temperature=0.1, top_p=0.95, top_k=50, repetition_penalty=1.2, max_tokens=1024, seed=0)
"""The settings with which the authors sampled every answer (llm-introspection, model/*.py). Few endpoints accept top_k
and the repetition penalty.
"""

LONGEST = 20_000
"""The longest paragraph in characters. The longest IMDB review is shorter."""

MOST_CHOICES = 25
"""With "unknown" they are named by the letters a to z."""

LABELS: dict[Task, tuple[str, ...]] = {"sentiment": ("positive", "negative"), "entailment": ("yes", "no")}
"""The possible labels; for multi_choice they are the item's choices."""

APART = " · "
"""The separator between paragraph and explanation in a check's title."""


class Wording(SpecFields):
    """One way to word the questions; the defaults are the paper's. All sessions of one check have the same wording.

    `persona`: whose judgement the prompts ask for (c-persona, e-persona, i-persona in the authors' code, which plots
    only results with all three alike). `target`: whether a counterfactual's goal is named (e-implcit-target). `mask`:
    m-removed. `mask_sentence`: whether classification says that words can be masked (c-no-redacted). `short`: the short
    form of the redaction prompt (e-short). `options`: whether the question of answerability lists the answers
    (i-options).
    """

    persona: Persona = "objective"
    target: Target = "explicit"
    mask: Mask = "[REDACTED]"
    mask_sentence: bool = True
    short: bool = False
    options: bool = False


def every_wording(explanation: Explanation) -> list[Wording]:
    """Return all wordings of the paper that make a difference to `explanation`: persona × target, or persona × mask."""
    field, values = ("target", get_args(Target)) if explanation == "counterfactual" else ("mask", get_args(Mask))
    personas = get_args(Persona)
    return [Wording.model_validate({"persona": one, field: value}) for one in personas for value in values]


@cache
def shipped(task: Task) -> tuple[Item, ...]:
    """Return the items under `data/questions/`, in the file's order."""
    entries = table(f"questions/{task}")["item"]
    return tuple(Item.model_validate({"task": task, **entry}) for entry in entries)


class CheckSpec(Sampled, OnData):
    """Which model's explanations of which answers are checked, and how often.

    `items` are checked in the given order; without them, `limit` items of `dataset` (sampled by `seed`, from `path` or
    from where datasets are looked for); without either, the shipped items. `wordings` are used for each explanation, or
    with `every_wording` all of the paper's. These three have no widget and no option of their own.
    """

    LENGTH_FIELDS: ClassVar[Mapping[str, str]] = {"classifier": "max_tokens", "explainer": "max_tokens"}

    task: Task = "sentiment"
    items: tuple[Item, ...] = ()
    explanations: tuple[Explanation, ...] = Field(default=EXPLANATIONS, min_length=1)
    wordings: tuple[Wording, ...] = Field(default=(Wording(),), min_length=1)
    every_wording: bool = False
    answers: Answers = "prose"
    controls: int = Field(default=3, ge=0, le=20)
    answerable: bool = False
    max_tokens: int = Field(default=PAPER_SAMPLING.max_tokens, ge=16, le=8192)
    model: str
    seed: int = Field(default=0, ge=0)

    @model_validator(mode="before")
    @classmethod
    def _entitled(cls, given: object) -> object:
        if not isinstance(given, dict) or given.get("title"):
            return given
        return {**given, "title": _title(given)}

    @model_validator(mode="after")
    def _whole(self) -> Self:
        for item in self.items:
            if problem := _problem(self.task, item):
                raise ValueError(problem)
        if not all(item.id for item in self.items):
            raise ValueError("An item has no id.")
        if len({item.id for item in self.items}) < len(self.items):
            raise ValueError("Two items have the same id.")
        if self.is_given and (len(set(self.explanations)) > 1 or "counterfactual" in self.explanations):
            raise ValueError(
                "The explanations are given: say which kind they are, attribution (lists of words) or redaction "
                "(paragraphs with [REDACTED])."
            )
        if self.prompts and self.answers == "schema":
            raise ValueError(PROSE_ONLY)
        return self

    @property
    def is_given(self) -> bool:
        """Whether the explanations are given, so that the model is not asked for its own."""
        return "explanation" in self.columns or any(item.explanation for item in self.items)

    @property
    def cases_of_item(self) -> int:
        return sum(len(wordings_of(self, explanation)) for explanation in dict.fromkeys(self.explanations))

    @property
    def roles(self) -> dict[str, tuple[str, ...]]:
        return {"classifier": (self.model,), "explainer": (self.model,)}

    @property
    def sampling(self) -> Sampling:
        """The paper's settings with this check's seed, maximum answer length and other choices."""
        own = {"seed": self.seed, "max_tokens": self.max_tokens}
        return self.sampled(PAPER_SAMPLING.model_copy(update=own))


def _title(given: dict[str, Any]) -> str:
    items = list(given.get("items") or ())
    if len(items) == 1:
        item = Item.model_validate(items[0])
        return item.question or item.hypothesis or item.paragraph[:200]
    task = str(given.get("task", "sentiment")).replace("_", " ")
    if items:
        return f"{len(items)} items, {task}"
    count = f"{given['limit']} items" if given.get("limit") else "all items"
    return f"{own.title(given.get('dataset') or 'shipped', count)}, {task}"


def _problem(task: Task, item: Item) -> str:
    """Return why the item cannot be asked; an empty string if it can."""
    if item.task != task:
        return f"{item.id} is an item for {item.task}, not for {task}."
    if not item.paragraph.strip():
        return "There is no paragraph. Write or paste one."
    if len(item.paragraph) > LONGEST:
        return f"The paragraph has {len(item.paragraph):,} characters; at most {LONGEST:,} can be checked."
    if task == "multi_choice":
        if not item.question.strip():
            return "There is no question about the paragraph."
        if not item.choices or not all(choice.strip() for choice in item.choices):
            return "There are no choices to answer with."
        if len(item.choices) > MOST_CHOICES or len(set(item.choices)) < len(item.choices):
            return f"The choices must differ, and be {MOST_CHOICES} at most."
    if task == "entailment" and not item.hypothesis.strip():
        return "There is no statement that could follow from the paragraph."
    labels = item.choices if task == "multi_choice" else LABELS[task]
    if item.label is not None and item.label not in labels:
        return f"{item.label!r} cannot be the correct answer. Choose one of {', '.join(labels)}."
    return ""


def items_of(spec: CheckSpec) -> dict[str, Item]:
    """Return the items of a run by id, in order. Raises DatasetError if the data set cannot be read."""
    if spec.items:
        chosen = list(spec.items)
    elif spec.dataset:
        chosen = spec.chosen_items()[0]
    else:
        chosen = list(shipped(spec.task))[: spec.limit]
    return {item.id: item for item in chosen}


def loaded(spec: CheckSpec) -> Loaded | None:
    """Return what the data set held, if the run uses one; else None. Raises DatasetError if it cannot be read."""
    return spec.chosen_items()[1] if spec.dataset and not spec.items else None


class Check(NamedTuple):
    """One explanation of one answer, requested in one wording."""

    task: Task
    item: Item
    explanation: Explanation
    wording: Wording

    @property
    def name(self) -> str:
        """Explanation and wording, such as "attribution/objective-redacted"."""
        return f"{self.explanation}/{wording_name(self.explanation, self.wording)}"

    @property
    def key(self) -> str:
        """The key of the check's records: `<item>/<explanation>/<wording>`."""
        return f"{self.item.id}/{self.name}"

    @property
    def case(self) -> str:
        """The id of the check's case: its name, under the place of its item."""
        return f"{place_of(self.item.id)}/{self.name}"

    @property
    def title(self) -> str:
        """What is asked about, with explanation and wording."""
        about = self.item.question or self.item.hypothesis or self.item.paragraph
        return f"{_shortened(about)}{APART}{in_words(self.name)}"


def in_words(name: str) -> str:
    """Return a check's name as a person reads it: "attribution, objective, redacted"."""
    return name.replace("/", ", ").replace("-", ", ")


def _shortened(text: str, most: int = 80) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 1].rstrip()}…"


def place_of(id: str) -> str:
    """Return the place of what all checks of an item share: its id, escaped so that no "/" in it splits a case's path.
    Different ids have different places.
    """
    return id.replace("%", "%25").replace("/", "%2F")


def cases(spec: CheckSpec) -> Iterator[Case]:
    """Yield one case per check, item by item. Raises DatasetError if a data set cannot be read, and ValueError if there
    are more checks than a run accepts.
    """
    items = items_of(spec)
    each = spec.cases_of_item
    if len(items) * each > MOST_CASES:
        raise ValueError(
            f"{len(items):,} items with {each} explanations each are {len(items) * each:,} checks; a run takes "
            f"{MOST_CASES:,} at most. Set a limit of {MOST_CASES // each} items, or make it a study, which takes any "
            "number of them."
        )
    for item in items.values():
        for check in checks_of(spec, item):
            yield Case(check.case, check, check.title, item.extra)


def wordings_of(spec: CheckSpec, explanation: Explanation) -> dict[str, Wording]:
    """Return the wordings in which a run asks for `explanation`, by name; wordings that do not differ for it only
    once.
    """
    wordings = list(spec.wordings)
    if spec.every_wording:
        also = spec.wordings[0].model_dump(include={"mask_sentence", "short", "options"})
        wordings = [wording.model_copy(update=also) for wording in every_wording(explanation)]
    named: dict[str, Wording] = {}
    for wording in wordings:
        named.setdefault(wording_name(explanation, wording), wording)
    return named


def checks_of(spec: CheckSpec, item: Item) -> Iterator[Check]:
    """Yield all checks of one item."""
    for explanation in dict.fromkeys(spec.explanations):
        for wording in wordings_of(spec, explanation).values():
            yield Check(spec.task, item, explanation, wording)


def wording_name(explanation: Explanation, wording: Wording) -> str:
    """Return the name of a wording from the parts that matter for `explanation`, such as "objective-explicit"."""
    masks = wording.mask.strip("[]").lower()
    if explanation == "counterfactual":
        # The mask appears in no prompt but the sentence about masks, and the default mask is not named.
        parts = [wording.persona, wording.target, "" if masks == "redacted" or not wording.mask_sentence else masks]
    else:
        parts = [wording.persona, masks, "short" if wording.short and explanation == "redaction" else ""]
    return "-".join(part for part in [*parts, "" if wording.mask_sentence else "unmentioned"] if part)


def classification_key(id: str, wording: Wording) -> str:
    """Return the key of the first session that all checks of an item with the same classification prompt share."""
    masks = wording.mask.strip("[]").lower() if wording.mask_sentence else "unmentioned"
    return f"{id}/classify/{wording.persona}-{masks}"


def answerable_key(id: str, wording: Wording) -> str:
    """Return the key of the session that asks whether an item can be answered, shared by all checks with the same
    prompt.
    """
    return f"{id}/answerable/{wording.persona}" + ("-options" if wording.options else "")


def asks(spec: CheckSpec, cases: int) -> dict[str, int]:
    """Return the most calls, by role, that a run over `cases` checks makes if both parsers read alike; one more for
    each explanation in which they read two different edits. A successful explanation adds two calls: a
    counterfactual's added words are tried on another paragraph, asked about with and without them; masked words are
    tried by halves.
    """
    checks, masked, after_success = 0, 0, 0
    asked: set[str] = set()
    for explanation in dict.fromkeys(spec.explanations):
        for wording in wordings_of(spec, explanation).values():
            checks += 1
            asked.add(classification_key("", wording))
            if spec.answerable:
                asked.add(answerable_key("", wording))
            after_success += 2 * (explanation == "counterfactual" or spec.controls > 0)
            if explanation != "counterfactual" and spec.controls:
                asked.add(f"{classification_key('', wording)} all masked {wording.mask}")
                masked += spec.controls
    items = -(-cases // checks)
    explainer = 0 if spec.is_given else items * checks
    return {"classifier": items * (checks + masked + after_success + len(asked)), "explainer": explainer}
