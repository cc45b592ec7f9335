"""The listener for the phones of a class on a person's own machine: on the local network it serves what a phone needs,
and nothing else. The app itself stays on loopback and is not hosted.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from core import policy
from core.errors import ExplainError
from pages import connections
from pages.middleware import Door


class NotOpenedError(ExplainError):
    """Phones cannot be let in; the message says why, and what to do."""


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the app's server."""
        yield


_shutdown = uvicorn.Server.shutdown


async def _stopped(server: uvicorn.Server, sockets: list[socket.socket] | None = None) -> None:
    """Close the listener as soon as the app's server begins to stop, which may then wait for open pages."""
    if not isinstance(server, _Server):
        await close()
    await _shutdown(server, sockets)


_open: dict[str, tuple[_Server, asyncio.Task[None]]] = {}
"""The listener by its address; at most one."""


def address(port: int) -> str:
    """Return where phones may reach a class, as `host:port`: on the port after the app's own `port`. An empty string if
    the app is hosted, or if this machine is in no network.
    """
    if policy.is_hosted():
        return ""
    host = policy.class_address()
    if not host:
        # Connecting a UDP socket sends nothing: the system only chooses the address from which it would send.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unsent, suppress(OSError):
            unsent.connect(("192.0.2.1", 9))
            host = unsent.getsockname()[0]
    return f"{host}:{port + 1}" if host and host not in policy.LOOPBACK else ""


def is_open(place: str) -> bool:
    """Whether phones reach a class at that `host:port`."""
    return place in _open


async def let_in(place: str, routes: Sequence[BaseRoute]) -> None:
    """Serve `routes` at that `host:port`, and nowhere else from now on. Raises NotOpenedError."""
    if is_open(place):
        return
    host, _, port = place.rpartition(":")
    if not host:
        raise NotOpenedError(
            "This computer is in no network. Connect it to the one that the phones are in, then try again."
        )
    listener = socket.socket(socket.AF_INET)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, int(port)))
        listener.listen()
    except (OSError, OverflowError):
        listener.close()
        raise NotOpenedError(
            f"Phones cannot be let in at {place}: another program uses it, or this computer does not have this "
            "address. Close the other program, or start the app on another port, then try again."
        ) from None
    connections.bound()
    app = Starlette(routes=[*routes], middleware=[Middleware(Door, phones_at=host)])
    app.router.redirect_slashes = False
    server = _Server(
        uvicorn.Config(
            app,
            lifespan="off",
            ws="none",
            proxy_headers=False,
            server_header=False,
            access_log=False,
            log_config=None,
        )
    )
    uvicorn.Server.shutdown = _stopped  # type: ignore[method-assign, assignment]
    _open[place] = server, asyncio.create_task(server.serve([listener]))
    await close(but=place)


async def close(but: str = "") -> None:
    """Close the listener, unless it is the one at that place."""
    for place in {*_open} - {but}:
        server, serving = _open.pop(place)
        # Phones hold streams that end only with their connection.
        server.should_exit = server.force_exit = True
        await asyncio.wait([serving])
        for one in [*server.server_state.connections]:
            one.transport.abort()
