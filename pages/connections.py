"""Connections to a hosted app: how many this process keeps open, and how soon it ends one that does not go on.

uvicorn waits for a request as long as it takes, and accepts connections until this process can open no more files; then
no journal can be written either. Streamlit starts uvicorn with fixed options, so `bound` changes the server as it
starts.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from socket import socket
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from core.server.rate_limits import Places, network_of

UNFINISHED_SECONDS = 20.0
"""How long the headers of a request may take from the opening of its connection or the reply before, and its body."""

BYTES_A_SECOND = 10_000
"""A body may take one second longer for each of so many bytes that have come."""

STUCK_SECONDS = 30.0
"""How long the other side may read nothing of a reply, or leave a connection that is being closed."""

MOST_FILES = 16_384
"""Files that this process may open, its connections among them, where the system allows so many."""

RESERVED_FILES = 640
"""How many of them are for journals, indexes and models, and for the 128 sessions that Streamlit keeps for two minutes
after their tabs are closed.
"""

IDLE = 128
"""Connections without a request for which there is always room."""

FILES_OF_TAB = 4
"""A tab is a connection and an event loop, which Streamlit opens for each session: three files."""

_PACE = 1.0
"""Seconds between two looks at the connections."""

_BATCH = 8
"""Connections accepted in one turn of the loop. Four turns later one that is too many has been ended."""

_END = "end_connection"
"""Under this name `scope["state"]` has a function that ends the connection."""

_files: int | None = None
"""Files that this process may open; None where connections are not bounded."""

_idle: dict[str, dict[Bounded, None]] = {}
"""Connections without a request whose headers have come, by network, the oldest first."""

_watching: set[asyncio.Task[None]] = set()


def _most() -> int | None:
    """Files that connections may take."""
    return None if _files is None else _files - min(RESERVED_FILES, _files // 2)


def _most_with_request() -> int | None:
    most = _most()
    return None if most is None or _files is None else most - min(IDLE, _files // 8)


CONNECTIONS = Places(_most_with_request)
"""For tabs, by the files that each takes, and for requests that are being answered."""


def end_of(scope: Mapping[str, Any]) -> Callable[[], None]:
    """What ends the connection of a request; it does nothing where connections are not bounded."""
    end: Callable[[], None] = scope.get("state", {}).get(_END, lambda: None)
    return end


def bound() -> None:
    """Have the server of this process, which has yet to start, bound its connections; and raise the number of files
    that it may open as far as the system allows.
    """
    global _files
    _files = _raised()
    start = uvicorn.Server.startup

    async def startup(server: uvicorn.Server, sockets: list[socket] | None = None) -> None:
        queue = server.config.backlog
        server.config.http_protocol_class, server.config.backlog = Bounded, _BATCH
        await start(server, sockets)
        for one in sockets or ():
            # asyncio has made the system's queue as short as a batch, and a class may come at the same time.
            one.listen(queue)
        _watching.add(asyncio.create_task(_watch(server.server_state.connections)))

    uvicorn.Server.startup = startup  # type: ignore[method-assign, assignment]


def _raised() -> int:
    """How many files this process may open from now on, of `MOST_FILES`."""
    try:
        import resource
    except ImportError:
        # Not on Windows.
        return MOST_FILES
    soft, hard = (
        MOST_FILES if one == resource.RLIM_INFINITY else one for one in resource.getrlimit(resource.RLIMIT_NOFILE)
    )
    if soft < (wanted := min(hard, MOST_FILES)):
        # Some systems have a smaller limit than the one they tell.
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
            soft = wanted
    return min(soft, MOST_FILES)


class Bounded(H11Protocol):
    """One connection, which counts as idle until the headers of a request have come, and after each reply. Where too
    many are open, one is ended: of the network with the most idle ones the one that has been idle for longest.
    """

    received = 0
    """Bytes that came."""

    resumed = 0
    """How many times the other side read enough of a reply for more to be sent."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Let it in, and end another where that is one too many."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, _END: transport.abort}
        self._is_idle(True)
        most = _most()
        if most is not None and sum(map(len, _idle.values())) + CONNECTIONS.taken > most:
            largest = max(_idle, key=lambda one: len(_idle[one]))
            oldest = next(iter(_idle[largest]))
            oldest._is_idle(False)
            oldest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_idle(False)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._is_idle(False)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._is_idle(False)
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self._is_idle(True)

    def resume_writing(self) -> None:
        self.resumed += 1
        super().resume_writing()

    def _is_idle(self, is_idle: bool) -> None:
        network = network_of(self.client[0] if self.client else "")
        if is_idle:
            _idle.setdefault(network, {})[self] = None
        elif network in _idle:
            _idle[network].pop(self, None)
            if not _idle[network]:
                del _idle[network]

    def waits(self) -> tuple[object, float]:
        """What it waits for the other side to do, which is equal as long as it is the same, and how many seconds it
        waits at most. Nothing (None) where the other side has nothing to do.
        """
        if self.flow.write_paused:
            return ("read", self.resumed), STUCK_SECONDS
        if self.conn.their_state is h11.IDLE:
            return ("headers", self.cycle), UNFINISHED_SECONDS
        # Where the app does not read, no more can come.
        if self.conn.their_state is h11.SEND_BODY and not self.flow.read_paused:
            return ("body", self.cycle), UNFINISHED_SECONDS
        return None, 0.0


async def _watch(connections: Iterable[Any]) -> None:
    since: dict[Any, tuple[object, float, int]] = {}
    while True:
        await asyncio.sleep(_PACE)
        for one in overdue(connections, since, time.monotonic()):
            one.transport.abort()


def overdue(connections: Iterable[Any], since: dict[Any, tuple[object, float, int]], now: float) -> Iterator[Any]:
    """Those of the connections, websockets among them, on which nothing has happened for too long at `now`, in seconds.
    `since` keeps for the next call what each waits for, since when, and the bytes that had come by then.
    """
    before = dict(since)
    since.clear()
    for one in [*connections]:
        waits, seconds = one.waits() if isinstance(one, Bounded) else (None, 0.0)
        if one.transport.is_closing():
            waits, seconds = "the end", STUCK_SECONDS
        if waits is None:
            continue
        received = one.received if isinstance(one, Bounded) else 0
        then = before.get(one)
        since[one] = then if then is not None and then[0] == waits else (waits, now, received)
        if now - since[one][1] > seconds + (received - since[one][2]) / BYTES_A_SECOND:
            yield one
