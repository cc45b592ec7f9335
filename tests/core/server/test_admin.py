"""What whoever hosts the app sees of it, and says to everybody."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core import home, journal
from core.events import Started
from core.journal import Journal
from core.server import admin
from core.server.jobs import JobRunner
from tests.support.small_lab import LAB, Echoing, EchoSpec
from tests.support.waiting import until

ROOT = Path(__file__).resolve().parents[3]

OTHER = """
import time
from core import home
from core.server.jobs import JobRunner
from tests.support.small_lab import LAB, Echoing, EchoSpec
jobs = JobRunner(home.journals(), {"echo": LAB}, lambda id: Echoing(wait=600))
run = jobs.start("echo", EchoSpec(), owner="b" * 16)
print(run, flush=True)
time.sleep(600)
"""
"""Another app on the home, of which each run would take ten minutes."""


@pytest.fixture
def jobs() -> Iterator[JobRunner]:
    jobs = JobRunner(home.journals(), {"echo": LAB}, lambda id: Echoing(wait=600))
    yield jobs
    for run in journal.being_written(jobs.folder):
        jobs.cancel(run)


def asked(jobs: JobRunner, calls: int = 1) -> None:
    """Wait until every run has asked so often."""
    until(lambda: all(one.calls >= calls for one in admin.going_on(jobs)))


def test_who_runs_what_is_told_of_every_run_that_goes_on(jobs: JobRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    assert admin.going_on(jobs) == []
    monkeypatch.setenv("EXPLAIN_RUNS_OF_ALL", "1")
    first, second = jobs.start("echo", EchoSpec(), owner="ann"), jobs.start("echo", EchoSpec(), owner="bob")
    until(lambda: jobs.people_ahead_in_queue(second) is not None)
    until(lambda: admin.going_on(jobs)[0].calls and admin.going_on(jobs)[1].owner)
    going, waiting = admin.going_on(jobs)
    assert (going.run, going.owner, going.lab, going.models) == (first, "ann", "echo", ("control/echo",))
    assert going.is_here and not going.is_queued and going.since is not None
    assert (waiting.run, waiting.owner, waiting.is_queued, waiting.calls) == (second, "bob", True, 0)
    jobs.keeping.add(first, "labels-x", "", EchoSpec(), "")
    assert len(admin.going_on(jobs)) == 2, "what is said of a run is none"
    jobs.cancel(first)
    jobs.cancel(second)
    assert admin.going_on(jobs) == []


def test_a_run_of_a_command_is_shown(jobs: JobRunner) -> None:
    with Journal(jobs.folder / "by-hand.jsonl", new=True) as written:
        written.append(Started(run="by-hand", lab="no-such-lab", spec={}, seed=0, study="large"))
        [one] = admin.going_on(jobs)
        assert not one.is_here
        assert (one.owner, one.lab, one.study, one.models) == ("", "no-such-lab", "large", ())
    assert admin.going_on(jobs) == []


def test_a_run_whose_process_died_does_not_go_on(jobs: JobRunner) -> None:
    other = subprocess.Popen([sys.executable, "-c", OTHER], cwd=ROOT, env=os.environ, stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None and other.stdout.readline()
    assert len(admin.going_on(jobs)) == 1
    other.kill()
    other.communicate()
    assert admin.going_on(jobs) == []


def test_the_line_is_what_was_said_last_in_one_line_and_of_bounded_length(own_home: Path) -> None:
    assert admin.announcement() == ""
    admin.set_announcement("  We go on\n at\t14:30. \u202e\x07\x00 ")
    assert admin.announcement() == "We go on at 14:30."
    admin.set_announcement("é" * 1_000)
    assert admin.announcement() == "é" * admin.LONGEST_LINE
    (own_home / "line.txt").write_bytes(b"\xff" + b"a\n" * 10_000_000)
    assert len(admin.announcement()) <= admin.LONGEST_LINE
    admin.set_announcement(" \n")
    assert admin.announcement() == "" and not (own_home / "line.txt").exists()
    admin.set_announcement("")
