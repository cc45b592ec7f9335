"""bAbI stories (Weston et al. 2016), tasks 1 to 3.

As in the authors' data, the sentences before a question are joined with " Then, ", and the choices are the sorted
answers that occur in that story (llm-introspection, dataset/babi.py and dataset/local/babi).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .files import file_for, lines_of, part_of_train
from .items import BrokenRowError, DatasetError, Item, Read, Split, broken, read_items

# The official files use tabs; some copies in circulation use bars instead.
_CELL_ENDS = re.compile(r"[\t|]")
_FOLDERS = ("", "en-10k/", "tasks_1-20_v1-2/en-10k/", "en/", "tasks_1-20_v1-2/en/")


def read(path: Path, split: Split | None, number: int) -> Read:
    """Read a whole file, or a folder with qa<number>_*_test.txt and _train.txt. Raises DatasetError."""
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


def _stories(path: Path) -> Read:
    """Return every question. A broken question is the only one lost. Any other broken line costs all later questions of
    its story, because their basis is unknown.
    """
    stories: list[list[tuple[int, str]]] = [[]]
    for line_number, line in enumerate(lines_of(path), start=1):
        if line.strip().partition(" ")[0] == "1" and stories[-1]:
            stories.append([])
        stories[-1].append((line_number, line))
    items = [item for number, story in enumerate(stories, start=1) for item in _story(path, number, story)]
    if not items:
        raise DatasetError(f"{path} holds no question")
    return items


def _story(path: Path, story: int, lines: list[tuple[int, str]]) -> Read:
    sentences: list[str] = []
    rows: list[tuple[int, dict[str, Any] | BrokenRowError]] = []
    fault: BrokenRowError | None = None
    for expected, (line_number, line) in enumerate(lines, start=1):
        number, _, rest = line.strip().partition(" ")
        cells = [cell.strip() for cell in _CELL_ENDS.split(rest)]
        is_question = len(cells) > 1
        if fault is None:
            fault = _fault(path, line_number, number, expected, cells[0])
            if fault is not None and not is_question:
                rows.append((line_number, fault))
        if not is_question:
            sentences.append(cells[0])
        elif fault is not None:
            rows.append((line_number, fault))
        elif not cells[1]:
            rows.append((line_number, broken(path, line_number, "a question without an answer")))
        elif not sentences:
            rows.append((line_number, broken(path, line_number, "a question before the first sentence of its story")))
        else:
            id = f"{path.stem}-{story}-{len(rows)}"
            about = " Then, ".join(sentences)
            rows.append((line_number, {"id": id, "paragraph": about, "question": cells[0], "label": cells[1]}))
    choices = tuple(sorted({row["label"] for _, row in rows if isinstance(row, dict)}))
    return read_items(path, rows, lambda line, fields: Item(task="multi_choice", choices=choices, **fields))


def _fault(path: Path, line: int, number: str, expected: int, text: str) -> BrokenRowError | None:
    if number != str(expected):
        return broken(path, line, f"the line should begin with {expected} or, for a new story, with 1")
    return None if text else broken(path, line, "nothing stands after the line's number")
