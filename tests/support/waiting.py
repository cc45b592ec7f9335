"""Waiting in tests: for what is waited for, as short as it takes, and never for ever."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

PATIENCE = 120.0
"""Seconds: far more than anything here takes on a busy machine."""


def until(true: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait in this thread until `true()` is; AssertionError after so many `seconds`."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


async def until_true(true: Callable[[], object], seconds: float = PATIENCE) -> None:
    """As `until`, in a task whose loop goes on meanwhile."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        await asyncio.sleep(0.001)


async def loop_turns(number: int = 20) -> None:
    """Let all tasks of this loop go as far as they come by themselves in so many of its turns."""
    for _ in range(number):
        await asyncio.sleep(0)
