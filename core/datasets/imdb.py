"""IMDB reviews: the aclImdb folders (Maas et al. 2011), and the table with human edits (Kaushik et al. 2020).

As in the authors' data, "<br />" becomes a line break (llm-introspection, dataset/imdb.py).
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from .files import columns, file_for, part_of_train, quoted_rows, table, text_of
from .items import DatasetError, Item, LeftOut, Read, Split, broken, checked_item, read_items

_LABELS = {"neg": "negative", "pos": "positive"}
_TABLES: dict[Split, tuple[str, ...]] = {
    "test": ("test_paired.tsv", "*test*.tsv"),
    "valid": ("dev_paired.tsv", "*dev*.tsv"),
    "train": ("train_paired.tsv", "*train*.tsv"),
}


def read(path: Path, split: Split | None) -> Read:
    """Read a table, or a folder with a table or with train/ and test/, each with pos/ and neg/. Raises DatasetError."""
    if path.is_file():
        return _table(path)
    for folder in (path, path / "aclImdb"):
        if (folder / "test" / "pos").is_dir() or (folder / "train" / "pos").is_dir():
            return _folders(folder, split or "test")
    _, table = file_for(path, split, _TABLES)
    return _table(table)


def _folders(path: Path, split: Split) -> Read:
    """Read the reviews of a split. Negative reviews come first, as in the authors' data, so the last 20 % of train are
    all positive.
    """
    part = "test" if split == "test" else "train"
    items: Read = []
    for folder, label in _LABELS.items():
        files = sorted((path / part / folder).glob("*.txt"), key=lambda file: (_number(file.stem), file.stem))
        if not files:
            raise DatasetError(f"{path / part / folder} holds no reviews (*.txt)")
        for file in files:
            items += read_items(
                file, [(1, text_of(file))], partial(_review, file, f"imdb-{part}-{folder}-{file.stem}", label)
            )
    return items if split == "test" else part_of_train(items, split)


def _review(file: Path, id: str, label: str, line: int, text: str) -> Item:
    paragraph = text.replace("<br />", "\n").strip()
    if not paragraph:
        raise broken(file, line, "the review is empty")
    return Item(id=id, task="sentiment", paragraph=paragraph, label=label)


def _number(stem: str) -> int:
    digits = re.match(r"\d+", stem)
    return int(digits[0]) if digits else -1


def _table(path: Path) -> Read:
    """Read the columns Sentiment, Text and, if reviews are paired, batch_id: the original first, then its human
    edit.
    """
    header, rows = table(quoted_rows(path), path)
    label_at, text_at = columns(path, header, "sentiment", "text")
    batch_at = header.cells.index("batch_id") if "batch_id" in header.cells else None
    pairs: dict[str, list[Item]] = {}

    def review(line: int, cells: list[str]) -> Item:
        label = cells[label_at].strip().lower()
        if label not in _LABELS.values():
            raise broken(path, line, f"“{cells[label_at]}” is neither Negative nor Positive")
        batch = cells[batch_at].strip() if batch_at is not None else str(len(pairs))
        item = checked_item(path, line, _review(path, f"imdb-{path.stem}-{batch}", label, line, cells[text_at]))
        pair = pairs.setdefault(batch, [])
        if len(pair) == 2:
            raise broken(path, line, f"a third review with batch_id {batch}: pairs are expected")
        pair.append(item)
        return item

    left_out = [one for one in read_items(path, rows, review) if isinstance(one, LeftOut)]
    edited = (
        original.model_copy(update={"reference_edit": edits[0].paragraph}) if edits else original
        for original, *edits in pairs.values()
    )
    return [*edited, *left_out]
