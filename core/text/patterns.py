"""Helpers for patterns of what chat models write."""

from __future__ import annotations

import re


def anycase(pattern: str) -> re.Pattern[str]:
    """Compile `pattern` without regard to case."""
    return re.compile(pattern, re.IGNORECASE)
