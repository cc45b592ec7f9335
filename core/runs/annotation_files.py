"""Journals about a run, `<run>~….jsonl` beside its own: what people say, whether it is shared or sealed, how kept."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from .. import journal
from ..events import Event, Recorded, Shared


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


def sealed_path(path: Path) -> Path:
    """The journal of whether the run of the journal `path` is sealed."""
    return path.with_name(f"{path.stem}~~sealed.jsonl")


def is_sealed(path: Path) -> bool:
    """Whether others see of the run of the journal `path` only what they have foretold. Where that cannot be read, they
    do.
    """
    place = sealed_path(path)
    said = [event.data.get("sealed") for event in events_in(place) if isinstance(event, Recorded)]
    return bool(said[-1]) if said else place.exists()


def is_shared(path: Path) -> bool:
    """Whether everyone may look at the run of the journal `path`."""
    said = [event.shared for event in events_in(shared_path(path)) if isinstance(event, Shared)]
    return bool(said) and said[-1]


def events_in(path: Path) -> tuple[Event, ...]:
    """What a small journal holds, read again only where it has changed; nothing where there is none."""
    try:
        now = path.stat()
    except FileNotFoundError:
        return ()
    return _read(path, now.st_mtime_ns, now.st_size)


@lru_cache(maxsize=2_048)
def _read(path: Path, changed: int, size: int) -> tuple[Event, ...]:
    return tuple(journal.read(path).events)
