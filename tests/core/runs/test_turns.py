"""Whoever asks for much waits behind whoever asks for little."""

from __future__ import annotations

import contextvars
import threading
import time

from core.runs.turns import WHOSE, Turns


def started(turns: Turns, whose: str, work: threading.Event, done: list[str]) -> threading.Thread:
    def run() -> None:
        WHOSE.set(whose)
        with turns.take():
            work.wait(5)
            done.append(whose)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,))
    thread.start()
    time.sleep(0.01)
    return thread


def test_one_of_each_in_turn() -> None:
    turns, work, done = Turns(1), threading.Event(), []
    order = ["many"] * 6 + ["few", "one", "few"]
    threads = [started(turns, whose, work, done) for whose in order]
    work.set()
    for thread in threads:
        thread.join(5)
    assert done == ["many", "many", "few", "one", "many", "few", "many", "many", "many"]


def test_as_many_at_once_as_there_are_places_and_none_is_lost_by_a_fault() -> None:
    turns = Turns(2)
    at_once: list[int] = []
    inside = 0
    lock = threading.Lock()

    def run() -> None:
        nonlocal inside
        try:
            with turns.take():
                with lock:
                    inside += 1
                    at_once.append(inside)
                time.sleep(0.002)
                with lock:
                    inside -= 1
                raise ValueError
        except ValueError:
            pass

    threads = [threading.Thread(target=run) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert len(at_once) == 40 and max(at_once) == 2
    with turns.take(), turns.take():
        pass
