"""StrategyQA (Geva et al. 2021): yes/no questions that need several reasoning steps, in the official JSON array."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from .files import check_texts, file_for, json_rows
from .items import Item, Read, Split, broken, read_items

_FILES: dict[Split, tuple[str, ...]] = {
    "test": ("dev.json", "strategyqa_test.json", "test.json"),
    "valid": ("dev.json",),
    "train": ("train.json", "strategyqa_train.json"),
}


def read(path: Path, split: Split | None) -> Read:
    """Read the questions of a split. The official test file has no answers, so dev.json is the test split. Raises
    DatasetError.
    """
    file = path if path.is_file() else file_for(path, split, _FILES)[1]
    return read_items(file, json_rows(file), partial(_item, file))


def _item(file: Path, line: int, entry: Any) -> Item:
    check_texts(file, line, entry, "qid", "question")
    answer = entry.get("answer")
    if answer is not None and not isinstance(answer, bool):
        raise broken(file, line, "“answer” must be true or false")
    facts = entry.get("facts") or []
    if not isinstance(facts, list) or not all(isinstance(fact, str) for fact in facts):
        raise broken(file, line, "“facts” must be a list of texts")
    return Item(
        id=entry["qid"],
        task="strategyqa",
        question=entry["question"].strip(),
        label=None if answer is None else ("yes" if answer else "no"),
        facts=tuple(facts),
    )
