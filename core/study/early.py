"""When a run may end early: once its always-valid interval, seen after every item, is narrow enough (`stop_width`)."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from core import journal
from core.events import Rules
from core.lab.lab import Lab
from core.statistics import anytime
from core.statistics.interval import Interval
from core.study.plan import MOST_RUNS, Planned, Study
from core.study.standing import is_completed
from core.transcript import Transcript, transcript

SHIFT = (
    "A run stops sooner where what came so far lies near 0 or 1, so its mean comes out further from one half than it "
    "is: by up to a tenth of the width (at a width of 0.3 by 0.02 at 0.9)."
)
"""The bias of the mean by early stopping, shown wherever `stop_width` is set or reported."""


class Early:
    """The headline figure of a run over its first items in planned order, up to the first that is not completed: quick
    items do not count before slow ones. `cases` are those counted. Called again and again while the run goes on.
    """

    def __init__(self, lab: Lab, rules: Rules, width: float) -> None:
        self.cases: list[str] = []
        self.interval = Interval(None, 0.0, 1.0, 0, "")
        self._metric = lab.headline
        self._rules = rules
        self._width = width
        self._passed: list[str] = []
        """Cases of the item that may still have more."""
        self._values: list[float] = []
        self._total = 0.0
        self._n = 0

    def __call__(self, state: Transcript) -> bool:
        """Whether the interval is narrow enough. Items after those at which it first was are ignored."""
        by_number = {progress.number: case for case, progress in state.cases.items()}
        while not self.is_narrow and (case := by_number.get(len(self.cases) + len(self._passed) + 1)) is not None:
            score = state.case(case).score(self._metric, self._rules)
            if score is None and (case, "") not in state.lost:
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
        """Whether the interval is as narrow as was wanted."""
        low, high = self.interval.low, self.interval.high
        return low is not None and high is not None and high - low <= self._width

    def _end_item(self) -> None:
        self.cases += self._passed
        if self._values:
            self._total += sum(self._values) / len(self._values)
            self._n += 1
            self.interval = anytime(self._total, self._n)
        self._passed, self._values = [], []


def stopped_early(study: Study, run: Planned, path: Path) -> Early | None:
    """What was counted when that run of the study stopped early, by its journal; None where it did not."""
    width = study.stop_width_of(run)
    if width is None or not path.exists() or is_completed(path):
        return None
    file = path.stat()
    return _stopped(path, file.st_size, file.st_mtime_ns, run.lab, study.rules, width)


@lru_cache(maxsize=MOST_RUNS)
def _stopped(path: Path, size: int, changed: int, lab: Lab, rules: Rules, width: float) -> Early | None:
    """`stopped_early`, kept for a journal of that size and time of change: a running study asks again and again."""
    early = Early(lab, rules, width)
    return early if early(transcript(journal.read(path).events)) else None


def _item(case: str) -> str:
    return case.partition("/")[0]
