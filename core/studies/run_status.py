"""The state of a study by its journals: which runs are over, what they took, and which cells may end early."""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any, Literal

from .. import home, journal
from ..events import Rules
from ..labs.base.lab import Lab
from ..models.ids import is_free
from ..models.settings import price_of
from ..statistics.groups import grouped
from ..statistics.intervals import anytime
from ..text import templates
from ..transcript import Transcript, transcript
from .plan import MOST_RUNS, DesiredState, Planned, Study, wanted

Status = Literal["absent", "running", "interrupted", "completed", "cancelled", "failed"]

_PAUSE = 30
"""Seconds without an answer that count as a pause, not as waiting."""

_TELLING = tuple(f'"kind":"{kind}"'.encode() for kind in ("asked", "answered", "failed", "resumed", "finished"))
_TELLING += (b'"record":"begun"', b'"record":"result"')


@dataclass
class Tokens:
    """How many calls one role made, and their tokens: as the endpoint counted them, else a quarter of the
    characters.
    """

    calls: int = 0
    prompt: float = 0.0
    completion: float = 0.0

    @classmethod
    def from_call(cls, usage: Mapping[str, Any], sent: int, text: str) -> Tokens:
        """The tokens of one call, as the endpoint counted them, or estimated from the `sent` characters and the
        answer's text.
        """
        return cls(1, usage.get("prompt_tokens") or sent / 4, usage.get("completion_tokens") or len(text) / 4)

    def add(self, other: Tokens) -> None:
        """Add the calls and tokens of `other`."""
        self.calls += other.calls
        self.prompt += other.prompt
        self.completion += other.completion


@dataclass
class RunStatus:
    """The status of one run. `cases` are those with a result, of the planned number `of` (0 if it is not known yet).
    `answered` counts its calls by role; `paid` counts those that asked a model that is not free, including failed
    tries; `money` is what they cost in US dollars, without the `unpriced` ones, whose price is not known. `failures`
    counts the classes of errors since the run was last begun. `pace` counts answers by endpoint and second (of the
    epoch); `limits` are the endpoints' concurrency limits, each with the second and the endpoint. `vain` counts the
    starts since the last answer or end: a run with many of them may be what ends the process that makes it.
    """

    status: Status = "absent"
    answered: Counter[str] = field(default_factory=Counter)
    tokens: dict[str, Tokens] = field(default_factory=dict)
    failures: Counter[str] = field(default_factory=Counter)
    paid: int = 0
    money: float = 0.0
    unpriced: int = 0
    cases: set[str] = field(default_factory=set)
    of: int = 0
    pace: Counter[tuple[str, int]] = field(default_factory=Counter)
    limits: list[tuple[int, str, int]] = field(default_factory=list)
    vain: int = 0
    message: str = ""


def is_completed(path: Path) -> bool:
    """Whether the journal's last line says that the run completed. An incomplete line is ignored."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - 4096))
            end = file.read()
        last = end[: end.rfind(b"\n")].rpartition(b"\n")[2]
        event, _ = journal.from_line(last)
    except (OSError, ValueError):
        return False
    return event.kind == "finished" and event.status == "completed"


def standing(path: Path) -> RunStatus:
    """The status of the run of that journal. Unreadable lines are ignored, and an unchanged journal is not read
    again.
    """
    try:
        file = path.stat()
    except OSError:
        return RunStatus()
    run = _read(path, file.st_size, file.st_mtime_ns)
    # The process that writes the journal may start or end without writing a line.
    is_running = run.status != "completed" and journal.is_written(path)
    return replace(run, status="running") if is_running else run


# Large enough for all runs of the largest study and its controls, which are read again and again.
@lru_cache(maxsize=2 * MOST_RUNS)
def _read(path: Path, size: int, changed: int) -> RunStatus:
    run = RunStatus("interrupted", vain=1)
    prompts: dict[str, int] = {}
    with path.open("rb") as lines:
        for line in lines:
            if line.endswith(b"\n") and any(sign in line for sign in _TELLING):
                with suppress(ValueError):
                    _tell(run, json.loads(line), prompts)
    return run


def _tell(run: RunStatus, event: dict[str, object], prompts: dict[str, int]) -> None:
    call, role, model = str(event.get("call")), str(event.get("role")), str(event.get("model"))
    match event.get("kind"):
        case "asked":
            prompts[call] = len(json.dumps(event.get("messages"), ensure_ascii=False))
        case "answered":
            run.vain = 0
            run.answered[role] += 1
            if event.get("cached"):
                return
            endpoint, second = model.partition("/")[0], _second(event)
            run.pace[endpoint, second] += 1
            if isinstance(at_once := event.get("at_once"), int):
                run.limits.append((second, endpoint, at_once))
            run.paid += not is_free(model)
            usage, sent = event.get("usage"), prompts.get(call, 0)
            tokens = Tokens.from_call(usage if isinstance(usage, dict) else {}, sent, str(event.get("text")))
            run.tokens.setdefault(role, Tokens()).add(tokens)
            if (price := price_of(model)) is None:
                run.unpriced += 1
            else:
                run.money += price.cost_of(tokens.prompt, tokens.completion)
        case "failed":
            run.failures[str(event.get("error"))] += 1
            run.paid += event.get("call") is not None and not is_free(model)
            if event.get("call") is None:
                run.message = f"{event.get('message')} {event.get('hint') or ''}".strip()
        case "recorded":
            if event.get("record") == "result":
                run.cases.add(str(event.get("case")))
            elif isinstance(data := event.get("data"), dict) and isinstance(of := data.get("of"), int):
                run.of = of
        case "resumed":
            run.status, run.message = "interrupted", ""
            # What failed is asked again.
            run.failures.clear()
            run.vain += 1
        case "finished":
            status = event.get("status")
            run.status = status if status in ("completed", "cancelled", "failed") else "interrupted"
            run.vain = 0


def _second(event: Mapping[str, object]) -> int:
    try:
        return int(datetime.fromisoformat(str(event.get("at"))).timestamp())
    except ValueError:
        return 0


def busy_rate(pace: Counter[int]) -> float | None:
    """Calls per minute, from the answers in each second and without pauses; None if there are too few."""
    seconds = sorted(pace)
    busy = sum(min(later - earlier, _PAUSE) for earlier, later in pairwise(seconds))
    return 60 * pace.total() / busy if busy else None


def standings(runs: Iterable[Planned], folder: Path) -> dict[str, RunStatus]:
    """The status of each run, by its name."""
    return {run.id: standing(journal.path_for(folder, run.id)) for run in runs}


# When a study's cell may end early: once its always-valid interval, checked after every item, is narrow enough
# (`stop_width`). The shards of a cell are pooled, in the order of the plan.


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
        if not self._values:
            return self._total, self._n
        return self._total + sum(self._values) / len(self._values), self._n + 1

    def _end_item(self) -> None:
        self.cases += self._passed
        if self._values:
            self._total, self._n = self.counted
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
            before = before and _counted(path, run.lab, study.rules, 0.0, before).counted
            continue
        early = Early(run.lab, study.rules, width, before)
        if not early.is_narrow and path.exists():
            early = _counted(path, run.lab, study.rules, width, before)
        yield run, early
        before = early.counted if early.is_narrow else None


def _counted(path: Path, lab: Lab, rules: Rules, width: float, before: Counted) -> Early:
    """The count of a journal, cached as long as the file does not change: a running study asks again and again."""
    file = path.stat()
    return _read_count(path, (file.st_size, file.st_mtime_ns), lab, rules, width, before)


@lru_cache(maxsize=2 * MOST_RUNS)
def _read_count(path: Path, state: tuple[int, int], lab: Lab, rules: Rules, width: float, before: Counted) -> Early:
    early = Early(lab, rules, width, before)
    early(transcript(journal.read(path).events))
    return early


def _item(case: str) -> str:
    return case.partition("/")[0]


# The state of a study, read once from its journals: which runs are over, and what they took. Estimate, progress,
# budgets and tables all go by it.


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
    def budget_left(self) -> tuple[float, float]:
        """What is left of the study's budgets of calls and of money; infinite for a budget that is not set."""
        calls, money = self.study.budget_calls, self.study.budget_money
        left = inf if calls is None else max(0, calls - self.used.paid)
        return left, inf if money is None else max(0.0, money - self.used.money)


# How far a study is, cell by cell, how fast it runs, and what it has spent.


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
    left = 0.0
    for runs in grouped((run.lab.name, run) for run in state.study.all).values():
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
