"""Writes `explain_yourself/__init__.pyi` from the registry: `python -m tools.stubs`. A test compares the two."""

from __future__ import annotations

from pathlib import Path

from core import notebook

STUB = Path(__file__).resolve().parents[1] / "explain_yourself" / "__init__.pyi"

if __name__ == "__main__":
    STUB.write_text(notebook.stub(), encoding="utf-8")
