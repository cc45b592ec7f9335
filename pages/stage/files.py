"""The files that a browser needs for the stage: its module, its style, and the library that it draws with."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from core import shipped

LIBRARY = "datasette-preact"
"""The package that brings Preact with htm as one module; it is never imported."""

_HERE = Path(__file__).parent


def _library() -> Path:
    """Raises PackageNotFoundError where it is not there, or not as it was released."""
    path = next(Path(str(file.locate())) for file in files(LIBRARY) or () if file.name.startswith("preact-"))
    if altered := shipped.altered(LIBRARY, path.parent):
        raise PackageNotFoundError(f"{LIBRARY}, whose file {altered} is not the one that was released: install it anew")
    return path


FILES = {name: _HERE / name for name in ("stage.js", "stage.css", "link.js")} | {"preact.js": _library()}
"""By the name under which a browser asks for each."""
