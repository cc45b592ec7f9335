"""A server in this process closes idle connections after a short time, and keeps the others."""

import asyncio
import resource
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import uvicorn

from pages import connections
from tests.support.waiting import loop_turns, until_true

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20000\r\n\r\n"
BIG = 16_000_000


@pytest.fixture(autouse=True)
def bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let servers have 64 files open, with only the test checking their connections."""
    monkeypatch.setattr(connections, "_files", None)
    monkeypatch.setattr(connections, "_raised", lambda: 64)
    monkeypatch.setattr(connections, "_PACE", 600.0)
    monkeypatch.setattr(uvicorn.Server, "startup", uvicorn.Server.startup)


async def answer(scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]) -> None:
    """Read the whole request; send a large reply at /big, and at /slow wait until it is released."""
    while (await receive()).get("more_body"):
        pass
    if scope["path"] == "/slow":
        await until_true(lambda: released)
    body = b"x" * (BIG if scope["path"] == "/big" else 2)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


released: set[str] = set()
Opened = Callable[[bytes], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


@asynccontextmanager
async def served() -> AsyncIterator[tuple[Opened, uvicorn.Server]]:
    """`opened(data)` connects and sends the data."""
    released.clear()
    connections.bound()
    config = uvicorn.Config(answer, lifespan="off", log_level="critical", timeout_keep_alive=60)
    server = uvicorn.Server(config)
    config.load()
    server.lifespan = config.lifespan_class(config)
    listening = uvicorn.Config(answer, port=0, log_level="critical").bind_socket()
    await server.startup([listening])

    async def opened(data: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", listening.getsockname()[1])
        writer.write(data)
        return reader, writer

    try:
        yield opened, server
    finally:
        for task in connections._watching:
            task.cancel()
        connections._watching.clear()
        for one in [*server.server_state.connections]:
            one.transport.abort()
        for task in server.server_state.tasks:
            task.cancel()
        await server.shutdown([listening])


class Clock:
    """Checks the connections of a server at a chosen time, in seconds."""

    def __init__(self, server: uvicorn.Server) -> None:
        self._connections = server.server_state.connections
        self._since: dict[Any, tuple[object, float, int]] = {}

    def ends(self, now: float) -> int:
        """The number of connections that are closed at that time."""
        ended = [*connections.overdue(self._connections, self._since, now)]
        for one in ended:
            one.transport.abort()
        return len(ended)


async def received(server: uvicorn.Server, number: int) -> None:
    """Wait until `number` bytes have arrived on the only connection."""
    await until_true(lambda: [one.received for one in server.server_state.connections] == [number])


@pytest.mark.parametrize(
    "data",
    [b"", b"G", GET, GET + b"X: " + b"x" * 1_000, POST, POST + b"x", GET + b"\r\n" + GET, GET + b"\r\n" + POST],
    ids=["silent", "a letter", "headers", "long headers", "no body", "half a body", "second headers", "second body"],
)
def test_what_is_unfinished_is_ended_after_seconds(data: bytes) -> None:
    async def main() -> None:
        async with served() as (opened, server):
            reader, writer = await opened(data)
            await received(server, len(data))
            await loop_turns()
            clock = Clock(server)
            assert [clock.ends(now) for now in (0.0, 19.0, 20.5)] == [0, 0, 1]
            with suppress(ConnectionError):
                await asyncio.wait_for(reader.read(), 20)
            writer.close()

    asyncio.run(main())


def test_headers_that_come_letter_by_letter_are_ended_too() -> None:
    async def main() -> None:
        async with served() as (opened, server):
            _, writer = await opened(b"")
            clock, ended = Clock(server), []
            await until_true(lambda: server.server_state.connections)
            for second, letter in enumerate(GET[:22]):
                ended.append(clock.ends(second))
                if not any(ended):
                    writer.write(bytes([letter]))
                    await received(server, second + 1)
            assert ended == [0] * 21 + [1]

    asyncio.run(main())


def test_a_body_that_goes_on_and_a_reply_that_takes_long_are_waited_for() -> None:
    async def main() -> None:
        async with served() as (opened, server):
            _, writer = await opened(POST)
            clock = Clock(server)
            await received(server, len(POST))
            assert clock.ends(0.0) == 0
            writer.write(b"x" * 19_000)
            await received(server, len(POST) + 19_000)
            assert clock.ends(21.8) == 0 and clock.ends(22.1) == 1
            _, slow = await opened(GET.replace(b"/ ", b"/slow ") + b"\r\n")
            await until_true(lambda: server.server_state.tasks)
            assert clock.ends(30.0) == clock.ends(2_000.0) == 0
            slow.close()

    asyncio.run(main())


def test_one_that_asks_again_and_again_is_not_ended() -> None:
    async def main() -> None:
        async with served() as (opened, server):
            reader, writer = await opened(b"")
            clock = Clock(server)
            for second in range(0, 80, 16):
                assert clock.ends(second) == 0
                writer.write(GET + b"\r\n")
                await asyncio.wait_for(reader.readuntil(b"\r\n\r\nxx"), 20)

    asyncio.run(main())


def test_a_reply_that_nobody_reads_is_ended() -> None:
    async def main() -> None:
        async with served() as (opened, server):
            reader, writer = await opened(GET.replace(b"/ ", b"/big ") + b"\r\n")
            await reader.readline()
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            clock = Clock(server)
            assert [clock.ends(now) for now in (0.0, 29.0, 31.0)] == [0, 0, 1]

    asyncio.run(main())


def test_a_server_ends_them_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "UNFINISHED_SECONDS", 0.05)
    monkeypatch.setattr(connections, "_PACE", 0.01)

    async def main() -> None:
        async with served() as (opened, _):
            reader, writer = await opened(b"")
            with suppress(ConnectionError):
                assert await asyncio.wait_for(reader.read(), 20) == b""
            writer.close()

    asyncio.run(main())


def test_where_too_many_are_open_the_longest_idle_is_ended_and_none_with_a_request() -> None:
    async def main() -> None:
        async with served() as (opened, server):
            assert (connections._most(), connections._most_with_request()) == (32, 24)
            busy, _ = held = await opened(GET.replace(b"/ ", b"/slow ") + b"\r\n")
            await until_true(lambda: server.server_state.tasks)
            idle = [await opened(b"") for _ in range(100)]
            await until_true(lambda: len(server.server_state.connections) <= 33)
            newcomer, writer = await opened(GET + b"\r\n")
            released.add("/slow")
            for one in (newcomer, busy):
                assert (await asyncio.wait_for(one.readline(), 20)).startswith(b"HTTP/1.1 200")
            with suppress(ConnectionError):
                assert await asyncio.wait_for(idle[0][0].read(), 20) == b""
            assert not idle[-1][0].at_eof()
            for _, one in (*idle, held, (newcomer, writer)):
                one.close()  # type: ignore[attr-defined]

    asyncio.run(main())


def test_as_many_files_may_be_open_as_the_system_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Not lower than the number of files this process has open: other tests run in it.
    lower = min(512, soft)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lower, hard))
    try:
        wanted = connections.MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, connections.MOST_FILES)
        assert connections._raised() == resource.getrlimit(resource.RLIMIT_NOFILE)[0] == wanted
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
