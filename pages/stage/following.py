"""A case that goes on, and how far its run is, told to all who watch it: looked at once for all of them, and only what
changed is sent.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any, NamedTuple

from core import entry
from core.people.looking import NoSuchRun
from core.runs.watch import Watch
from core.telling import scenes
from core.telling.how_far import how_far

PACE = 0.4
"""Seconds between two looks at a run that goes on."""

AT_PACE = 10
"""So many runs are looked at in that pace; more of them in turn, so that looking leaves the processor to the runs."""

MOST_WATCHING = 2_000
"""Who watch at once, in this process."""

_BEHIND = 100
"""What waits to be sent to somebody. Who falls further behind is cut off, comes again and is told the whole."""


class TooMany(Exception):
    """As many watch as can be told."""


def changed(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """What of a scene's JSON is not as it was; of the cards those that are not."""
    news = {name: value for name, value in now.items() if before.get(name) != value}
    if "cards" in news:
        known = {card["id"]: card for card in before.get("cards", ())}
        news["cards"] = [card for card in now["cards"] if known.get(card["id"]) != card]
    return news


class Now(NamedTuple):
    """A case's scene as data, empty before its run has begun; how far the run is, and whether it goes on."""

    scene: dict[str, Any]
    far: dict[str, Any]
    active: bool


class Following:
    """One case of a run."""

    def __init__(self, look: Callable[[], Now]) -> None:
        self._look = look
        self._watching: set[asyncio.Queue[str]] = set()
        self._scene: dict[str, Any] = {}
        self._far: dict[str, Any] = {}
        self._task: asyncio.Task[None] | None = None

    async def told(self) -> AsyncIterator[str]:
        """Server-sent events: the scene whole, then what `changed`; how `far` the run is; then `over`."""
        queue: asyncio.Queue[str] = asyncio.Queue(_BEHIND)
        self._watching.add(queue)
        try:
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._follow())
            else:
                for name, data in (("far", self._far), ("scene", self._scene)):
                    if data:
                        yield _event(name, data)
            while (told := await queue.get()) != "":
                yield told
        finally:
            self._watching.discard(queue)

    async def _follow(self) -> None:
        try:
            goes_on = True
            while goes_on and self._watching:
                try:
                    now, far, goes_on = await asyncio.to_thread(self._look)
                except (NoSuchRun, OSError):
                    # It was deleted, or its folder is away: who watches asks again, and is told why.
                    break
                if news := changed(self._scene, now):
                    self._tell(_event("changed" if self._scene else "scene", news))
                if far != self._far:
                    self._tell(_event("far", far))
                self._scene, self._far = now, far
                if goes_on:
                    await asyncio.sleep(max(PACE, PACE * len(_FOLLOWED) / AT_PACE))
            else:
                self._tell(_event("over", {}))
        finally:
            self._tell("")
            self._scene, self._far = {}, {}

    def _tell(self, event: str) -> None:
        for queue in list(self._watching):
            try:
                queue.put_nowait(event)
            except asyncio.QueueFull:
                self._watching.discard(queue)
                with suppress(asyncio.QueueEmpty):
                    queue.get_nowait()
                queue.put_nowait("")


def _event(name: str, data: dict[str, Any]) -> str:
    # JSON has no line breaks of its own: one line of data is one event.
    return f"event: {name}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"


_FOLLOWED: dict[tuple[str, str], Following] = {}


def following(run: str, case: str) -> Following:
    """The one of this case; what nobody watches any more is forgotten. To be called on the server's loop. Raises
    TooMany.
    """
    if sum(len(one._watching) for one in _FOLLOWED.values()) >= MOST_WATCHING:
        raise TooMany("So many people watch runs here that no more can be told. Come back a little later.")
    for key in [key for key, one in _FOLLOWED.items() if not one._watching]:
        del _FOLLOWED[key]
    return _FOLLOWED.setdefault((run, case), Following(_looking(run, case)))


def _looking(run: str, case: str) -> Callable[[], Now]:
    watch: Watch | None = None
    before: Now | None = None

    def look() -> Now:
        nonlocal before, watch
        # Asked first: a run that ends meanwhile is looked at once more.
        active = entry.jobs().active(run)
        is_news = True
        if watch is None:
            watch = entry.jobs().watch(run, case)
        else:
            is_news = watch.look()
        state = watch.transcript
        lab = entry.labs().get(state.started.lab) if state.started else None
        if before is None or is_news or before.active != active:
            scene = scenes.of_case(lab, state, case or state.only, active).model_dump() if lab else {}
        else:
            scene = before.scene
        # Its place in a line changes without an event.
        before = Now(scene, how_far(entry.jobs(), lab, run, state).model_dump(), active)
        return before

    return look
