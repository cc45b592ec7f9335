"""bAbI stories (Weston et al. 2016), tasks 1 to 3.

As in the authors' data the sentences before a question are joined with " Then, ", and the choices are the answers that
occur in that story, sorted (llm-introspection, dataset/babi.py and dataset/local/babi).
"""

from __future__ import annotations

import re
from pathlib import Path

from core.datasets.files import file_for, lines_of, part_of_train
from core.datasets.items import DatasetError, Item, Split, broken

# Tabs in the official files; copies are about that have bars instead.
_CELL_ENDS = re.compile(r"[\t|]")
_FOLDERS = ("", "en-10k/", "tasks_1-20_v1-2/en-10k/", "en/", "tasks_1-20_v1-2/en/")


def read(path: Path, split: Split | None, number: int) -> list[Item]:
    """A file as it is, or a folder that holds qa<number>_*_test.txt and _train.txt. Raises DatasetError."""
    if path.is_file():
        return _stories(path)
    files: dict[Split, list[str]] = {
        "test": [f"{folder}qa{number}_*_test.txt" for folder in _FOLDERS],
        "valid": [f"{folder}qa{number}_*_train.txt" for folder in _FOLDERS],
        "train": [f"{folder}qa{number}_*_train.txt" for folder in _FOLDERS],
    }
    split, file = file_for(path, split, files)
    items = _stories(file)
    return items if split == "test" else part_of_train(items, split)


def _stories(path: Path) -> list[Item]:
    items: list[Item] = []
    sentences: list[str] = []
    asked: list[Item] = []
    story, expected = 0, 1
    for line_number, line in enumerate(lines_of(path), start=1):
        number, _, rest = line.strip().partition(" ")
        if number == "1":
            items += _with_choices(asked)
            sentences, asked, story, expected = [], [], story + 1, 1
        if not number.isdecimal() or int(number) != expected:
            raise broken(path, line_number, f"the line should begin with {expected} or, for a new story, with 1")
        expected += 1
        cells = [cell.strip() for cell in _CELL_ENDS.split(rest)]
        if not cells[0]:
            raise broken(path, line_number, "nothing stands after the line's number")
        if len(cells) == 1:
            sentences.append(cells[0])
            continue
        if not cells[1]:
            raise broken(path, line_number, "a question without an answer")
        if not sentences:
            raise broken(path, line_number, "a question before the first sentence of its story")
        asked.append(
            Item(
                id=f"{path.stem}-{story}-{len(asked)}",
                task="multi_choice",
                paragraph=" Then, ".join(sentences),
                question=cells[0],
                label=cells[1],
            )
        )
    if not asked and not items:
        raise DatasetError(f"{path} holds no question")
    return items + _with_choices(asked)


def _with_choices(asked: list[Item]) -> list[Item]:
    choices = tuple(sorted({item.label for item in asked if item.label}))
    return [item.model_copy(update={"choices": choices}) for item in asked]
