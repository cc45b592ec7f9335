"""Items of a data set, rows that were left out, and files read so that every error names its file and line."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import Field, ValidationError

from .. import files
from ..errors import ExplainError
from ..events import Frozen

Task = Literal["sentiment", "multi_choice", "entailment", "strategyqa", "shp"]
Split = Literal["train", "valid", "test"]
Value = TypeVar("Value")

BROKEN = "broken row"
"""The reason for leaving out a row that cannot be read."""

NOT_UTF8 = "this is not UTF-8 text"
"""Ends the description of a broken row whose bytes are in another encoding."""


class Item(Frozen):
    """One question. The task determines which fields are filled:

    - sentiment: `paragraph`; label "positive" or "negative";
    - multi_choice: `paragraph`, `question`, `choices` (alphabetical); label one of them;
    - entailment: `paragraph` (the premise, the only part ever edited), `hypothesis`; label "yes" or "no";
    - strategyqa: `question`, `facts`; label "yes" or "no";
    - shp: `paragraph` (the post), `choices` (the two responses); label "1" or "2".

    `label` is None if the file gives none. In a file with explanations, `explanation` is one of them, for the answer
    `said`, and `label` is the correct answer. `reference_edit` is the paragraph as a person edited it to reverse the
    label. `extra` are the other columns of a person's own file, by name, which no prompt may use.
    """

    id: str
    task: Task
    paragraph: str = ""
    question: str = ""
    choices: tuple[str, ...] = ()
    hypothesis: str = ""
    label: str | None = None
    reference_edit: str | None = None
    facts: tuple[str, ...] = ()
    explanation: str = Field(default="", exclude_if=lambda text: not text)
    said: str = Field(default="", exclude_if=lambda text: not text)
    extra: tuple[tuple[str, str], ...] = Field(default=(), exclude_if=lambda extra: not extra)


class LeftOut(NamedTuple):
    """A number of `rows` that became no item. For the reason BROKEN, `detail` names file and line."""

    reason: str
    detail: str = ""
    rows: int = 1


Read = list[Item | LeftOut]
"""The rows of a file, in order."""


class Loaded(Frozen):
    """What a run's data set contained: the number of `items` to draw from, and the number of rows left out, by reason.
    In a person's own file only the drawn rows are parsed, so there `items` counts rows. `broken` describes the first
    MOST_NAMED broken rows, with their position and problem. `columns_dropped` of its columns were too many to be kept.
    `digest` is the SHA-256 of a person's own file.
    """

    dataset: str
    items: int
    left_out: dict[str, int] = Field(default_factory=dict)
    broken: tuple[str, ...] = ()
    columns_dropped: int = Field(default=0, exclude_if=lambda number: not number)
    digest: str = Field(default="", exclude_if=lambda digest: not digest)

    @classmethod
    def from_journal(cls, data: object) -> Loaded | None:
        """Read the record from the journal; None if it is missing or unreadable."""
        try:
            return cls.model_validate(data)
        except ValidationError:
            return None

    def summary(self) -> str:
        """Say in sentences how many rows and columns were left out and why; an empty string if none was."""
        words = []
        if self.left_out:
            words.append(f"{self.items:,} to draw from. {left_out_words(self.left_out, self.items)}")
        if self.columns_dropped:
            words.append(f"{self.columns_dropped} more columns are not kept; choose those that you need (--keep).")
        return f"{self.dataset}: {' '.join(words)}" if words else ""


def left_out_words(left_out: Mapping[str, int], items: int) -> str:
    """Say how many rows were left out besides `items`, and why: "72 of 80 rows left out: 60 (this), 12 (that)."."""
    count = sum(left_out.values())
    reasons = ", ".join(f"{n:,} ({reason})" for reason, n in left_out.items())
    return f"{count:,} of {items + count:,} rows left out: {reasons}."


MOST_NAMED = 100
"""Maximum number of broken rows described individually; the others are only counted."""


class DatasetError(ExplainError, ValueError):
    """A data set is missing or cannot be read. The message names file and line and can be shown to users."""


class BrokenRowError(DatasetError):
    """A single row cannot be read; the others can."""


def broken(path: Path, line: int, problem: str) -> BrokenRowError:
    """Return the error for a broken row; `line` counts from 1."""
    return BrokenRowError(f"{path}, line {line}: {problem}")


def checked_item(path: Path, line: int, item: Item) -> Item:
    """Return the item unchanged. Raises BrokenRowError if its texts contain bytes that are not valid characters."""
    texts = (item.id, item.paragraph, item.question, item.hypothesis, item.label or "", *item.choices, *item.facts)
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        raise broken(path, line, NOT_UTF8) from None
    return item


def read_items(
    path: Path, rows: Iterable[tuple[int, Value | BrokenRowError]], item: Callable[[int, Value], Item]
) -> Read:
    """Apply `item(line, value)` to each row. A row that it refuses, or that is broken already, is left out."""
    read: Read = []
    for line, value in rows:
        try:
            if isinstance(value, BrokenRowError):
                raise value
            read.append(checked_item(path, line, item(line, value)))
        except BrokenRowError as error:
            read.append(LeftOut(BROKEN, str(error)))
    return read


def loaded_record(dataset: str, items: int, rows: Iterable[Any], columns_dropped: int = 0) -> Loaded:
    """Build the record of a data set with `items` to draw from, counting the LeftOut entries among `rows`."""
    left_out: dict[str, int] = {}
    named: list[str] = []
    for row in rows:
        if isinstance(row, LeftOut):
            left_out[row.reason] = left_out.get(row.reason, 0) + row.rows
            if row.reason == BROKEN and row.detail and len(named) < MOST_NAMED:
                named.append(row.detail)
    return Loaded(dataset=dataset, items=items, left_out=left_out, broken=tuple(named), columns_dropped=columns_dropped)


# Read dataset files so that every problem is reported with its file and line.


csv.field_size_limit(10_000_000)

LARGEST = 512 * files.MB
"""Maximum size of one file. The largest official one has a tenth of that."""


_noting: ContextVar[dict[Path, tuple[int, int]] | None] = ContextVar("_noting", default=None)


@contextmanager
def noted(stamps: dict[Path, tuple[int, int]]) -> Iterator[dict[Path, tuple[int, int]]]:
    """While this context is active, add each file that is read, and its folder, to `stamps`, with the state before
    reading (`files.stamp`).
    """
    token = _noting.set(stamps)
    try:
        yield stamps
    finally:
        _noting.reset(token)


class TableRow(NamedTuple):
    """One row of a table, and the number of its last line, counted from 1."""

    line: int
    cells: list[str]


def text_of(path: Path) -> str:
    """Return the file as text. Bytes that are not UTF-8 become surrogates, which no item accepts. Raises DatasetError
    if the file is missing or too large.
    """
    if (noting := _noting.get()) is not None:
        for read in (path, path.parent):
            if read not in noting:
                noting[read] = files.stamp(read)
    try:
        content = files.read_bytes(path, LARGEST)
    except files.FileError as error:
        raise DatasetError(str(error).rstrip(".")) from None
    return content.decode("utf-8-sig", "surrogateescape")


def lines_of(path: Path) -> list[str]:
    """Return the lines of the file, without line ends. Only line feeds end a line, because stories contain rarer
    separators.

    Raises DatasetError as `text_of` does.
    """
    lines = text_of(path).replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def plain_rows(path: Path) -> list[TableRow]:
    """Return rows of tab-separated cells in which quotes are ordinary characters, as in the files of GLUE and
    MCTest.
    """
    return [TableRow(number, line.split("\t")) for number, line in enumerate(lines_of(path), start=1)]


def quoted_rows(path: Path) -> list[TableRow]:
    """Return rows of tab-separated cells in which cells may be quoted, with quotes in them doubled. Raises
    DatasetError.
    """
    reader = csv.reader(text_of(path).splitlines(keepends=True), delimiter="\t", strict=True)
    try:
        return [TableRow(reader.line_num, cells) for cells in reader]
    except csv.Error as error:
        problem = f"not a row of tab-separated cells ({error})"
        raise DatasetError(f"{path}, line {reader.line_num}: {problem}") from None


def table(rows: list[TableRow], path: Path) -> tuple[TableRow, list[tuple[int, list[str] | BrokenRowError]]]:
    """Return the header and the other rows. A row with more or fewer cells than the header is broken. Raises
    DatasetError.
    """
    if not rows:
        raise DatasetError(f"{path} is empty")
    header, *rest = rows
    wanted = len(header.cells)

    def checked(row: TableRow) -> tuple[int, list[str] | BrokenRowError]:
        if len(row.cells) == wanted:
            return row
        return row.line, broken(path, row.line, f"{len(row.cells)} cells where the header has {wanted}")

    return header, [checked(row) for row in rest]


def columns(path: Path, header: TableRow, *names: str) -> list[int]:
    """Return the positions of the columns called `names`. Raises DatasetError if one is missing."""
    header_names = [cell.strip().lower() for cell in header.cells]
    for name in names:
        if name not in header_names:
            raise DatasetError(f"{path}, line 1: the header has no column “{name}”")
    return [header_names.index(name) for name in names]


def json_rows(path: Path) -> list[tuple[int, Any]]:
    """Return the entries of a JSON array, or of a file with one JSON value per line, each with its first line. A line
    that is not JSON becomes a BrokenRowError.

    Raises DatasetError, with the line, for an array that is not valid JSON: the start of its next entry cannot be
    determined.
    """
    text = text_of(path)
    at = _skip(text, 0)
    if text[at : at + 1] == "[":
        return _of_array(path, text, at)
    lines = enumerate(text.split("\n"), start=1)
    return [(number, _of_line(path, number, line)) for number, line in lines if line.strip()]


def check_texts(path: Path, line: int, entry: Any, *names: str) -> None:
    """Raises BrokenRowError if a JSON entry is not an object with a text in each of these fields."""
    if not isinstance(entry, dict):
        raise broken(path, line, f"an object with {', '.join(names[:-1])} and {names[-1]} is expected")
    for name in names:
        if not isinstance(entry.get(name), str) or not entry[name].strip():
            raise broken(path, line, f"“{name}” is missing or empty")


def _of_line(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        return broken(path, number, f"not valid JSON ({error.msg})")
    except RecursionError:
        return broken(path, number, "this JSON is nested too deeply")


def _of_array(path: Path, text: str, at: int) -> list[tuple[int, Any]]:
    decoder = json.JSONDecoder()
    rows: list[tuple[int, Any]] = []
    line = text.count("\n", 0, at) + 1
    begin, at = at, _skip(text, at + 1)
    while at < len(text) and text[at] != "]":
        line += text.count("\n", begin, at)
        begin = at
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise DatasetError(f"{path}, line {error.lineno}: not valid JSON ({error.msg})") from None
        except RecursionError:
            raise DatasetError(f"{path}, line {line}: this JSON is nested too deeply") from None
        rows.append((line, value))
        at = _skip(text, at)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "]":
            end = line + text.count("\n", begin, at)
            raise DatasetError(f"{path}, line {end}: the array ends before its closing bracket")
    return rows


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def files_for(path: Path, split: Split | None, names: Mapping[Split, Sequence[str]]) -> tuple[Split, list[Path]]:
    """Return the split and its files in folder `path`; without a `split`, the first available of test, valid, train. A
    `path` that is a file is that split, and test without one.

    `names` gives for each split the file names to look for, as glob patterns; the first pattern that matches any file
    is used. Raises DatasetError.
    """
    if path.is_file():
        return split or "test", [path]
    order: tuple[Split, ...] = (split,) if split else ("test", "valid", "train")
    for wanted in order:
        for pattern in names.get(wanted, ()):
            matching = sorted(path.glob(pattern))
            if matching:
                return wanted, matching
    looked = ", ".join(dict.fromkeys(names[wanted][0] for wanted in order if names.get(wanted)))
    of = f" for the split “{split}”" if split else ""
    raise DatasetError(f"{path} has no file{of}. Looked for: {looked}")


def file_for(path: Path, split: Split | None, names: Mapping[Split, Sequence[str]]) -> Path:
    """Return the first file of `files_for`. Raises DatasetError."""
    return files_for(path, split, names)[1][0]


def part_of_train(rows: Read, split: Split) -> Read:
    """Return the first 80 % for train, the last 20 % for valid (llm-introspection, dataset/*.py)."""
    cut = round(len(rows) * 0.8)
    return rows[:cut] if split == "train" else rows[cut:]
