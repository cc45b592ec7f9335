"""How much visitors' runs may use in a day and on the disk, and which are deleted."""

import os
import shutil
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core import journal, policy
from core.events import SCHEMA, Asked, Sampling, Started
from core.runs.labels import Played
from core.server import quotas, usage
from core.server.jobs import JobRunner
from core.server.quotas import QuotaExceededError, Quotas, delete_old_runs, stored_bytes
from tests.support.small_lab import LAB, Echoing, EchoSpec, Promise
from tests.support.waiting import until

SAID = Promise(call="", text="It repeats.")
TWO = EchoSpec(words=("a", "b"), times=1)


@pytest.fixture
def jobs(tmp_path: Path) -> JobRunner:
    return JobRunner(tmp_path, {"echo": LAB}, lambda id: Echoing())


def ran(jobs: JobRunner, owner: str, spec: EchoSpec = TWO) -> str:
    run = jobs.start("echo", spec, owner=owner)
    assert jobs.wait(run, 120)
    return run


def asked(jobs: JobRunner, run: str) -> int:
    return sum(event.kind == "asked" for event in jobs.events(run))


def call() -> Asked:
    return Asked(run="r", call="c1", role="r", model="m", messages=(), sampling=Sampling())


def test_calls_of_today_are_counted_from_the_journals_and_then_as_they_are_made(
    jobs: JobRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPLAIN_CALLS_A_DAY", "1000000")
    before = asked(jobs, ran(jobs, "ann"))
    assert before > 0
    calls = Quotas(tmp_path)
    assert [calls.usage_of(of).calls for of in ("ann", "bob", None)] == [before, 0, before]
    Quotas(tmp_path).charge("bob", call(), None)
    assert [calls.usage_of(of).calls for of in ("ann", "bob", None)] == [before, 1, before + 1]
    assert Quotas(tmp_path).usage_of(None).calls == before + 1


def test_threads_that_count_together_lose_no_call_and_read_the_journals_once(
    jobs: JobRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPLAIN_CALLS_A_DAY", "1000000")
    before, reads = asked(jobs, ran(jobs, "ann")), list[str]()
    read = quotas.of_journals
    monkeypatch.setattr(
        quotas, "of_journals", lambda folder, day, charge: reads.append(day) or read(folder, day, charge)
    )
    monkeypatch.setattr(usage.of_home(), "day", "")
    here = Quotas(tmp_path)

    def count(owner: str) -> None:
        for number in range(100):
            here.charge(owner, call().model_copy(update={"call": f"{owner}{number}"}), None)

    threads = [threading.Thread(target=count, args=(owner,)) for owner in "abcabc"]
    for one in threads:
        one.start()
    for one in threads:
        one.join(120)
    assert {owner: taken.calls for owner, taken in here.usage_by_owner().items()} == {
        "ann": before,
        "a": 200,
        "b": 200,
        "c": 200,
    }
    assert here.usage_of(None).calls == before + 600 and len(reads) == 1


def test_a_new_day_begins_at_nothing(jobs: JobRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLAIN_CALLS_A_DAY", "1000000")
    run = ran(jobs, "ann")
    calls = Quotas(tmp_path)
    assert calls.usage_of("ann").calls
    today = quotas._today
    monkeypatch.setattr(quotas, "_today", lambda: "2999-01-01")
    Quotas(tmp_path).charge("ann", call(), None)
    assert calls.usage_of("ann").calls == calls.usage_of(None).calls == 1
    monkeypatch.setattr(quotas, "_today", today)
    assert calls.usage_of("ann").calls == asked(jobs, run), "the clock was set back: the journals tell"


def test_nothing_is_counted_where_nothing_is_limited(jobs: JobRunner, own_home: Path) -> None:
    assert jobs.people_ahead_in_queue(ran(jobs, "ann")) is None
    assert usage.of_home().going_on(None) == (0, 0) and not usage.of_home().day


def test_words_of_a_prompt_are_no_calls(jobs: JobRunner, tmp_path: Path) -> None:
    run = ran(jobs, "ann", EchoSpec(words=('"kind":"asked"', "b"), times=1))
    assert Quotas(tmp_path).usage_of("ann").calls == asked(jobs, run)


@pytest.mark.parametrize(("limit", "second"), [("CALLS_A_DAY", "ann"), ("CALLS_OF_ALL_A_DAY", "bob")])
def test_beyond_a_day_s_calls_no_run_begins_or_goes_on(
    jobs: JobRunner, monkeypatch: pytest.MonkeyPatch, limit: str, second: str
) -> None:
    needs = LAB.calls(TWO, 2) or 0
    assert quotas.planned_calls(LAB, TWO) == 0, "nothing limits them"
    run = ran(jobs, "ann")
    made = asked(jobs, run)
    monkeypatch.setenv(f"EXPLAIN_{limit}", str(made + needs - 1))
    with pytest.raises(QuotaExceededError, match=r"calls a day, and .* have been made"):
        jobs.start("echo", TWO, owner=second)
    monkeypatch.setenv(f"EXPLAIN_{limit}", str(made))
    with pytest.raises(QuotaExceededError, match="calls a day"):
        jobs.resume(run, owner=second)
    monkeypatch.setenv(f"EXPLAIN_{limit}", str(made + 1))
    jobs.resume(run, owner=second)
    assert jobs.wait(run, 30) and asked(jobs, run) == made
    monkeypatch.setenv(f"EXPLAIN_{limit}", str(made + needs))
    ran(jobs, second)


def test_a_run_of_as_many_calls_as_one_may_make_is_within_them(monkeypatch: pytest.MonkeyPatch) -> None:
    needs = LAB.calls(TWO, 2) or 0
    monkeypatch.setenv("EXPLAIN_CALLS_A_RUN", str(needs))
    assert quotas.planned_calls(LAB, TWO) == needs == 3
    monkeypatch.setenv("EXPLAIN_CALLS_A_RUN", str(needs - 1))
    with pytest.raises(QuotaExceededError, match="would make 3 calls; the limit here is 2"):
        quotas.planned_calls(LAB, TWO)


def test_calls_that_a_run_will_still_make_count_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs = LAB.calls(TWO, 2) or 0
    monkeypatch.setenv("EXPLAIN_CALLS_A_DAY", str(2 * needs - 1))
    jobs = JobRunner(tmp_path, {"echo": LAB}, lambda id: Echoing(wait=30))
    run = jobs.start("echo", TWO, owner="ann")
    with pytest.raises(QuotaExceededError, match=f"{needs:,} have been made or reserved"):
        jobs.start("echo", TWO, owner="ann")
    jobs.cancel(run)


def test_calls_that_were_made_and_those_on_their_way_are_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs = LAB.calls(TWO, 2) or 0
    monkeypatch.setenv("EXPLAIN_CALLS_A_DAY", str(3 * needs))
    models = [Echoing(), Echoing(wait=30), Echoing(wait=30)]
    jobs = JobRunner(tmp_path, {"echo": LAB}, lambda id: models[0])
    assert asked(jobs, ran(jobs, "ann")) == needs
    models.pop(0)
    begun = [jobs.start("echo", TWO, owner="ann"), jobs.start("echo", TWO, owner="ann")]
    with pytest.raises(QuotaExceededError, match=f"{3 * needs:,} have been made or reserved"):
        jobs.start("echo", TWO, owner="ann")
    for run in begun:
        jobs.cancel(run)


def test_many_at_once_do_not_share_the_last_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLAIN_RUNS_AT_ONCE", "2")
    jobs = JobRunner(tmp_path, {"echo": LAB}, lambda id: Echoing(wait=30))
    begun: list[str] = []
    gate = threading.Barrier(12)

    def begin() -> None:
        gate.wait()
        with suppress(QuotaExceededError):
            begun.append(jobs.start("echo", TWO, owner="ann"))

    threads = [threading.Thread(target=begin) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(begun) == 2
    monkeypatch.setenv("EXPLAIN_RUNS_AT_ONCE", "1")
    with pytest.raises(QuotaExceededError, match=r"already have 2 runs"):
        jobs.start("echo", TWO, owner="ann")
    for run in begun:
        jobs.cancel(run)


def test_where_the_room_is_full_no_run_begins(jobs: JobRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLAIN_STORED_MB", "1")
    ran(jobs, "ann")
    (tmp_path / "large.jsonl").write_bytes(b"\n" * (1_000_000 - stored_bytes(tmp_path)))
    quotas._stored.cache_clear()
    with pytest.raises(QuotaExceededError, match="1 MB that this host allows for runs are used up"):
        jobs.start("echo", TWO, owner="ann")
    monkeypatch.setenv("EXPLAIN_STORED_MB", "2")
    ran(jobs, "ann")


def test_where_the_room_is_full_nothing_more_is_said_of_a_run_but_it_can_be_deleted(
    jobs: JobRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ran(jobs, "ann")
    monkeypatch.setenv("EXPLAIN_STORED_MB", "1")
    jobs.keeping.add(run, "reader", "all/1-a", SAID, "1")
    (tmp_path / "large.jsonl").write_bytes(b"\n" * 1_000_000)
    quotas._stored.cache_clear()
    with pytest.raises(QuotaExceededError, match="1 MB that this host allows for runs are used up"):
        jobs.keeping.add(run, "reader", "all/1-a", SAID, "2")
    with pytest.raises(QuotaExceededError, match="are used up"):
        jobs.keeping.add_guess("echo", "all/1-a", "1", Played(pack="p", place=1, run=run, value="yes"), "ann")
    assert len(jobs.keeping.events(run, "reader")) == 1 and not [*tmp_path.glob("*ann*")]
    jobs.keeping.share(run, True)
    jobs.keeping.delete(run)


class Clock:
    """Replaces the module `time`: it stands still until it is set."""

    def __init__(self, now: float) -> None:
        self.now = now

    def time(self) -> float:
        return self.now

    monotonic = time


def test_bytes_are_looked_up_at_most_every_ten_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The machine has just been started.
    clock = Clock(0.0)
    monkeypatch.setattr(quotas, "time", clock)
    (tmp_path / "a.jsonl").write_bytes(b"1234")
    (tmp_path / "b.jsonl").write_bytes(b"56")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a.jsonl")
    assert stored_bytes(tmp_path) == 6
    (tmp_path / "b.jsonl").unlink()
    for now, expected in ((9.9, 6), (10.0, 4), (19.9, 4)):
        clock.now = now
        assert stored_bytes(tmp_path) == expected
        (tmp_path / "a.jsonl").write_bytes(b"1234" if now < 10 else b"")
    clock.now = 20.0
    assert stored_bytes(tmp_path) == 0


def of_the_future(run: str) -> bytes:
    event = Started(run=run, lab="echo", spec={}, seed=0, owner="ann").model_copy(update={"version": SCHEMA + 1})
    return journal.to_line(event, 1)


def test_only_calls_of_this_day_count_whatever_else_lies_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    midnight = datetime(2026, 1, 2, tzinfo=UTC)
    monkeypatch.setattr(quotas, "_today", lambda: "2026-01-02")

    def written(name: str, *times: datetime, changed: datetime = midnight) -> None:
        path = tmp_path / f"{name}.jsonl"
        started = Started(run=name, lab="echo", spec={}, seed=0, owner="ann", at=midnight)
        calls = [
            Asked(run=name, at=at, call=f"c{n}", role="r", model="m", messages=(), sampling=Sampling(), fingerprint="f")
            for n, at in enumerate(times)
        ]
        path.write_bytes(b"".join(journal.to_line(event, n) for n, event in enumerate((started, *calls), start=1)))
        os.utime(path, (changed.timestamp(), changed.timestamp()))

    second = timedelta(seconds=1)
    for number in range(9):
        # Its events say today, by a clock that was wrong, but the file is older: it is not read.
        written(f"old-{number}", midnight, changed=midnight - second)
        (tmp_path / f"future-{number}.jsonl").write_bytes(of_the_future("f"))
        (tmp_path / f"gone-{number}.jsonl").symlink_to(tmp_path / "nowhere")
    written("over midnight", midnight - second, midnight, midnight + second)
    written("at midnight", midnight)
    written("of the evening", midnight - second)
    calls = Quotas(tmp_path)
    assert calls.usage_of("ann").calls == calls.usage_of(None).calls == 3


@pytest.mark.parametrize(("age", "kept"), [(0, True), (1, False), (-1, True)])
def test_it_is_kept_for_so_many_days_to_the_second(
    jobs: JobRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, age: int, kept: bool
) -> None:
    run, other = ran(jobs, "ann"), ran(jobs, "ann")
    for who, speaker in (("reader", "bob"), ("host", "")):
        jobs.keeping.add(other, who, "all/1-a", SAID, "1", speaker)
    # Like a recording that is not here although somebody commented on it.
    (tmp_path / f"{other}.jsonl").unlink()
    written = (tmp_path / f"{run}.jsonl").stat().st_mtime_ns // 1_000_000_000
    for path in tmp_path.glob("*.jsonl"):
        os.utime(path, (written, written))
    monkeypatch.setattr(quotas, "time", Clock(written + 2 * 24 * 3600 + age))
    assert delete_old_runs(tmp_path, 2) == ([] if kept else [run])
    left = {path.stem for path in tmp_path.glob(f"{other}~*.jsonl")}
    assert left == ({f"{other}~reader", f"{other}~host"} if kept else {f"{other}~host"})


def aged(folder: Path, run: str, days: float) -> None:
    long_ago = time.time() - days * 24 * 3600
    for path in folder.glob(f"{run}*.jsonl"):
        os.utime(path, (long_ago, long_ago))


def test_old_runs_of_visitors_go_with_what_was_said_about_them(jobs: JobRunner, tmp_path: Path) -> None:
    runs = {
        name: ran(jobs, "" if name == "of the command line" else "ann")
        for name in ("old", "young", "shared", "of the command line", "spoken of lately", "damaged", "of the future")
    }
    # Each of them is read, whatever comes before it.
    runs["last"] = f"{max(runs.values())}-last"
    shutil.copy(tmp_path / f"{runs['old']}.jsonl", tmp_path / f"{runs['last']}.jsonl")
    jobs.keeping.share(runs["shared"], True)
    jobs.keeping.add(runs["old"], "reader", "all/1-a", SAID, "1", "bob")
    damaged = tmp_path / f"{runs['damaged']}.jsonl"
    damaged.write_bytes(damaged.read_bytes().replace(b'"owner":"ann"', b'"owner":"bob"'))
    future = tmp_path / f"{runs['of the future']}.jsonl"
    future.write_bytes(of_the_future(future.stem))
    for name, run in runs.items():
        aged(tmp_path, run, 29 if name == "young" else 31)
    jobs.keeping.add(runs["spoken of lately"], "reader", "all/1-a", SAID, "1", "bob")
    assert set(delete_old_runs(tmp_path, 30)) == {runs["old"], runs["last"]}
    left = {path.stem for path in tmp_path.glob("*.jsonl")}
    assert not any(name.startswith(runs["old"]) for name in left)
    assert left >= {run for name, run in runs.items() if name not in ("old", "last")}
    assert delete_old_runs(tmp_path, 30) == []


def test_what_goes_on_is_not_forgotten(tmp_path: Path) -> None:
    jobs = JobRunner(tmp_path, {"echo": LAB}, lambda id: Echoing(wait=30))
    run = jobs.start("echo", TWO, owner="ann")
    until(lambda: (tmp_path / f"{run}.jsonl").stat().st_size)
    aged(tmp_path, run, 31)
    assert delete_old_runs(tmp_path, 30) == []
    jobs.cancel(run)


def test_nothing_is_forgotten_where_nobody_is_hosted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "_served", set())
    assert policy.limit("days_kept") is None
