"""How a whole study stands now: looked at again and again, so that what has not changed is not read again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

from core import journal
from core.study.plan import Planned, Study
from core.study.standing import Standing, standing

State = Literal["new", "running", "interrupted", "failed", "done"]


@dataclass(frozen=True)
class Look:
    """How each run of `study` stands, by its name. `state` is "running" where somebody makes a run of it now, here or
    elsewhere, and "interrupted" where some have begun and nobody does.
    """

    study: Study
    runs: Mapping[str, Standing]

    @property
    def state(self) -> State:
        """How the study stands."""
        found = {one.status for one in self.runs.values()}
        if "running" in found:
            return "running"
        if found <= {"completed"}:
            return "done"
        if "failed" in found:
            return "failed"
        return "new" if found == {"absent"} else "interrupted"

    def count(self, status: str) -> int:
        """How many runs stand so."""
        return sum(one.status == status for one in self.runs.values())

    @property
    def answered(self) -> int:
        """Calls that were answered."""
        return sum(one.answered.total() for one in self.runs.values())

    @property
    def paid(self) -> int:
        """Calls that models were asked for which are no robots, with those that failed."""
        return sum(one.paid for one in self.runs.values())

    @property
    def failures(self) -> Counter[str]:
        """Calls and runs that failed, by the class of the error."""
        return sum((one.failures for one in self.runs.values()), Counter())

    @property
    def is_spent(self) -> bool:
        """Whether the budget of calls is used up."""
        return self.study.budget_calls is not None and self.paid >= self.study.budget_calls


def look(study: Study, folder: Path, runs: Iterable[Planned] | None = None) -> Look:
    """The study as the journals in `folder` have it; of `runs` only where they are given."""
    return Look(study, {run.id: _now(folder / f"{run.id}.jsonl") for run in (study.all if runs is None else runs)})


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


@lru_cache(maxsize=20_000)
def _read(path: Path, size: int, changed: int) -> Standing:
    return standing(path)
