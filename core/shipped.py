"""The tables that come with the app, as TOML files in `data/`."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

Row = TypeVar("Row")

DATA = Path(__file__).resolve().parents[1] / "data"


def table(name: str) -> dict[str, Any]:
    """What `data/<name>.toml` holds."""
    return tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))


def rows(name: str, entry: str, kind: Callable[..., Row]) -> tuple[Row, ...]:
    """The `[[entry]]`s of `data/<name>.toml`, each made a `kind` of its fields, in the file's order."""
    return tuple(kind(**fields) for fields in table(name)[entry])
