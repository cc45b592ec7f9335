"""Studies that run in the background of this process, whatever page is open."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.lab.lab import Lab
from core.runs.run import Resolve
from core.study import control, tables
from core.study.execute import Making, Outcome
from core.study.plan import Planned, Study

Beside = Callable[[Coroutine[Any, Any, None]], "Future[None]"]
"""Runs a coroutine on the event loop of another thread."""


class AlreadyGoing(Exception):
    """The message says which study is in the way, and what to do."""


@dataclass
class Going:
    """A study that `whose` started in this process. Once it is over: `outcome` of its runs; `off`, which controls do
    not read what they must; `fault`, why no more could be written.
    """

    study: Study
    whose: str
    outcome: Outcome = field(default_factory=Outcome)
    off: list[str] = field(default_factory=list)
    fault: str = ""
    over: threading.Event = field(default_factory=threading.Event)


class Studies:
    """Runs studies, one at a time for each person; every method may be called from any thread. To pause one use
    core.study.control. `ended()` is called after each run.
    """

    def __init__(
        self, labs: Mapping[str, Lab], home: Path, folder: Path, beside: Beside, ended: Callable[[], None]
    ) -> None:
        self._labs = labs
        self._home = home
        self._folder = folder
        self._beside = beside
        self._ended = ended
        self._going: dict[str, Going] = {}
        self._lock = threading.Lock()

    def start(self, study: Study, resolve: Resolve, whose: str = "") -> Going:
        """Start the study, or resume it from its journals. Raises AlreadyGoing, CallFailed for a model that cannot be
        asked, BadStudy where a budget of money cannot be kept, and OSError where nothing can be written.
        """
        for model in sorted({model for run in study.all for model in run.spec.models}):
            resolve(model)
        making = Making(study, self._labs, resolve, self._folder, lambda run, state: self._ended(), whose)
        with self._lock:
            for other in self._going.values():
                if not other.over.is_set() and (other.whose == whose or other.study.name == study.name):
                    raise AlreadyGoing(f"{other.study.title} is going on. Wait until it is over, or pause it.")
            control.want(self._home, study.name, paused=False)
            going = self._going[study.name] = Going(study, whose)
        self._beside(self._make(going, making)).add_done_callback(lambda future: self._end(going, future))
        return going

    def going(self, name: str) -> Going | None:
        """The study of that name, if it was started in this process, over or not."""
        with self._lock:
            return self._going.get(name)

    async def _make(self, going: Going, making: Making) -> None:
        study = going.study
        # Where the controls do not read what they must, nothing else is asked.
        if await self._all(making, study.controls, going):
            going.off = await asyncio.to_thread(self._off, study)
            if not going.off:
                await self._all(making, study.runs, going)

    async def _all(self, making: Making, runs: Sequence[Planned], going: Going) -> bool:
        """Make the runs. Whether all of them completed, or stopped early."""
        going.outcome = await making.make(runs)
        return len(going.outcome.completed) + len(going.outcome.early) == len(runs)

    def _off(self, study: Study) -> list[str]:
        return tables.off(self._labs, tables.measured(study, self._labs, self._folder))

    def _end(self, going: Going, future: Future[None]) -> None:
        if (error := future.exception()) is not None:
            going.fault = str(error)
        self._ended()
        going.over.set()
