"""Chance that is the same on every machine."""

from __future__ import annotations

import hashlib


def drawn(about: str) -> float:
    """A number from 0 to 1 (not 1 itself), always the same for the same text, and spread evenly over texts."""
    return int.from_bytes(hashlib.sha256(about.encode()).digest()[:6]) / 2**48
