"""Jobs: runs in the background are watched, cancelled, resumed, reparsed, and commented on."""

import dataclasses
import gc
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from core import journal
from core.events import Finished, ModelAnswer, OnText, Request, Resumed, Started
from core.journal import Journal, JournalInUseError
from core.labs.base.spec import BadInputError
from core.models.cache import Replay
from core.runs.context import failed
from core.runs.engine import UserInput
from core.runs.fairness import WHOSE
from core.runs.library import RunNotFoundError, said_path
from core.server.jobs import JobRunner
from core.transcript import transcript
from tests.support.small_lab import LAB, Echoing, EchoSpec, Promise
from tests.support.waiting import until

Make = Callable[..., JobRunner]
MANY = EchoSpec(words=tuple(f"w{n}" for n in range(40)), times=1)


@pytest.fixture
def jobs(tmp_path: Path) -> Make:
    def made(model: Echoing, ended: Callable[[str], None] = lambda run: None) -> JobRunner:
        return JobRunner(tmp_path, {"echo": LAB}, lambda id: model, ended=ended)

    return made


def test_a_job_goes_on_by_itself_and_ends_in_its_journal(jobs: Make, tmp_path: Path) -> None:
    over: list[str] = []
    going = jobs(Echoing(wait=0.05), over.append)
    run = going.start("echo", EchoSpec())
    assert going.active(run) and going.here(run)
    assert going.wait(run, 5)
    assert not going.active(run) and over == [run]
    events = going.events(run)
    assert transcript(events).status == "completed"
    assert journal.read(tmp_path / f"{run}.jsonl").events == events


def test_a_watch_takes_in_what_is_new_and_nothing_twice(jobs: Make) -> None:
    going = jobs(Echoing(wait=0.03))
    run = going.start("echo", MANY)
    watch = going.watch(run)
    applied = 0
    apply = watch.transcript.apply

    def counting(event: object) -> None:
        nonlocal applied
        applied += 1
        apply(event)

    already = sum(len(place.records) for place in watch.transcript.places.values())
    watch.transcript.apply = counting
    while going.active(run):
        watch.refresh()
        time.sleep(0.01)
    watch.refresh()
    events = going.events(run)
    assert len(events) - 60 - already <= applied <= len(events)
    assert (
        watch.transcript.status == "completed" and watch.transcript.finished_calls == transcript(events).finished_calls
    )
    assert not watch.refresh()


def test_a_watch_of_one_case_keeps_only_that_case_and_how_the_others_are(jobs: Make) -> None:
    going = jobs(Echoing())
    run = going.start("echo", MANY)
    assert going.wait(run, 120)
    whole = going.watch(run).transcript
    for state in (going.watch(run, "all/7-w6").transcript, going.case(run, "all/7-w6")):
        assert set(state.places) == {"", "all", "all/7-w6"}
        assert {case: one.result for case, one in state.cases.items()} == {
            case: one.result for case, one in whole.cases.items()
        }
        seen, kept = LAB.view(state.case("all/7-w6")), LAB.view(whole.case("all/7-w6"))
        assert (seen.promise, seen.echoes, seen.trials) == (kept.promise, kept.echoes, kept.trials)
        assert state.score("repeated", "repaired") == whole.score("repeated", "repaired")
        assert state.status == "completed"


def test_unfinished_answers_can_be_seen_and_are_gone_once_they_are_whole(jobs: Make) -> None:
    going = jobs(Echoing(wait=0.4))
    run = going.start("echo", EchoSpec(words=("yes",), times=1))
    watch = going.watch(run)

    def partial() -> list[str]:
        watch.refresh()
        return [call.partial for call in watch.transcript.calls.values()]

    until(lambda: partial() == ["W"])
    until(lambda: partial() == ["W", "y"] or [c.text for c in watch.transcript.calls.values()][-1:] == ["y"])
    assert next(iter(watch.transcript.calls.values())).text == "I repeat what I hear."
    assert going.wait(run, 5)
    assert going._unfinished(run) == {}


def test_what_is_whole_is_no_longer_unfinished(jobs: Make) -> None:
    going = jobs(Echoing(wait=0.2))
    run = going.start("echo", EchoSpec(words=("yes",), times=1))
    until(lambda: going._unfinished(run) == {"c0001": "W"})
    until(lambda: going._unfinished(run) == {"c0002": "y"})
    going.cancel(run)


def test_no_call_leaves_after_a_cancel(jobs: Make) -> None:
    model = Echoing(wait=0.05)
    going = jobs(model)
    run = going.start("echo", MANY)
    until(lambda: len(model.asked) >= 4)
    going.cancel(run)
    asked = len(model.asked)
    assert not going.active(run)
    time.sleep(0.3)  # What must not come tells nobody: it has the time of six answers.
    assert len(model.asked) == asked < 40
    assert transcript(going.events(run)).status == "cancelled"

    going.resume(run)
    assert going.wait(run, 120)
    state = transcript(going.events(run))
    assert state.status == "completed" and len(state.cases) == 40
    assert all(progress.result for progress in state.cases.values())
    assert len(model.asked) <= 41 + 16, "only what was under way at the cancel is asked again"


def test_a_run_takes_turns_as_its_owner_s_or_by_itself(tmp_path: Path) -> None:
    seen: list[str] = []

    class Asked(Echoing):
        async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
            seen.append(WHOSE.get())
            return await super().answer(request, on_text)

    jobs = JobRunner(tmp_path, {"echo": LAB}, lambda id: Asked())
    for owner in ("ann", ""):
        seen.clear()
        run = jobs.start("echo", EchoSpec(words=("a",), times=1), owner=owner)
        assert jobs.wait(run, 30) and seen and set(seen) == {owner or run}


def test_a_run_can_be_cancelled_before_its_first_step(jobs: Make) -> None:
    going = jobs(Echoing(wait=1))
    busy = threading.Event()
    going._loop.call_soon_threadsafe(busy.wait, 1)
    run = going.start("echo", EchoSpec())
    canceller = threading.Thread(target=going.cancel, args=[run])
    canceller.start()
    busy.set()
    canceller.join(5)
    assert not going.here(run)
    with pytest.raises(RunNotFoundError, match="stopped before it started"):
        going.active(run)


def test_status_after_a_resume_that_died_is_interrupted(jobs: Make) -> None:
    model = Echoing(refuses=frozenset({"yes"}))
    going = jobs(model)
    run = going.start("echo", EchoSpec())
    assert going.wait(run, 5)
    model.refuses = frozenset()
    held = going.events(run)
    going.resume(run)
    assert going.wait(run, 5) and going.events(run) == held, "what failed is asked again where that is wanted"
    going.resume(run, failed_too=True)
    assert going.wait(run, 5)
    events = going.events(run)
    resumed = next(n for n, event in enumerate(events) if event.kind == "resumed")
    assert transcript(events[:resumed]).status == "completed"
    assert transcript(events[:resumed]).failed_items
    again = transcript(events[: resumed + 1])
    assert (again.status, again.failed_items) == (None, set())
    stopped = [*events[: resumed - 1], failed(run, BadInputError("It is gone.")), Finished(run=run, status="failed")]
    assert [one.message for one in transcript(stopped).failures] == ["It is gone."]
    assert transcript([*stopped, Resumed(run=run)]).failures == [], "it is asked again"


def test_two_who_resume_at_once_ask_once(jobs: Make) -> None:
    model = Echoing(refuses=frozenset({"yes"}))
    going = jobs(model)
    run = going.start("echo", EchoSpec())
    assert going.wait(run, 5)
    model.refuses, model.wait = frozenset(), 0.1
    model.asked.clear()
    other = jobs(model)
    refused: list[Exception] = []

    def resume(by: JobRunner) -> None:
        try:
            by.resume(run, failed_too=True)
        except JournalInUseError as error:
            refused.append(error)

    threads = [threading.Thread(target=resume, args=[by]) for by in (going, other, going)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert going.wait(run, 5) and other.wait(run, 5)
    calls = [event.call for event in going.events(run) if event.kind == "asked"]
    assert len(calls) == len(set(calls)) and model.asked == ["yes", "yes"]
    assert len(refused) == 2


def test_what_a_person_gives_goes_into_the_run_and_what_they_say_into_a_journal_of_their_own(
    jobs: Make, tmp_path: Path
) -> None:
    woken: list[str] = []
    going = jobs(Echoing(wait=0.05), woken.append)
    run = going.start("echo", EchoSpec(words=("yes",)))
    case = "all/1-yes"
    for who in ("ann", "bob"):
        going.keeping.add(run, who, case, Promise(call="", text=f"{who} says so"), "guess-1")
    assert woken == [f"{run}~ann", f"{run}~bob"]
    assert going.wait(run, 5)
    assert [event.data["text"] for event in going.keeping.events(run, "ann")] == ["ann says so"]
    assert [(event.by, event.case) for event in going.keeping.events(run, "bob")] == [("bob", case)]
    started = journal.read(tmp_path / f"{run}~ann.jsonl").events[0]
    assert isinstance(started, Started) and started.about == run
    assert not any(getattr(event, "by", "") for event in going.events(run)), "the run's journal has one writer"
    state = transcript(going.events(run))
    for who in ("ann", "bob"):
        for event in going.keeping.events(run, who):
            state.apply_annotation(event)
    assert set(state.case(case).annotations("promise")) == {("ann", "guess-1"), ("bob", "guess-1")}
    assert LAB.view(state.case(case)).promise.text == "I repeat what I hear."
    with pytest.raises(RunNotFoundError):
        going.resume(f"{run}~ann")

    going.resume(run, additions=[UserInput(case, Promise(call="", text="mine"), "mine-{n}")])
    assert going.wait(run, 5)
    assert [event.item for event in going.events(run) if getattr(event, "record", "") == "promise"] == [
        "promise", "mine-01",
    ]  # fmt: skip


def test_a_name_that_leads_elsewhere_stays_in_the_folder(tmp_path: Path) -> None:
    path = said_path(tmp_path / "run.jsonl", "../../x/../y")
    assert path.parent == tmp_path and "/" not in path.name


def test_old_answers_are_read_again_without_a_call(jobs: Make) -> None:
    model = Echoing(mishears=frozenset({"no"}))
    going = jobs(model)
    run = going.start("echo", EchoSpec())
    assert going.wait(run, 5)
    asked = len(model.asked)
    again = going.reread(run, Replay)
    assert going.wait(again, 5)
    assert len(model.asked) == asked
    old, new = transcript(going.events(run)), transcript(going.events(again))
    assert new.started.reread_from == run and new.status == "completed"
    assert [(s.metric, s.value) for s in new.scores] == [(s.metric, s.value) for s in old.scores]
    assert all(call.answered.cached for call in new.calls.values())


@pytest.mark.parametrize("name", ["nothing", "", "/etc/passwd", "x" * 300, "a\x00b", "../outside", "../etc/passwd"])
def test_an_unknown_run_is_unknown(jobs: Make, tmp_path: Path, name: str) -> None:
    # The file exists, but outside the folder.
    (tmp_path.parent / "outside.jsonl").write_bytes(b"")
    going = jobs(Echoing())
    for look in (going.events, going.active, going.resume, going.watch, lambda run: going.case(run, "")):
        with pytest.raises(RunNotFoundError):
            look(name)


def test_a_run_of_another_process_is_watched_as_it_is_written(jobs: Make, tmp_path: Path) -> None:
    going = jobs(Echoing())
    run = going.start("echo", EchoSpec())
    assert going.wait(run, 5)
    lines = (tmp_path / f"{run}.jsonl").read_bytes().splitlines(keepends=True)
    with Journal(tmp_path / "elsewhere.jsonl", new=True) as written:
        watch = going.watch("elsewhere")
        assert going.active("elsewhere") and not going.here("elsewhere")
        file = written._file
        for line in lines:
            file.write(line[:10])
            file.flush()
            assert not watch.refresh(), "half a line is no event"
            file.write(line[10:])
            file.flush()
            assert watch.refresh()
    assert watch.transcript.status == "completed" and not going.active("elsewhere")


def test_the_loop_ends_with_the_jobs_and_not_before_their_runs(tmp_path: Path) -> None:
    closed, dropped, busy = (JobRunner(tmp_path / name, {"echo": LAB}, lambda id: Echoing()) for name in "abc")
    for jobs in (closed, dropped):
        assert jobs.wait(jobs.start("echo", EchoSpec()), 60)
    loops = closed._loop, dropped._loop
    closed.close()
    closed.close()
    del jobs, dropped
    gc.collect()
    until(lambda: all(loop.is_closed() for loop in loops))
    busy._driver = dataclasses.replace(busy._driver, resolve=lambda id: Echoing(wait=30))
    run = busy.start("echo", EchoSpec())
    until(lambda: (tmp_path / "c" / f"{run}.jsonl").stat().st_size > 0)
    busy.close()
    assert busy.active(run) and not busy._loop.is_closed()
    busy.cancel(run)
    assert busy.wait(run, 60) and not busy.active(run)
