"""Sends one request to a server, and yields the pieces of its reply."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

from . import safe_http
from .reply import Reply

if TYPE_CHECKING:
    import httpx2
    import openai


class ReportedError(Exception):
    """A reply that reports an error with HTTP 200; `body` is that error."""

    def __init__(self, body: object) -> None:
        super().__init__("reported")
        self.body = body


class UnreadableReplyError(Exception):
    """The reply does not follow the API's description; the message says where, if that is known."""

    @classmethod
    def from_error(cls, error: Exception) -> UnreadableReplyError:
        """An Unreadable caused by `error`, with its message if it is an UnsafeResponseError."""
        unreadable = cls(str(error) if isinstance(error, safe_http.UnsafeResponseError) else "")
        unreadable.__cause__ = error
        return unreadable


async def pieces(
    client: openai.AsyncOpenAI, model: str, turns: list[dict[str, Any]], parameters: dict[str, Any], reply: Reply
) -> AsyncGenerator[str]:
    """Send the request, and yield each piece of text as it comes. Raises openai.OpenAIError, httpx2.TransportError,
    Reported and Unreadable.

    Leaving the generator early closes the connection, which tells the server to stop writing.
    """
    import httpx2
    import openai

    body = {**parameters, "model": model, "messages": turns}
    try:
        # As plain data in both directions: `chat.completions.create` walks through every turn of the request, and makes
        # an object with all that the API knows of every piece, which takes more time than the rest of a call.
        stream = await client.post(
            "/chat/completions", body=body, cast_to=object, stream=True, stream_cls=openai.AsyncStream[object]
        )
        async with stream:
            async for chunk in _chunks(stream.response, reply):
                yield reply.add_chunk(chunk)
                if reply.stopped:
                    break
            yield reply.finish()
    except (openai.OpenAIError, httpx2.TransportError, ReportedError):
        raise
    except Exception as error:  # any error from parsing the reply, here or in a library, is the sender's fault
        raise UnreadableReplyError.from_error(error) from error


async def _chunks(response: httpx2.Response, reply: Reply) -> AsyncGenerator[Any]:
    """The chunks of a stream, or the single whole reply; an event stream under another content type is recognised too.

    Raises ReportedError.
    """
    from openai._streaming import SSEDecoder

    source = response.aiter_bytes()
    if "event-stream" not in response.headers.get("content-type", ""):
        whole = await response.aread()
        if not whole.lstrip().startswith((b"data:", b"event:", b"id:", b":")):
            yield _checked(json.loads(whole))
            return
        source = _once(whole)
    # The package's own stream skips events of other names, and does not distinguish a [DONE] from a closed connection.
    async for event in SSEDecoder().aiter_bytes(source):
        if event.data.startswith("[DONE]"):
            reply.done = True
            return
        if not event.data.strip():
            continue
        chunk = json.loads(event.data)
        if event.event == "error":
            raise ReportedError(chunk)
        yield _checked(chunk)


def _checked(chunk: Any) -> Any:
    """The chunk, if it is not an error. Raises ReportedError for an error without choices."""
    if isinstance(chunk, list) and chunk and isinstance(chunk[0], dict) and "error" in chunk[0]:
        raise ReportedError(chunk)
    if isinstance(chunk, dict) and chunk.get("error") and not chunk.get("choices"):
        raise ReportedError(chunk["error"])
    return chunk


async def _once(whole: bytes) -> AsyncGenerator[bytes]:
    yield whole
