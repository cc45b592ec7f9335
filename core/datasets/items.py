"""One question of a dataset, what was left out of one, and what can be wrong with its files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import Field, ValidationError

from ..events import Frozen

Task = Literal["sentiment", "multi_choice", "entailment", "strategyqa", "shp"]
Split = Literal["train", "valid", "test"]
Value = TypeVar("Value")

BROKEN = "broken row"
"""The reason of a row that cannot be read."""


class Item(Frozen):
    """One question. Which fields are filled depends on the task:

    - sentiment: `paragraph`; label "positive" or "negative";
    - multi_choice: `paragraph`, `question`, `choices` (alphabetical); label one of them;
    - entailment: `paragraph` (the premise, the only part ever edited), `hypothesis`; label "yes" or "no";
    - strategyqa: `question`, `facts`; label "yes" or "no";
    - shp: `paragraph` (the post), `choices` (the two responses); label "1" or "2".

    `label` is None where the file gives none. `reference_edit` is the paragraph as a person changed it so that the
    label turns into the other one.
    """

    id: str
    task: Task
    paragraph: str = ""
    question: str = ""
    choices: tuple[str, ...] = ()
    hypothesis: str = ""
    label: str | None = None
    reference_edit: str | None = None
    facts: tuple[str, ...] = ()


class LeftOut(NamedTuple):
    """So many `rows` that became no item. `detail` of a BROKEN one names file and line."""

    reason: str
    detail: str = ""
    rows: int = 1


Read = list[Item | LeftOut]
"""The rows of a file, in its order."""


class Loaded(Frozen):
    """What a run's data set held: how many `items` there are to draw from (of a person's own file, where only those
    that are drawn are read, rows), and how many rows were left out, by reason. `broken` says of the first MOST_NAMED
    broken rows where each stands and what is wrong.
    """

    dataset: str
    items: int
    left_out: dict[str, int] = Field(default_factory=dict)
    broken: tuple[str, ...] = ()

    @classmethod
    def of(cls, data: object) -> Loaded | None:
        """The record as it was journaled; None where there is none that can be read."""
        try:
            return cls.model_validate(data)
        except ValidationError:
            return None

    def summary(self) -> str:
        """How many rows were left out and why, in a sentence; empty where none was."""
        if not self.left_out:
            return ""
        return f"{self.dataset}: {self.items:,} to draw from. {left_out_words(self.left_out, self.items)}"


def left_out_words(left_out: Mapping[str, int], items: int) -> str:
    """How many rows were left out beside so many items, and why: "72 of 80 rows left out: 60 (this), 12 (that)."."""
    count = sum(left_out.values())
    reasons = ", ".join(f"{n:,} ({reason})" for reason, n in left_out.items())
    return f"{count:,} of {items + count:,} rows left out: {reasons}."


MOST_NAMED = 100
"""Broken rows that are named one by one; of the others there is a count."""


class DatasetError(ValueError):
    """A dataset that is not there or cannot be read. The message names file and line and is fit to be shown."""


class BrokenRow(DatasetError):
    """One row that cannot be read; the others can."""


def broken(path: Path, line: int, problem: str) -> BrokenRow:
    """The error for a broken row; `line` counts from 1."""
    return BrokenRow(f"{path}, line {line}: {problem}")


def whole(path: Path, line: int, item: Item) -> Item:
    """The item. Raises BrokenRow where its texts hold bytes that are no character."""
    texts = (item.id, item.paragraph, item.question, item.hypothesis, item.label or "", *item.choices, *item.facts)
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        raise broken(path, line, "this is not UTF-8 text") from None
    return item


def each(path: Path, rows: Iterable[tuple[int, Value | BrokenRow]], item: Callable[[int, Value], Item]) -> Read:
    """`item(line, value)` of each row. A row that it refuses, or that is refused already, costs one item."""
    read: Read = []
    for line, value in rows:
        try:
            if isinstance(value, BrokenRow):
                raise value
            read.append(whole(path, line, item(line, value)))
        except BrokenRow as error:
            read.append(LeftOut(BROKEN, str(error)))
    return read


def loaded(dataset: str, items: int, rows: Iterable[Any]) -> Loaded:
    """What is known of a data set: `items` to draw from, and of `rows` those that are LeftOut."""
    left_out: dict[str, int] = {}
    named: list[str] = []
    for row in rows:
        if isinstance(row, LeftOut):
            left_out[row.reason] = left_out.get(row.reason, 0) + row.rows
            if row.reason == BROKEN and row.detail and len(named) < MOST_NAMED:
                named.append(row.detail)
    return Loaded(dataset=dataset, items=items, left_out=left_out, broken=tuple(named))
