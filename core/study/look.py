"""How the runs of a study stand, looked at again and again: what has not changed is not read again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from core import journal
from core.study.plan import MOST_RUNS, Study
from core.study.standing import Standing, standing


def look(study: Study, folder: Path) -> Mapping[str, Standing]:
    """How each run of the study stands, by its name, as the journals in `folder` have it."""
    return {run.id: _now(journal.at(folder, run.id)) for run in study.all}


def _now(path: Path) -> Standing:
    try:
        file = path.stat()
    except OSError:
        return Standing()
    found = _read(path, file.st_size, file.st_mtime_ns)
    if found.status == "completed":
        return found
    # Who writes can begin or be gone without a line more.
    if journal.is_written(path):
        return replace(found, status="running")
    return replace(found, status="interrupted") if found.status == "running" else found


# With those of its controls, so that looking at the largest study again and again finds all of its runs here.
@lru_cache(maxsize=2 * MOST_RUNS)
def _read(path: Path, size: int, changed: int) -> Standing:
    return standing(path)
