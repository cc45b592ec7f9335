"""How far a study is, cell by cell, how fast it runs, and what it has spent."""

import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from .. import home
from ..text import templates
from .plan import DesiredState, Planned, Study, wanted
from .run_status import RunStatus, StudyState

_LATELY = 60
"""Seconds over which the rate is measured."""

CONTROLS = "Controls"


@dataclass
class Cell:
    """One point of the grid, with seeds and shards pooled: of `runs` some have `completed`, others `stopped_early`;
    `cases` of `of` (None until each run has begun), `answered` calls, `failures` by class. `share` is how much of it
    is done, from 0 to 1.
    """

    lab: str
    cell: str
    runs: int = 0
    completed: int = 0
    stopped_early: int = 0
    cases: int = 0
    of: int | None = 0
    share: float = 0.0
    answered: int = 0
    failures: dict[str, int] = field(default_factory=dict)


@dataclass
class StudyProgress:
    """A study's progress. `status` counts its runs; `stopped` says why some failed; `stopped_early` lists those that
    ended once their interval was as narrow as `stop_width`. `paid` calls asked models that are not robots and cost
    `money` US dollars, not counting `unpriced` ones. `rate` is in calls per minute over the last minute, and
    `minutes` are left at that rate; None if nobody is making the study, or nothing is known yet. `limits` has, for
    each endpoint, its successive concurrency limits. `at_once` runs are made at a time.
    """

    study: str
    runs: int
    status: dict[str, int]
    answered: int
    paid: int
    budget_calls: int | None
    money: float
    unpriced: int
    budget_money: float | None
    failures: dict[str, int]
    stopped: dict[str, str]
    stop_width: float | None
    stopped_early: list[str]
    paused: bool
    at_once: int
    rate: float | None
    minutes: float | None
    limits: dict[str, list[int]]
    cells: list[Cell]

    @property
    def ended(self) -> int:
        """The number of runs that are over: completed, or stopped early."""
        return self.status.get("completed", 0) + self.status.get("stopped early", 0)


def progress(state: StudyState) -> StudyProgress:
    """The study's progress."""
    study, stand, used = state.study, state.runs.values(), state.used
    want: DesiredState = wanted(home.home(), study.name)
    rate = _rate(stand, time.time()) if state.statuses["running"] else None
    left = _calls_left(state)
    return StudyProgress(
        stop_width=study.stop_width,
        stopped_early=list(state.early),
        study=study.name,
        runs=len(stand),
        status=dict(state.statuses),
        answered=used.answered.total(),
        paid=used.paid,
        budget_calls=study.budget_calls,
        money=round(used.money, 6),
        unpriced=used.unpriced,
        budget_money=study.budget_money,
        failures=dict(used.failures.most_common()),
        stopped={id: run.message for id, run in state.runs.items() if run.status == "failed"},
        paused=want.paused,
        at_once=want.at_once or study.at_once,
        rate=rate,
        minutes=left / rate if rate and left is not None else None,
        limits=_limits(stand),
        cells=_cells(state),
    )


def _cells(state: StudyState) -> list[Cell]:
    """The cells in the order of the file, the controls first."""
    names = labels(state.study)
    cells: dict[tuple[str, str], Cell] = {}
    for run in state.study.all:
        now, name = state.runs[run.id], (run.lab.title, names[run.id])
        cell = cells.setdefault(name, Cell(*name))
        cell.runs += 1
        cell.completed += now.status == "completed"
        cell.stopped_early += run.id in state.early
        cell.cases += len(now.cases)
        cell.of = None if cell.of is None or not now.of else cell.of + now.of
        cell.share += state.share(run)
        cell.answered += now.answered.total()
        cell.failures = dict(Counter(cell.failures) + now.failures)
    for cell in cells.values():
        cell.share = round(cell.share / cell.runs, 4)
    return list(cells.values())


def labels(study: Study) -> dict[str, str]:
    """For each run, the values of the settings in which it differs from others of its lab; all controls have the same
    label.
    """
    by_run = dict.fromkeys((run.id for run in study.controls), CONTROLS)
    by_lab: defaultdict[str, dict[str, dict[str, str]]] = defaultdict(dict)
    for run in study.runs:
        # A field that is left out of the JSON because it has its default is a setting too.
        settings = {**dict(run.spec), **run.spec.model_dump(mode="json")}
        if "prompts" in settings:
            settings["prompts"] = templates.in_words(settings["prompts"])
        by_lab[run.lab.name][run.id] = {name: str(value) for name, value in settings.items()}
    for runs in by_lab.values():
        varied = _varied(runs.values())
        by_run |= {id: " · ".join(settings[name] for name in varied) for id, settings in runs.items()}
    return by_run


def _varied(runs: Collection[Mapping[str, str]]) -> list[str]:
    """The settings that distinguish these runs, without seed and shard, and without those that follow from others, such
    as a title or a role that the model itself takes.
    """
    varied: list[str] = []
    for name in sorted(dict.fromkeys(name for run in runs for name in run), key=lambda name: name == "title"):
        if name not in ("seed", "shard") and _kinds(runs, [*varied, name]) > _kinds(runs, varied):
            varied.append(name)
    return varied


def _kinds(runs: Iterable[Mapping[str, str]], names: Iterable[str]) -> int:
    return len({tuple(run.get(name, "") for name in names) for run in runs})


def _rate(stand: Iterable[RunStatus], now: float) -> float | None:
    """Calls answered in the last minute, extrapolated if fewer seconds are known. Times in the future are ignored: the
    clock was set back after them.
    """
    lately = Counter[int]()
    for run in stand:
        for (_, second), n in run.pace.items():
            if now - _LATELY <= second <= now + 1:
                lately[second] += n
    return 60 * lately.total() / max(1.0, now - min(lately)) if lately else None


def _calls_left(state: StudyState) -> float | None:
    """How many calls are still to come, if the rest of each lab's runs needs as many in proportion as so far. None if a
    lab has not begun.
    """
    by_lab: defaultdict[str, list[Planned]] = defaultdict(list)
    for run in state.study.all:
        by_lab[run.lab.name].append(run)
    left = 0.0
    for runs in by_lab.values():
        done = sum(map(state.share, runs))
        if not done:
            return None
        left += sum(sum(state.runs[run.id].pace.values()) for run in runs) * (len(runs) - done) / done
    return left


def _limits(stand: Iterable[RunStatus]) -> dict[str, list[int]]:
    histories: dict[str, list[int]] = {}
    for _, endpoint, at_once in sorted(limit for run in stand for limit in run.limits):
        history = histories.setdefault(endpoint, [])
        if history[-1:] != [at_once]:
            history.append(at_once)
    return histories
