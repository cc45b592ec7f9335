"""Tables that come with the app, as TOML files in `data/` and beside modules, and the check of packaged model
weights.
"""

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
"""The app's folder, with the code and everything that comes with it."""

DATA = ROOT / "data"

COMMAND = "python -m core" if (ROOT / "pyproject.toml").exists() else "explain-yourself"
"""How the command line is called here: in a checkout, or from an installed package."""


def table(name: str) -> dict[str, Any]:
    """Return the content of `data/<name>.toml`."""
    return tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def sibling_toml(module: str, name: str) -> dict[str, Any]:
    """Return the content of the TOML file `name` beside a `module` (its `__file__`); empty if there is no such file."""
    path = Path(module).with_name(name)
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def rows(name: str, entry: str, kind: Callable[..., Row]) -> tuple[Row, ...]:
    """Return each `[[entry]]` of `data/<name>.toml` as a `kind`, called with the entry's fields, in the file's
    order.
    """
    return tuple(kind(**fields) for fields in table(name)[entry])


class Weights(NamedTuple):
    """A file that a package or a downloaded folder brings: `name` is its path in the model's folder, `sha256` its
    digest in hexadecimal, `size_bytes` its size if it is downloaded.
    """

    package: str
    name: str
    sha256: str
    size_bytes: int = 0


def weights_of(package: str) -> list[Weights]:
    """Return the files of a package or downloaded folder, as `data/weights.toml` lists them."""
    return [weights for weights in rows("weights", "file", Weights) if weights.package == package]


def altered(package: str, folder: Path) -> str | None:
    """Return the first of the model files of `package` in `folder` that is missing or differs from `data/weights.toml`;
    None if all are as they should be. Reads the whole files, which takes some tenths of a second.
    """
    return next((one.name for one in weights_of(package) if digest(folder / one.name) != one.sha256), None)


def digest(path: Path) -> str | None:
    """Return the SHA-256 digest of a file in hexadecimal; None if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
