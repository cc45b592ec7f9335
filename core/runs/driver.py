"""How runs are driven for a button, a command or a study: first what a run needs, then the run; and forks, which use
the answers of another run.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from .. import events, home, journal
from ..journal import Journal
from ..labs.base.lab import Lab, Prerequisite, ReadResult
from ..labs.base.spec import Spec
from ..transcript import Transcript, shares, transcript
from .context import Publish, Resolve
from .engine import PRIOR, RunIO, RunRequest, UserInput, execute, new_id, user_inputs
from .library import RunNotFoundError

# A run that uses the answers of another: it continues from an edited answer, and what depends on the edit is asked
# again; or another model predicts.
#
# A call is identified by its fingerprint, so dependencies need no bookkeeping: a prompt that results from the edit
# was never asked, and goes to the model; all others have their answers.


_Place = tuple[str, str, str, str, int, str]


def fork_of(history: Iterable[events.Event]) -> events.Fork | None:
    """The edit that a run continues from; None if it is not a fork."""
    return next((event.forked_from for event in history if isinstance(event, events.Started)), None)


def narrowed(lab: Lab, fork: events.Fork) -> Lab:
    """The lab restricted to the cases that share the edited answer."""
    return lab.with_changes(cases=lambda spec: (case for case in lab.cases(spec) if shares(case.id, fork.case)))


class _Kept:
    """The answers of the forked run by fingerprint, with the edited one replaced."""

    def __init__(self, history: Iterable[events.Event], fork: events.Fork) -> None:
        self.calls = transcript(history).calls
        self.answers: dict[str, events.Answered] = {}
        self.by_place: dict[_Place, events.Answered] = {}
        for call in self.calls.values():
            if call.answered is not None:
                self.answers.setdefault(call.asked.fingerprint, call.answered)
                self.by_place[_place(call.asked)] = call.answered
        if fork.call not in self.calls:
            raise RunNotFoundError(f"{fork.run} has no call {fork.call}.")
        self.edited = self.calls[fork.call].asked.fingerprint
        self._fork = fork

    def of(self, request: events.Request) -> events.ModelAnswer | None:
        """The answer to a request that was made before; None if it was not."""
        fingerprint = request.fingerprint()
        known = self.answers.get(fingerprint)
        if fingerprint == self.edited:
            calls = known.tool_calls if known else ()
            return events.ModelAnswer(text=self._fork.text, cached=True, tool_calls=calls, edited=True)
        return known.again(seconds=0.0) if known else None


@dataclass
class _Answering:
    """A model whose answers a function gives, from its id and the request."""

    id: str
    gives: Callable[[str, events.Request, events.OnText], Awaitable[events.ModelAnswer]]

    async def answer(self, request: events.Request, on_text: events.OnText) -> events.ModelAnswer:
        return await self.gives(self.id, request, on_text)


def fork_resolve(history: Iterable[events.Event], fork: events.Fork, resolve: Resolve) -> Resolve:
    """The models of a run that continues from the edit: known requests are answered from `history`, the rest by
    `resolve`. Raises RunNotFoundError if `history` has no such call.
    """
    kept = _Kept(history, fork)

    async def answer(id: str, request: events.Request, on_text: events.OnText) -> events.ModelAnswer:
        return kept.of(request) or await resolve(id).answer(request, on_text)

    return lambda id: _Answering(id, answer)


def stored_resolve(run_id: str, history: Iterable[events.Event], live: Collection[str], resolve: Resolve) -> Resolve:
    """The models of a run that uses the answers of the run `run_id`: requests that it made are answered from its
    `history`, others by `resolve` if they are to one of the models `live`. Any other request raises CallError.
    """
    answers = {call.asked.fingerprint: call.answered for call in transcript(history).calls.values() if call.answered}

    async def answer(id: str, request: events.Request, on_text: events.OnText) -> events.ModelAnswer:
        if known := answers.get(request.fingerprint()):
            return known.again(seconds=0.0)
        if id in live:
            return await resolve(id).answer(request, on_text)
        raise events.CallError(
            f"{run_id} has no answer to one of the {request.role}'s requests, and only the predictor is asked.",
            "The prompts may have changed since. Start a new run.",
        )

    return lambda id: _Answering(id, answer)


@dataclass
class ForkPlan:
    """What a fork will ask: at least the calls `again`, each with its model and the tokens that the call at the same
    place used before, and at `most` this many calls in all (None if the lab cannot tell). `kept` answers are reused.
    `applies`: whether the edited answer is still asked for; it is not if prompts have changed since.
    """

    again: list[tuple[str, events.Usage]] = field(default_factory=list)
    most: int | None = None
    kept: int = 0
    applies: bool = False

    @property
    def least(self) -> Counter[str]:
        """The least number of calls that are asked again, by model."""
        return Counter(model for model, _ in self.again)


async def planned(lab: Lab, spec: Spec, history: Sequence[events.Event], fork: events.Fork) -> ForkPlan:
    """What the fork will ask. The fork is executed without a model: each request that depends on the edit is counted as
    asked, and answered as the one at the same place was before. New answers may lead to more calls, up to `most`.
    Raises RunNotFoundError if `history` has no such call.
    """
    kept = _Kept(history, fork)
    plan = ForkPlan()
    latest: list[events.Asked] = []

    async def answer(id: str, request: events.Request, on_text: events.OnText) -> events.ModelAnswer:
        # Nothing runs between the `asked` event and this.
        asked = latest[-1]
        plan.applies |= asked.fingerprint == kept.edited
        known = kept.of(request)
        if known is not None:
            plan.kept += 1
            return known
        before = kept.by_place.get(_place(asked))
        plan.again.append((id, before.usage if before else events.Usage()))
        if before is None:
            raise events.CallError("not asked yet")
        return before.again(seconds=0.0)

    def publish(event: events.Event) -> None:
        if isinstance(event, events.Asked):
            latest.append(event)

    cases = list(narrowed(lab, fork).cases(spec))
    # Figures and warming up are not needed.
    bare = lab.with_changes(cases=lambda spec: cases, scores=lambda views: iter(()), preload=lambda spec: None)
    await execute(
        RunRequest(bare, spec, fork.run, additions=inputs(lab, history, fork)),
        RunIO(lambda id: _Answering(id, answer), publish),
    )
    if (most := lab.calls(spec, len(cases))) is not None:
        edited = kept.calls[fork.call].number
        before = sum(call.number <= edited and shares(call.asked.case, fork.case) for call in kept.calls.values())
        plan.most = max(plan.least.total(), most - before)
    return plan


def inputs(lab: Lab, history: Iterable[events.Event], fork: events.Fork) -> list[UserInput]:
    """The records that people, or chance, added to the forked run, as far as they concern the fork's cases."""
    return [one for one in user_inputs(lab, history) if not one.case or shares(one.case, fork.case)]


def _place(asked: events.Asked) -> _Place:
    return asked.case, asked.trial, asked.item, asked.role, asked.repeat, asked.prompt


# The runs that another run needs (`core.labs.base.lab.Prerequisite`). Each was made here already, came with the app
# (`home.priors`), or is made first.


Sees = Callable[[str], bool]
"""Whether a run, given by its id, may be viewed."""


def earlier_runs(lab: Lab, spec: Spec, folder: Path, sees: Sees) -> Iterator[tuple[str, Transcript]]:
    """The runs with exactly this specification and the current prompts, as id and transcript: the newest first, and
    last those that came with the app.
    """
    for path, begun in _begun(lab, folder, sees):
        if begun == spec:
            # A run that was deleted meanwhile, is of another version, or is damaged is skipped.
            with suppress(OSError, ValueError):
                yield path.stem, transcript(journal.read(path).events)


def _begun(lab: Lab, folder: Path, sees: Sees) -> Iterator[tuple[Path, Spec]]:
    shipped = home.priors()
    for place in (folder, shipped):
        for path in reversed(journal.list_journals(place, f"*-{lab.name}-*")):
            with suppress(OSError, ValueError):
                begun = journal.first_event(path)
                if begun is None or begun.about or begun.forked_from or begun.lab != lab.name:
                    continue
                spec = lab.spec.model_validate(begun.spec)
                if begun.prompts == lab.prompts(spec) and (place == shipped or sees(path.stem)):
                    yield path, spec


def record_of(prior: Prerequisite, folder: Path, sees: Sees) -> events.Frozen | None:
    """The result of the newest run of a prerequisite that has one; None if there is none."""
    return next(
        (found for _, state in earlier_runs(prior.lab, prior.spec, folder, sees) if (found := prior.read(state))), None
    )


def records(lab: Lab, read: ReadResult, folder: Path, sees: Sees) -> Iterator[tuple[Spec, events.Frozen]]:
    """The result of each of the lab's specifications that ran here or came with the app; see `Prerequisite.read`."""
    for spec in dict.fromkeys(spec for _, spec in _begun(lab, folder, sees)):
        if (found := record_of(Prerequisite(lab, spec, read, wanted=False), folder, sees)) is not None:
            yield spec, found


def prerequisites_of(lab: Lab, spec: Spec) -> dict[str, Prerequisite | events.Frozen]:
    """The prerequisites of a run with that specification, by the item of their record."""
    every = enumerate(lab.prerequisites(spec), start=1)
    return {PRIOR if number == 1 else f"{PRIOR}-{number}": one for number, one in every if one is not None}


def missing_prerequisites(
    lab: Lab, spec: Spec, history: Iterable[events.Event]
) -> dict[str, Prerequisite | events.Frozen]:
    """The prerequisites that a run still needs, by item. A resumed run keeps those that it has recorded; one that
    completed needs none.
    """
    history = list(history)
    if not history:
        return prerequisites_of(lab, spec)
    over = any(isinstance(event, events.Finished) and event.status == "completed" for event in history)
    if over:
        return {}
    has = {event.item for event in history if isinstance(event, events.Recorded) and not event.case}
    return {
        item: one
        for item, one in prerequisites_of(lab, spec).items()
        if isinstance(one, Prerequisite) and one.wanted and item not in has
    }


Make = Callable[[RunRequest], Awaitable[object]]
"""Makes a run from start to finish, with its journal."""


def new_reading(lab: Lab, spec: Spec, run_id: str, history: Sequence[events.Event]) -> RunRequest:
    """A new run that parses the answers of the run `run_id` again, with the current parsers."""
    fork, additions = fork_of(history), user_inputs(lab, history)
    return RunRequest(lab, spec, new_id(lab.name), additions=additions, reread_from=run_id, forked_from=fork)


def new_predictions(lab: Lab, spec: Spec, run_id: str, history: Sequence[events.Event], simulator: str) -> RunRequest:
    """A new run with the questions and answers of the run `run_id`, in which `simulator` predicts. Raises ValueError if
    no model predicts in this lab.
    """
    if "simulator" not in lab.spec.model_fields:
        raise ValueError(f"No model predicts in {lab.title}, so there is nothing to predict again.")
    chosen = lab.spec.model_validate({**spec.model_dump(), "simulator": simulator, "simulators": ()})
    return RunRequest(lab, chosen, new_id(lab.name), additions=user_inputs(lab, history), predicted_from=run_id)


@dataclass(frozen=True)
class Driver:
    """Drives runs whose journals are in `folder`, for `owner` or a `study`. `resolve` finds their models; `sees` says
    which runs they may use as prerequisites. Copies of one driver made by `dataclasses.replace` share `making`.
    """

    labs: Mapping[str, Lab]
    resolve: Resolve
    folder: Path
    owner: str = ""
    study: str = ""
    sees: Sees = lambda run: True
    making: defaultdict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    """A lock by specification: a prerequisite of several runs is made only once."""

    def resume_point(self, run_id: str, failed_too: bool = False) -> tuple[list[events.Event], bool]:
        """The run's events so far, and whether there is something to repair though it completed: lines missing from its
        journal or, with `failed_too`, failed calls. To be called once nobody else can write the journal: otherwise
        two people who resume at the same time would ask twice.
        """
        found = journal.read(journal.path_for(self.folder, run_id))
        return found.events, bool(found.faults) or (failed_too and bool(transcript(found.events).failed_items))

    async def execute(
        self,
        request: RunRequest,
        written: Journal,
        publish: Publish | None = None,
        make: Make | None = None,
        enough: Callable[[Transcript], bool] | None = None,
        ready: Callable[[], Awaitable[object]] | None = None,
    ) -> Transcript:
        """Execute a run from start to finish, as `execute` does, into the journal `written`.

        `publish`, if given, receives the events instead, and pieces of answers too. `make` makes a prerequisite run if
        it is missing. Once begun, the run waits for `ready` before it measures. A fork or a reread run makes no
        prerequisites: it uses those of the original run.
        """
        fork = request.forked_from or fork_of(request.history)
        lab = narrowed(request.lab, fork) if fork else request.lab
        due = {} if fork or request.reread_from else missing_prerequisites(lab, request.spec, request.history)

        async def prerequisites() -> dict[str, events.Frozen]:
            if ready is not None:
                await ready()
            return await self._all_of(due, make or self.execute_new)

        io = RunIO(
            self.resolve,
            publish or written.append,
            settle=written.settled,
            live=publish is not None,
            prerequisites=prerequisites,
            enough=enough,
        )
        return await execute(replace(request, lab=lab, forked_from=fork, owner=self.owner, study=self.study), io)

    async def execute_new(self, request: RunRequest) -> Transcript:
        """Make a new run with a journal of its own."""
        with Journal(self.folder / f"{request.id}.jsonl", new=True) as written:
            return await self.execute(request, written)

    async def _all_of(self, due: Mapping[str, Prerequisite | events.Frozen], make: Make) -> dict[str, events.Frozen]:
        """The prerequisites' results by item, made one after another; those without a result are left out."""
        found = {item: await self._record_of(first, make) for item, first in due.items()}
        return {item: record for item, record in found.items() if record is not None}

    async def _record_of(self, first: Prerequisite | events.Frozen, make: Make) -> events.Frozen | None:
        """The result of one prerequisite. If it is wanted and missing, it is made now, once for all runs that need
        it.
        """
        if not isinstance(first, Prerequisite):
            return first
        async with self.making[first.spec.model_dump_json()]:
            known = await asyncio.to_thread(record_of, first, self.folder, self.sees)
            if known is not None or not first.wanted:
                return known
            request = RunRequest(first.lab, first.spec, new_id(first.lab.name))
            await make(request)
            return first.read(transcript(journal.read(self.folder / f"{request.id}.jsonl").events))
