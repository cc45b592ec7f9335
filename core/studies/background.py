"""Studies that run in the background of this process, whatever page is open."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import ExplainError
from ..labs.base.lab import Lab
from ..runs.context import Resolve
from . import desired_state, tables
from .execute import Making, StudyOutcome
from .plan import Study


class StudyRunningError(ExplainError):
    """Another study is in the way; the message says which, and what to do."""


@dataclass
class UnderWay:
    """A study that `whose` started in this process. Once it is over: `outcome` is the result of its runs; `off` lists
    the controls whose figures are not what they must be; `fault` says why nothing more could be written.
    """

    study: Study
    whose: str
    outcome: StudyOutcome = field(default_factory=StudyOutcome)
    off: list[str] = field(default_factory=list)
    fault: str = ""
    over: threading.Event = field(default_factory=threading.Event)


@dataclass
class Studies:
    """Runs studies, one at a time for each person; every method may be called from any thread. To pause a study, use
    core.studies.desired_state. `beside` runs a coroutine on the event loop of another thread; `ended()` is called
    after each run.
    """

    labs: Mapping[str, Lab]
    home: Path
    folder: Path
    beside: Callable[[Coroutine[Any, Any, None]], Future[None]]
    ended: Callable[[], None]
    _under_way: dict[str, UnderWay] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, study: Study, resolve: Resolve, whose: str = "") -> UnderWay:
        """Start the study, or resume it from its journals. Raises StudyRunningError, CallError for a model that cannot
        be asked, StudyError if a budget of money cannot be enforced, and OSError if nothing can be written.
        """
        for model in sorted({model for run in study.all for model in run.spec.models}):
            resolve(model)
        making = Making(study, self.labs, resolve, self.folder, lambda run, state: self.ended(), whose)
        with self._lock:
            for other in self._under_way.values():
                if not other.over.is_set() and (other.whose == whose or other.study.name == study.name):
                    raise StudyRunningError(f"{other.study.title} is going on. Wait until it is over, or pause it.")
            desired_state.want(self.home, study.name, paused=False)
            started = self._under_way[study.name] = UnderWay(study, whose)
        self.beside(self._make(started, making)).add_done_callback(lambda future: self._end(started, future))
        return started

    def started(self, name: str) -> UnderWay | None:
        """The study of that name if it was started in this process, whether it is over or not; None if it was not."""
        with self._lock:
            return self._under_way.get(name)

    async def _make(self, started: UnderWay, making: Making) -> None:
        study = started.study
        # If a control's figure is wrong, nothing else is asked.
        started.outcome = await making.run_all(study.controls)
        if len(started.outcome.completed) == len(study.controls):
            frame = await asyncio.to_thread(tables.measured, study, self.labs, self.folder)
            started.off = tables.instrument_faults(self.labs, frame)
            if not started.off:
                started.outcome = await making.run_all(study.runs)

    def _end(self, started: UnderWay, future: Future[None]) -> None:
        if (error := future.exception()) is not None:
            started.fault = str(error)
        self.ended()
        started.over.set()
