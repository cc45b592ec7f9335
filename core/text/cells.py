"""Tables as CSV that a spreadsheet shows and never runs: a cell that begins like a formula is one there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

_FORMULA = re.compile(r"[\s\u200b\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?")


def harmless(cell: object) -> object:
    """`cell`, with an apostrophe before a text that a spreadsheet would take for a formula; a number is none."""
    if not isinstance(cell, str) or not _FORMULA.match(cell) or _NUMBER.fullmatch(cell):
        return cell
    return f"'{cell}"


def csv(table: DataFrame) -> bytes:
    """The table as CSV in UTF-8, with its columns' names and without its index; every cell harmless."""
    safe = table.map(harmless).rename(columns=harmless)
    return str(safe.to_csv(index=False, lineterminator="\r\n")).encode()
