"""SST-2 and RTE in GLUE's tab-separated files. GLUE's own test.tsv has no labels: as in the paper, dev.tsv is the test
split, and valid is the last 20 % of train.tsv (llm-introspection, dataset/{sst2,rte}.py).
"""

from __future__ import annotations

from pathlib import Path

from core.datasets.files import Row, columns, file_for, part_of_train, plain_rows, quoted_rows, table
from core.datasets.items import Item, Split, broken

_FILES: dict[Split, tuple[str, ...]] = {
    "test": ("dev.tsv", "validation.tsv"),
    "valid": ("train.tsv",),
    "train": ("train.tsv",),
}
_SENTIMENT = {"0": "negative", "1": "positive"}
_ENTAILMENT = {"entailment": "yes", "not_entailment": "no", "0": "yes", "1": "no"}


def read_sst2(path: Path, split: Split | None) -> list[Item]:
    """Columns sentence, label (0 negative, 1 positive). Raises DatasetError."""
    split, file = _file(path, split)
    rows, (sentence, label) = _rows(file, "sentence", "label")
    items = [
        Item(
            id=f"sst2-{file.stem}-{number}",
            task="sentiment",
            paragraph=_filled(file, row, sentence, "sentence"),
            label=_label(file, row, label, _SENTIMENT),
        )
        for number, row in enumerate(rows)
    ]
    return items if split == "test" or path.is_file() else part_of_train(items, split)


def read_rte(path: Path, split: Split | None) -> list[Item]:
    """Columns sentence1 (premise), sentence2 (hypothesis), label: a word, or 0 for entailment. Raises DatasetError."""
    split, file = _file(path, split)
    rows, (premise, hypothesis, label) = _rows(file, "sentence1", "sentence2", "label")
    items = [
        Item(
            id=f"rte-{file.stem}-{number}",
            task="entailment",
            paragraph=_filled(file, row, premise, "sentence1"),
            hypothesis=_filled(file, row, hypothesis, "sentence2"),
            label=_label(file, row, label, _ENTAILMENT),
        )
        for number, row in enumerate(rows)
    ]
    return items if split == "test" or path.is_file() else part_of_train(items, split)


def _file(path: Path, split: Split | None) -> tuple[Split, Path]:
    return (split or "test", path) if path.is_file() else file_for(path, split, _FILES)


def _rows(file: Path, *names: str) -> tuple[list[Row], list[int]]:
    """GLUE's own files quote nothing; those written again with an “idx” column quote what holds quotes."""
    rows = plain_rows(file)
    if rows and "idx" in rows[0].cells:
        rows = quoted_rows(file)
    header, rest = table(rows, file)
    return rest, columns(file, header, *names)


def _filled(file: Path, row: Row, place: int, name: str) -> str:
    text = row.cells[place].strip()
    if not text:
        raise broken(file, row.line, f"the cell “{name}” is empty")
    return text


def _label(file: Path, row: Row, place: int, labels: dict[str, str]) -> str:
    label = row.cells[place].strip()
    if label not in labels:
        raise broken(file, row.line, f"the label “{label}” is none of {', '.join(labels)}")
    return labels[label]
