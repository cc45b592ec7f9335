"""Waiting in tests: until a condition is true, no longer than needed, and never for ever."""

import asyncio
import time
from collections.abc import Callable

PATIENCE = 120.0
"""Seconds: far longer than anything here takes on a busy machine."""


def until(true: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait in this thread until `true()` is true. Raises AssertionError after `seconds`."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


async def until_true(true: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Like `until`, but in a task whose loop keeps running."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        await asyncio.sleep(0.001)


async def loop_turns(number: int = 20) -> None:
    """Run the loop for this number of turns, so that its tasks get as far as they can by themselves."""
    for _ in range(number):
        await asyncio.sleep(0)
