"""A run that uses the answers of another: it continues from an edited answer, and what depends on the edit is asked
again; or another model predicts.

A call is identified by its fingerprint, so dependencies need no bookkeeping: a prompt that results from the edit was
never asked, and goes to the model; all others have their answers.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from ..events import Answered, Asked, CallError, Event, Fork, ModelAnswer, OnText, Request, Started, Usage
from ..labs.base.lab import Lab
from ..labs.base.spec import Spec
from ..transcript import shares, transcript
from .context import Resolve
from .engine import RunIO, RunRequest, UserInput, execute, user_inputs

_Place = tuple[str, str, str, str, int, str]


def fork_of(history: Iterable[Event]) -> Fork | None:
    """The edit that a run continues from; None if it is not a fork."""
    return next((event.forked_from for event in history if isinstance(event, Started)), None)


def narrowed(lab: Lab, fork: Fork) -> Lab:
    """The lab restricted to the cases that share the edited answer."""
    return lab.with_changes(cases=lambda spec: (case for case in lab.cases(spec) if shares(case.id, fork.case)))


class _Kept:
    """The answers of the forked run by fingerprint, with the edited one replaced."""

    def __init__(self, history: Iterable[Event], fork: Fork) -> None:
        self.calls = transcript(history).calls
        self.answers: dict[str, Answered] = {}
        self.by_place: dict[_Place, Answered] = {}
        for call in self.calls.values():
            if call.answered is not None:
                self.answers.setdefault(call.asked.fingerprint, call.answered)
                self.by_place[_place(call.asked)] = call.answered
        if fork.call not in self.calls:
            raise LookupError(f"{fork.run} has no call {fork.call}.")
        self.edited = self.calls[fork.call].asked.fingerprint
        self._fork = fork

    def of(self, request: Request) -> ModelAnswer | None:
        """The answer to a request that was made before; None if it was not."""
        fingerprint = request.fingerprint()
        known = self.answers.get(fingerprint)
        if fingerprint == self.edited:
            calls = known.tool_calls if known else ()
            return ModelAnswer(text=self._fork.text, cached=True, tool_calls=calls, edited=True)
        return known.again(seconds=0.0) if known else None


def fork_resolve(history: Iterable[Event], fork: Fork, resolve: Resolve) -> Resolve:
    """The models of a run that continues from the edit: known requests are answered from `history`, the rest by
    `resolve`. Raises LookupError if `history` has no such call.
    """
    kept = _Kept(history, fork)

    class Forked:
        def __init__(self, id: str) -> None:
            self.id = id

        async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
            known = kept.of(request)
            return known if known is not None else await resolve(self.id).answer(request, on_text)

    return Forked


def stored_resolve(run_id: str, history: Iterable[Event], live: Collection[str], resolve: Resolve) -> Resolve:
    """The models of a run that uses the answers of the run `run_id`: requests that it made are answered from its
    `history`, others by `resolve` if they are to one of the models `live`. Any other request raises CallError.
    """
    answers = {call.asked.fingerprint: call.answered for call in transcript(history).calls.values() if call.answered}

    class Stored:
        def __init__(self, id: str) -> None:
            self.id = id

        async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
            if known := answers.get(request.fingerprint()):
                return known.again(seconds=0.0)
            if self.id in live:
                return await resolve(self.id).answer(request, on_text)
            raise CallError(
                f"{run_id} has no answer to one of the {request.role}'s requests, and only the predictor is asked.",
                "The prompts may have changed since. Start a new run.",
            )

    return Stored


@dataclass
class ForkPlan:
    """What a fork will ask: at least the calls `again`, each with its model and the tokens that the call at the same
    place used before, and at `most` this many calls in all (None if the lab cannot tell). `kept` answers are reused.
    `applies`: whether the edited answer is still asked for; it is not if prompts have changed since.
    """

    again: list[tuple[str, Usage]] = field(default_factory=list)
    most: int | None = None
    kept: int = 0
    applies: bool = False

    @property
    def least(self) -> Counter[str]:
        """The least number of calls that are asked again, by model."""
        return Counter(model for model, _ in self.again)


async def planned(lab: Lab, spec: Spec, history: Sequence[Event], fork: Fork) -> ForkPlan:
    """What the fork will ask. The fork is executed without a model: each request that depends on the edit is counted as
    asked, and answered as the one at the same place was before. New answers may lead to more calls, up to `most`.
    Raises LookupError if `history` has no such call.
    """
    kept = _Kept(history, fork)
    plan = ForkPlan()
    latest: list[Asked] = []

    class Tried:
        def __init__(self, id: str) -> None:
            self.id = id

        async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
            # Nothing runs between the `asked` event and this.
            asked = latest[-1]
            plan.applies |= asked.fingerprint == kept.edited
            known = kept.of(request)
            if known is not None:
                plan.kept += 1
                return known
            before = kept.by_place.get(_place(asked))
            plan.again.append((self.id, before.usage if before else Usage()))
            if before is None:
                raise CallError("not asked yet")
            return before.again(seconds=0.0)

    def publish(event: Event) -> None:
        if isinstance(event, Asked):
            latest.append(event)

    cases = list(narrowed(lab, fork).cases(spec))
    # Figures and warming up are not needed.
    bare = lab.with_changes(cases=lambda spec: cases, scores=lambda views: iter(()), preload=lambda spec: None)
    await execute(RunRequest(bare, spec, fork.run, additions=inputs(lab, history, fork)), RunIO(Tried, publish))
    if (most := lab.calls(spec, len(cases))) is not None:
        edited = kept.calls[fork.call].number
        before = sum(call.number <= edited and shares(call.asked.case, fork.case) for call in kept.calls.values())
        plan.most = max(plan.least.total(), most - before)
    return plan


def inputs(lab: Lab, history: Iterable[Event], fork: Fork) -> list[UserInput]:
    """The records that people, or chance, added to the forked run, as far as they concern the fork's cases."""
    return [one for one in user_inputs(lab, history) if not one.case or shares(one.case, fork.case)]


def _place(asked: Asked) -> _Place:
    return asked.case, asked.trial, asked.item, asked.role, asked.repeat, asked.prompt
