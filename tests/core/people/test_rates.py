"""How fast things may come by one name."""

from __future__ import annotations

from core.people import rates
from core.people.rates import RateLimit


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_after_a_rest_some_come_at_once_and_then_so_many_a_second() -> None:
    clock = Clock()
    limit = RateLimit(2, 5, clock)
    assert [limit.take("ann") for _ in range(6)] == [True] * 5 + [False]
    assert limit.take("bob", 5) and not limit.take("bob", 1), "each name by itself"
    clock.now += 1
    assert [limit.take("ann") for _ in range(3)] == [True, True, False]
    clock.now += 1
    assert not limit.take("ann", 3) and limit.take("ann", 2), "what is refused does not count"
    clock.now += 3_600
    assert not limit.take("ann", 6) and limit.take("ann", 5), "a long rest gives no more"


def test_memory_is_bounded(monkeypatch) -> None:
    monkeypatch.setattr(rates, "_NAMES", 3)
    limit = RateLimit(1, 1, Clock())
    assert all(limit.take(str(number)) for number in range(100)) and len(limit._paid_off) == 3
