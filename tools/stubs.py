"""Writes `explain_yourself/*.pyi` from the registry: `python -m tools.stubs`. A test compares them."""

from __future__ import annotations

from pathlib import Path

from core import notebook

_FOLDER = Path(__file__).resolve().parents[1] / "explain_yourself"
STUBS = {_FOLDER / "__init__.pyi": notebook.stub, _FOLDER / "inspect.pyi": notebook.inspect_stub}
"""The text of each stub."""

if __name__ == "__main__":
    for path, text in STUBS.items():
        path.write_text(text(), encoding="utf-8")
