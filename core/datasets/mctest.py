r"""MCTest stories (Richardson et al. 2013): a .tsv with stories and questions, an .ans of the same name with answers.

As in the authors' data, the mark \newline becomes a line break and choices are sorted (llm-introspection,
dataset/mctest.py). "one:" and "multiple:" before a question say how many sentences answer it and are removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .files import TableRow, file_for, plain_rows
from .items import BrokenRowError, DatasetError, Item, Read, Split, broken, read_items

_FILES: dict[Split, tuple[str, ...]] = {
    "test": ("mc500.test.tsv", "mc160.test.tsv"),
    "valid": ("mc500.dev.tsv", "mc160.dev.tsv"),
    "train": ("mc500.train.tsv", "mc160.train.tsv"),
}
_QUESTIONS, _CHOICES = 4, 4
_CELLS = 3 + _QUESTIONS * (1 + _CHOICES)


def read(path: Path, split: Split | None) -> Read:
    """Read four questions per story. In a folder with both collections mc500 is used. Raises DatasetError."""
    file = path if path.is_file() else file_for(path, split, _FILES)[1]
    stories = plain_rows(file)
    answers_file = file.with_suffix(".ans")
    if not answers_file.is_file():
        raise DatasetError(f"{file} has no answers beside it: {answers_file.name} is missing")
    answers = plain_rows(answers_file)
    if len(answers) != len(stories):
        raise DatasetError(f"{answers_file} has {len(answers)} lines where {file.name} has {len(stories)} stories")
    items: Read = []
    for story, answer in zip(stories, answers, strict=True):
        questions = _questions(file, answers_file, story, answer)
        items += read_items(file, questions, lambda line, fields: Item(task="multi_choice", **fields))
    return items


def _questions(
    file: Path, answers_file: Path, story: TableRow, answer: TableRow
) -> Iterator[tuple[int, dict[str, Any] | BrokenRowError]]:
    """Yield the questions of one story. A broken question is lost alone; a broken story or answer line costs all
    four.
    """
    letters = [cell.strip() for cell in answer.cells]
    fault = None
    if len(story.cells) != _CELLS:
        fault = broken(file, story.line, f"{len(story.cells)} cells where a story has {_CELLS}")
    elif len(letters) != _QUESTIONS or any(letter not in ("A", "B", "C", "D") for letter in letters):
        fault = broken(answers_file, answer.line, f"four letters from A to D are expected, not “{' '.join(letters)}”")
    if fault is not None:
        yield from [(story.line, fault)] * _QUESTIONS
        return
    identity, _, paragraph, *questions = story.cells
    for number, letter in enumerate(letters):
        asked, *choices = (cell.strip() for cell in questions[5 * number : 5 * number + 5])
        if not asked or not all(choices):
            yield story.line, broken(file, story.line, f"question {number + 1} has an empty cell")
            continue
        yield (
            story.line,
            {
                "id": f"{identity}-{number}",
                "paragraph": paragraph.replace(r"\newline", "\n").strip(),
                "question": re.sub(r"^(?:one|multiple)\s*:\s*", "", asked),
                "choices": tuple(sorted(choices)),
                "label": choices["ABCD".index(letter)],
            },
        )
