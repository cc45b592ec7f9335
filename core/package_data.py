"""Tables that come with the app, TOML files in `data/` and beside modules; one says what its weights should be."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

Row = TypeVar("Row")

CODE = Path(str(resources.files(__package__)))
"""The folder of this package."""

ROOT = CODE.parent
"""The app's folder: the code, what comes with it, and the runs that somebody keeps beside it."""

DATA = ROOT / "data"


def table(name: str) -> dict[str, Any]:
    """What `data/<name>.toml` holds."""
    return tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def beside(module: str, name: str) -> dict[str, Any]:
    """What the TOML file of that name beside a `module` (its `__file__`) holds; nothing where there is none."""
    path = Path(module).with_name(name)
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def rows(name: str, entry: str, kind: Callable[..., Row]) -> tuple[Row, ...]:
    """The `[[entry]]`s of `data/<name>.toml`, each made a `kind` of its fields, in the file's order."""
    return tuple(kind(**fields) for fields in table(name)[entry])


class Weights(NamedTuple):
    """A file that a package brings: `name` is its path in the folder of the model, `sha256` its digest in hex."""

    package: str
    name: str
    sha256: str


def altered(package: str, folder: Path) -> str | None:
    """The first of the files of `package`'s model, in `folder`, that is missing or not the one in `data/weights.toml`;
    None where all are as they should be. Reads them to their ends: some tenths of a second.
    """
    for weights in rows("weights", "file", Weights):
        if weights.package == package and _digest(folder / weights.name) != weights.sha256:
            return weights.name
    return None


def _digest(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
