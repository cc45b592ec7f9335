"""Archives of journals: a new archive replaces the old one in one step, after it was read back and checked."""

from __future__ import annotations

import contextlib
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

from ..journal import JournalFullError
from . import bundle


def write(file: Path, runs: list[str], folder: Path) -> dict[str, str]:
    """Write the archive `file` of these runs; returns the runs that are not in it, each with the reason. Raises
    JournalFullError, in which case no archive was written.
    """
    beside = file.with_name(f".{file.name}.part")
    try:
        with beside.open("wb") as target:
            written = bundle.write(target, runs, (folder,), with_words=False)
            target.flush()
            os.fsync(target.fileno())
        _check(beside, written.left_out, folder)
        beside.replace(file)
        sync(file.parent)
    except (OSError, zipfile.BadZipFile) as error:
        beside.unlink(missing_ok=True)
        why = getattr(error, "strerror", None) or error
        raise JournalFullError(f"{file} could not be written ({why}). The journals are as they were.") from None
    return written.left_out


def _check(archive: Path, left_out: Mapping[str, str], folder: Path) -> None:
    """Check a new archive. Raises OSError if it is damaged, or if a run that is not in it would be lost."""
    with zipfile.ZipFile(archive) as back:
        if (damaged := back.testzip()) is not None:
            raise OSError(f"{damaged} is not what was written")
    for run, why in left_out.items():
        if not (folder / f"{run}.jsonl").exists():
            raise OSError(f"{run} would be lost: {why}")


def sync(folder: Path) -> None:
    """Flush a folder's directory entries to disk, if the system can do that."""
    with contextlib.suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
