"""When a study's cell may end early: once its always-valid interval, checked after every item, is narrow enough
(`stop_width`). The shards of a cell are pooled, in the order of the plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from .. import journal
from ..events import Rules
from ..labs.base.lab import Lab
from ..statistics.intervals import anytime
from ..transcript import Transcript, transcript
from .plan import MOST_RUNS, Planned, Study
from .run_status import is_completed

SHIFT = (
    "A cell stops sooner where what came so far lies near 0 or 1, so its mean comes out further from one half than it "
    "is: by up to a tenth of the width (at a width of 0.3 by 0.02 at 0.9)."
)
"""The bias that early stopping gives the mean, shown wherever `stop_width` is set or reported."""


Counted = tuple[float, int]
"""The sum of the items' values, and how many items have one."""


class Early:
    """The headline figure over the first items of a run in planned order, up to the first that is not completed, so
    that quick items do not count before slow ones. `before` is the count of the shards before it; `cases` are the
    counted cases of this run. It is called again and again while the run is in progress.
    """

    def __init__(self, lab: Lab, rules: Rules, width: float, before: Counted = (0.0, 0)) -> None:
        self.cases: list[str] = []
        self.before = before
        self.interval = anytime(*before)
        self._metric = lab.headline
        self._rules = rules
        self.width = width
        self._passed: list[str] = []
        """The cases of the current item, which may still get more."""
        self._values: list[float] = []
        self._total, self._n = before

    def __call__(self, state: Transcript) -> bool:
        """Whether the interval is narrow enough. Items after the one that made it so are ignored."""
        by_number = {progress.number: case for case, progress in state.cases.items()}
        while not self.is_narrow and (case := by_number.get(len(self.cases) + len(self._passed) + 1)) is not None:
            score = state.case(case).score(self._metric, self._rules)
            if score is None and (case, "") not in state.failed_items:
                break
            if self._passed and _item(self._passed[0]) != _item(case):
                self._end_item()
                continue
            self._passed.append(case)
            if score is not None and score.value is not None:
                self._values.append(score.value)
        return self.is_narrow

    @property
    def is_narrow(self) -> bool:
        """Whether the interval is as narrow as wanted."""
        low, high = self.interval.low, self.interval.high
        return low is not None and high is not None and high - low <= self.width

    @property
    def counted(self) -> Counted:
        """The count of the shards before it and of this run so far."""
        return self._total, self._n

    def whole(self, state: Transcript) -> Counted:
        """The count of the shards before it and of all items of this run, which has completed."""
        self(state)
        self._end_item()
        return self.counted

    def _end_item(self) -> None:
        self.cases += self._passed
        if self._values:
            self._total += sum(self._values) / len(self._values)
            self._n += 1
            self.interval = anytime(self._total, self._n)
        self._passed, self._values = [], []


def stopped_early(study: Study, folder: Path) -> dict[str, Early]:
    """The runs that stopped early, by name, with their counts; also the shards of a cell that need not be made, since
    those before them were enough. A run that has completed counts whole.
    """
    if study.stop_width is None:
        return {}
    seen = ((run, early) for cell in study.cells for run, early in _seen(study, cell, folder))
    return {run.id: early for run, early in seen if early is not None and early.is_narrow}


def early_of(study: Study, run: Planned, folder: Path) -> Early | None:
    """The counter that says when a run of the study may end, for use while it is made. None if it is to be made whole:
    without a `stop_width`, for controls, and if a shard before it has not ended.
    """
    if study.stop_width_of(run) is None:
        return None
    cell = next(cell for cell in study.cells if run in cell)
    early = next(early for one, early in _seen(study, cell, folder) if one == run)
    # The cached counter is shared; this run gets one of its own, which it changes.
    return early and Early(run.lab, study.rules, early.width, early.before)


def _seen(study: Study, cell: tuple[Planned, ...], folder: Path) -> Iterator[tuple[Planned, Early | None]]:
    """Each shard of the cell with the count of its journal; None for one that has completed or comes after one that has
    not ended.
    """
    before: Counted | None = (0.0, 0)
    for run in cell:
        path, width = journal.path_for(folder, run.id), study.stop_width or 0.0
        if before is None or is_completed(path):
            yield run, None
            before = before and _of_whole(path, _state(path), run.lab, study.rules, before)
            continue
        early = Early(run.lab, study.rules, width, before)
        if not early.is_narrow and path.exists():
            early = _of_part(path, _state(path), run.lab, study.rules, width, before)
        yield run, early
        before = early.counted if early.is_narrow else None


def _state(path: Path) -> tuple[int, int]:
    """The file's size and time of change. The cached count is valid for these: a running study asks again and again."""
    file = path.stat()
    return file.st_size, file.st_mtime_ns


@lru_cache(maxsize=MOST_RUNS)
def _of_whole(path: Path, state: tuple[int, int], lab: Lab, rules: Rules, before: Counted) -> Counted:
    return Early(lab, rules, 0.0, before).whole(transcript(journal.read(path).events))


@lru_cache(maxsize=MOST_RUNS)
def _of_part(path: Path, state: tuple[int, int], lab: Lab, rules: Rules, width: float, before: Counted) -> Early:
    early = Early(lab, rules, width, before)
    early(transcript(journal.read(path).events))
    return early


def _item(case: str) -> str:
    return case.partition("/")[0]
