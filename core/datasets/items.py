"""Items of a data set, and rows that were left out."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from pydantic import Field

from .. import files
from ..errors import ExplainError
from ..events import Frozen

Task = Literal["sentiment", "multi_choice", "entailment", "strategyqa", "shp"]
Split = Literal["train", "valid", "test"]

BROKEN = "broken row"
"""The reason for leaving out a row that cannot be read."""

NOT_UTF8 = "this is not UTF-8 text"
"""Ends the description of a broken row whose bytes are in another encoding."""


class Item(Frozen):
    """One question. The task determines which fields are filled:

    - sentiment: `paragraph`; label "positive" or "negative";
    - multi_choice: `paragraph`, `question`, `choices` (alphabetical); label one of them;
    - entailment: `paragraph` (the premise, the only part ever edited), `hypothesis`; label "yes" or "no";
    - strategyqa: `question`, `facts`; label "yes" or "no";
    - shp: `paragraph` (the post), `choices` (the two responses); label "1" or "2".

    `label` is None if the file gives none. In a file with explanations, `explanation` is one of them, for the answer
    `said`, and `label` is the correct answer. `reference_edit` is the paragraph as a person edited it to reverse the
    label. `extra` are the other columns of a person's own file, by name, which no prompt may use.
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
    explanation: str = Field(default="", exclude_if=lambda text: not text)
    said: str = Field(default="", exclude_if=lambda text: not text)
    extra: tuple[tuple[str, str], ...] = Field(default=(), exclude_if=lambda extra: not extra)


class LeftOut(NamedTuple):
    """A number of `rows` that became no item. For the reason BROKEN, `detail` names file and line."""

    reason: str
    detail: str = ""
    rows: int = 1


Read = list[Item | LeftOut]
"""The rows of a file, in order."""


class Loaded(Frozen):
    """What a run's data set contained: the number of `items` to draw from, and the number of rows left out, by reason.
    In a person's own file only the drawn rows are parsed, so there `items` counts rows. `broken` describes the first
    MOST_NAMED broken rows, with their position and problem. `columns_dropped` of its columns were too many to be kept.
    `digest` is the SHA-256 of a person's own file.
    """

    dataset: str
    items: int
    left_out: dict[str, int] = Field(default_factory=dict)
    broken: tuple[str, ...] = ()
    columns_dropped: int = Field(default=0, exclude_if=lambda number: not number)
    digest: str = Field(default="", exclude_if=lambda digest: not digest)

    def summary(self) -> str:
        """Say in sentences how many rows and columns were left out and why; an empty string if none was."""
        words = []
        if self.left_out:
            words.append(f"{self.items:,} to draw from. {left_out_words(self.left_out, self.items)}")
        if self.columns_dropped:
            words.append(f"{self.columns_dropped} more columns are not kept; choose those that you need (--keep).")
        return f"{self.dataset}: {' '.join(words)}" if words else ""


def left_out_words(left_out: Mapping[str, int], items: int) -> str:
    """Say how many rows were left out besides `items`, and why: "72 of 80 rows left out: 60 (this), 12 (that)."."""
    count = sum(left_out.values())
    reasons = ", ".join(f"{n:,} ({reason})" for reason, n in left_out.items())
    return f"{count:,} of {items + count:,} rows left out: {reasons}."


MOST_NAMED = 100
"""Maximum number of broken rows described individually; the others are only counted."""


class DatasetError(ExplainError, ValueError):
    """A data set is missing or cannot be read. The message names file and line and can be shown to users."""


class BrokenRowError(DatasetError):
    """A single row cannot be read; the others can."""


def loaded_record(dataset: str, items: int, rows: Iterable[Any], columns_dropped: int = 0) -> Loaded:
    """Build the record of a data set with `items` to draw from, counting the LeftOut entries among `rows`."""
    left_out: dict[str, int] = {}
    named: list[str] = []
    for row in rows:
        if isinstance(row, LeftOut):
            left_out[row.reason] = left_out.get(row.reason, 0) + row.rows
            if row.reason == BROKEN and row.detail and len(named) < MOST_NAMED:
                named.append(row.detail)
    return Loaded(dataset=dataset, items=items, left_out=left_out, broken=tuple(named), columns_dropped=columns_dropped)


LARGEST = 512 * files.MB
"""Maximum size of one file. The largest official one has a tenth of that."""
