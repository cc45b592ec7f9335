"""Tables as CSV that a spreadsheet shows and never runs. A spreadsheet takes a cell that begins like a formula for one.
Some split cells at a semicolon or a tab: there, the text after it begins a cell too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

_FORMULA = re.compile(r"[\s\u200b\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]")
_SEPARATOR = re.compile(r"([;|\t\r\n])")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?")


def harmless(cell: object) -> object:
    """`cell`, with an apostrophe before each text that a spreadsheet would take for a formula; a number is none."""
    if not isinstance(cell, str):
        return cell
    parts = _SEPARATOR.split(cell)
    safe = "".join(f"'{part}" if _is_formula(part) else part for part in parts)
    if cell[:1] in ("\t", "\r", "\n"):
        safe = f"'{safe}"
    return cell if safe == cell else safe


def _is_formula(part: str) -> bool:
    return bool(_FORMULA.match(part)) and not _NUMBER.fullmatch(part)


def csv(table: DataFrame) -> bytes:
    """The table as CSV in UTF-8, with its columns' names and without its index; every cell harmless."""
    safe = table.map(harmless).rename(columns=harmless)
    return str(safe.to_csv(index=False, lineterminator="\r\n")).encode()
