"""One question of a dataset, and what can be wrong with a dataset's files."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from core.events import Frozen

Task = Literal["sentiment", "multi_choice", "entailment", "strategyqa", "shp"]
Split = Literal["train", "valid", "test"]


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


class DatasetError(ValueError):
    """A dataset that is not there or cannot be read. The message names file and line and is fit to be shown."""


def broken(path: Path, line: int, problem: str) -> DatasetError:
    """The error for a broken row; `line` counts from 1."""
    return DatasetError(f"{path}, line {line}: {problem}")
