"""The figures that the paper reported, kept as data under `data/published/`."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_FILE = Path(__file__).resolve().parents[3] / "data" / "published" / "find.toml"


@cache
def _published() -> dict[str, Any]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def source() -> dict[str, str]:
    """The paper: authors, year, title, arxiv."""
    return {key: str(value) for key, value in _published()["source"].items()}


def figures() -> list[dict[str, Any]]:
    """One entry a figure, with its place in the paper (`where`)."""
    entries: list[dict[str, Any]] = _published()["figure"]
    return entries
