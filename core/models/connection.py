"""One endpoint's state in this process: its client, its concurrency limit, and what has been learned of its models."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from ..runs.fairness import FairSemaphore, Leave
from .client import open_client
from .settings import EndpointConfig
from .traits import Traits, TraitsFile

if TYPE_CHECKING:
    import openai

# The concurrency limit of one endpoint.


LESS = 0.8


class Throttle:
    """The limit is `begin` calls at first, and doubles, up to `most`, whenever that many calls were answered while
    others waited. A refusal (HTTP 429) lowers it to four fifths; from then on it grows by one each time that many
    calls were answered. Other failures change nothing. Nothing is sent before the time at which the server allows
    it.

    May be used from several event loops.
    """

    def __init__(self, begin: int, most: int) -> None:
        self.at_once = begin
        self.turns = FairSemaphore(begin)
        self._most = most
        self._refused = False
        self._answered = 0
        self._change = 0
        """How often the limit changed: calls sent before the last change do not change it again."""
        self._wait_until = 0.0
        self._lock = threading.Lock()

    @property
    def wait(self) -> float:
        """Seconds until the server allows the next call."""
        return max(0.0, self._wait_until - time.monotonic())

    async def open(self, leave: Leave) -> int:
        """Wait as long as the server asked for; returns the value to pass as `sent` when the next call has ended.

        Raises CallsPausedError if `leave` allows no call.
        """
        leave.check()
        while self.wait:
            await leave.sleep(self.wait)
            leave.check()
        return self._change

    def answered(self, sent: int) -> None:
        """Count an answer to a call; `sent` is the value that `open` returned."""
        with self._lock:
            if sent != self._change or self.at_once >= self._most or not self.turns.all_taken:
                return
            self._answered += 1
            if self._answered >= self.at_once:
                self._set(min(self._most, self.at_once + 1 if self._refused else self.at_once * 2))

    def refused(self, sent: int, wait: float | None) -> None:
        """Count a refusal of a call; `sent` is the value that `open` returned, `wait` the seconds that the server asks
        for.
        """
        with self._lock:
            self._wait_until = max(self._wait_until, time.monotonic() + (wait or 0))
            self._refused = True
            # Calls that were sent together and refused together count as one refusal.
            if sent == self._change:
                self._set(max(1, int(self.at_once * LESS)))

    def _set(self, at_once: int) -> None:
        self.at_once = at_once
        self._answered = 0
        self._change += 1
        self.turns.resize(at_once)


_QUEUE_LIMIT = 10
"""How many time limits a call may wait in the queue of a server on this machine while that server answers others."""

_DENSE, _THIN, _IMPOSSIBLE = 5, 10, 44
"""Characters per token: the most in a prompt that was counted whole, the least in one of which most was cut off, and
the least in one that no tokenizer could have counted.
"""


class Connection:
    """One endpoint, shared by all its models: its concurrency limit, and what has been learned of each model.

    May be used from several event loops. Its callers take turns.
    """

    def __init__(self, config: EndpointConfig, traits: TraitsFile | None = None) -> None:
        self.config = config
        self._traits = traits or TraitsFile(None)
        self._counts: set[str] = set()
        """The models for which the server has been seen to count prompt tokens."""

        self._queued: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[asyncio.Timeout, float]] = WeakKeyDictionary()
        """Calls that wait for their first piece, by event loop, each with the time at which its waiting ends in any
        case.
        """

        self.throttle = Throttle(*config.calls_at_once)
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, openai.AsyncOpenAI] = WeakKeyDictionary()

    def __repr__(self) -> str:
        return f"Connection({self.config.name!r}, {self.config.base_url!r})"

    def client(self) -> openai.AsyncOpenAI:
        """The client of the running event loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = open_client(self.config)
        return self._clients[loop]

    def traits(self, model: str) -> Traits:
        """What is known of a model."""
        return self._traits.get(f"{self.config.base_url} {model}")

    def learn(self, model: str, **news: Any) -> None:
        """Store what is new about a model."""
        self._traits.learn(f"{self.config.base_url} {model}", **news)

    def room(self, model: str) -> int:
        """Tokens for thinking, in addition to those of an answer: as set for the endpoint, or else as learned."""
        return self.traits(model).room if self.config.thinking_room is None else self.config.thinking_room

    @contextmanager
    def queued(self, limit: asyncio.Timeout) -> Iterator[Callable[[], None]]:
        """Count a call as waiting in the server's queue until it calls the function that it is given. While a server on
        this machine answers other calls, the waiting call's time limit starts again.
        """
        loop = asyncio.get_running_loop()
        waiting = self._queued.setdefault(loop, {})
        seconds = self.config.timeout

        def begin() -> None:
            if self.config.on_this_machine and waiting.pop(limit, None) is not None:
                limit.reschedule(loop.time() + seconds)
                for other, latest in waiting.items():
                    if not other.expired():
                        other.reschedule(min(loop.time() + seconds, latest))

        waiting[limit] = loop.time() + _QUEUE_LIMIT * seconds
        try:
            yield begin
        finally:
            waiting.pop(limit, None)

    def cut_prompt(self, model: str, characters: int, tokens: int | None) -> bool:
        """Whether the server read far less of a prompt than was sent, by the tokens that it counted."""
        if not tokens or characters < 400:
            return False
        if characters <= _DENSE * tokens:
            self._counts.add(model)
        return characters >= (_THIN if model in self._counts else _IMPOSSIBLE) * tokens

    async def close(self) -> None:
        """Close the running event loop's connections."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()


_open: WeakValueDictionary[tuple[EndpointConfig, Path | None], Connection] = WeakValueDictionary()
_opening = threading.Lock()


def connect(config: EndpointConfig, home: Path | None = None) -> Connection:
    """The process's one connection with these settings, so that all callers share its limit. What is learned of its
    models is stored in `home`, if given.
    """
    with _opening:
        connection = _open.get((config, home))
        if connection is None:
            path = home / "model_traits.json" if home and not config.of_visitor else None
            connection = _open[config, home] = Connection(config, TraitsFile(path))
        return connection
