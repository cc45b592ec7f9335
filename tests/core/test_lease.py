"""A lease has one holder at a time, is free as soon as its process dies, and is void if nobody renews it."""

import contextlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from core import lease
from core.lease import TTL, Lease, LeaseHeldError, is_held
from tests.support.waiting import until


def of_another_machine(path: Path, age: float) -> None:
    """Write a lease of another machine, renewed `age` seconds ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(["token", "elsewhere boot", 1234, 1.0]))
    then = time.time() - age
    os.utime(path, (then, then))


def test_one_holder_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    assert not is_held(path)
    first = Lease(path)
    assert is_held(path)
    with pytest.raises(LeaseHeldError, match=f"process {os.getpid()}"):
        Lease(path)
    first.release()
    assert not is_held(path) and not list(tmp_path.iterdir())
    Lease(path).release()


def test_of_many_who_try_at_once_one_has_it(tmp_path: Path) -> None:
    """With a fresh folder each time, because a late process may find the previous lease: first void, then just made."""
    for turn in range(20):
        path = tmp_path / str(turn) / "a.json"
        of_another_machine(path, age=TTL + 5)
        held: list[Lease] = []
        start = threading.Barrier(6)

        def go(path: Path = path, held: list[Lease] = held, start: threading.Barrier = start) -> None:
            start.wait()
            with contextlib.suppress(LeaseHeldError):
                held.append(Lease(path))

        threads = [threading.Thread(target=go) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(held) == 1 and is_held(path)
        held[0].renew()
        assert not held[0].lost and [one.name for one in path.parent.iterdir()] == [path.name]


def test_who_dies_while_taking_over_stops_nobody(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    of_another_machine(path, age=TTL + 5)
    of_another_machine(path.with_name(".a.json.taken"), age=TTL + 5)
    taken = Lease(path)
    assert is_held(path) and [one.name for one in tmp_path.iterdir()] == [path.name]
    taken.release()
    of_another_machine(path, age=TTL + 5)
    of_another_machine(path.with_name(".a.json.taken"), age=0)
    with pytest.raises(LeaseHeldError, match="another process"):
        Lease(path)


def _hold(path: str) -> None:
    Lease(Path(path))
    print("held", flush=True)
    signal.pause()


def test_a_killed_process_frees_it_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    code = f"from tests.core.test_lease import _hold; _hold({str(path)!r})"
    holder = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    assert is_held(path)
    holder.send_signal(signal.SIGKILL)
    # Nothing has waited for this process: for the system it has ended, but its parent has not been told.
    until(lambda: not is_held(path))
    Lease(path).release()
    holder.wait()


@pytest.mark.parametrize(("age", "held"), [(0, True), (TTL - 5, True), (TTL + 5, False)])
def test_of_another_machine_it_holds_as_long_as_it_is_renewed(tmp_path: Path, age: float, held: bool) -> None:
    path = tmp_path / "a.json"
    of_another_machine(path, age)
    assert is_held(path) == held
    if held:
        with pytest.raises(LeaseHeldError, match="process 1234 on elsewhere"):
            Lease(path)
    else:
        Lease(path).release()


def test_time_is_the_storage_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    of_another_machine(path, age=0)
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert is_held(path), "a clock that is decades off changes nothing"


def test_renewing_makes_it_last(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    mine = Lease(path)
    os.utime(path, (0, 0))
    mine.renew()
    assert path.stat().st_mtime > time.time() - TTL
    mine.release()


def test_who_slept_too_long_knows_that_it_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    mine = Lease(path)
    of_another_machine(path, age=0)
    mine.renew()
    assert mine.lost
    mine.release()
    assert is_held(path), "what another holds now is not taken from them"


def test_a_torn_lease_is_void_after_a_while(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('["tok')
    assert is_held(path)
    os.utime(path, (0, 0))
    assert not is_held(path)


def test_the_leases_of_a_process_are_renewed_by_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "_RENEW", 0.02)
    lease._start_renewing.cache_clear()
    path = tmp_path / "a.json"
    mine = Lease(path)
    os.utime(path, (0, 0))
    until(lambda: path.stat().st_mtime > 0)
    mine.release()
    lease._start_renewing.cache_clear()


def _write(path: str, number: int) -> None:
    end = time.monotonic() + 120
    for _ in range(5):
        while time.monotonic() < end:
            try:
                mine = Lease(Path(path))
            except LeaseHeldError:
                time.sleep(0.002)
                continue
            log = Path(path).with_suffix(".log")
            log.write_text(str(number))
            time.sleep(0.002)  # Another could write meanwhile.
            assert log.read_text() == str(number), "two held it at once"
            mine.release()
            break


def test_processes_take_turns(tmp_path: Path) -> None:
    path = str(tmp_path / "a.json")
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write, args=(path, number)) for number in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]


def test_who_finds_it_void_too_late_puts_the_new_one_back(tmp_path: Path) -> None:
    """Two find a void lease. The slower one is already removing it when the faster one has made a new one."""
    path = tmp_path / "a.json"
    mine = Lease(path)
    lease._take_away(path)
    assert is_held(path)
    mine.renew()
    assert not mine.lost
    mine.release()
    assert not list(tmp_path.iterdir())


def of_this_machine(path: Path, pid: int, begun: float) -> None:
    path.write_text(json.dumps(["token", lease._machine(), pid, begun]))


def test_a_later_process_of_the_same_number_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    me = lease._begun(os.getpid())
    of_this_machine(path, os.getpid(), me)
    assert is_held(path)
    of_this_machine(path, os.getpid(), me - 60)
    assert not is_held(path), "however lately it was renewed"


def test_a_process_that_is_gone_or_was_never_known_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    gone = subprocess.Popen([sys.executable, "-c", ""])
    begun = lease._begun(gone.pid)
    gone.wait()
    noted = [(gone.pid, begun), (gone.pid, 0.0), (gone.pid, -1.0), (2**22 + 1, 0.0), (2**70, 0.0), (-1, 0.0)]
    for number, then in noted:
        of_this_machine(path, number, then)
        assert not is_held(path), (number, then)
        Lease(path).release()


@pytest.mark.parametrize(("age", "held"), [(TTL - 0.01, True), (TTL, False)])
def test_it_is_void_after_its_time_and_not_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, age: float, held: bool
) -> None:
    path = tmp_path / "a.json"
    for content in (json.dumps(["token", "elsewhere boot", 1234, 1.0]), '["tok'):
        path.write_text(content)
        os.utime(path, (1_000_000, 1_000_000))
        monkeypatch.setattr(lease, "_storage_time", lambda path: 1_000_000 + age)
        assert is_held(path) == held


def test_a_file_system_without_links_holds_leases_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(old: Path, new: Path) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / "a.json"
    of_another_machine(path, age=TTL + 5)
    mine = Lease(path)
    assert is_held(path) and [one.name for one in tmp_path.iterdir()] == ["a.json"]
    with pytest.raises(LeaseHeldError, match=f"process {os.getpid()} on "):
        Lease(path)
    mine.renew()
    assert not mine.lost
    mine.release()
    assert not list(tmp_path.iterdir())


def test_what_was_given_back_or_lost_is_renewed_no_more(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    mine = Lease(path)
    mine.release()
    other = Lease(path)
    os.utime(path, (0, 0))
    mine.renew()
    assert not mine.lost and path.stat().st_mtime == 0, "it is another's now"
    mine.release()
    assert is_held(path)
    path.unlink()
    other.renew()
    assert other.lost
    of_another_machine(path, age=0)
    other.release()
    assert path.exists()


def test_who_cannot_tell_the_time_of_the_storage_takes_the_machine_s(tmp_path: Path) -> None:
    before = time.time()
    assert before <= lease._storage_time(tmp_path / "no folder" / "a.json") <= time.time()
    assert abs(lease._storage_time(tmp_path / "a.json") - before) < 60 and not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", ["", "[]", "7", '["t", "m", "p", 1]', '["t", "m", 1]', "null", "\x00"])
def test_what_is_no_lease_is_held_like_one_that_is_being_made(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(LeaseHeldError, match=r"process 0 on \?"):
        Lease(path)
    os.utime(path, (0, 0))
    Lease(path).release()
