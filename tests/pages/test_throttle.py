"""The longer drawing takes and the more people watch, the less often a page is drawn."""

import threading
import time

import pytest

from pages.components import throttle
from pages.components.throttle import LONGEST, SHARE, Pace, by_turns, let_others_draw
from tests.support.waiting import until


def drawn(pace: Pace, whose: str, seconds: float) -> None:
    with pace.drawing(whose):
        began = time.thread_time()
        while time.thread_time() - began < seconds:
            pass


def test_alone_and_quick_it_is_the_least() -> None:
    one = Pace()
    assert one.seconds(0.4) == 0.4
    drawn(one, "ann", 0.01)
    assert one.seconds(0.4) == 0.4


def test_all_who_watch_together_take_their_share_and_no_more() -> None:
    many = Pace()
    for number in range(20):
        drawn(many, f"tab {number}", 0.02)
    interval = many.seconds(0.4)
    assert interval in (0.8, 1.6) and 20 * 0.02 / interval <= SHARE
    for _ in range(5):
        drawn(many, "tab 1", 0.02)
    assert many.seconds(0.4) == interval, "who is drawn for often is one of those who watch"


def test_the_processor_s_time_counts_and_not_the_waiting_for_it() -> None:
    one = Pace()
    with one.drawing("ann"):
        time.sleep(0.3)  # A wait is what is to count for nothing.
    assert one.seconds(0.4) == 0.4


def test_there_is_a_longest_and_who_has_left_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Pace()
    one._drawn = {str(n): (1.0, time.monotonic()) for n in range(100)}
    assert one.seconds(0.4) == LONGEST and one.seconds(10.0) == 10.0
    monkeypatch.setattr(throttle, "_PASSED", 0.0)
    assert one.seconds(0.4) == 0.4 and not one._drawn


def drawing_beside(turn: threading.Event, done: list[str], name: str) -> threading.Thread:
    def draw() -> None:
        with by_turns(), by_turns():
            turn.wait(5)
            done.append(name)

    thread = threading.Thread(target=draw)
    thread.start()
    return thread


class Counted:
    """A lock that counts its waiters."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.waiting = 0
        self.release = self._lock.release

    def acquire(self, timeout: float) -> bool:
        if self._lock.acquire(blocking=False):
            return True
        self.waiting += 1
        try:
            return self._lock.acquire(timeout=timeout)
        finally:
            self.waiting -= 1


def test_one_is_drawn_at_a_time_and_whoever_waits_lets_others_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    turn, done, lock = threading.Event(), list[str](), Counted()
    monkeypatch.setattr(throttle, "_turn", lock)
    turn.set()
    with by_turns():
        other = drawing_beside(turn, done, "other")
        until(lambda: lock.waiting)
        assert not done
        with let_others_draw():
            other.join(5)
            assert done == ["other"]
        third = drawing_beside(turn, done, "third")
        until(lambda: lock.waiting)
        assert done == ["other"], "the turn was taken back"
    third.join(5)
    assert done == ["other", "third"]


def test_nobody_waits_for_ever_for_one_who_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "PATIENCE", 0.1)
    hangs, done = threading.Event(), list[str]()
    first = drawing_beside(hangs, done, "hangs")
    until(throttle._turn.locked)
    with by_turns():
        done.append("second")
    assert done == ["second"]
    hangs.set()
    first.join(5)


def test_nor_does_one_who_waited_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "PATIENCE", 0.1)
    hangs, done = threading.Event(), list[str]()
    with by_turns():
        with let_others_draw():
            first = drawing_beside(hangs, done, "hangs")
            until(throttle._turn.locked)
        done.append("went on")
    assert done == ["went on"]
    hangs.set()
    first.join(5)
    assert throttle._turn.acquire(timeout=1), "nobody gives back what another has"
    throttle._turn.release()


def test_a_fault_gives_the_turn_back() -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="of the page"), by_turns():
            raise ValueError("of the page")
    with let_others_draw():
        pass
    assert throttle._turn.acquire(timeout=1)
    throttle._turn.release()
