"""What a lab is given: a `Run` to ask, record, drop and score with; and how one run goes from start to finish."""

from __future__ import annotations

import asyncio
import logging
import platform
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeVar

from pydantic import ValidationError

from core.events import (
    Answered,
    Asked,
    CallFailed,
    Dropped,
    Event,
    Failed,
    Finished,
    Frozen,
    Model,
    Prompt,
    Recorded,
    Request,
    Resumed,
    Rules,
    Sampling,
    Scored,
    Started,
    Token,
    Tool,
)

log = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")

Publish = Callable[[Event], None]
Resolve = Callable[[str], Model]


class Spec(Frozen):
    """What a run is to measure. Each lab has its own; all have a seed, and name the models they will ask."""

    seed: int = 0

    @property
    def models(self) -> set[str]:
        """The ids of all models that the run asks."""
        return set()


def complaints(error: ValidationError) -> list[str]:
    """What is wrong with a specification, a line each: our own sentences as they are, others with the field's name."""
    told = []
    for problem in error.errors():
        words = problem["msg"].removeprefix("Value error, ")
        named = ".".join(str(part) for part in problem["loc"]).replace("_", " ")
        told.append(f"{named}: {words}" if named else words)
    return told


@dataclass(frozen=True)
class Lab:
    """One lab, as the mechanism sees it.

    `prompts(spec)` gives the hash of each prompt template that a run may use, by id.
    """

    name: str
    spec: type[Spec]
    measure: Callable[[Any, Run], Awaitable[None]]
    prompts: Callable[[Any], dict[str, str]]


class Run:
    """One measurement under way. It publishes events; what was answered before a stop is not asked again."""

    def __init__(self, id: str, resolve: Resolve, publish: Publish, history: Iterable[Event] = ()) -> None:
        self.id = id
        self._resolve = resolve
        self._publish = publish
        self._asked = 0
        self._answers: dict[str, Answered] = {}
        self._said: dict[tuple[str, ...], dict[str, Any]] = {}
        self.records: list[Recorded] = []
        fingerprints: dict[str, str] = {}
        for event in history:
            match event:
                case Asked():
                    self._asked += 1
                    fingerprints[event.call] = event.fingerprint
                case Answered() if event.call in fingerprints:
                    self._answers[fingerprints[event.call]] = event
                case Recorded():
                    self.records.append(event)
                    self._is_news(event)
                case Dropped() if event.reason != "error":
                    self._is_news(event)
                case _:
                    pass

    async def ask(
        self,
        role: str,
        prompt: Prompt,
        model: str,
        *,
        sampling: Sampling = Sampling(),  # noqa: B008  frozen
        item: str = "",
        repeat: int = 0,
        json_schema: dict[str, Any] | None = None,
        tools: tuple[Tool, ...] = (),
    ) -> Answered:
        """One call. `repeat` tells several draws of one prompt apart. Raises CallFailed, after the journal has it."""
        request = Request(
            role=role,
            model=model,
            messages=prompt.messages,
            sampling=sampling,
            slots=prompt.slots,
            prompt=prompt.id,
            json_schema=json_schema,
            repeat=repeat,
            tools=tools,
        )
        fingerprint = request.fingerprint()
        if fingerprint in self._answers:
            return self._answers[fingerprint]
        self._asked += 1
        call = f"c{self._asked:04d}"
        self._publish(
            Asked(
                run=self.id,
                call=call,
                role=role,
                model=model,
                messages=prompt.messages,
                sampling=sampling,
                item=item,
                prompt=prompt.id,
                repeat=repeat,
                fingerprint=fingerprint,
                tools=tools,
            )
        )
        try:
            answer = await self._resolve(model).answer(
                request, lambda text: self._publish(Token(run=self.id, call=call, text=text))
            )
        except CallFailed as failure:
            self._publish(_failed(self.id, failure, call=call, role=role, model=model))
            raise
        answered = Answered(run=self.id, call=call, role=role, model=model, **dict(answer))
        self._publish(answered)
        self._answers[fingerprint] = answered
        return answered

    async def each(
        self, items: Mapping[str, T], work: Callable[[str, T], Awaitable[R]], *, at_once: int = 16
    ) -> dict[str, R]:
        """`work(item, value)` for all items, `at_once` at a time; the results by item.

        An item whose call fails is dropped with the reason and is missing from the results; the others go on.
        """
        free = asyncio.Semaphore(at_once)
        done: dict[str, R] = {}

        async def one(item: str, value: T) -> None:
            async with free:
                try:
                    done[item] = await work(item, value)
                except CallFailed as failure:
                    self.drop(item, "error", failure.message)

        async with asyncio.TaskGroup() as group:
            for item, value in items.items():
                group.create_task(one(item, value))
        return done

    def record(self, record: Frozen, item: str) -> None:
        """Keep one finding about `item`, unless the journal says the same already."""
        event = Recorded(
            run=self.id, record=type(record).__name__.lower(), item=item, data=record.model_dump(mode="json")
        )
        if self._is_news(event):
            self.records.append(event)
            self._publish(event)

    def drop(self, item: str, reason: str, detail: str = "", rules: Rules | None = None) -> None:
        """`item` does not count, for this reason, under these rules (None: under both)."""
        event = Dropped(run=self.id, item=item, reason=reason, detail=detail, rules=rules)
        if self._is_news(event):
            self._publish(event)

    def score(
        self,
        metric: str,
        value: float | None,
        *,
        n: int,
        of: int,
        rules: Rules,
        low: float | None = None,
        high: float | None = None,
        item: str = "",
        detail: dict[str, Any] | None = None,
    ) -> None:
        """One metric: `value` None where undefined, `n` items used of `of`, a 95 % interval from `low` to `high`."""
        self._publish(
            Scored(
                run=self.id,
                metric=metric,
                value=value,
                n=n,
                of=of,
                low=low,
                high=high,
                rules=rules,
                item=item,
                detail=detail or {},
            )
        )

    def _is_news(self, event: Recorded | Dropped) -> bool:
        """Whether the journal does not say so already: a resumed run goes through the same findings again."""
        if isinstance(event, Recorded):
            key: tuple[str, ...] = event.key
            told: dict[str, Any] = event.data
        else:
            key = (event.item, event.reason, str(event.rules), "dropped")
            told = {"detail": event.detail}
        news = self._said.get(key) != told
        self._said[key] = told
        return news


async def together(*calls: Awaitable[T]) -> list[T]:
    """The results of calls made at the same time. All end before the first failure, if any, is raised."""
    results = await asyncio.gather(*calls, return_exceptions=True)
    done: list[T] = []
    for result in results:
        if isinstance(result, BaseException):
            raise result
        done.append(result)
    return done


def recorded(run: str, record: Frozen, item: str) -> Recorded:
    """The event for a lab's record; its name is the record's class in lower case."""
    return Recorded(run=run, record=type(record).__name__.lower(), item=item, data=record.model_dump(mode="json"))


def new_id(lab: str) -> str:
    """A run's name: when (UTC), which lab, and four random hexadecimal digits. Sorts by time; fit for a file name."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{lab}-{secrets.token_hex(2)}"


async def execute(
    lab: Lab, spec: Spec, run_id: str, *, resolve: Resolve, publish: Publish, history: Iterable[Event] = ()
) -> None:
    """Measure `spec` from start to finish, publishing every event. With `history`, go on from there.

    Whatever goes wrong ends in a `finished` event with its reason before it; a cancelled task is raised again.
    """
    past = list(history)
    run = Run(run_id, resolve, publish, past)
    if past:
        publish(Resumed(run=run_id))
    else:
        publish(
            Started(
                run=run_id,
                lab=lab.name,
                spec=spec.model_dump(mode="json"),
                seed=spec.seed,
                versions=versions(),
                prompts=lab.prompts(spec),
            )
        )
    try:
        await lab.measure(spec, run)
    except asyncio.CancelledError:
        publish(Finished(run=run_id, status="cancelled"))
        raise
    except CallFailed as failure:
        publish(_failed(run_id, failure))
        publish(Finished(run=run_id, status="failed"))
    except Exception as fault:
        # A fault of ours must still end the run in the journal, and reach the person in words; the log has the rest.
        log.exception("run %s", run_id)
        cause: BaseException = fault
        while isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
        publish(
            Failed(run=run_id, error=type(cause).__name__, message=f"The run stopped on a fault of this app: {cause}")
        )
        publish(Finished(run=run_id, status="failed"))
    else:
        publish(Finished(run=run_id, status="completed"))


def _failed(
    run: str, failure: CallFailed, call: str | None = None, role: str | None = None, model: str | None = None
) -> Failed:
    return Failed(
        run=run,
        call=call,
        role=role,
        model=model,
        error=type(failure).__name__,
        message=failure.message,
        hint=failure.hint,
    )


@cache
def versions() -> dict[str, str]:
    """What the run was made with, as far as it can change a number."""
    found = {"python": platform.python_version()}
    for package in ("openai", "xllamacpp", "sacrebleu", "sentence-transformers", "scipy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
