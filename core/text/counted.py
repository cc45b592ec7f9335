"""Numbers of things, in words."""

from __future__ import annotations


def counted(number: int, thing: str) -> str:
    """ "3 runs", "1 run"."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
