"""A visitor who asks for much waits behind one who asks for little."""

import asyncio
import contextvars
import threading
import time

import pytest

from core.runs import fairness as every
from core.runs.fairness import WHOSE, FairSemaphore
from tests.support.waiting import loop_turns, until, until_true


def started(turns: FairSemaphore, whose: str, work: threading.Event, done: list[str]) -> threading.Thread:
    def run() -> None:
        WHOSE.set(whose)
        with turns.acquire():
            work.wait(5)
            done.append(whose)

    def asked() -> int:
        return sum(map(len, turns._waiting.values())) - turns._free

    before = asked()
    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,))
    thread.start()
    until(lambda: asked() > before)
    return thread


def test_one_of_each_in_turn() -> None:
    turns, work, done = FairSemaphore(1), threading.Event(), []
    order = ["many"] * 6 + ["few", "one", "few"]
    threads = [started(turns, whose, work, done) for whose in order]
    work.set()
    for thread in threads:
        thread.join(5)
    assert done == ["many", "many", "few", "one", "many", "few", "many", "many", "many"]


def test_as_many_at_once_as_there_are_places_and_none_is_lost_by_a_fault() -> None:
    turns = FairSemaphore(2)
    at_once: list[int] = []
    inside = 0
    lock = threading.Lock()

    def run() -> None:
        nonlocal inside
        try:
            with turns.acquire():
                with lock:
                    inside += 1
                    at_once.append(inside)
                time.sleep(0.002)  # Others could come in meanwhile.
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
    with turns.acquire(), turns.acquire():
        pass


def test_tasks_are_taken_in_the_same_fair_order_and_know_who_comes_first() -> None:
    turns, done = FairSemaphore(1), list[str]()

    async def run(whose: str) -> None:
        WHOSE.set(whose)
        async with turns.turn():
            await asyncio.sleep(0)
            done.append(whose)

    async def main() -> None:
        async with asyncio.TaskGroup() as group, turns.turn():
            for whose in ["many"] * 4 + ["few", "one", "few"]:
                group.create_task(run(whose))
            await loop_turns()
            assert [turns.people_ahead(whose) for whose in ("many", "few", "one", "nobody")] == [0, 1, 2, None]
            assert every.people_ahead("one") == 2 and every.people_ahead("nobody") is None

    asyncio.run(main())
    assert done == ["many", "few", "one", "many", "few", "many", "many"]
    assert turns.people_ahead("many") is None and turns._free == 1


def test_many_wait_beside_the_loop_without_keeping_each_other_waiting() -> None:
    """The loop's own threads are a few dozen at most. Each waiting thread knows for whom it waits."""
    gate = threading.Barrier(256)

    def work(number: int) -> tuple[int, str]:
        gate.wait(20)
        return number, WHOSE.get()

    async def main() -> list[tuple[int, str]]:
        WHOSE.set("ann")
        return await asyncio.gather(*(every.run_in_thread(work, number) for number in range(256)))

    assert asyncio.run(main()) == [(number, "ann") for number in range(256)]


@pytest.mark.parametrize("granted", [True, False])
def test_who_stops_waiting_keeps_nobody_waiting(granted: bool) -> None:
    turns = FairSemaphore(1)

    async def run() -> None:
        async with turns.turn():
            pass

    async def main() -> None:
        async with turns.turn():
            waiting = asyncio.create_task(run())
            await until_true(lambda: turns.people_ahead("") == 0)
            if not granted:
                waiting.cancel()
                await asyncio.sleep(0)
        if granted:
            # It has been given its turn and does not know it yet.
            waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        async with asyncio.timeout(1), turns.turn():
            pass

    asyncio.run(main())
    assert turns._free == 1 and not turns._waiting


def test_threads_and_tasks_of_two_loops_share_the_places() -> None:
    turns, inside, most = FairSemaphore(2), 0, 0
    lock = threading.Lock()

    def enter() -> None:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)

    def leave() -> None:
        nonlocal inside
        with lock:
            inside -= 1

    async def run() -> None:
        async with turns.turn():
            enter()
            await asyncio.sleep(0.002)  # Others could come in meanwhile.
            leave()

    async def many() -> None:
        await asyncio.gather(*(run() for _ in range(20)))

    def thread() -> None:
        for _ in range(20):
            with turns.acquire():
                enter()
                time.sleep(0.002)  # Here as well.
                leave()

    threads = [threading.Thread(target=work) for work in (lambda: asyncio.run(many()),) * 2 + (thread,) * 2]
    for one in threads:
        one.start()
    for one in threads:
        one.join(10)
    assert most == 2 and turns._free == 2
