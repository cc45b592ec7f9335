"""If the clock is set back by an hour or a year, or was wrong before, nothing disappears, nothing is locked, and no
time is negative.
"""

import os
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import psutil
import pytest

from core import home, journal
from core.events import Event, ModelAnswer
from core.lease import TTL, Lease, is_held
from core.models.cache import ResponseCache
from core.models.error_mapping import retry_after
from core.server import quotas
from core.server.jobs import JobRunner
from core.server.quotas import Quotas, delete_old_runs
from core.store import run_list
from core.store.index import Index
from core.store.listing import Selection
from core.store.store import Store
from core.studies import run_status
from core.studies.run_status import RunStatus
from core.transcript import Transcript, transcript
from tests.core.store.store_events import LABS, write
from tests.core.store.store_events import whole_run as events_of
from tests.core.test_lease import of_another_machine
from tests.support.small_lab import LAB, Echoing, EchoSpec

HOUR, DAY, YEAR = 3600.0, 24 * 3600.0, 365 * 24 * 3600.0
RECORDED = max(home.recordings().glob("*.jsonl"), key=lambda path: path.stat().st_size)


def set_back(events: list[Event], seconds: float) -> list[Event]:
    """The events of a run during which the clock was set back."""
    half = len(events) // 2
    later = [one.model_copy(update={"at": one.at - timedelta(seconds=seconds)}) for one in events[half:]]
    return [*events[:half], *later]


@pytest.mark.parametrize("back", [HOUR, YEAR])
def test_a_run_is_told_in_the_order_in_which_it_happened(back: float) -> None:
    events = list(journal.read(RECORDED).events)
    as_it_was, state = transcript(events), Transcript()
    for event in set_back(events, back):
        state.apply(event)
        assert state.seconds >= 0
    assert list(state.calls) == list(as_it_was.calls) and len(state.calls) > 10
    assert state.status == as_it_was.status == "completed"


@pytest.mark.parametrize("back", [HOUR, YEAR])
def test_a_lease_is_live_whatever_the_clock_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, back: float) -> None:
    """On Linux psutil computes a process's start from the machine's boot time, which moves with the clock."""
    path = tmp_path / "a.json"
    held = Lease(path)
    if psutil.LINUX:
        began = psutil.boot_time()
        monkeypatch.setattr("psutil._pslinux.boot_time", lambda: began - back)
    assert is_held(path), "else another would write the same journal"
    then = time.time() + back
    os.utime(path, (then, then))
    assert is_held(path)
    held.release()
    assert not is_held(path)


def test_the_lease_of_a_machine_that_is_gone_ends_though_it_lies_in_the_future(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    of_another_machine(path, age=-YEAR)
    assert is_held(path), "it may be renewed yet"
    assert abs(path.stat().st_mtime - time.time()) < HOUR, "from now on it ages"
    of_another_machine(path, age=TTL + 5)
    Lease(path).release()


def test_a_journal_of_the_future_is_indexed_and_listed_like_any_other(tmp_path: Path) -> None:
    folder = tmp_path / "journals"
    with Store(tmp_path / "store.duckdb", LABS) as store:
        looking = Index(store, folder)
        write(folder, "future", events_of("future", second=YEAR))
        write(folder, "now", events_of("now"))
        for ahead in (YEAR, 0.0, -YEAR):
            then = time.time() + ahead
            os.utime(folder / "future.jsonl", (then, then))
            looking.update()
            assert set(Selection(store).run_ids()) == {"future", "now"}
        # Later events are indexed even if an earlier clock time is on them.
        whole = events_of("half")
        write(folder, "half", whole[: len(whole) // 2])
        looking.update()
        write(folder, "half", set_back(whole, YEAR))
        os.utime(folder / "half.jsonl", (1.0, 1.0))
        looking.update()
        assert "half" in Selection(store).run_ids()
        [(status, seconds)] = store.rows("select status, seconds from runs where run = 'half'")
        assert status == "completed" and seconds >= 0


def test_a_later_reading_counts_though_its_clock_was_earlier(tmp_path: Path) -> None:
    folder = tmp_path / "journals"
    for name, of, second in (("first", "", 0.0), ("second", "first", -HOUR), ("third", "second", -YEAR)):
        first, *others = events_of(name, second=second)
        write(folder, name, [first.model_copy(update={"reread_from": of}), *others])
    with Store(tmp_path / "store.duckdb", LABS) as store:
        Index(store, folder).update()
        assert Selection(store).run_ids() == ["third"]
        assert [one.run for one in run_list.versions(store, "first") if one.counts] == ["third"]


def test_the_rate_of_a_study_counts_nothing_that_is_yet_to_come() -> None:
    now = time.time()
    pace = Counter({("m", int(now + HOUR)): 600, ("m", int(now - 30)): 10})
    rate = run_status._rate([RunStatus(pace=pace)], now)
    assert rate == pytest.approx(20, rel=0.1)
    assert run_status._rate([RunStatus(pace=Counter({("m", int(now + HOUR)): 600}))], now) is None


@pytest.mark.parametrize("ours", [-YEAR, 0.0, YEAR])
def test_how_long_a_server_asks_to_wait_is_by_its_own_clock(ours: float) -> None:
    theirs = datetime.now(UTC) + timedelta(seconds=ours)
    until_then = {"retry-after": format_datetime(theirs + timedelta(seconds=30)), "date": format_datetime(theirs)}
    assert retry_after(until_then) == 30


def test_answers_of_a_day_to_come_are_not_kept_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = ResponseCache(tmp_path / "answers.sqlite")
    for key, ahead in (("wrong", YEAR), ("right", 0.0)):
        then = time.time() + ahead
        with monkeypatch.context() as clock:
            clock.setattr("core.models.cache.time.time", lambda then=then: then)
            answers.put(key, ModelAnswer(text=key, seconds=0.0))
    answers.forget_before(time.time() - HOUR)
    assert answers.get("wrong") is None and answers.get("right") is not None
    answers.close()


def test_runs_of_a_day_to_come_are_deleted_in_their_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = JobRunner(tmp_path, {"echo": LAB}, lambda id: Echoing())
    run = jobs.start("echo", EchoSpec(words=("a",), times=1), owner="ann")
    assert jobs.wait(run, 60)
    then = time.time() + YEAR
    os.utime(tmp_path / f"{run}.jsonl", (then, then))
    assert delete_old_runs(tmp_path, 2) == []
    later = time.time() + 2 * DAY + HOUR
    monkeypatch.setattr("core.server.quotas.time.time", lambda: later)
    assert delete_old_runs(tmp_path, 2) == [run]


def test_a_day_that_comes_again_counts_what_its_journals_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = JobRunner(tmp_path, {"echo": LAB}, lambda id: Echoing())
    run = jobs.start("echo", EchoSpec(words=("a",), times=1), owner="ann")
    assert jobs.wait(run, 60)
    calls, today = Quotas(tmp_path), quotas._today()
    made = calls.usage_of("ann").calls
    for day, of_day in (("2999-01-01", 0), (today, made), ("1999-01-01", 0), (today, made)):
        monkeypatch.setattr(quotas, "_today", lambda day=day: day)
        assert calls.usage_of("ann").calls == of_day
    assert made > 0
