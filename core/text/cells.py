"""Tables as CSV files whose cells a spreadsheet shows but never runs. A spreadsheet treats a cell that begins like a
formula as one. Some spreadsheets split cells at a semicolon or a tab, so the text after these begins a cell too.
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
    """Return `cell` with an apostrophe before each text that a spreadsheet would treat as a formula; numbers are not
    formulas.
    """
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
    """Return the table as CSV in UTF-8, with column names and without the index; every cell is harmless."""
    safe = table.map(harmless).rename(columns=harmless)
    return str(safe.to_csv(index=False, lineterminator="\r\n")).encode()
