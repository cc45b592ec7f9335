"""The four tasks, the cues that can be planted, and the specification of a run."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, ClassVar, Literal, Self, get_args

from pydantic import Field, model_validator

from ...datasets.items import Item, Loaded
from ...datasets.on_data import OnData
from ...events import Sampling
from ...models.ids import is_control
from ...package_data import DATA
from ...text.stable_random import unit_number
from ..base.cases import Case

Task = Literal["strategyqa", "multi_choice", "sentiment", "entailment"]
Aimed = Literal["key", "hint", "crowd", "pattern"]
"""Cues that point to an answer."""

Cue = Literal[Aimed, "word", "name", "aside"]
Order = Literal["reasons first", "answer first"]
Length = Literal["short", "usual", "long"]

TASKS: tuple[Task, ...] = get_args(Task)
CUES: tuple[Cue, ...] = get_args(Cue)
AIMED: tuple[Aimed, ...] = get_args(Aimed)

OPTIONS: dict[Task, tuple[str, ...]] = {
    "strategyqa": ("yes", "no"),
    "sentiment": ("positive", "negative"),
    "entailment": ("yes", "no"),
}
"""The possible answers. For multi_choice they are the item's choices."""

MOST_TOKENS: dict[Length, int] = {"short": 120, "usual": 300, "long": 800}
"""Maximum length of an answer in tokens, by the length that is asked for."""

LONGEST = 8_000
"""Maximum number of characters in a question or a text."""

QUESTIONS = DATA / "questions"
ONE = "question"
"""The id of the case if the user asks a question of their own."""


class PlantSpec(OnData):
    """Which cue is planted in which questions, and how the model is asked to explain itself.

    Without a `question` of the user's own and without a `dataset`, `limit` of the items shipped for the task are asked.
    """

    LENGTH_FIELDS: ClassVar[Mapping[str, str]] = {"answerer": "max_tokens"}

    task: Task = "strategyqa"
    question: str = Field(default="", max_length=LONGEST)
    gold: str | None = None
    cue: Cue = "key"
    order: Order = "reasons first"
    length: Length = "usual"
    repeats: int = Field(default=3, ge=1, le=15)
    temperature: float = Field(default=0.7, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=16, le=8192)
    reader: str = Field(default="", exclude_if=lambda reader: not reader)
    model: str
    seed: int = Field(default=0, ge=0)

    @model_validator(mode="before")
    @classmethod
    def _entitled_by_cue(cls, given: Any) -> Any:
        if not isinstance(given, dict) or given.get("title") or given.get("dataset"):
            return given
        many = f"{given['limit']} questions" if given.get("limit") else "all questions that ship"
        title = given.get("question") or f"{given.get('task', 'strategyqa').replace('_', ' ')}, {many}"
        return {**given, "title": f"{title}: {given.get('cue', 'key')}"}

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.question and self.dataset:
            raise ValueError("Give a question of your own or a data set, not both.")
        if self.question and self.task != "strategyqa":
            raise ValueError("A question of your own must be one that can be answered with yes or no (strategyqa).")
        if self.gold is not None and self.gold not in OPTIONS["strategyqa"]:
            raise ValueError("The correct answer to your own question is yes or no.")
        return self

    @property
    def roles(self) -> dict[str, tuple[str, ...]]:
        named = {"answerer": self.model, "reader": self.reader}
        return {role: (model,) for role, model in named.items() if model}

    @property
    def is_aimed(self) -> bool:
        """Whether the cue points to an answer."""
        return self.cue in AIMED

    @property
    def plain_draws(self) -> int:
        """How often the plain question is asked: once at temperature 0, where all draws are the same."""
        return self.repeats if self.temperature else 1

    @property
    def sampling(self) -> Sampling:
        """How every answer is sampled."""
        most = self.max_tokens or MOST_TOKENS[self.length]
        return Sampling(temperature=self.temperature, max_tokens=most, seed=self.seed)


@cache
def shipped(task: Task) -> tuple[Item, ...]:
    """Return the items under `data/questions/`, in the order of the file."""
    if task == "strategyqa":
        entries = tomllib.loads((QUESTIONS / "yes_no.toml").read_text(encoding="utf-8"))["question"]
        return tuple(Item(id=one["id"], task=task, question=one["question"], label=one["answer"]) for one in entries)
    entries = tomllib.loads((QUESTIONS / f"{task}.toml").read_text(encoding="utf-8"))["item"]
    return tuple(Item.model_validate({"task": task, **entry}) for entry in entries)


def options(item: Item) -> tuple[str, ...]:
    """Return the possible answers to the item."""
    return item.choices if item.task == "multi_choice" else OPTIONS[item.task]  # type: ignore[index]


def items_of(spec: PlantSpec) -> list[Item]:
    """Return the items of a run, in order. Raises DatasetError."""
    if spec.question:
        return [Item(id=ONE, task=spec.task, question=spec.question, label=spec.gold)]
    if spec.dataset:
        return spec.chosen_items()[0]
    # Shuffled by the seed, so that a small sample is not just the beginning of the file.
    mixed = sorted(shipped(spec.task), key=lambda item: unit_number(f"{spec.seed}|{item.id}"))
    return mixed[: spec.limit]


def loaded(spec: PlantSpec) -> Loaded | None:
    """Return what was loaded from the data set; None if the run uses none. Raises DatasetError."""
    return spec.chosen_items()[1] if spec.dataset else None


def title_of(item: Item) -> str:
    """Return the item's question in one line."""
    return item.question or item.hypothesis or item.paragraph[:200]


def cases(spec: PlantSpec) -> Iterator[Case]:
    """Yield one case per item. Raises DatasetError."""
    for item in items_of(spec):
        yield Case(item.id.replace("/", "-"), item, title_of(item), item.extra)


def asks(spec: PlantSpec, cases: int) -> dict[str, int]:
    """Return the maximum number of calls of a run over `cases` items, by role: plain answers, planted, two neutral
    cues, and agreeing. A judge reads the reasons and, unless the model is a robot, the thinking.
    """
    each = spec.plain_draws + 3 + spec.is_aimed
    texts = 1 if is_control(spec.model) else 2
    return {"answerer": cases * each} | ({"reader": cases * each * texts} if spec.reader else {})
