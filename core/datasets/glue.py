"""SST-2 and RTE in GLUE's tab-separated files.

GLUE's own test.tsv has no labels. As in the paper, dev.tsv is the test split, and valid is the last 20 % of train.tsv
(llm-introspection, dataset/{sst2,rte}.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from .files import columns, file_for, part_of_train, plain_rows, quoted_rows, table
from .items import BrokenRowError, Item, Read, Split, Task, broken, read_items

_FILES: dict[Split, tuple[str, ...]] = {
    "test": ("dev.tsv", "validation.tsv"),
    "valid": ("train.tsv",),
    "train": ("train.tsv",),
}
_SENTIMENT = {"0": "negative", "1": "positive"}
_ENTAILMENT = {"entailment": "yes", "not_entailment": "no", "0": "yes", "1": "no"}


def read_sst2(path: Path, split: Split | None) -> Read:
    """Read the columns sentence and label (0 negative, 1 positive). Raises DatasetError."""
    return _read(path, split, "sst2", "sentiment", {"paragraph": "sentence"}, _SENTIMENT)


def read_rte(path: Path, split: Split | None) -> Read:
    """Read the columns sentence1 (premise), sentence2 (hypothesis) and label (a word, or 0 for entailment). Raises
    DatasetError.
    """
    held = {"paragraph": "sentence1", "hypothesis": "sentence2"}
    return _read(path, split, "rte", "entailment", held, _ENTAILMENT)


def _read(
    path: Path, split: Split | None, name: str, task: Task, held: Mapping[str, str], labels: Mapping[str, str]
) -> Read:
    """Read a table. `held` maps each field of an item to its column."""
    split, file = (split or "test", path) if path.is_file() else file_for(path, split, _FILES)
    rows, (*places, label_at) = _rows(file, *held.values(), "label")

    def item(line: int, row: _Numbered) -> Item:
        texts = {field: row.cells[at].strip() for field, at in zip(held, places, strict=True)}
        for field, text in texts.items():
            if not text:
                raise broken(file, line, f"the cell “{held[field]}” is empty")
        label = row.cells[label_at].strip()
        if label not in labels:
            raise broken(file, line, f"the label “{label}” is none of {', '.join(labels)}")
        return Item.model_validate(
            {"id": f"{name}-{file.stem}-{row.number}", "task": task, "label": labels[label], **texts}
        )

    items = read_items(file, rows, item)
    return items if split == "test" or path.is_file() else part_of_train(items, split)


class _Numbered(NamedTuple):
    """A row's cells, and its position among the rows, from 0."""

    number: int
    cells: list[str]


def _rows(file: Path, *names: str) -> tuple[list[tuple[int, _Numbered | BrokenRowError]], list[int]]:
    """Read the rows and the positions of the columns `names`. GLUE's own files never quote cells; copies with an “idx”
    column quote cells that contain quotes.
    """
    rows = plain_rows(file)
    if rows and "idx" in rows[0].cells:
        rows = quoted_rows(file)
    header, rest = table(rows, file)
    numbered = [
        (line, cells if isinstance(cells, BrokenRowError) else _Numbered(number, cells))
        for number, (line, cells) in enumerate(rest)
    ]
    return numbered, columns(file, header, *names)
