"""Regular expressions: compiled when they are first used, and kept as tables of phrases that chat models write."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any


class _OnFirstUse:
    """A pattern that is compiled when it is first used. Compiling all patterns takes longer than most commands."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._source = pattern, flags

    def __getattr__(self, name: str) -> Any:
        # Set on the instance, so that `__getattr__` is called once per attribute.
        value = getattr(re.compile(*self._source), name)
        setattr(self, name, value)
        return value


def lazily(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return the pattern, which is compiled when it is first used."""
    if TYPE_CHECKING:
        return re.compile(pattern, flags)
    return _OnFirstUse(pattern, flags)


_SYMBOL = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?!\?)|'")
_MEANS = {"(": "(?:", "'": "['’]"}


class Patterns:
    """The patterns of a table, as attributes, without regard to case and with ^ and $ at line ends.

    A table has regular expressions by name. A line is an alternative; a line that is indented by two spaces continues
    the one above. Only groups with a name capture, an apostrophe may be a typographic one, and `{name}` stands for
    another pattern of the table.
    """

    def __init__(self, table: Mapping[str, str]) -> None:
        self._table = table
        self._texts: dict[str, str] = {}

    def __getattr__(self, name: str) -> re.Pattern[str]:
        if name not in self.__dict__["_table"]:
            raise AttributeError(name)
        compiled = self.__dict__[name] = self(name)
        return compiled

    def __call__(self, name: str, **parts: str) -> re.Pattern[str]:
        """Return the pattern `name` in which each `{part}` stands for the regular expression that is given for it."""
        text = self._filled(name)
        for part, expression in parts.items():
            text = text.replace(f"{{{part}}}", expression)
        return lazily(text, re.IGNORECASE | re.MULTILINE)

    def _filled(self, name: str) -> str:
        """Return the regular expression of a pattern, in which only the parts that a caller gives are left open."""
        if name not in self._table:
            return f"{{{name}}}"
        if name not in self._texts:
            joined = self._table[name].replace("\n  ", "").replace("\n", "|")
            plain = _SYMBOL.sub(lambda symbol: _MEANS.get(symbol[0], symbol[0]), joined)
            self._texts[name] = re.sub(r"\{([a-z_]+)\}", lambda part: f"(?:{self._filled(part[1])})", plain)
        return self._texts[name]
