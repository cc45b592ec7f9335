"""Journals about a run, `<run>~….jsonl` beside its own: what people say of it, whether it is shared, how it is kept."""

from __future__ import annotations

from pathlib import Path

from core import journal
from core.events import Shared


def said_path(path: Path, who: str) -> Path:
    """The journal of what `who` says about the run of the journal `path`."""
    safe = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in who)[:60] or "_"
    return path.with_name(f"{path.stem}~{safe}.jsonl")


def shared_path(path: Path) -> Path:
    """The journal of whether the run of the journal `path` is shared; no reader's name begins with ~."""
    return path.with_name(f"{path.stem}~~shared.jsonl")


def kept_path(path: Path) -> Path:
    """The journal of how its owner keeps the run of the journal `path`: its title, and whether it is hidden."""
    return path.with_name(f"{path.stem}~~kept.jsonl")


def is_shared(path: Path) -> bool:
    """Whether everyone may look at the run of the journal `path`."""
    try:
        events = journal.read(shared_path(path)).events
    except FileNotFoundError:
        return False
    return next((event.shared for event in reversed(events) if isinstance(event, Shared)), False)
