"""Live updates of a case and its run for everyone who watches: the case is read once for all of them, and only changes
are sent.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from starlette.concurrency import run_in_threadpool

from core import entry
from core.report import scenes
from core.report.progress import OVER, HowFar, how_far
from core.report.redaction import Opened, redacted
from core.runs.library import RunNotFoundError, Watch
from core.scene import Scene

PACE = 0.4
"""Seconds between two reads of a run in progress."""

AT_PACE = 10
"""Runs read at that pace; if there are more, each is read less often, so that the processor is free for the runs."""

_BEHIND = 100
"""Events that may wait for one watcher. A watcher further behind is cut off, reconnects and gets the whole scene."""


def changed(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a scene's JSON that have changed; of the cards, only those that have."""
    news = {name: value for name, value in now.items() if before.get(name) != value}
    if "cards" in news:
        known = {card["id"]: card for card in before.get("cards", ())}
        news["cards"] = [card for card in now["cards"] if known.get(card["id"]) != card]
    return news


@dataclass(eq=False)
class _Watcher:
    """One watcher: `opened` returns what they may see of the case, `part` is its last value; `told` and `far` are the
    scene and the progress that were last sent to them.
    """

    opened: Callable[[], Opened]
    part: Opened = None
    told: dict[str, Any] = field(default_factory=dict)
    far: HowFar | None = None
    is_out: bool = False
    """Whether they may no longer view the run."""

    queue: asyncio.Queue[str] = field(default_factory=lambda: asyncio.Queue(_BEHIND))


class Snapshot(NamedTuple):
    """A case at one moment: its scene (None before its run has begun), how far the run is, whether it goes on, whether
    it is sealed, and whether it is shared with everybody.
    """

    scene: Scene | None
    far: HowFar
    goes_on: bool
    is_sealed: bool
    is_shared: bool = True


class Broadcast:
    """Sends one case of a run, read by `look`, to everyone who watches it."""

    def __init__(self, look: Callable[[], Snapshot]) -> None:
        self._look = look
        self._watching: set[_Watcher] = set()
        self._looked: Snapshot | None = None
        self._made: dict[object, dict[str, Any]] = {}
        self._task: asyncio.Task[None] | None = None

    async def events(self, opened: Callable[[], Opened] = lambda: None) -> AsyncIterator[str]:
        """Yield server-sent events: the whole scene, then what `changed`, limited to what `opened` lets the watcher
        see; how `far` the run is; then `over`. A watcher who may not see the whole case gets `over` only once they
        may.
        """
        watcher = _Watcher(opened)
        watcher.part = await run_in_threadpool(opened)
        self._watching.add(watcher)
        try:
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._follow())
            elif self._looked is not None:
                self._tell(self._looked, [watcher])
            while (told := await watcher.queue.get()) != "":
                yield told
        finally:
            self._watching.discard(watcher)

    async def _follow(self) -> None:
        try:
            while self._watching:
                try:
                    now = await run_in_threadpool(self._look_for_all, [*self._watching])
                except (RunNotFoundError, OSError):
                    # The run was deleted or its folder is gone: watchers reconnect, and get the reason.
                    break
                for watcher in [one for one in self._watching if one.is_out]:
                    # Their browser reconnects, and gets the reason why it receives no more.
                    self._send(watcher, "")
                self._tell(now, [*self._watching])
                if self._watching:
                    await asyncio.sleep(max(PACE, PACE * len(_FOLLOWED) / AT_PACE))
        finally:
            for watcher in [*self._watching]:
                self._send(watcher, "")
            self._looked, self._made = None, {}

    def _look_for_all(self, watching: Sequence[_Watcher]) -> Snapshot:
        """Read the current case. If it is sealed, not shared, or not visible as a whole to a watcher, check again what
        that watcher may see.
        """
        now = self._look()
        for watcher in watching:
            if now.is_sealed or not now.is_shared or watcher.part is not None:
                try:
                    watcher.part = watcher.opened()
                except RunNotFoundError:
                    watcher.is_out = True
        return now

    def _tell(self, now: Snapshot, watching: Sequence[_Watcher]) -> None:
        """Send every watcher what is new in the part they may see, computed once for all who see the same, and how far
        the run is.
        """
        if self._looked is None or self._looked.scene is not now.scene:
            self._made = {}
        self._looked = now
        news: dict[tuple[int, int], str] = {}
        for watcher in watching:
            key = None if watcher.part is None else frozenset(watcher.part.items())
            if key not in self._made:
                self._made[key] = redacted(now.scene, watcher.part).model_dump() if now.scene else {}
            before, scene = watcher.told, self._made[key]
            if before is not scene:
                pair = id(before), id(scene)
                if pair not in news:
                    new = changed(before, scene)
                    news[pair] = _event("changed" if before else "scene", new) if new else ""
                watcher.told = scene
                if news[pair]:
                    self._send(watcher, news[pair])
            far = _far(now, watcher)
            if far is not None and far != watcher.far:
                watcher.far = far
                self._send(watcher, _event("far", far.model_dump()))
            if not now.goes_on and watcher.part is None:
                self._send(watcher, _event("over", {}))
                self._send(watcher, "")
        known = {id(watcher.told) for watcher in self._watching}
        self._made = {key: scene for key, scene in self._made.items() if id(scene) in known}

    def _send(self, watcher: _Watcher, event: str) -> None:
        """Send the event. An empty event ends the stream; it is also sent to a watcher who has fallen behind."""
        try:
            watcher.queue.put_nowait(event)
        except asyncio.QueueFull:
            event = ""
            with suppress(asyncio.QueueEmpty):
                watcher.queue.get_nowait()
            watcher.queue.put_nowait("")
        if not event:
            self._watching.discard(watcher)


def _far(now: Snapshot, watcher: _Watcher) -> HowFar | None:
    """Return the run's progress for a watcher. Once the run is over, a watcher who was sent no progress gets none
    either.
    """
    if not now.goes_on and watcher.part is not None:
        # They may not see the end yet, only that the run is not going on.
        return OVER
    return now.far if now.goes_on or watcher.far not in (None, OVER) else watcher.far


def _event(name: str, data: dict[str, Any]) -> str:
    # JSON contains no line breaks, so one line of data is one event.
    return f"event: {name}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"


_FOLLOWED: dict[tuple[str, str], Broadcast] = {}


def broadcast_of(run: str, case: str) -> Broadcast:
    """Return the broadcast of this case, and remove those that nobody watches. Must be called on the server's event
    loop.
    """
    for key in [key for key, one in _FOLLOWED.items() if not one._watching]:
        del _FOLLOWED[key]
    return _FOLLOWED.setdefault((run, case), Broadcast(_looking(run, case)))


def _looking(run: str, case: str) -> Callable[[], Snapshot]:
    watch: Watch | None = None
    before: Snapshot | None = None

    def look() -> Snapshot:
        nonlocal before, watch
        # Checked first: if the run ends in the meantime, it is read once more.
        active = entry.jobs().active(run)
        is_news = True
        if watch is None:
            watch = entry.jobs().watch(run, case)
        else:
            is_news = watch.refresh()
        state = watch.transcript
        lab = entry.labs().get(state.started.lab) if state.started else None
        if before is None or is_news or before.goes_on != active:
            scene = scenes.of_case(lab, state, case or state.only, active) if lab else None
        else:
            scene = before.scene
        # The position in the queue and the seal change without an event.
        before = Snapshot(
            scene, how_far(entry.jobs(), lab, run, state), active, entry.jobs().sealed(run), entry.jobs().shared(run)
        )
        return before

    return look
