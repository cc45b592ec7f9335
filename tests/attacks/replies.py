"""A loopback server that answers every request with chosen bytes, and a choice of such bytes."""

import json
import socket
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import repeat

Bytes = bytes | Callable[[], Iterable[bytes]]


@contextmanager
def raw_server(reply: Bytes) -> Iterator[int]:
    """Start the server and give its port. Each connection is read up to the end of one request, gets `reply` and is
    closed.
    """
    listening = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection:
            connection.settimeout(10)
            try:
                asked = b""
                while b"\r\n\r\n" not in asked:
                    if not (piece := connection.recv(65536)):
                        return
                    asked += piece
                for part in [reply] if isinstance(reply, bytes) else reply():
                    connection.sendall(part)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass
            except OSError:
                pass

    def listen() -> None:
        while True:
            connection, _ = listening.accept()
            if over.is_set():
                return connection.close()
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        over.set()
        socket.create_connection(listening.getsockname()).close()
        thread.join()
        listening.close()


def head(kind: str = "application/json", status: str = "200 OK", *more: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", "Connection: close", *more]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def whole(**choice: object) -> bytes:
    """An answer in one piece; `choice` replaces parts of it."""
    said = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Yes."}, **choice}
    return head() + json.dumps({"choices": [said]}).encode()


def streamed(*chunks: object) -> bytes:
    lines = [f"data: {chunk if isinstance(chunk, str) else json.dumps(chunk)}\n\n" for chunk in chunks]
    return head("text/event-stream") + "".join(lines).encode()


def delta(text: object, **choice: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "finish_reason": None, "delta": {"content": text}, **choice}]}


MB = b"a" * 2**20


def endless(first: bytes, then: bytes) -> Callable[[], Iterator[bytes]]:
    def parts() -> Iterator[bytes]:
        yield first
        yield from repeat(then)

    return parts


def bomb(kind: str, status: str) -> Callable[[], Iterator[bytes]]:
    """A body that is small, and 200 MB once it is decompressed; made when it is sent."""

    def parts() -> Iterator[bytes]:
        yield head(kind, status, "Content-Encoding: gzip")
        squeeze = zlib.compressobj(level=1, wbits=31)
        yield squeeze.compress(b'{"choices": "')
        yield from (squeeze.compress(MB) for _ in range(200))
        yield squeeze.flush()

    return parts


DEEP = "[" * 100_000 + "]" * 100_000

REPLIES: dict[str, Bytes] = {
    "JSON without end": endless(head() + b'{"choices": "', MB),
    "an error without end": endless(head(status="500 Oh"), MB),
    "a page without end": endless(head("text/html"), MB),
    "an event without end": endless(head("text/event-stream") + b"data: ", MB),
    "lines without end": endless(head("text/event-stream"), b"data: a\n" * 10_000),
    "comments without end": endless(head("text/event-stream"), b": still there\n\n" * 10_000),
    "thinking without end": endless(
        head("text/event-stream"),
        f'data: {{"choices":[{{"delta":{{"reasoning_content":"hm"}}}}],"id":"{"a" * 250}"}}\n\n'.encode() * 1000,
    ),
    "header without end": endless(b"HTTP/1.1 200 OK\r\n", b"X-A: " + b"a" * 1000 + b"\r\n"),
    "a bomb": bomb("application/json", "200 OK"),
    "a bomb as an error": bomb("application/json", "400 No"),
    "a bomb as a stream": bomb("text/event-stream", "200 OK"),
    "an encoding that was not asked for": head("application/json", "200 OK", "Content-Encoding: zstd") + b"\x28\xb5",
    "broken compression": head("application/json", "200 OK", "Content-Encoding: gzip") + b"\x1f\x8b\x08no",
    "a numeric reason": whole(finish_reason=7),
    "a reason that is a list": whole(finish_reason=["stop"]),
    "half a character": head() + b'{"choices": [{"finish_reason": "\\ud800", "message": {"content": "a\\ud800b"}}]}',
    "half a character in a token": whole(logprobs={"content": [{"token": "\ud800", "logprob": -1.0}]}),
    "half a character in a call": head()
    + b'{"choices": [{"finish_reason": "stop", "message": {"tool_calls": [{"id": "\\udfff", "function": '
    + b'{"name": "\\ud800", "arguments": {"a": "\\ud800"}}}]}}]}',
    "tokens that are no tokens": whole(logprobs={"content": [7, None]}),
    "numbers of tokens beyond counting": head()
    + b'{"choices": [{"finish_reason": "stop", "message": {"content": "Yes."}}], "usage": {"prompt_tokens": 1'
    + b"0" * 100
    + b', "completion_tokens": -1}}',
    "a number of 5,000 digits": head() + b'{"choices": 1' + b"0" * 5000 + b"}",
    "deep JSON": head() + DEEP.encode(),
    "deep JSON as a chunk": streamed(DEEP),
    "deep JSON as an error": head(status="400 No") + DEEP.encode(),
    "a choice that is none": head() + b'{"choices": [null]}',
    "text that is a number": whole(message={"content": 7}),
    "text that is a list": streamed(delta(["a"])),
    "calls that are none": whole(message={"tool_calls": 5}),
    "an index that is a list": streamed({"choices": [{"delta": {"tool_calls": [{"index": [], "function": {}}]}}]}),
    "nothing": b"",
    "no HTTP": b"\x00\xff\xfe" * 100,
    "nothing after the head": head(),
    "a length that lies": head("application/json", "200 OK", "Content-Length: 5") + b'{"choices": [',
    "elsewhere": head("text/plain", "307 Go", "Location: http://127.0.0.2:9/v1/chat/completions"),
    "another port": head("text/plain", "307 Go", "Location: http://127.0.0.1:9/v1/chat/completions"),
    "round in circles": head("text/plain", "307 Go", "Location: /v1/chat/completions"),
    "an address that is none": head("text/plain", "302 Go", "Location: http://["),
}
