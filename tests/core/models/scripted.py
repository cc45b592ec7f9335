"""A server that gives its replies in turn, as raw as a test needs them, for everything that `StubServer` does too
properly.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response, StreamingResponse

from core.events import CallError, Message, ModelAnswer, Request, Sampling
from core.models.connection import Connection, Traits
from core.models.endpoint import Endpoint
from tests.support.stub_server import StubServer

Body = dict[str, Any]
Replies = Callable[[Body, int], Response]
"""The reply to a request by its body and number (from 1)."""


class RawServer(StubServer):
    """`replies` gives the whole HTTP response; the rest is `StubServer`'s."""

    def __init__(self, replies: Replies, **more: Any) -> None:
        super().__init__(**more)
        self._replies = replies
        self.bodies: list[Body] = []

    async def _chat(self, request: HttpRequest) -> Response:
        self.bodies.append(body := await request.json())
        return self._replies(body, len(self.bodies))


def chunk(content: Any = None, finish: str | None = None, **delta: Any) -> Body:
    """One chunk of a stream."""
    given = {"content": content, **delta} if content is not None else delta
    return {"choices": [{"index": 0, "delta": given, "finish_reason": finish}]}


def usage(**counted: Any) -> Body:
    """The last chunk, with the tokens."""
    return {"choices": [], "usage": counted}


def stream(*chunks: Body | str, done: bool = True, media: str = "text/event-stream") -> Response:
    """A stream of chunks; a string is sent unchanged."""
    lines = [one if isinstance(one, str) else f"data: {json.dumps(one)}\n\n" for one in chunks]
    return StreamingResponse(iter(lines + ["data: [DONE]\n\n"] * done), media_type=media)


def says(text: str, finish: str | None = "stop") -> Response:
    """An ordinary answer."""
    return stream(chunk(text), chunk(finish=finish))


def whole(content: Any, finish: str = "stop", **message: Any) -> Response:
    """An answer in one piece, without streaming."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    return JSONResponse({"choices": [choice]})


def refuses(message: str, http: int = 400, as_list: bool = False, **more: Any) -> Response:
    """An error body in OpenAI's format, or in Gemini's."""
    error = {"error": {"message": message, **more}}
    return JSONResponse([error] if as_list else error, http)


class Outcome(NamedTuple):
    """The result of several calls in a row: the last answer or failure, the requests, and what was learned."""

    answer: ModelAnswer | None
    failure: CallError | None
    bodies: list[Body]
    traits: Traits

    @property
    def text(self) -> str:
        """The answer's text. Raises AssertionError if there is none."""
        assert self.answer is not None, self.failure
        return self.answer.text


def outcome(
    replies: Replies,
    *,
    messages: Sequence[tuple[str, str]] = (("user", "Can a penguin fly?"),),
    times: int = 1,
    config: Body | None = None,
    **sampling: Any,
) -> Outcome:
    """Ask `times` times, one after the other, over one connection."""
    turns = tuple(Message(role=role, content=content) for role, content in messages)  # type: ignore[arg-type]
    request = Request(role="explainer", model="stub/m", messages=turns, sampling=Sampling(**sampling))
    answer: ModelAnswer | None = None
    failed: CallError | None = None
    with RawServer(replies) as server:
        connection = Connection(server.config(**(config or {})))

        async def go() -> None:
            nonlocal answer, failed
            for _ in range(times):
                answer = failed = None
                try:
                    answer = await Endpoint(connection, "m").answer(request, lambda piece: None)
                except CallError as error:
                    failed = error
            await connection.close()

        asyncio.run(go())
        return Outcome(answer, failed, server.bodies, connection.traits("m"))  # type: ignore[attr-defined]
