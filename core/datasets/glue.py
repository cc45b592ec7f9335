"""SST-2 and RTE in GLUE's tab-separated files. GLUE's own test.tsv has no labels: as in the paper, dev.tsv is the test
split, and valid is the last 20 % of train.tsv (llm-introspection, dataset/{sst2,rte}.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from core.datasets.files import columns, file_for, part_of_train, plain_rows, quoted_rows, table
from core.datasets.items import BrokenRow, Item, Read, Split, broken, each

_FILES: dict[Split, tuple[str, ...]] = {
    "test": ("dev.tsv", "validation.tsv"),
    "valid": ("train.tsv",),
    "train": ("train.tsv",),
}
_SENTIMENT = {"0": "negative", "1": "positive"}
_ENTAILMENT = {"entailment": "yes", "not_entailment": "no", "0": "yes", "1": "no"}


def read_sst2(path: Path, split: Split | None) -> Read:
    """Columns sentence, label (0 negative, 1 positive). Raises DatasetError."""
    split, file = _file(path, split)
    rows, (sentence, label) = _rows(file, "sentence", "label")

    def item(line: int, row: _Numbered) -> Item:
        return Item(
            id=f"sst2-{file.stem}-{row.number}",
            task="sentiment",
            paragraph=_filled(file, line, row.cells[sentence], "sentence"),
            label=_label(file, line, row.cells[label], _SENTIMENT),
        )

    items = each(file, rows, item)
    return items if split == "test" or path.is_file() else part_of_train(items, split)


def read_rte(path: Path, split: Split | None) -> Read:
    """Columns sentence1 (premise), sentence2 (hypothesis), label: a word, or 0 for entailment. Raises DatasetError."""
    split, file = _file(path, split)
    rows, (premise, hypothesis, label) = _rows(file, "sentence1", "sentence2", "label")

    def item(line: int, row: _Numbered) -> Item:
        return Item(
            id=f"rte-{file.stem}-{row.number}",
            task="entailment",
            paragraph=_filled(file, line, row.cells[premise], "sentence1"),
            hypothesis=_filled(file, line, row.cells[hypothesis], "sentence2"),
            label=_label(file, line, row.cells[label], _ENTAILMENT),
        )

    items = each(file, rows, item)
    return items if split == "test" or path.is_file() else part_of_train(items, split)


class _Numbered(NamedTuple):
    """A row's cells, and its place among the rows, from 0."""

    number: int
    cells: list[str]


def _file(path: Path, split: Split | None) -> tuple[Split, Path]:
    return (split or "test", path) if path.is_file() else file_for(path, split, _FILES)


def _rows(file: Path, *names: str) -> tuple[list[tuple[int, _Numbered | BrokenRow]], list[int]]:
    """GLUE's own files quote nothing; those written again with an “idx” column quote what holds quotes."""
    rows = plain_rows(file)
    if rows and "idx" in rows[0].cells:
        rows = quoted_rows(file)
    header, rest = table(rows, file)
    numbered = [
        (line, cells if isinstance(cells, BrokenRow) else _Numbered(number, cells))
        for number, (line, cells) in enumerate(rest)
    ]
    return numbered, columns(file, header, *names)


def _filled(file: Path, line: int, cell: str, name: str) -> str:
    if not (text := cell.strip()):
        raise broken(file, line, f"the cell “{name}” is empty")
    return text


def _label(file: Path, line: int, cell: str, labels: dict[str, str]) -> str:
    if (label := cell.strip()) not in labels:
        raise broken(file, line, f"the label “{label}” is none of {', '.join(labels)}")
    return labels[label]
