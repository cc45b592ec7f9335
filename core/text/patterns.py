"""Helpers for patterns of what chat models write."""

from __future__ import annotations

import re
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


def anycase(pattern: str) -> re.Pattern[str]:
    """Return the pattern, which disregards case and is compiled when it is first used."""
    return lazily(pattern, re.IGNORECASE)
