"""Runs and jobs, on a small lab and a scripted model: order, failures, cancelling, resuming."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from core import journal
from core.events import Answer, CallFailed, Event, Frozen, Message, OnText, Prompt, Request, Started
from core.runs.jobs import Jobs, NoSuchRun, status
from core.runs.run import Lab, Run, Spec, execute, together
from core.runs.transcript import transcript


class Numbers(Spec):
    count: int = 3


class Finding(Frozen):
    text: str


def prompt(text: str) -> Prompt:
    return Prompt(id="p", hash="h", messages=(Message(role="user", content=text),))


async def measure(spec: Numbers, run: Run) -> None:
    async def work(item: str, number: int) -> None:
        answered = await run.ask("answerer", prompt(str(number)), "m", item=item)
        run.record(Finding(text=answered.text), item)

    done = await run.each({f"n-{n}": n for n in range(spec.count)}, work, at_once=2)
    run.score("share", len(done) / spec.count, n=len(done), of=spec.count, rules="repaired")


LAB = Lab("numbers", Numbers, measure, lambda spec: {"p": "h"})


class Scripted:
    """Counts what it is asked; fails, or waits, where told to."""

    id = "m"

    def __init__(self, wait: float = 0.0, failing: frozenset[str] = frozenset()) -> None:
        self.wait = wait
        self.failing = failing
        self.asked: list[str] = []

    async def answer(self, request: Request, on_text: OnText) -> Answer:
        text = request.messages[-1].content
        self.asked.append(text)
        on_text(text[:1])
        await asyncio.sleep(self.wait)
        if text in self.failing:
            raise CallFailed(f"no answer to {text}", "try another")
        return Answer(text=f"answer {text}")


def play(model: Scripted, spec: Numbers, history: list[Event] | None = None) -> list[Event]:
    events: list[Event] = []
    asyncio.run(execute(LAB, spec, "r", resolve=lambda id: model, publish=events.append, history=history or []))
    return [event for event in events if event.kind != "token"]


def test_a_run_is_a_stream_of_events_in_order() -> None:
    events = play(Scripted(), Numbers(count=1, seed=5))
    assert [event.kind for event in events] == ["started", "asked", "answered", "recorded", "scored", "finished"]
    started = events[0]
    assert isinstance(started, Started)
    assert (started.lab, started.seed, started.spec, started.prompts) == (
        "numbers",
        5,
        {"seed": 5, "count": 1},
        {"p": "h"},
    )
    assert "python" in started.versions


def test_one_failed_call_loses_nothing_else() -> None:
    told = transcript(play(Scripted(failing=frozenset("1")), Numbers(count=4)))
    assert told.status == "completed"
    assert sorted(told.of("finding")) == ["n-0", "n-2", "n-3"]
    assert [(drop.item, drop.reason, drop.detail) for drop in told.drops] == [("n-1", "error", "no answer to 1")]
    score = told.score("share", "repaired")
    assert score is not None and (score.n, score.of, score.value) == (3, 4, 0.75)
    failed = next(call.failed for call in told.calls.values() if call.failed)
    assert (failed.error, failed.message, failed.hint) == ("CallFailed", "no answer to 1", "try another")


def test_a_fault_of_ours_ends_the_run_in_words() -> None:
    async def broken(spec: Numbers, run: Run) -> None:
        raise RuntimeError("oh")

    events: list[Event] = []
    lab = Lab("numbers", Numbers, broken, lambda spec: {})
    asyncio.run(execute(lab, Numbers(), "r", resolve=lambda id: Scripted(), publish=events.append))
    told = transcript(events)
    assert told.status == "failed" and told.failures[0].error == "RuntimeError"


def test_a_fault_among_many_items_is_named_and_not_the_group_it_comes_in() -> None:
    async def work(item: str, number: int) -> None:
        raise RuntimeError(f"oh {number}")

    async def broken(spec: Numbers, run: Run) -> None:
        await run.each({"a": 1}, work)

    events: list[Event] = []
    lab = Lab("numbers", Numbers, broken, lambda spec: {})
    asyncio.run(execute(lab, Numbers(), "r", resolve=lambda id: Scripted(), publish=events.append))
    failure = transcript(events).failures[0]
    assert failure.error == "RuntimeError" and failure.message.endswith("oh 1")


def test_a_resumed_run_asks_only_what_was_not_answered_and_says_nothing_twice() -> None:
    first = Scripted(failing=frozenset("12"))
    events = play(first, Numbers(count=4))
    second = Scripted()
    more = play(second, Numbers(count=4), history=events)
    assert sorted(second.asked) == ["1", "2"]
    assert more[0].kind == "resumed"
    assert sorted(event.item for event in more if event.kind == "recorded") == ["n-1", "n-2"]
    told = transcript([*events, *more])
    assert told.status == "completed" and told.drops == [] and len(told.of("finding")) == 4
    score = told.score("share", "repaired")
    assert score is not None and score.value == 1


def test_calls_keep_their_names_apart_after_a_resume() -> None:
    events = play(Scripted(failing=frozenset("0")), Numbers(count=2))
    more = play(Scripted(), Numbers(count=2), history=events)
    calls = [event.call for event in [*events, *more] if event.kind == "asked"]
    assert len(calls) == len(set(calls)) == 3


def test_together_waits_for_all_before_it_raises() -> None:
    ended: list[str] = []

    async def go(name: str, seconds: float, fails: bool) -> str:
        await asyncio.sleep(seconds)
        ended.append(name)
        if fails:
            raise CallFailed(name)
        return name

    async def both() -> None:
        with pytest.raises(CallFailed, match="quick"):
            await together(go("quick", 0, True), go("slow", 0.02, False))

    asyncio.run(both())
    assert ended == ["quick", "slow"]


@pytest.fixture
def jobs(tmp_path: Path) -> Callable[[Scripted], Jobs]:
    return lambda model: Jobs(tmp_path, {"numbers": LAB}, lambda id: model)


def test_a_job_goes_on_by_itself_and_ends_in_its_journal(jobs: Callable[[Scripted], Jobs], tmp_path: Path) -> None:
    going = jobs(Scripted(wait=0.05))
    run = going.start("numbers", Numbers(count=2))
    assert going.active(run)
    assert going.wait(run, 5)
    assert not going.active(run)
    events, partial = going.events(run)
    assert status(events, active=False) == "completed" and partial == {}
    assert journal.read(tmp_path / f"{run}.jsonl").events == events


def test_unfinished_answers_can_be_seen(jobs: Callable[[Scripted], Jobs]) -> None:
    going = jobs(Scripted(wait=0.5))
    run = going.start("numbers", Numbers(count=1))
    until(lambda: going.events(run)[1] == {"c0001": "0"})
    going.cancel(run)


def test_no_call_leaves_after_a_cancel(jobs: Callable[[Scripted], Jobs]) -> None:
    model = Scripted(wait=0.05)
    going = jobs(model)
    run = going.start("numbers", Numbers(count=50))
    until(lambda: len(model.asked) >= 4)
    going.cancel(run)
    asked = len(model.asked)
    assert not going.active(run)
    time.sleep(0.3)
    assert len(model.asked) == asked < 50
    told = transcript(going.events(run)[0])
    assert told.status == "cancelled"

    going.resume(run)
    assert going.wait(run, 10)
    told = transcript(going.events(run)[0])
    assert told.status == "completed" and len(told.of("finding")) == 50
    assert len(model.asked) <= 50 + 2, "only what was under way at the cancel is asked again"


def test_a_run_can_be_cancelled_before_its_first_step(jobs: Callable[[Scripted], Jobs]) -> None:
    going = jobs(Scripted(wait=1))
    busy = threading.Event()
    going._loop.call_soon_threadsafe(busy.wait, 1)
    run = going.start("numbers", Numbers())
    canceller = threading.Thread(target=going.cancel, args=[run])
    canceller.start()
    busy.set()
    canceller.join(5)
    assert not going.active(run)


def test_what_the_reader_notes_is_kept_while_a_run_goes_on_and_after(jobs: Callable[[Scripted], Jobs]) -> None:
    going = jobs(Scripted(wait=0.1))
    run = going.start("numbers", Numbers(count=1))
    going.note(run, Finding(text="during"), "x")
    assert going.wait(run, 5)
    going.note(run, Finding(text="after"), "y")
    found = transcript(going.events(run)[0]).of("finding")
    assert found["x"] == {"text": "during"} and found["y"] == {"text": "after"}


@pytest.mark.parametrize("name", ["nothing", "../etc/passwd", "", "/etc/passwd", "x" * 300, "a\x00b"])
def test_an_unknown_run_is_said_to_be_unknown(jobs: Callable[[Scripted], Jobs], name: str) -> None:
    going = jobs(Scripted())
    for look in (going.events, going.active, going.resume):
        with pytest.raises(NoSuchRun):
            look(name)


def until(true: Callable[[], bool], seconds: float = 5) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)
