"""The figures that a lab's paper reported, kept as data under `data/published/`."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_PUBLISHED = Path(__file__).resolve().parents[2] / "data" / "published"


@cache
def _published(lab: str) -> dict[str, Any]:
    return tomllib.loads((_PUBLISHED / f"{lab}.toml").read_text(encoding="utf-8"))


def source(lab: str) -> dict[str, str]:
    """The paper: authors, year, title, arxiv."""
    return {key: str(value) for key, value in _published(lab)["source"].items()}


def figures(lab: str) -> list[dict[str, Any]]:
    """One entry a figure, with its place in the paper (`where`)."""
    entries: list[dict[str, Any]] = _published(lab)["figure"]
    return entries
