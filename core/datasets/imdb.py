"""IMDB reviews: the aclImdb folders (Maas et al. 2011), and the table with human edits (Kaushik et al. 2020).

As in the authors' data, "<br />" becomes a line break (llm-introspection, dataset/imdb.py).
"""

from __future__ import annotations

import re
from pathlib import Path

from core.datasets.files import columns, file_for, part_of_train, quoted_rows, table, text_of
from core.datasets.items import DatasetError, Item, Split, broken

_LABELS = {"neg": "negative", "pos": "positive"}
_TABLES: dict[Split, tuple[str, ...]] = {
    "test": ("test_paired.tsv", "*test*.tsv"),
    "valid": ("dev_paired.tsv", "*dev*.tsv"),
    "train": ("train_paired.tsv", "*train*.tsv"),
}


def read(path: Path, split: Split | None) -> list[Item]:
    """A table, or a folder with a table or with train/ and test/, each holding pos/ and neg/. Raises DatasetError."""
    if path.is_file():
        return _table(path)
    for folder in (path, path / "aclImdb"):
        if (folder / "test" / "pos").is_dir() or (folder / "train" / "pos").is_dir():
            return _folders(folder, split or "test")
    _, table = file_for(path, split, _TABLES)
    return _table(table)


def _folders(path: Path, split: Split) -> list[Item]:
    """Negative reviews come first, as in the authors' data: the last 20 % of train are all positive."""
    part = "test" if split == "test" else "train"
    items = []
    for folder, label in _LABELS.items():
        files = sorted((path / part / folder).glob("*.txt"), key=lambda file: (_number(file.stem), file.stem))
        if not files:
            raise DatasetError(f"{path / part / folder} holds no reviews (*.txt)")
        for file in files:
            text = _paragraph(text_of(file))
            if not text:
                raise broken(file, 1, "the review is empty")
            items.append(Item(id=f"imdb-{part}-{folder}-{file.stem}", task="sentiment", paragraph=text, label=label))
    return items if split == "test" else part_of_train(items, split)


def _number(stem: str) -> int:
    digits = re.match(r"\d+", stem)
    return int(digits[0]) if digits else -1


def _table(path: Path) -> list[Item]:
    """Columns Sentiment, Text and, where reviews are paired, batch_id: the original first, then its human edit."""
    header, rows = table(quoted_rows(path), path)
    label_at, text_at = columns(path, header, "sentiment", "text")
    batch_at = header.cells.index("batch_id") if "batch_id" in header.cells else None
    items: list[Item] = []
    originals: dict[str, int] = {}
    for row in rows:
        label = row.cells[label_at].strip().lower()
        if label not in _LABELS.values():
            raise broken(path, row.line, f"“{row.cells[label_at]}” is neither Negative nor Positive")
        text = _paragraph(row.cells[text_at])
        if not text:
            raise broken(path, row.line, "the review is empty")
        batch = row.cells[batch_at].strip() if batch_at is not None else str(len(items))
        if batch not in originals:
            originals[batch] = len(items)
            items.append(Item(id=f"imdb-{path.stem}-{batch}", task="sentiment", paragraph=text, label=label))
            continue
        original = items[originals[batch]]
        if original.reference_edit is not None:
            raise broken(path, row.line, f"a third review with batch_id {batch}: pairs are expected")
        items[originals[batch]] = original.model_copy(update={"reference_edit": text})
    return items


def _paragraph(text: str) -> str:
    return text.replace("<br />", "\n").strip()
