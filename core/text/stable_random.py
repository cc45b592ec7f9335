"""Pseudo-random numbers that are the same on every machine."""

from __future__ import annotations

import hashlib


def unit_number(about: str) -> float:
    """Return a number in [0, 1), always the same for the same text, and evenly distributed over texts."""
    return int.from_bytes(hashlib.sha256(about.encode()).digest()[:6]) / 2**48
