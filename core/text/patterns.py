"""Regular expressions kept as data: tables of phrases that chat models write."""

from __future__ import annotations

import re
from collections.abc import Mapping

_SYMBOL = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?!\?)|'")
_MEANS = {"(": "(?:", "'": "['’]"}


def anycase(pattern: str) -> re.Pattern[str]:
    """Compile `pattern` without regard to case."""
    return re.compile(pattern, re.IGNORECASE)


class Patterns:
    """The patterns of a table, as attributes. Each is compiled when it is first used, without regard to case and with ^
    and $ at line ends.

    A table has regular expressions by name. A line is an alternative; a line that is indented by two spaces continues
    the one above. Only groups with a name capture, and an apostrophe may be a typographic one.
    `{name}` stands for another pattern of the table.
    """

    def __init__(self, table: Mapping[str, str]) -> None:
        self._table = table

    def __getattr__(self, name: str) -> re.Pattern[str]:
        if name not in self.__dict__["_table"]:
            raise AttributeError(name)
        compiled = self.__dict__[name] = self(name)
        return compiled

    def __call__(self, name: str, **parts: str) -> re.Pattern[str]:
        """Return the pattern `name` in which each `{part}` stands for the regular expression that is given for it."""
        return re.compile(self._filled(self._table[name], parts), re.IGNORECASE | re.MULTILINE)

    def _filled(self, written: str, parts: Mapping[str, str]) -> str:
        joined = written.replace("\n  ", "").replace("\n", "|")
        plain = _SYMBOL.sub(lambda symbol: _MEANS.get(symbol[0], symbol[0]), joined)
        return re.sub(
            r"\{([a-z_]+)\}",
            lambda part: f"(?:{parts.get(part[1]) or self._filled(self._table[part[1]], parts)})",
            plain,
        )
