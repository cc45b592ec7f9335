"""Reading dataset files so that every problem names its file and line."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from core import files
from core.datasets.items import DatasetError, Item, Split, broken

csv.field_size_limit(10_000_000)

LARGEST = 512 * files.MB
"""Of one file. The largest official one is a tenth of that."""


class Row(NamedTuple):
    """One row of a table, and the line it ends on, counted from 1."""

    line: int
    cells: list[str]


def text_of(path: Path) -> str:
    """The file as text. Raises DatasetError where it is missing or not UTF-8."""
    try:
        content = files.read_bytes(path, LARGEST)
    except files.BadFile as error:
        raise DatasetError(str(error).rstrip(".")) from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise broken(path, line, "this is not UTF-8 text") from None


def lines_of(path: Path) -> list[str]:
    """The lines of the file, without their ends. Only line feeds end a line: stories hold rarer separators.

    Raises DatasetError as `text_of` does.
    """
    lines = text_of(path).replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def plain_rows(path: Path) -> list[Row]:
    """Cells between tabs, quotes being ordinary characters: GLUE's and MCTest's own form."""
    return [Row(number, line.split("\t")) for number, line in enumerate(lines_of(path), start=1)]


def quoted_rows(path: Path) -> list[Row]:
    """Cells between tabs, those with quotes in them quoted and the quotes doubled. Raises DatasetError."""
    reader = csv.reader(text_of(path).splitlines(keepends=True), delimiter="\t", strict=True)
    try:
        return [Row(reader.line_num, cells) for cells in reader]
    except csv.Error as error:
        raise broken(path, reader.line_num, f"not a row of tab-separated cells ({error})") from None


def table(rows: list[Row], path: Path) -> tuple[Row, list[Row]]:
    """The header and the rest, each row with as many cells as the header. Raises DatasetError."""
    if not rows:
        raise DatasetError(f"{path} is empty")
    header, *rest = rows
    for row in rest:
        if len(row.cells) != len(header.cells):
            raise broken(path, row.line, f"{len(row.cells)} cells where the header has {len(header.cells)}")
    return header, rest


def columns(path: Path, header: Row, *names: str) -> list[int]:
    """Where the columns called `names` stand. Raises DatasetError for one that is missing."""
    header_names = [cell.strip().lower() for cell in header.cells]
    for name in names:
        if name not in header_names:
            raise broken(path, 1, f"the header has no column “{name}”")
    return [header_names.index(name) for name in names]


def json_rows(path: Path) -> list[tuple[int, Any]]:
    """The entries of a JSON array, or of a file with one JSON value per line, each with the line it begins on.

    Raises DatasetError, with the line, for what is not JSON.
    """
    text = text_of(path)
    decoder = json.JSONDecoder()
    at = _skip(text, 0)
    in_array = text[at : at + 1] == "["
    at = _skip(text, at + 1) if in_array else at
    rows: list[tuple[int, Any]] = []
    while at < len(text) and not (in_array and text[at] == "]"):
        line = text.count("\n", 0, at) + 1
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise broken(path, error.lineno, f"not valid JSON ({error.msg})") from None
        except RecursionError:
            raise broken(path, line, "this JSON is nested too deeply") from None
        rows.append((line, value))
        at = _skip(text, at)
        if in_array and text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif in_array and text[at : at + 1] != "]":
            raise broken(path, text.count("\n", 0, at) + 1, "the array ends before its closing bracket")
    return rows


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def file_for(path: Path, split: Split | None, names: Mapping[Split, Sequence[str]]) -> tuple[Split, Path]:
    """The file in folder `path` for `split`; without a split the first there is of test, valid, train.

    `names` gives, for each split, the file names to look for, as glob patterns. Raises DatasetError.
    """
    order: tuple[Split, ...] = (split,) if split else ("test", "valid", "train")
    for wanted in order:
        for pattern in names.get(wanted, ()):
            matching = sorted(path.glob(pattern))
            if matching:
                return wanted, matching[0]
    looked = ", ".join(dict.fromkeys(names[wanted][0] for wanted in order if names.get(wanted)))
    of = f" for the split “{split}”" if split else ""
    raise DatasetError(f"{path} has no file{of}. Looked for: {looked}")


def part_of_train(rows: Sequence[Item], split: Split) -> list[Item]:
    """The first 80 % for train, the last 20 % for valid (llm-introspection, dataset/*.py)."""
    cut = round(len(rows) * 0.8)
    return list(rows[:cut] if split == "train" else rows[cut:])
