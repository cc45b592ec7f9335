"""The state of a study, read once from its journals: which runs are over, and what they took. Estimate, progress,
budgets and tables all go by it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .early_stopping import Early, stopped_early
from .plan import Planned, Study
from .run_status import RunStatus, Tokens, standings


@dataclass(frozen=True)
class StudyState:
    """What the journals in `folder` say about the study when they are first needed; unchanged journals are not read
    again for the next state.
    """

    study: Study
    folder: Path

    @cached_property
    def runs(self) -> dict[str, RunStatus]:
        """The status of each run, by its name."""
        return standings(self.study.all, self.folder)

    @cached_property
    def early(self) -> dict[str, Early]:
        """The runs that the study's `stop_width` stopped or made unnecessary, by name, with their counts."""
        return stopped_early(self.study, self.folder)

    def is_over(self, run: Planned) -> bool:
        """Whether the run has completed or stopped early."""
        return self.runs[run.id].status == "completed" or run.id in self.early

    def share(self, run: Planned) -> float:
        """How much of the run is done, from 0 to 1."""
        now = self.runs[run.id]
        # A run whose cases all have results still has its figures to compute.
        return 1.0 if self.is_over(run) else min(len(now.cases) / now.of, 0.99) if now.of else 0.0

    @property
    def statuses(self) -> Counter[str]:
        """How many runs have which status."""
        return Counter("stopped early" if id in self.early else run.status for id, run in self.runs.items())

    @cached_property
    def used(self) -> RunStatus:
        """What all runs together used and met: calls, tokens, money and failures."""
        used = RunStatus()
        for now in self.runs.values():
            used.answered.update(now.answered)
            used.failures.update(now.failures)
            for role, tokens in now.tokens.items():
                used.tokens.setdefault(role, Tokens()).add(tokens)
            used.paid += now.paid
            used.money += now.money
            used.unpriced += now.unpriced
        return used

    @property
    def budget_left(self) -> tuple[int | None, float | None]:
        """What is left of the study's budgets of calls and of money; None for a budget that is not set."""
        calls, money = self.study.budget_calls, self.study.budget_money
        if calls is None and money is None:
            return None, None
        left = None if calls is None else max(0, calls - self.used.paid)
        return left, None if money is None else max(0.0, money - self.used.money)
