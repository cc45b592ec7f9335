"""How one run goes from start to finish: its cases run through a bounded queue and are released as they are written.

The pages, the command line, the rating of descriptions and the tests of an instrument all use `execute`.
"""

import asyncio
import logging
import platform
import secrets
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import count, islice
from typing import NamedTuple, TypeVar

from ..datasets.items import BROKEN, Loaded
from ..errors import name_in_journals
from ..events import CallError, Event, Failed, Finished, Fork, Frozen, OutOfReachError, Recorded, Started
from ..journal import JournalFullError, JournalInUseError
from ..labs.base.lab import Lab
from ..labs.base.report import Begun, Case, Report, Result, Trial
from ..labs.base.spec import MOST_CASES, BadInputError, Spec
from ..package_data import ROOT
from ..policy import child_environment
from ..rulesets import PerRuleset
from ..score import Figure
from ..transcript import Transcript, name_of
from .context import CaseContext, RunState, failed, for_each_bounded
from .context import RunIO as RunIO
from .fairness import run_in_thread

log = logging.getLogger(__name__)

R = TypeVar("R", bound=Frozen)

PRIOR = "prior"
"""The item of the record that holds the result of a run's prerequisite."""


class UserInput(NamedTuple):
    """A record that a person adds to a case of a run. `{n}` in `item` is replaced by a number by the journal's one
    writer, so that two people never get the same number.
    """

    case: str
    record: Frozen
    item: str


def user_inputs(lab: Lab, history: Iterable[Event]) -> list[UserInput]:
    """The records that people, or chance, added to a run, so that a reread run gets them too."""
    kinds = {name_of(kind): kind for kind in lab.records}
    return [
        UserInput(event.case, kinds[event.record].model_validate(event.data), event.item)
        for event in history
        if isinstance(event, Recorded) and event.record in kinds and lab.is_input(event)
    ]


def new_id(lab: str) -> str:
    """A new id for a run: the time (UTC), the lab, and 64 random bits. Ids sort by time and are valid file names."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{lab}-{secrets.token_hex(8)}"


@dataclass(frozen=True)
class RunRequest:
    """A run to execute. With `history`, its events so far, it is resumed; `additions` are records that people add.
    `mend`: repeat failed calls or restore lines missing from its journal, even if it completed.

    `reread_from` is the run whose answers it parses again, `predicted_from` the one whose answers it uses with another
    predictor, `forked_from` the edit that it continues from (`core.runs.driver`); `owner` is the owner's name, `study`
    the study it belongs to.
    """

    lab: Lab
    spec: Spec
    id: str
    history: Sequence[Event] = ()
    additions: Sequence[UserInput] = ()
    mend: bool = False
    reread_from: str = ""
    predicted_from: str = ""
    forked_from: Fork | None = None
    owner: str = ""
    study: str = ""


async def execute(request: RunRequest, io: RunIO) -> Transcript:
    """Execute a run from start to finish, publishing every event; returns the run as it then is.

    A run that completed according to its journal is not executed again, unless it has additions or something to repair:
    it asks nothing and gains nothing, for figures of a later version belong to a reread run.

    Any failure ends in a `finished` event, after one with its reason. Raises again what cancels the task or keeps
    `publish` from writing (JournalFullError, JournalInUseError).
    """
    run_state = RunState(request.id, io, request.history)
    if run_state.transcript.started is None:
        run_state.publish(_started(request))
    for addition in request.additions:
        _add(addition, run_state)
    if run_state.is_complete and not request.mend:
        return run_state.transcript
    try:
        is_whole = await _measure(request, run_state)
    except asyncio.CancelledError:
        run_state.publish(Finished(run=request.id, status="cancelled"))
        raise
    except Exception as error:
        _fail(run_state, error)
    else:
        if not run_state.is_complete:
            run_state.publish(Finished(run=request.id, status="completed" if is_whole else "cancelled"))
    return run_state.transcript


def _started(request: RunRequest) -> Started:
    """The first event of the run."""
    return Started(
        run=request.id,
        lab=request.lab.name,
        spec=request.spec.model_dump(mode="json"),
        seed=request.spec.seed,
        versions=versions(),
        prompts=request.lab.prompts(request.spec),
        app=app_version(),
        commit=commit(),
        reread_from=request.reread_from,
        predicted_from=request.predicted_from,
        forked_from=request.forked_from,
        owner=request.owner,
        study=request.study,
    )


def _add(addition: UserInput, run_state: RunState) -> None:
    """Record what a person adds, with `{n}` in its item replaced by the next free number."""
    run = CaseContext(run_state, addition.case)
    before, is_numbered, _ = addition.item.partition("{n}")
    item = addition.item
    if is_numbered:
        taken = {event.item for event in run.records if event.record == name_of(type(addition.record))}
        item = next(name for n in count(1) if (name := f"{before}{n:02}") not in taken)
    run.record(addition.record, item)


async def _measure(request: RunRequest, run_state: RunState) -> bool:
    """Record the prerequisites' results, then measure all cases. Return False if there was enough before the last."""
    run_state.system = request.spec.system_prompts
    # Before anything that takes time, such as reading a data set or a qualification test.
    asyncio.get_running_loop().run_in_executor(None, request.lab.preload, request.spec)
    if run_state.io.prerequisites is not None:
        for item, known in (await run_state.io.prerequisites()).items():
            CaseContext(run_state).record(known, item)
    return await _Cases(request.lab, request.spec, run_state).measure()


def _fail(run_state: RunState, error: Exception) -> None:
    """End the run in the journal, with the reason in words. Raises the error if it is one that prevents writing the
    journal.
    """
    cause: BaseException = error
    while isinstance(cause, BaseExceptionGroup):
        cause = cause.exceptions[0]
    match cause:
        case JournalFullError() | JournalInUseError():
            # The journal cannot be written, so the reason cannot be stored.
            raise cause from None
        case CallError():
            run_state.publish(failed(run_state.id, cause))
        case OutOfReachError():
            run_state.publish(failed(run_state.id, cause.failure))
        case _:
            log.error("run %s", run_state.id, exc_info=error)
            words = f"The run stopped because of a bug in this app: {cause}"
            run_state.publish(Failed(run=run_state.id, error=name_in_journals(type(cause)), message=words))
    run_state.publish(Finished(run=run_state.id, status="failed"))


@dataclass
class _Cases:
    """The cases of one run."""

    lab: Lab
    spec: Spec
    run_state: RunState
    views: dict[str, Report] = field(default_factory=dict)
    failures: list[CallError] = field(default_factory=list)

    async def measure(self) -> bool:
        """Measure all cases, then the figures of the run. Return False if there was enough before the last case.

        Raises BadInputError, and CallError if every case failed.
        """
        # Reading or downloading a data set may take minutes.
        cases, data = await run_in_thread(self._plan)
        if isinstance(data, Loaded):
            self._record_data(data)
        many = len(cases) > 1

        async def one(numbered: tuple[int, Case]) -> None:
            number, case = numbered
            enough = self.run_state.io.enough
            if enough is not None and enough(self.run_state.transcript):
                return
            run = CaseContext(self.run_state, case.id)
            began = Begun(title=case.title, number=number, of=len(cases), columns=dict(case.columns))
            run.record(_as_before(began, run.latest(Begun, "case"), "title"), "case")
            failure = await self._measure(case, run)
            view = self.lab.view(self.run_state.transcript.case(case.id))
            self._conclude(run, view)
            self.views[case.id] = view
            if many and failure is None:
                await publish_figures(run, self.lab.scores([view]))

        await for_each_bounded(enumerate(cases, start=1), one)
        if len(self.views) < len(cases):
            return False
        if self.failures and len(self.failures) == len(cases):
            raise self.failures[0]
        # In the order planned, not the order of their ends: the same answers always make the same run.
        views = [self.views[case.id] for case in cases]
        await publish_figures(CaseContext(self.run_state), self.lab.scores(views))
        if views and all(map(_all_failed, views)):
            drops = [drop for view in views for drop in view.log.drops if drop.reason == "error"]
            raise CallError(
                f"Nothing could be measured: all {len(drops)} questions failed. {drops[0].detail}",
                "The answers are kept. Fix the problem, then resume.",
            )
        return True

    def _record_data(self, data: Loaded) -> None:
        """Record what the data set contains; a broken row is an excluded case."""
        run = CaseContext(self.run_state)
        run.record(data, "data")
        for detail in data.broken:
            run.at(detail.partition(": ")[0].rpartition("/")[2]).drop("", BROKEN, detail)

    def _plan(self) -> tuple[list[Case], Frozen | None]:
        """Return the cases, and the record of what their data set holds. Raises BadInputError."""
        try:
            cases = list(islice(self.lab.cases(self.spec), MOST_CASES + 1))
            data = self.lab.dataset_record(self.spec)
        except ValueError as error:
            raise BadInputError(str(error)) from error
        if not cases:
            raise BadInputError("There is nothing to measure: these settings give no case.")
        if len(cases) > MOST_CASES:
            raise BadInputError(
                f"A run has at most {MOST_CASES:,} cases. Set a limit, or make a study, which divides them into runs."
            )
        return cases, data

    async def _measure(self, case: Case, run: CaseContext) -> CallError | None:
        try:
            await self.lab.measure(self.spec, case, run)
        except CallError as failure:
            self.failures.append(failure)
            run.drop("", "error", failure.message)
            return failure
        return None

    def _conclude(self, run: CaseContext, view: Report) -> None:
        """Record the trials and the result that the view of a case gives."""
        for record, item, trial in result_of(view, str(getattr(self.spec, "model", ""))):
            if isinstance(record, Result):
                record = _as_before(record, run.latest(Result, item), "title", "verdict")
            run.record(record, item, trial=trial)


def _as_before(now: R, before: R | None, *words: str) -> R:
    """The record `before` if `now` differs from it only in the wording of these fields, which is not worth a new
    record; else `now`.
    """
    if before is None:
        return now
    same = now.model_copy(update={field: getattr(before, field) for field in words})
    return same if same == before else now


def _all_failed(view: Report) -> bool:
    """Whether calls failed and no trial of the case that lost a call was completed, so that nothing was measured."""
    lost = {name for drop in view.log.drops if drop.reason == "error" for name in (drop.item, drop.trial)}
    ends = {name for name, one in view.trials.items() if one.repaired.expected and one.repaired.observed}
    return bool(lost) and (lost == {""} or all(trial in lost - ends for trial in view.trials))


def result_of(view: Report, model: str) -> Iterator[tuple[Trial | Result, str, str]]:
    """The trials of a case and its result, each with its record's item, and the trial's name if it is a trial."""
    trials = view.trials
    for id, trial in trials.items():
        yield trial, id, id
    sentences = view.sentences()
    result = Result(
        title=view.title,
        model=model,
        explanation=view.explanation,
        outcome=PerRuleset.read_by_each(lambda rules: view.by(rules).outcome),
        verdict=sentences[0] if sentences else "",
        trials=len(trials),
        counted=sum(trial.repaired.counts for trial in trials.values()),
    )
    yield result, "case", ""


async def publish_figures(run: CaseContext, figures: Iterator[Figure]) -> None:
    """Publish figures as they are computed in a thread: some take seconds, most less time than the switch to a
    thread.
    """
    is_over = False
    while not is_over:
        ready, is_over = await asyncio.to_thread(_next_figures, figures)
        for figure in ready:
            run.score(figure.metric, figure.score, figure.rules, figure.item)


def _next_figures(figures: Iterator[Figure]) -> tuple[list[Figure], bool]:
    """The next figures, as many as are computed in 0.05 seconds but at least one, and whether there are no more."""
    ends = time.monotonic() + 0.05
    ready = []
    for figure in figures:
        ready.append(figure)
        if time.monotonic() >= ends:
            return ready, False
    return ready, True


@cache
def app_version() -> str:
    """The version of this program."""
    import tomllib

    with suppress(PackageNotFoundError):
        return version("explain-yourself")
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


@cache
def commit() -> str:
    """The commit of the code, with a + if files differ from it; an empty string if there is no repository."""
    try:
        git = ["git", "-C", str(ROOT), "describe", "--always", "--abbrev=12", "--dirty=+", "--exclude=*"]
        done = subprocess.run(git, env=child_environment(), capture_output=True, text=True, timeout=5, check=False)  # noqa: S603  our own words
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


@cache
def versions() -> dict[str, str]:
    """The versions of Python and of packages that can change a figure."""
    versions = {"python": platform.python_version()}
    for package in ("openai", "xllamacpp", "sacrebleu", "sentence-transformers", "scipy"):
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions
