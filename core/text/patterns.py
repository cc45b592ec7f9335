"""Patterns of what chat models write."""

from __future__ import annotations

import re


def anycase(pattern: str) -> re.Pattern[str]:
    """`pattern`, whatever the case of its letters."""
    return re.compile(pattern, re.IGNORECASE)
