"""Reading dataset files so that every problem names its file and line."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

from .. import files
from .items import BrokenRow, DatasetError, Read, Split, broken

csv.field_size_limit(10_000_000)

LARGEST = 512 * files.MB
"""Of one file. The largest official one is a tenth of that."""


Stamp = tuple[int, int]
"""When a file was changed last, and its size; (0, 0) where it is not there."""

_noting: ContextVar[dict[Path, Stamp] | None] = ContextVar("_noting", default=None)


def stamp(path: Path) -> Stamp:
    """The state of a file or folder, without reading it."""
    with suppress(OSError):
        about = path.stat()
        return about.st_mtime_ns, about.st_size
    return 0, 0


@contextmanager
def noted(files: dict[Path, Stamp]) -> Iterator[dict[Path, Stamp]]:
    """Meanwhile each file that is read, and its folder, is added to `files`, in the state before it was read."""
    token = _noting.set(files)
    try:
        yield files
    finally:
        _noting.reset(token)


class TableRow(NamedTuple):
    """One row of a table, and the line it ends on, counted from 1."""

    line: int
    cells: list[str]


def text_of(path: Path) -> str:
    """The file as text; bytes that are no UTF-8 become half characters, which no item takes. Raises DatasetError where
    it is missing or too large.
    """
    if (noting := _noting.get()) is not None:
        for read in (path, path.parent):
            if read not in noting:
                noting[read] = stamp(read)
    try:
        content = files.read_bytes(path, LARGEST)
    except files.BadFile as error:
        raise DatasetError(str(error).rstrip(".")) from None
    return content.decode("utf-8-sig", "surrogateescape")


def lines_of(path: Path) -> list[str]:
    """The lines of the file, without their ends. Only line feeds end a line: stories hold rarer separators.

    Raises DatasetError as `text_of` does.
    """
    lines = text_of(path).replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def plain_rows(path: Path) -> list[TableRow]:
    """Cells between tabs, quotes being ordinary characters: GLUE's and MCTest's own form."""
    return [TableRow(number, line.split("\t")) for number, line in enumerate(lines_of(path), start=1)]


def quoted_rows(path: Path) -> list[TableRow]:
    """Cells between tabs, those with quotes in them quoted and the quotes doubled. Raises DatasetError."""
    reader = csv.reader(text_of(path).splitlines(keepends=True), delimiter="\t", strict=True)
    try:
        return [TableRow(reader.line_num, cells) for cells in reader]
    except csv.Error as error:
        problem = f"not a row of tab-separated cells ({error})"
        raise DatasetError(f"{path}, line {reader.line_num}: {problem}") from None


def table(rows: list[TableRow], path: Path) -> tuple[TableRow, list[tuple[int, list[str] | BrokenRow]]]:
    """The header and the rest; a row with more or fewer cells than the header is broken. Raises DatasetError."""
    if not rows:
        raise DatasetError(f"{path} is empty")
    header, *rest = rows
    wanted = len(header.cells)

    def checked(row: TableRow) -> tuple[int, list[str] | BrokenRow]:
        cells = len(row.cells)
        return (
            row
            if cells == wanted
            else (row.line, broken(path, row.line, f"{cells} cells where the header has {wanted}"))
        )

    return header, [checked(row) for row in rest]


def columns(path: Path, header: TableRow, *names: str) -> list[int]:
    """Where the columns called `names` stand. Raises DatasetError for one that is missing."""
    header_names = [cell.strip().lower() for cell in header.cells]
    for name in names:
        if name not in header_names:
            raise DatasetError(f"{path}, line 1: the header has no column “{name}”")
    return [header_names.index(name) for name in names]


def json_rows(path: Path) -> list[tuple[int, Any]]:
    """The entries of a JSON array, or of a file with one JSON value a line, each with the line it begins on; a line
    that is not JSON is a BrokenRow.

    Raises DatasetError, with the line, for an array that is not JSON: nobody can tell where its next entry begins.
    """
    text = text_of(path)
    at = _skip(text, 0)
    if text[at : at + 1] == "[":
        return _of_array(path, text, at)
    lines = enumerate(text.split("\n"), start=1)
    return [(number, _of_line(path, number, line)) for number, line in lines if line.strip()]


def check_texts(path: Path, line: int, entry: Any, *names: str) -> None:
    """Raises BrokenRow where an entry of JSON is no object with a text in each of these fields."""
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
    """The files in folder `path` for `split`; without a split those of the first there is of test, valid, train.

    `names` gives, for each split, the file names to look for, as glob patterns, of which the first that finds any
    counts. Raises DatasetError.
    """
    order: tuple[Split, ...] = (split,) if split else ("test", "valid", "train")
    for wanted in order:
        for pattern in names.get(wanted, ()):
            matching = sorted(path.glob(pattern))
            if matching:
                return wanted, matching
    looked = ", ".join(dict.fromkeys(names[wanted][0] for wanted in order if names.get(wanted)))
    of = f" for the split “{split}”" if split else ""
    raise DatasetError(f"{path} has no file{of}. Looked for: {looked}")


def file_for(path: Path, split: Split | None, names: Mapping[Split, Sequence[str]]) -> tuple[Split, Path]:
    """The first of `files_for`. Raises DatasetError."""
    found, matching = files_for(path, split, names)
    return found, matching[0]


def part_of_train(rows: Read, split: Split) -> Read:
    """The first 80 % for train, the last 20 % for valid (llm-introspection, dataset/*.py)."""
    cut = round(len(rows) * 0.8)
    return rows[:cut] if split == "train" else rows[cut:]
