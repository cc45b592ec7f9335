"""Where the person's own data lies: journals, store, response cache, downloaded models."""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """`$EXPLAIN_HOME`, by default `data/local/` beside the code. Made if it is not there."""
    path = Path(os.environ.get("EXPLAIN_HOME") or Path(__file__).resolve().parents[1] / "data" / "local").expanduser()
    path.mkdir(parents=True, exist_ok=True)
    return path


def journals() -> Path:
    """The folder of journals, one file a run."""
    path = home() / "journals"
    path.mkdir(exist_ok=True)
    return path
