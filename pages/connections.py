"""Limits on the connections of a hosted app: how many this process keeps open, and how soon it ends one that stalls.

uvicorn waits for a request for any length of time, and accepts connections until this process can open no more files;
then no journal can be written either. Streamlit starts uvicorn with fixed options, so `bound` changes the server as it
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

from core.server.usage import Places, network_of

UNFINISHED_SECONDS = 20.0
"""Seconds within which a request's headers must arrive, counted from the opening of the connection or the previous
reply; also the time for its body.
"""

BYTES_A_SECOND = 10_000
"""A body may take one second longer for each time this many bytes have arrived."""

STUCK_SECONDS = 30.0
"""Seconds for which the other side may read nothing of a reply, or may leave a closing connection open."""

MOST_FILES = 16_384
"""Files, including connections, that this process may open if the system allows as many."""

RESERVED_FILES = 640
"""How many of these files are reserved for journals, indexes and models, and for the 128 sessions that Streamlit keeps
for two minutes after their tabs were closed.
"""

IDLE = 128
"""Connections without a request for which there is always room."""

FILES_OF_TAB = 4
"""Files per tab: its connection, and the three files of the event loop that Streamlit opens for each session."""

_PACE = 1.0
"""Seconds between two checks of the connections."""

_BATCH = 8
"""Connections accepted in one turn of the event loop. Within four turns, a connection over the limit has been ended."""

_END = "end_connection"
"""Key in `scope["state"]` of a function that ends the connection."""

_files: int | None = None
"""Files that this process may open; None if connections are not limited."""

_idle: dict[str, dict[Bounded, None]] = {}
"""Connections without a request whose headers have arrived, by network, oldest first."""

_watching: set[asyncio.Task[None]] = set()


def _most() -> int | None:
    """Return how many files connections may use."""
    return None if _files is None else _files - min(RESERVED_FILES, _files // 2)


def _most_with_request() -> int | None:
    most = _most()
    return None if most is None or _files is None else most - min(IDLE, _files // 8)


CONNECTIONS = Places(_most_with_request)
"""Places for tabs, counted by the files that each uses, and for requests that are being answered."""


def end_of(scope: Mapping[str, Any]) -> Callable[[], None]:
    """Return a function that ends the request's connection; it does nothing if connections are not limited."""
    end: Callable[[], None] = scope.get("state", {}).get(_END, lambda: None)
    return end


def bound() -> None:
    """Make the servers of this process that have not started yet limit their connections, and raise the number of files
    that the process may open as far as the system allows.
    """
    global _files
    if _files is not None:
        return
    _files = _raised()
    start = uvicorn.Server.startup

    async def startup(server: uvicorn.Server, sockets: list[socket] | None = None) -> None:
        queue = server.config.backlog
        server.config.http_protocol_class, server.config.backlog = Bounded, _BATCH
        await start(server, sockets)
        for one in sockets or ():
            # asyncio made the system's queue as short as a batch, but a whole class may arrive at the same time.
            one.listen(queue)
        _watching.add(asyncio.create_task(_watch(server.server_state.connections)))

    uvicorn.Server.startup = startup  # type: ignore[method-assign, assignment]


def _raised() -> int:
    """Raise the number of files that this process may open, and return it; at most `MOST_FILES`."""
    try:
        import resource
    except ImportError:
        # Not available on Windows.
        return MOST_FILES
    soft, hard = (
        MOST_FILES if one == resource.RLIM_INFINITY else one for one in resource.getrlimit(resource.RLIMIT_NOFILE)
    )
    if soft < (wanted := min(hard, MOST_FILES)):
        # Some systems have a lower limit than they report.
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
            soft = wanted
    return min(soft, MOST_FILES)


class Bounded(H11Protocol):
    """One connection. It counts as idle until the headers of a request have arrived, and after each reply. If too many
    are open, one is ended: the longest idle one of the network that has the most idle ones.
    """

    received = 0
    """Bytes received."""

    resumed = 0
    """How many times the other side has read enough of a reply for us to send more."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection, and end another if that is one too many."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, _END: transport.abort}
        self._is_idle(True)
        most = _most()
        if most is not None and sum(map(len, _idle.values())) + CONNECTIONS.in_use > most:
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
        """Return what the connection is waiting for from the other side (equal as long as it is the same thing), and
        for how many seconds at most. (None, 0.0) if it is not the other side's turn.
        """
        if self.flow.write_paused:
            return ("read", self.resumed), STUCK_SECONDS
        if self.conn.their_state is h11.IDLE:
            return ("headers", self.cycle), UNFINISHED_SECONDS
        # While the app does not read, nothing more can arrive.
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
    """Yield the connections, including websockets, on which nothing has happened for too long at time `now`, in
    seconds. `since` carries over to the next call what each one is waiting for, since when, and how many bytes had
    arrived by then.
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
