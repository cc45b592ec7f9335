"""Several processes of the app on one home have together what a host allows, and a killed one keeps nothing of it."""

from __future__ import annotations

import multiprocessing
import os
import secrets
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from core import journal
from core.events import Answer, OnText, Request, Usage
from core.people.allowance import CallsToday, TooMuch, of_journals
from core.people.running import Jobs
from core.transcript import transcript
from tests.small_lab import LAB, Echoing, EchoSpec
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[3]
SPAWN = multiprocessing.get_context("spawn")
ONE = EchoSpec(words=("a",), times=1)
"""Two calls, one after the other."""


def charge(model: str, prompt: int, completion: int) -> float:
    """A hundred tokens are one cent."""
    return (prompt + completion) / 10_000


@dataclass
class Paid(Echoing):
    """Each answer takes two hundred tokens, two cents: as much as it may be long."""

    async def answer(self, request: Request, on_text: OnText) -> Answer:
        said = await super().answer(request, on_text)
        return said.model_copy(update={"usage": Usage(prompt_tokens=0, completion_tokens=200)})


def spend(folder: Path, owner: str, all_here: Barrier) -> None:
    jobs = Jobs(folder, {"echo": LAB}, lambda id: Paid(wait=0.01), charge=charge)
    eight = EchoSpec(words=("a",), times=7)
    all_here.wait(120)
    assert jobs.wait(jobs.start("echo", eight, owner=owner), 120)
    all_here.wait(120)
    with suppress(TooMuch):
        while True:
            assert jobs.wait(jobs.start("echo", eight, owner=owner), 120)


@pytest.mark.parametrize(("limit", "a_call"), [("CALLS", 1), ("CENTS", 2)])
def test_two_processes_take_no_more_of_a_day_than_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, a_call: int
) -> None:
    monkeypatch.setenv(f"EXPLAIN_{limit}_OF_ALL_A_DAY", str(40 * a_call))
    all_here = SPAWN.Barrier(2)
    others = [SPAWN.Process(target=spend, args=(tmp_path, owner, all_here)) for owner in ("ann", "bob")]
    for one in others:
        one.start()
    for one in others:
        one.join(280)
    assert [one.exitcode for one in others] == [0, 0]
    asked = {owner: 0 for owner in ("ann", "bob")}
    for path in tmp_path.glob("*.jsonl"):
        events = journal.read(path).events
        asked[events[0].owner] += sum(event.kind == "asked" for event in events)
    assert min(asked.values()) >= 8 and 24 < sum(asked.values()) <= 40 + 1, asked
    told = of_journals(tmp_path, f"{datetime.now(UTC):%Y-%m-%d}", charge).of
    for owner in asked:
        assert CallsToday(tmp_path, charge).taken(owner) == pytest.approx(told[owner]), "journals tell the same"


@dataclass
class Crowded(Echoing):
    """Fails where more are asked at once, by all processes, than there are places."""

    folder: Path = Path()

    async def answer(self, request: Request, on_text: OnText) -> Answer:
        mine = self.folder / secrets.token_hex(8)
        mine.touch()
        assert len(list(self.folder.iterdir())) <= 2, "more go on than there are places"
        said = await super().answer(request, on_text)
        mine.unlink()
        return said


def run_many(folder: Path, asked: Path, owner: str, all_here: Barrier) -> None:
    jobs = Jobs(folder, {"echo": LAB}, lambda id: Crowded(wait=0.02, folder=asked))
    all_here.wait(120)
    runs = [jobs.start("echo", ONE, owner=owner) for _ in range(6)]
    for run in runs:
        assert jobs.wait(run, 250) and transcript(jobs.events(run)).status == "completed"


def test_three_processes_have_the_places_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLAIN_RUNS_OF_ALL", "2")
    asked = tmp_path / "asked"
    asked.mkdir()
    all_here = SPAWN.Barrier(3)
    others = [SPAWN.Process(target=run_many, args=(tmp_path, asked, owner, all_here)) for owner in ("ann", "bob", "cy")]
    for one in others:
        one.start()
    for one in others:
        one.join(280)
    assert [one.exitcode for one in others] == [0, 0, 0] and not list(asked.iterdir())


BEGIN = """
import sys
from pathlib import Path
from tests.core.people import test_processes
test_processes.begin(Path(sys.argv[1]), sys.argv[2])
"""


def begin(folder: Path, owner: str) -> None:
    """Begin a run that goes on as long as this process."""
    jobs = Jobs(folder, {"echo": LAB}, lambda id: Echoing(wait=600), charge=charge)
    slow = jobs.start("echo", ONE, owner=owner)
    print(slow, flush=True)
    sys.stdin.read()


def begun(folder: Path, owner: str) -> tuple[subprocess.Popen[str], str]:
    """A process in which a run of the owner's goes on for ten minutes, and that run."""
    command = [sys.executable, "-c", BEGIN, str(folder), owner]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def test_what_a_killed_process_had_is_free_and_what_it_asked_for_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, most in (("RUNS_OF_ALL", 1), ("RUNS_AT_ONCE", 1), ("RUNS_IN_LINE", 2), ("CENTS_A_DAY", 1_000_000)):
        monkeypatch.setenv(f"EXPLAIN_{name}", str(most))
    jobs = Jobs(tmp_path, {"echo": LAB}, lambda id: Paid(), charge=charge)
    process, first = begun(tmp_path, "ann")
    waits, second = begun(tmp_path, "bob")
    try:
        until(lambda: [one for one in jobs.events(first) if one.kind == "asked"])
        with pytest.raises(TooMuch, match=r"going on now \(1\)"):
            jobs.start("echo", ONE, owner="ann")
        run = jobs.start("echo", ONE, owner="cy")
        with pytest.raises(TooMuch, match=r"waiting in line \(3\)"):
            jobs.start("echo", ONE, owner="di")
        assert (jobs.in_line(first), jobs.in_line(second), jobs.in_line(run)) == (None, 0, 1)
        waits.send_signal(signal.SIGKILL)
        until(lambda: jobs.in_line(run) == 0)
        assert jobs.in_line(second) is None
        [asked] = [event for event in jobs.events(first) if event.kind == "asked"]
        process.send_signal(signal.SIGKILL)
        assert jobs.wait(run, 120) and transcript(jobs.events(run)).status == "completed"
        taken = jobs._allowance.today.taken("ann")
        assert taken.calls == 1 and 100 * taken.cents >= asked.sampling.max_tokens, "its answer never said what it took"
        until(lambda: not jobs.active(first))
        jobs.resume(first, owner="ann")
        assert jobs.wait(first, 120) and transcript(jobs.events(first)).status == "completed"
        told = of_journals(tmp_path, f"{datetime.now(UTC):%Y-%m-%d}", charge).of
        assert jobs._allowance.today.taken("ann") == pytest.approx(told["ann"])
    finally:
        for one in (process, waits):
            one.kill()
            one.communicate()


def test_a_process_that_is_killed_while_it_counts_stops_nobody(tmp_path: Path) -> None:
    code = """
import os, signal
from core.people import counted
with counted.of_home().at_once():
    counted.of_home().tab_opened("ann", "a")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=120)
    assert done.returncode == -signal.SIGKILL
    calls = CallsToday(tmp_path)
    assert calls.counted.path.parent == Path(os.environ["EXPLAIN_HOME"]) and calls.counted.path.exists()
    assert calls.counted.tabs("ann") == 0 and calls.counted.tab_opened("ann", "b") == 1
