"""What a lab is given: a `CaseContext`, bound to one case, to ask models, record findings, exclude items and score."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from .. import events
from ..errors import name_in_journals
from ..parsers import fields
from ..score import Score
from ..text.templates import with_system
from ..transcript import Transcript, ancestors, name_of

TOLERANCE = 1e-5
"""Numbers that differ by no more, absolutely or relative to the larger, count as equal. Sentence similarity has 6
digits (`core.text.embed.DIGITS`), and the ends of an interval move by several times as much as the values they are
computed from. No figure is shown with this many digits.
"""


def nearly_equal(a: object, b: object, tolerance: float = TOLERANCE) -> bool:
    """Whether two JSON values are equal, except that numbers may differ by `tolerance`. Integers (counts), strings and
    structure have to be equal.
    """
    match a, b:
        case dict(), dict():
            return a.keys() == b.keys() and all(nearly_equal(a[key], b[key], tolerance) for key in a)
        case (list() | tuple(), list() | tuple()):
            return len(a) == len(b) and all(nearly_equal(*pair, tolerance) for pair in zip(a, b, strict=True))
        case (bool(), _) | (_, bool()) | (int(), int()):
            return type(a) is type(b) and a == b
        case (int() | float(), int() | float()):
            return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance) or (math.isnan(a) and math.isnan(b))
        case _:
            return a == b


T = TypeVar("T")
R = TypeVar("R")
Kind = TypeVar("Kind", bound=events.Frozen)

Publish = Callable[[events.Event], object]
Resolve = Callable[[str], events.Model]
Settle = Callable[[], Awaitable[None]]
"""Waits until what was published is stored on disk."""

AT_ONCE = 16
"""How many things of one kind go on at the same time: cases of a run, trials of a case."""


def complaints(error: ValidationError) -> list[str]:
    """What is wrong with a specification, one line per fault. Faults that are not our own validators' begin with the
    field.
    """
    lines = []
    for problem in error.errors():
        words = problem["msg"].removeprefix("Value error, ")
        named = ".".join(str(part) for part in problem["loc"]).replace("_", " ")
        lines.append(f"{named}: {words}" if named else words)
    return lines


@dataclass(frozen=True)
class RunIO:
    """What a run may use."""

    resolve: Resolve
    """Finds the run's models by id."""
    publish: Publish
    """Accepts each event."""
    settle: Settle | None = None
    """Waits until what was published is stored."""
    live: bool = True
    """Whether a `token` event is published for each piece of an answer as it arrives."""
    prerequisites: Callable[[], Awaitable[Mapping[str, events.Frozen]]] | None = None
    """Returns the results of the run's prerequisites (`core.runs.driver`) by item, which may have to be made first."""
    enough: Callable[[Transcript], bool] | None = None
    """Once this is true of the run so far, no further case is begun, and the run ends as cancelled."""


class RunState:
    """What all cases of a run share: its models, where events go, and what was asked and published already."""

    def __init__(self, id: str, io: RunIO, history: Iterable[events.Event] = ()) -> None:
        self.id = id
        self.io = io
        self.system: Mapping[str, str] = {}
        """The system prompt that a person set, by role."""
        self.transcript = Transcript()
        """All that was published, also before a stop."""
        self.answers: dict[str, dict[str, events.Answered]] = {}
        """Answers by fingerprint of the request, then by case. If several cases need the same call, it is stored under
        each.
        """
        self.in_progress: dict[str, asyncio.Future[events.Answered]] = {}
        """The calls that are being made, by fingerprint."""
        self.has_news = False
        """Whether anything was published since the run was begun or resumed."""
        for event in history:
            self.transcript.apply(event)
        for case, place in self.transcript.places.items():
            for call in place.calls.values():
                if call.answered is not None:
                    self.answers.setdefault(call.asked.fingerprint, {}).setdefault(case, call.answered)

    @property
    def is_complete(self) -> bool:
        """Whether the journal says that the run completed, and nothing was published since."""
        return self.transcript.status == "completed" and not self.has_news

    def publish(self, event: events.Event) -> None:
        """Publish an event. In a resumed run, `resumed` is published before the first one."""
        if isinstance(event, events.Token):
            self.io.publish(event)
            return
        if not self.has_news and self.transcript.started is not None:
            self._apply(events.Resumed(run=self.id))
        self.has_news = True
        self._apply(event)

    def _apply(self, event: events.Event) -> None:
        self.transcript.apply(event)
        self.io.publish(event)

    def publish_if_new(
        self, event: events.Recorded | events.Dropped | events.Scored, kind: type[events.Frozen] | None = None
    ) -> None:
        """Publish a finding, unless the journal has the same one already, up to rounding: a resumed run goes through
        everything again, maybe on another machine. `kind` is a record's type.
        """
        if not self._is_known(event, kind):
            self.publish(event)

    def _is_known(
        self, event: events.Recorded | events.Dropped | events.Scored, kind: type[events.Frozen] | None
    ) -> bool:
        place = self.transcript.places.get(event.case)
        if place is None:
            return False
        match event:
            case events.Recorded():
                recorded = place.records.get(event.key)
                return recorded is not None and nearly_equal(_as_today(recorded.data, kind), event.data)
            case events.Scored():
                scored = place.scores.get((event.metric, event.rules, event.item))
                return scored is not None and nearly_equal(_content(scored), _content(event))
            case _:
                return any(_content(drop) == _content(event) for drop in place.drops)


def _as_today(data: dict[str, Any], kind: type[events.Frozen] | None) -> dict[str, Any]:
    """A record as the current version would write it: a field that an earlier version lacked gets its default."""
    with suppress(ValidationError):
        return kind.model_validate(data).model_dump(mode="json") if kind else data
    return data


def _content(event: events.Dropped | events.Scored) -> dict[str, Any]:
    """An event's content without its time, run and trial."""
    return event.model_dump(mode="json", exclude={"at", "run", "trial"})


class CaseContext:
    """A run as one of its cases uses it: it publishes events about that case. What was answered before a stop is not
    asked again. `case` is the case's id; "" for the run itself.
    """

    def __init__(self, run_state: RunState, case: str = "") -> None:
        self.run_state = run_state
        self.id = run_state.id
        self.case = case

    def at(self, case: str) -> CaseContext:
        """The same run for another place: a case, or a group of cases that share what is published there."""
        return CaseContext(self.run_state, case)

    @property
    def records(self) -> list[events.Recorded]:
        """What has been recorded for this case, also before a stop, in order."""
        place = self.run_state.transcript.places.get(self.case)
        return list(place.records.values()) if place else []

    def recorded(self, kind: type[Kind]) -> dict[str, Kind]:
        """The records of one type by item, the latest for each, in the order in which the items first appeared."""
        name = name_of(kind)
        named = [event for event in self.records if event.record == name and not event.by]
        return {event.item: kind.model_validate(event.data) for event in named}

    def latest(self, kind: type[Kind], item: str) -> Kind | None:
        """The latest record of one type about `item`; None if there is none."""
        place = self.run_state.transcript.places.get(self.case)
        event = place.records.get((name_of(kind), self.case, item, "")) if place else None
        return kind.model_validate(event.data) if event else None

    async def ask(
        self,
        role: str,
        prompt: events.Prompt,
        model: str,
        *,
        sampling: events.Sampling = events.Sampling(),  # noqa: B008  frozen
        item: str = "",
        trial: str = "",
        repeat: int = 0,
        tools: tuple[events.Tool, ...] = (),
    ) -> events.Answered:
        """Make one call. `repeat` distinguishes several samples of one prompt. Raises CallError, after the failure is
        journaled.

        What the run has asked before, or is asking now, in this case or another, is not asked again. If another case
        made the call, it is journaled here too, as answered from the cache, so that each case is complete by itself.
        """
        request = events.Request(
            role=role,
            model=model,
            messages=with_system(prompt, self.run_state.system.get(role, "")).messages,
            sampling=sampling,
            slots=prompt.slots,
            prompt=prompt.id,
            json_schema=prompt.json_schema,
            repeat=repeat,
            tools=tools,
        )
        fingerprint = request.fingerprint()
        if (known := self._known(fingerprint)) is not None:
            return known
        answered = await self._once(request, fingerprint, item, trial)
        if (known := self._known(fingerprint)) is not None:
            return known
        call = self._publish_asked(request, fingerprint, item, trial)
        here = {"call": call, "case": self.case, "trial": trial, "cached": True, "seconds": 0.0, "at": events.now()}
        here["at_once"] = None
        own = answered.model_copy(update=here)
        self.run_state.publish(own)
        self.run_state.answers[fingerprint][self.case] = own
        return own

    def _known(self, fingerprint: str) -> events.Answered | None:
        """The answer as stored for this case, or for a group of cases that it belongs to."""
        placed = self.run_state.answers.get(fingerprint)
        if not placed or self.case in placed:
            return placed[self.case] if placed else None
        return next((placed[place] for place in ancestors(self.case) if place in placed), None)

    async def _once(self, request: events.Request, fingerprint: str, item: str, trial: str) -> events.Answered:
        """The answer, asked for now if no case has it. A failure is final for this run."""
        run_state = self.run_state
        if fingerprint in run_state.answers:
            return next(iter(run_state.answers[fingerprint].values()))
        if fingerprint in run_state.in_progress:
            return await asyncio.shield(run_state.in_progress[fingerprint])
        pending = run_state.in_progress[fingerprint] = asyncio.get_running_loop().create_future()
        try:
            answered = await self._ask(request, fingerprint, item, trial)
        except events.CallError as failure:
            pending.set_exception(failure)
            pending.exception()
            raise
        except BaseException:
            pending.cancel()
            del run_state.in_progress[fingerprint]
            raise
        run_state.answers[fingerprint] = {self.case: answered}
        pending.set_result(answered)
        del run_state.in_progress[fingerprint]
        return answered

    async def _ask(self, request: events.Request, fingerprint: str, item: str, trial: str) -> events.Answered:
        call = self._publish_asked(request, fingerprint, item, trial)
        who = {"case": self.case, "trial": trial, "call": call, "role": request.role, "model": request.model}
        try:
            answer: events.ModelAnswer = await self.run_state.io.resolve(request.model).answer(
                request, self._hears(call)
            )
        except events.CallError as failure:
            self.run_state.publish(failed(self.id, failure, **who))
            raise
        if len(answer.text) > events.LONGEST_ANSWER:
            answer = answer.model_copy(update={"text": answer.text[: events.LONGEST_ANSWER], "ended": "cut"})
        as_prose = request.json_schema is not None and fields.read(answer.text, request.json_schema) is None
        answered = events.Answered.model_validate({"run": self.id, **who, **dict(answer), "as_prose": as_prose})
        self.run_state.publish(answered)
        if self.run_state.io.settle is not None:
            await self.run_state.io.settle()
        return answered

    def _hears(self, call: str) -> events.OnText:
        if not self.run_state.io.live:
            return events.ignore_text
        return lambda text: self.run_state.publish(events.Token(run=self.id, call=call, text=text))

    def _publish_asked(self, request: events.Request, fingerprint: str, item: str, trial: str) -> str:
        call = f"c{self.run_state.transcript.asked + 1:04d}"
        where = {"run": self.id, "case": self.case, "trial": trial, "call": call, "item": item}
        self.run_state.publish(events.Asked.model_validate({**dict(request), **where, "fingerprint": fingerprint}))
        return call

    @contextmanager
    def losing_only(self, item: str, trial: str = "") -> Iterator[None]:
        """If a call fails in this block, drop `item` with the reason, and continue after the block."""
        try:
            yield
        except events.CallError as failure:
            self.drop(item, "error", failure.message, trial=trial)

    async def map_items(self, items: Mapping[str, T], work: Callable[[str, T], Awaitable[R]]) -> dict[str, R]:
        """Do `work(item, value)` for all items, AT_ONCE at a time, and return the results by item.

        An item whose call fails is dropped with the reason and is missing from the results; the others continue.
        """
        done: dict[str, R] = {}

        async def one(pair: tuple[str, T]) -> None:
            item, value = pair
            with self.losing_only(item, trial=item):
                done[item] = await work(item, value)

        await for_each_bounded(items.items(), one)
        return done

    def record(self, record: events.Frozen, item: str, trial: str = "", by: str = "") -> None:
        """Record one finding about `item`, unless the journal has the same one already."""
        event = recorded(self.id, record, item, case=self.case, trial=trial, by=by)
        self.run_state.publish_if_new(event, type(record))

    def drop(
        self, item: str, reason: str, detail: str = "", rules: events.Rules | None = None, trial: str = ""
    ) -> None:
        """Exclude `item` for this reason under one parser's `rules`, or under both if None."""
        self.run_state.publish_if_new(
            events.Dropped(
                run=self.id, case=self.case, trial=trial, item=item, reason=reason, detail=detail, rules=rules
            )
        )

    def score(self, metric: str, score: Score, rules: events.Rules, item: str = "") -> None:
        """Publish one figure of this case or of the run, or of a part of it if `item` names one."""
        self.run_state.publish_if_new(
            events.Scored.model_validate(
                {**vars(score), "run": self.id, "case": self.case, "metric": metric, "rules": rules, "item": item}
            )
        )


async def for_each_bounded(items: Iterable[T], work: Callable[[T], Awaitable[None]], at_once: int = AT_ONCE) -> None:
    """Do `work` for each of `items`, at most `at_once` at a time; items are taken one by one as there is room."""
    waiting = iter(items)

    async def worker() -> None:
        for item in waiting:
            await work(item)

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(worker())


async def gather(*calls: Awaitable[T]) -> list[T]:
    """The results of calls made at the same time. All calls end before the first failure, if any, is raised."""
    results = await asyncio.gather(*calls, return_exceptions=True)
    done: list[T] = []
    for result in results:
        if isinstance(result, BaseException):
            raise result
        done.append(result)
    return done


def recorded(
    run: str, record: events.Frozen, item: str, case: str = "", trial: str = "", by: str = ""
) -> events.Recorded:
    """The event for a lab's record."""
    data = record.model_dump(mode="json")
    return events.Recorded(run=run, case=case, trial=trial, record=name_of(type(record)), item=item, data=data, by=by)


def failed(run: str, failure: events.CallError, **who: str) -> events.Failed:
    """The event for a failed call, or for what stopped the run."""
    told = {"message": failure.message, "hint": failure.hint, "bad_input": failure.bad_input}
    return events.Failed.model_validate({"run": run, **who, "error": name_in_journals(type(failure)), **told})
