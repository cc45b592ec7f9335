"""What all processes of a home count together: wrong codes and tabs."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from core import home
from core.people import counted
from core.people.counted import Counted, Taken
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[3]


class Clock:
    """In place of the module `time`: it stands still until it is set."""

    now = 1_000_000.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(counted, "time", clock)
    return clock


@pytest.fixture
def here(tmp_path: Path) -> Counted:
    return Counted(tmp_path / "counted.sqlite")


def test_five_wrong_codes_are_free_and_then_each_doubles_the_wait(here: Counted, clock: Clock) -> None:
    assert [here.wrong("10.0.0.1") for _ in range(6)] == [0, 0, 0, 0, 0, 1]
    assert here.wrong("10.0.0.1") == here.right("10.0.0.1") == 1, "it was not looked at"
    assert here.wait("10.0.0.2") == 0
    for expected in (*(2.0**n for n in range(1, 10)), 900, 900):
        clock.now += here.wait("10.0.0.1")
        assert here.wrong("10.0.0.1") == 0 and here.wait("10.0.0.1") == expected
    clock.now += 900
    assert here.right("10.0.0.1") == 0
    assert [here.wrong("10.0.0.1") for _ in range(6)] == [0, 0, 0, 0, 0, 1]
    clock.now += 3600
    assert here.wait("10.0.0.1") == 0
    assert [here.wrong("10.0.0.1") for _ in range(6)] == [0, 0, 0, 0, 0, 1], "an hour later they are forgotten"


def test_wrong_codes_of_all_addresses_count_together_whoever_types_a_right_one(here: Counted, clock: Clock) -> None:
    looked = 0
    for number in range(1000):
        looked += here.wrong(f"address-{number}") == 0
        here.right("of a participant")
    assert looked == 100
    for expected in (2, 4, 8, 15, 15):
        clock.now += here.wait("somebody else")
        assert here.wrong(f"address-{clock.now}") == 0 and here.wait("somebody else") == expected


@pytest.mark.parametrize("jump", [-1e9, -3600, 1e9])
def test_a_clock_that_is_set_keeps_nobody_waiting_longer(here: Counted, clock: Clock, jump: float) -> None:
    for _ in range(8):
        here.wrong("10.0.0.1")
        clock.now += 1
    before = here.wait("10.0.0.1")
    clock.now += jump
    assert here.wait("10.0.0.1") <= max(before, 8)
    clock.now += 8
    assert here.right("10.0.0.1") == 0


def test_a_visitor_s_tabs_are_numbered_as_they_were_opened(here: Counted) -> None:
    assert [here.tab_opened("ann", tab) for tab in "abcb"] == [1, 2, 3, 2]
    assert here.tab_opened("bob", "d") == 1
    here.tab_closed("ann", "a")
    here.tab_closed("ann", "unheard-of")
    assert here.tab_opened("ann", "c") == 2 == here.tabs("ann") and here.tabs("cy") == 0


OPENED = """
import sys
from pathlib import Path
from core.people.counted import Counted, Taken
print(Counted(Path(sys.argv[1])).tab_opened("ann", sys.argv[2]), flush=True)
sys.stdin.read()
"""


def test_tabs_of_a_killed_process_are_closed(here: Counted) -> None:
    assert here.tab_opened("ann", "here") == 1
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", OPENED, here.path, name],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for name in ("second", "third")
    ]  # fmt: skip
    try:
        assert sorted(one.stdout.readline() for one in processes if one.stdout) == ["2\n", "3\n"]
        assert here.tabs("ann") == 3
        processes[0].send_signal(signal.SIGKILL)
        until(lambda: here.tabs("ann") == 2)
        processes[1].communicate("")
        until(lambda: here.tab_opened("ann", "new") == 2)
        held = {one.name for one in here.path.parent.glob(".counted.*")}
        assert len(held) == 1, "a process that is gone leaves nothing behind"
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def test_processes_and_threads_that_begin_at_once_lose_no_count(here: Counted) -> None:
    context = multiprocessing.get_context("spawn")
    others = [context.Process(target=counting, args=(here.path, number)) for number in range(3)]
    threads = [threading.Thread(target=counting, args=(here.path, number)) for number in range(3, 6)]
    for one in (*others, *threads):
        one.start()
    for one in (*others, *threads):
        one.join(120)
    assert [one.exitcode for one in others] == [0, 0, 0]
    with here.at_once() as database:
        assert database.execute("select who, times from wrong").fetchall() == [("", 120)]


def counting(path: Path, number: int) -> None:
    here = Counted(path)
    for _ in range(20):
        with here.at_once() as database:
            database.execute("insert or ignore into wrong values ('', 0, 0)")
            [(times,)] = database.execute("select times from wrong")
            database.execute("update wrong set times = ?", (times + 1,))


def test_what_fails_within_one_step_counts_nothing(here: Counted) -> None:
    with pytest.raises(ZeroDivisionError), here.at_once():
        here.tab_opened("ann", "a")
        1 / 0
    assert here.tabs("ann") == 0


def test_where_nothing_can_be_written_or_read_it_says_so(here: Counted) -> None:
    here.path.write_text("no database, but long enough to be one " * 100)
    with pytest.raises(home.HomeUnusable, match=r"counted in .*counted\.sqlite .*delete that file"):
        here.wrong("10.0.0.1")
    here.path.unlink()
    assert here.wrong("10.0.0.1") == 0
    folder = here.path.parent / "of another"
    folder.mkdir(mode=0o500)
    if os.access(folder, os.W_OK):
        folder.rmdir()  # Whoever is root may write everywhere but where nothing is.
    with pytest.raises(home.HomeUnusable):
        Counted(folder / "counted.sqlite").wrong("10.0.0.1")


def test_tables_of_another_form_are_begun_anew(here: Counted) -> None:
    here.tab_opened("ann", "a")
    other = sqlite3.connect(here.path)
    other.execute("pragma user_version = 99")
    other.close()
    again = Counted(here.path)
    assert again.tabs("ann") == 0 and again.tab_opened("ann", "a") == 1
    assert here.tab_opened("ann", "b") == 2, "whoever had it open goes on"


def test_a_home_has_one(own_home: Path) -> None:
    assert counted.of_home() is counted.of_home()
    assert counted.of_home().path == own_home / "counted.sqlite" and not counted.of_home().path.exists()


def test_of_those_in_line_one_of_each_owner_comes_in_turn(here: Counted) -> None:
    first, *waiting = [here.begin(run, run[0], 0) for run in ("x1", "a1", "a2", "a3", "b1", "b2", "c1")]
    assert here.hand_out(1) == set(waiting)
    assert [here.before(run) for run in ("x1", "a1", "a3", "b2", "c1", "z1")] == [None, 0, 0, 1, 2, None]
    numbers = dict(zip(waiting, ("a1", "a2", "a3", "b1", "b2", "c1"), strict=True))
    came, gone = [], first
    while waiting:
        here.over(gone)
        in_line = here.hand_out(1)
        [gone] = set(waiting) - in_line
        waiting.remove(gone)
        came.append(numbers[gone])
        if came == ["a1", "b1"]:
            waiting.append(here.begin("b3", "b", 0))
            numbers[waiting[-1]] = "b3"
    assert came == ["a1", "b1", "c1", "a2", "b2", "a3", "b3"]


def test_runs_without_an_owner_are_each_their_own(here: Counted) -> None:
    for run in ("r1", "r2", "r3"):
        here.begin(run, "", 0)
    assert [here.before(run) for run in ("r1", "r2", "r3")] == [0, 1, 2]
    assert len(here.hand_out(2)) == 1 and not here.hand_out(None)


def test_where_fewer_places_became_allowed_nobody_loses_theirs(here: Counted) -> None:
    numbers = [here.begin(run, run, 0) for run in "abcd"]
    assert here.hand_out(3) == here.hand_out(0) == {numbers[3]}
    for number in numbers[:2]:
        here.over(number)
        assert here.hand_out(1) == {numbers[3]}
    here.over(numbers[2])
    assert not here.hand_out(1)


def test_calls_that_are_made_are_no_longer_ahead(here: Counted) -> None:
    first = here.begin("a", "ann", 2)
    here.begin("b", "bob", 5)
    assert here.going_on("ann") == (1, 2) and here.going_on(None) == (2, 7)
    for ahead in (1, 0, 0):
        here.asked(first)
        assert here.going_on("ann") == (1, ahead)
    here.over(first)
    assert here.going_on("ann") == (0, 0) and here.going_on(None) == (1, 5)


def test_journals_of_a_day_are_added_once_whoever_read_them(here: Counted) -> None:
    tally = counted.Tally()
    tally.take("ann", ("r", "c1"), Taken(1, 3.0), (10, 20))
    assert not here.is_read("2026-01-02")
    for _ in range(2):
        here.read("2026-01-02", tally)
    assert here.is_read("2026-01-02") and here.taken("ann") == here.taken(None) == (1, 3.0)
    assert here.most(("r", "c1")) == (10, 20) and here.most(("r", "c2")) == (0, 0)
    here.take("ann", ("r", "c1"), Taken(0, -1.5), None)
    assert here.taken("ann") == (1, 1.5) and here.most(("r", "c1")) == (0, 0)
    assert not here.is_read("2026-01-03") and here.taken(None) == (0, 0)
    here.read("2026-01-02", tally)
    assert here.taken(None) == (0, 0), "that day is over"
