"""Limits what a server may send, counted after decompression, and ensures that it comes from the server that was
asked.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import zlib
from collections.abc import AsyncIterator
from functools import cache
from typing import TYPE_CHECKING, Any

from ..errors import ExplainError

if TYPE_CHECKING:
    import ssl

    import httpx2

LONGEST_REPLY = 2 * 1024 * 1024
"""The most bytes of an unstreamed reply, a list of models, the body of an error, or one event of a stream."""

LONGEST_STREAM = 16 * 1024 * 1024
"""The most bytes of a streamed answer: a token takes some 300, with its envelope, and much of a stream may be thinking.
"""

MOST_LINES = 1_000
"""The most lines of one event of a stream; they are joined one by one."""

ACCEPTED = "gzip, deflate"
"""Encodings that can be decompressed bit by bit, so that a small reply cannot become a large one in one step."""


class UnsafeResponseError(ExplainError):
    """A reply that is not read any further; the message completes "it gave a reply that cannot be read: …"."""


class NotPublicError(UnsafeResponseError):
    """An address that a visitor may not use; the message says why and what to do."""


@cache
def certificates(trust_env: bool) -> ssl.SSLContext:
    """The trusted certificates, shared by all clients since reading them takes 20 ms. `trust_env`: whether environment
    variables may change them.
    """
    import httpx2

    return httpx2.create_ssl_context(trust_env=trust_env)


def public_transport() -> httpx2.AsyncBaseTransport:
    """A transport that sends requests only to public addresses: a name is looked up and checked here, and then asked by
    its IP address, so that it cannot lead elsewhere between the check and the connection.
    """
    import httpx2

    class PublicOnly(httpx2.AsyncBaseTransport):
        def __init__(self) -> None:
            self._carrier = httpx2.AsyncHTTPTransport(verify=certificates(trust_env=False), trust_env=False)

        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            host = request.url.host
            try:
                address = await _public_address(host, request.url.port or 443)
            except OSError as error:
                raise httpx2.ConnectError(str(error)) from error
            # The certificate has to match the name.
            extensions = {**request.extensions, "sni_hostname": host}
            sent = httpx2.Request(
                request.method,
                request.url.copy_with(host=address),
                headers=request.headers,
                stream=request.stream,
                extensions=extensions,
            )
            return await self._carrier.handle_async_request(sent)

        async def aclose(self) -> None:
            await self._carrier.aclose()

    return PublicOnly()


async def _public_address(host: str, port: int) -> str:
    """The first address of `host`, if all its addresses are public. Raises NotPublicError, OSError if it has none."""
    resolved = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(address[0]) for *_, address in resolved]
    if not all(map(is_public, addresses)):
        raise NotPublicError(
            "On this host visitors can connect only servers on the public internet. Ask the host to add this one."
        )
    return addresses[0]


def is_public(address: str) -> bool:
    """Whether an IP address is on the public internet, also if it is embedded in another address."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is None and ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
        if ip.is_site_local:
            return False
    exceptions = (one for one in _NOT_PUBLIC if one.version == ip.version)
    return ip.is_global and not ip.is_multicast and not ip.is_reserved and not any(ip in one for one in exceptions)


_NAT64 = ipaddress.ip_network("64:ff9b::/96")

_NOT_PUBLIC = tuple(
    map(
        ipaddress.ip_network,
        (
            "64:ff9b:1::/48",  # local-use NAT64, RFC 8215
            "::/96",  # IPv4-compatible, RFC 4291
            "::ffff:0:0:0/96",  # IPv4-translated, RFC 2765
            "100::/64",  # discarded, RFC 6666
            "2001::/23",  # protocols of IETF, RFC 2928
            "3fff::/20",  # documentation, RFC 9637
            "5f00::/16",  # segment routing, RFC 9602
            "192.0.0.0/24",  # protocols of IETF, RFC 6890
            "192.88.99.0/24",  # relays of 6to4, RFC 7526
        ),
    )
)
"""Networks that are not public, though `ipaddress` of some Python versions counts them as global."""


def hooks(server: httpx2.URL) -> dict[str, list[Any]]:
    """The hooks that an httpx2 client has to call for each request to and response from a `server` (`event_hooks`),
    which is a scheme, name and port. Another port of the same machine is another server, and gets no key.
    """

    def origin(url: httpx2.URL) -> tuple[str, str, int]:
        return url.scheme, url.host, url.port or (443 if url.scheme == "https" else 80)

    async def leaving(request: httpx2.Request) -> None:
        if origin(request.url) != origin(server):
            to, port, what = request.url.host[:100], origin(request.url)[2], "machine"
            if to == server.host:
                to, what = f"port {port} of {to}", "server"
            raise UnsafeResponseError(f"it sends us on to {to}, another {what}")

    async def arriving(response: httpx2.Response) -> None:
        response.stream = _counted(response)

    return {"request": [leaving], "response": [arriving]}


def _counted(response: httpx2.Response) -> httpx2.AsyncByteStream:
    import httpx2

    encoding = response.headers.pop("content-encoding", "identity").strip().lower()
    is_stream = response.is_success and "event-stream" in response.headers.get("content-type", "")
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    stream: httpx2.AsyncByteStream = response.stream

    class Counted(httpx2.AsyncByteStream):
        """The reply's bytes, decompressed. Raises UnsafeResponseError if there are too many."""

        async def __aiter__(self) -> AsyncIterator[bytes]:
            limit = LONGEST_STREAM if is_stream else LONGEST_REPLY
            event = _Event() if is_stream else None
            async for piece in _plain(stream, encoding, limit):
                if event is not None:
                    event.count(piece)
                yield piece

        async def aclose(self) -> None:
            await stream.aclose()

    return Counted()


async def _plain(stream: httpx2.AsyncByteStream, encoding: str, limit: int) -> AsyncIterator[bytes]:
    """`stream` decompressed, at most `limit` bytes of it."""
    if encoding not in ("identity", "", "gzip", "x-gzip", "deflate"):
        raise UnsafeResponseError(f"it is compressed as {encoding[:40]}, which was not asked for")
    # 47: gzip or zlib, whatever the header says.
    undo = zlib.decompressobj(47) if encoding not in ("identity", "") else None
    left = limit
    async for piece in stream:
        if undo is not None:
            try:
                piece = undo.decompress(piece, left + 1)
            except zlib.error:
                raise UnsafeResponseError("its compression is broken") from None
        left -= len(piece)
        if left < 0:
            raise UnsafeResponseError(f"it is longer than {limit // 1024**2} MB")
        yield piece


class _Event:
    """The length of the current event of a stream."""

    def __init__(self) -> None:
        self._bytes = 0
        self._lines = 0
        self._end = b""

    def count(self, piece: bytes) -> None:
        """Count the next piece. Raises UnsafeResponseError if the event has become too long."""
        plain = self._end + piece.replace(b"\r", b"")
        _, ended, rest = plain.rpartition(b"\n\n")
        added = rest if ended else plain[len(self._end) :]
        if ended:
            self._bytes = self._lines = 0
        self._bytes += len(added)
        self._lines += added.count(b"\n")
        self._end = plain[-1:]
        if self._bytes > LONGEST_REPLY or self._lines > MOST_LINES:
            raise UnsafeResponseError("one piece of its answer does not end")
