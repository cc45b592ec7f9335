"""A run that goes on from an edited answer of another: what does not depend on the edit is kept, the rest asked again.

A call is known by its fingerprint. So nothing has to tell what depends on what: a prompt that the edit leads to is one
that was never asked, and goes to the model; all others have their answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from ..events import Answered, Asked, CallFailed, Event, Fork, ModelAnswer, OnText, Request, Started, Usage
from ..labs.base.lab import Lab
from ..labs.base.spec import Spec
from ..transcript import shares, transcript
from .context import Resolve
from .engine import RunIO, RunRequest, UserInput, execute, given

_Place = tuple[str, str, str, str, int, str]


def fork_of(history: Iterable[Event]) -> Fork | None:
    """The edit that a run goes on from, if it is a fork."""
    return next((event.forked_from for event in history if isinstance(event, Started)), None)


def narrowed(lab: Lab, fork: Fork) -> Lab:
    """The lab with those cases alone that share the edited answer."""
    return replace(lab, cases=lambda spec: (case for case in lab.cases(spec) if shares(case.id, fork.case)))


class _Kept:
    """The answers of the run that is forked, by fingerprint; the edited one in its place."""

    def __init__(self, history: Iterable[Event], fork: Fork) -> None:
        self.calls = transcript(history).calls
        self.answers: dict[str, Answered] = {}
        self.by_place: dict[_Place, Answered] = {}
        for call in self.calls.values():
            if call.answered is not None:
                self.answers.setdefault(call.asked.fingerprint, call.answered)
                self.by_place[_place(call.asked)] = call.answered
        if fork.call not in self.calls:
            raise LookupError(f"{fork.run} holds no call {fork.call}.")
        self.edited = self.calls[fork.call].asked.fingerprint
        self._fork = fork

    def of(self, request: Request) -> ModelAnswer | None:
        """The answer to a request that was made before."""
        fingerprint = request.fingerprint()
        known = self.answers.get(fingerprint)
        if fingerprint == self.edited:
            calls = known.tool_calls if known else ()
            return ModelAnswer(text=self._fork.text, cached=True, tool_calls=calls, edited=True)
        return known.again(seconds=0.0) if known else None


def forked(history: Iterable[Event], fork: Fork, resolve: Resolve) -> Resolve:
    """The models of a run that goes on from the edit: what is known is answered from `history`, the rest by `resolve`.
    Raises LookupError where there is no such call.
    """
    kept = _Kept(history, fork)

    class Forked:
        def __init__(self, id: str) -> None:
            self.id = id

        async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
            known = kept.of(request)
            return known if known is not None else await resolve(self.id).answer(request, on_text)

    return Forked


@dataclass
class ForkPlan:
    """What a fork will ask: at least the calls `again`, each of a model, with the tokens that it took before at the
    same place, and how many at `most` in all, None where the lab cannot tell. `applies`: whether the edited answer is
    still asked for; it is not where prompts have changed since.
    """

    again: list[tuple[str, Usage]] = field(default_factory=list)
    most: int | None = None
    kept: int = 0
    applies: bool = False

    @property
    def least(self) -> Counter[str]:
        """How many calls of each model are asked again at least."""
        return Counter(model for model, _ in self.again)


async def planned(lab: Lab, spec: Spec, history: Sequence[Event], fork: Fork) -> ForkPlan:
    """What the fork will ask. It is tried out, without a model: whatever depends on the edit counts as asked, and is
    answered as it was before at the same place. What new answers lead to beyond that, nobody knows: `most` tells.
    Raises LookupError where there is no such call.
    """
    kept = _Kept(history, fork)
    plan = ForkPlan()
    latest: list[Asked] = []

    class Tried:
        def __init__(self, id: str) -> None:
            self.id = id

        async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
            # Nothing runs between `asked` and this.
            asked = latest[-1]
            plan.applies |= asked.fingerprint == kept.edited
            known = kept.of(request)
            if known is not None:
                plan.kept += 1
                return known
            before = kept.by_place.get(_place(asked))
            plan.again.append((self.id, before.usage if before else Usage()))
            if before is None:
                raise CallFailed("not asked yet")
            return before.again(seconds=0.0)

    def publish(event: Event) -> None:
        if isinstance(event, Asked):
            latest.append(event)

    cases = list(narrowed(lab, fork).cases(spec))
    # Figures and their heavy work are not wanted.
    bare = replace(lab, cases=lambda spec: cases, scores=lambda views: iter(()), warm=None)
    await execute(RunRequest(bare, spec, fork.run, additions=inputs(lab, history, fork)), RunIO(Tried, publish))
    if lab.calls is not None:
        edited = kept.calls[fork.call].number
        before = sum(call.number <= edited and shares(call.asked.case, fork.case) for call in kept.calls.values())
        plan.most = max(plan.least.total(), lab.calls(spec, len(cases)) - before)
    return plan


def inputs(lab: Lab, history: Iterable[Event], fork: Fork) -> list[UserInput]:
    """What people, or chance, gave the forked run, as far as it concerns the fork's cases."""
    return [one for one in given(lab, history) if not one.case or shares(one.case, fork.case)]


def _place(asked: Asked) -> _Place:
    return asked.case, asked.trial, asked.item, asked.role, asked.repeat, asked.prompt
