"""MCTest stories (Richardson et al. 2013): a .tsv with stories and questions, an .ans of the same name with answers.

As in the authors' data the mark \\newline becomes a line break and choices are sorted (llm-introspection,
dataset/mctest.py). "one:" and "multiple:" before a question say how many sentences answer it and are left out.
"""

from __future__ import annotations

import re
from pathlib import Path

from core.datasets.files import file_for, plain_rows
from core.datasets.items import DatasetError, Item, Split, broken

_FILES: dict[Split, tuple[str, ...]] = {
    "test": ("mc500.test.tsv", "mc160.test.tsv"),
    "valid": ("mc500.dev.tsv", "mc160.dev.tsv"),
    "train": ("mc500.train.tsv", "mc160.train.tsv"),
}
_QUESTIONS, _CHOICES = 4, 4
_CELLS = 3 + _QUESTIONS * (1 + _CHOICES)


def read(path: Path, split: Split | None) -> list[Item]:
    """Four questions per story. Of a folder with both collections, mc500. Raises DatasetError."""
    file = path if path.is_file() else file_for(path, split, _FILES)[1]
    stories = plain_rows(file)
    answers_file = file.with_suffix(".ans")
    if not answers_file.is_file():
        raise DatasetError(f"{file} has no answers beside it: {answers_file.name} is missing")
    answers = plain_rows(answers_file)
    if len(answers) != len(stories):
        raise DatasetError(f"{answers_file} has {len(answers)} lines where {file.name} has {len(stories)} stories")
    items: list[Item] = []
    for story, answer in zip(stories, answers, strict=True):
        if len(story.cells) != _CELLS:
            raise broken(file, story.line, f"{len(story.cells)} cells where a story has {_CELLS}")
        letters = [cell.strip() for cell in answer.cells]
        if len(letters) != _QUESTIONS or any(letter not in ("A", "B", "C", "D") for letter in letters):
            raise broken(answers_file, answer.line, f"four letters from A to D are expected, not “{' '.join(letters)}”")
        identity, _, paragraph, *questions = story.cells
        for number, letter in enumerate(letters):
            asked, *choices = (cell.strip() for cell in questions[5 * number : 5 * number + 5])
            if not asked or not all(choices):
                raise broken(file, story.line, f"question {number + 1} has an empty cell")
            items.append(
                Item(
                    id=f"{identity}-{number}",
                    task="multi_choice",
                    paragraph=paragraph.replace(r"\newline", "\n").strip(),
                    question=re.sub(r"^(?:one|multiple)\s*:\s*", "", asked),
                    choices=tuple(sorted(choices)),
                    label=choices["ABCD".index(letter)],
                )
            )
    return items
