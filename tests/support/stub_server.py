"""A scripted server that speaks the OpenAI API on loopback, with faults on demand.

with StubServer("Yes.", faults={2: Fault("rate_limited", wait=0.1)}) as server:
    config = server.config()
    ...
    assert server.count == 3
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from core.models.settings import EndpointConfig

Kind = Literal[
    "wrong_key",  # 401
    "forbidden",  # 403
    "no_model",  # 404
    "rate_limited",  # 429, Retry-After where `wait` is given
    "no_credit",  # 429 insufficient_quota
    "server_error",  # 500
    "bad_gateway",  # 502 with a page of HTML
    "refuses",  # 400 that names the parameter `words`
    "bad_request",  # 400 with `words` as its message
    "too_long",  # 400 context_length_exceeded
    "filtered",  # 400 content_filter
    "filtered_answer",  # finish_reason content_filter
    "empty",  # white space, and a proper end
    "stall",  # nothing, not even headers
    "stall_midway",  # some text, then nothing
    "cut",  # some text, then the connection breaks
    "unfinished",  # some text, then a proper end of the stream without finish_reason
    "error_midway",  # some text, then an error as a chunk
    "broken_json",  # a chunk that is not JSON
    "wrong_shape",  # JSON of another kind
    "html",  # 200 and a page
    "echo_key",  # 401 that repeats the Authorization header, in body and headers
    "answer_key",  # an answer that repeats the key
]


@dataclass(frozen=True)
class Fault:
    kind: Kind
    wait: float | None = None
    words: str = ""


@dataclass(frozen=True)
class Seen:
    """One chat request as it arrived; `number` counts from 1."""

    number: int
    body: dict[str, Any]
    headers: dict[str, str]
    at: float

    @property
    def question(self) -> str:
        return str(self.body["messages"][-1]["content"])


@dataclass(frozen=True)
class Calls:
    """An answer that makes tool calls, each as (name, arguments).

    `numbered`: "each" as OpenAI does; "zero" gives all the index 0 and ids of their own; "not" gives no index; "whole"
    sends no pieces; "no ids" leaves the ids empty.
    """

    calls: tuple[tuple[str, str], ...]
    text: str = ""
    numbered: Literal["each", "zero", "not", "whole", "no ids"] = "each"

    def tool_calls(self) -> list[dict[str, Any]]:
        return [
            {
                "id": "" if self.numbered == "no ids" else f"call_{place}x",
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for place, (name, arguments) in enumerate(self.calls)
        ]

    def pieces(self) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        for place, call in enumerate(self.tool_calls()):
            index = {} if self.numbered == "not" else {"index": 0 if self.numbered == "zero" else place}
            if self.numbered == "whole":
                made.append({**index, **call})
                continue
            function = call["function"]
            made.append({**index, **call, "function": {"name": function["name"], "arguments": ""}})
            for piece in re.findall(r".{1,4}", function["arguments"], re.DOTALL):
                made.append({**index, "function": {"arguments": piece}})
        return made


Reply = str | Calls | Sequence[tuple[str, str]] | Callable[[dict[str, Any]], str | Calls]


class StubServer:
    """A context manager. `reply` is the answer to every request; or (regex, answer) pairs tried in order on the text of
    all messages; or a function of the request's body.

    `faults` maps request numbers (from 1) to faults; `always` is the fault of every other request; `faulty` gives the
    fault for a request's body and is tried before both. `delay` passes before an answer begins, `pause` between its
    pieces, both in seconds; `delay` may depend on the request's body. An answer waits as long as `held` is true of its
    request. With `honour_stop=False` stop sequences are ignored; `refused` parameters get a 400 that names them;
    `streams=False` always answers in one piece. `port` 0 means a free one. `listing` replaces the list of `models`.
    """

    def __init__(
        self,
        reply: Reply = "Yes.",
        *,
        models: Sequence[str] = ("stub-model",),
        faults: Mapping[int, Fault] | None = None,
        always: Fault | None = None,
        faulty: Callable[[dict[str, Any]], Fault | None] = lambda body: None,
        key: str | None = None,
        delay: float | Callable[[dict[str, Any]], float] = 0.0,
        pause: float = 0.0,
        held: Callable[[dict[str, Any]], bool] = lambda body: False,
        honour_stop: bool = True,
        refused: Sequence[str] = (),
        streams: bool = True,
        port: int = 0,
        listing: Callable[[Request], Response] | None = None,
    ) -> None:
        self.reply = reply
        self.listing = listing
        self.models = list(models)
        self.faults = dict(faults or {})
        self.always = always
        self.faulty = faulty
        self.key = key
        self.delay = delay
        self.pause = pause
        self.held = held
        self.honour_stop = honour_stop
        self.refused = list(refused)
        self.streams = streams
        self.seen: list[Seen] = []
        self.listings = 0
        self.disconnects = 0
        self.at_once = 0
        self.most_at_once = 0
        self._ending = threading.Event()
        # Without this, each answer waits some 40 ms: asyncio sends immediately only if a socket says that it is TCP.
        self._socket = socket.socket()
        # Lets a stopped server start again at the same port.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", port))
        self.port: int = self._socket.getsockname()[1]
        app = Starlette(
            routes=[
                Route("/v1/models", self._list),
                Route("/v1/chat/completions", self._chat, methods=["POST"]),
            ]
        )
        self._server = uvicorn.Server(
            uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=2)
        )
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, name="stub server", daemon=True
        )

    def __enter__(self) -> StubServer:
        self._thread.start()
        while not self._server.started:
            if not self._thread.is_alive():
                raise RuntimeError("the stub server did not start")
            time.sleep(0.005)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.set()
        self._server.should_exit = True
        self._thread.join(timeout=10)
        self._socket.close()
        assert not self._thread.is_alive(), "the stub server did not stop"

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def count(self) -> int:
        """The number of chat requests so far."""
        return len(self.seen)

    def config(self, **changes: Any) -> EndpointConfig:
        """Settings to reach this server quickly: short time limit, hardly any wait before a retry."""
        settings: dict[str, Any] = {"name": "stub", "base_url": self.base_url, "timeout": 10.0, "backoff": 0.01}
        return EndpointConfig(**settings | changes)

    async def _list(self, request: Request) -> Response:
        self.listings += 1
        if self.listing is not None:
            return self.listing(request)
        if self.always is not None and self.always.kind in ("stall", "html", "echo_key", "wrong_key", "server_error"):
            return await self._failed(self.always, request, {}, 0)
        if not self._authorized(request):
            return _error(401, "Incorrect API key provided.", "invalid_api_key")
        return JSONResponse({"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]})

    def _authorized(self, request: Request) -> bool:
        return self.key is None or request.headers.get("authorization") == f"Bearer {self.key}"

    async def _chat(self, request: Request) -> Response:
        body = await request.json()
        seen = Seen(len(self.seen) + 1, body, dict(request.headers), time.monotonic())
        self.seen.append(seen)
        if not self._authorized(request):
            return _error(401, "Incorrect API key provided.", "invalid_api_key")
        fault = self.faulty(body) or self.faults.get(seen.number, self.always)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        whole = False
        try:
            await asyncio.sleep(self.delay(body) if callable(self.delay) else self.delay)
            while self.held(body) and not self._ending.is_set():  # noqa: ASYNC110  another thread lets it go
                await asyncio.sleep(0.01)
            for name in self.refused:
                if name in body:
                    words = f"Unsupported parameter: '{name}' is not supported with this model."
                    return _error(400, words, "unsupported_parameter", param=name)
            if fault is not None and fault.kind not in _MIDWAY:
                return await self._failed(fault, request, body, seen.number)
            if body["model"] not in self.models:
                return _error(404, f"The model `{body['model']}` does not exist", "model_not_found")
            text, finish, calls = self._answer(body, fault)
            if not (self.streams and body.get("stream")):
                return JSONResponse(_whole(body, text, finish, calls))
            whole = True
            stream = self._stream(request, body, text, finish, calls, fault)
            return StreamingResponse(stream, media_type="text/event-stream")
        finally:
            if not whole:
                self.at_once -= 1

    def _answer(self, body: dict[str, Any], fault: Fault | None) -> tuple[str, str, Calls | None]:
        if callable(self.reply):
            reply = self.reply(body)
        elif isinstance(self.reply, str | Calls):
            reply = self.reply
        else:
            asked = "\n".join(str(turn["content"]) for turn in body["messages"])
            reply = next((answer for pattern, answer in self.reply if re.search(pattern, asked, re.DOTALL)), "")
        if isinstance(reply, Calls):
            return reply.text, "tool_calls", reply
        text = reply
        if fault is not None and fault.kind == "empty":
            return " \n", "stop", None
        if fault is not None and fault.kind == "answer_key":
            return f"Your key is {fault.words}, is it not?", "stop", None
        if fault is not None and fault.kind == "filtered_answer":
            return text, "content_filter", None
        if self.honour_stop:
            for stop in body.get("stop") or []:
                text = text.split(stop)[0]
        pieces = _split(text)
        limit = body.get("max_tokens") or body.get("max_completion_tokens") or 10**9
        return ("".join(pieces[:limit]), "length", None) if len(pieces) > limit else (text, "stop", None)

    async def _stream(
        self,
        request: Request,
        body: dict[str, Any],
        text: str,
        finish: str,
        calls: Calls | None,
        fault: Fault | None,
    ) -> AsyncIterator[str]:
        kind = fault.kind if fault is not None else None
        over = False
        try:
            pieces = _split(text) if text or calls is None else []
            for number, piece in enumerate(pieces):
                if number == 1 and kind in _MIDWAY_FAULTS:
                    if kind == "stall_midway":
                        await self._wait_until_left(request)
                        return
                    over = True
                    if kind == "cut":
                        raise ConnectionAbortedError
                    if kind == "error_midway":
                        error = {"message": fault.words if fault else "", "type": "server_error", "code": 500}
                        yield f"data: {json.dumps({'error': error})}\n\n"
                    if kind == "broken_json":
                        yield 'data: {"choices": [{"delta": {"conte\n\n'
                    if kind == "wrong_shape":
                        yield 'data: {"choices": "none", "usage": 7}\n\n'
                    return
                yield _chunk(body, {"delta": {"content": piece}, **_logprobs(body, [piece])})
                await asyncio.sleep(self.pause)
            for part in calls.pieces() if calls else []:
                yield _chunk(body, {"delta": {"tool_calls": [part]}})
            yield _chunk(body, {"delta": {}, "finish_reason": finish})
            if (body.get("stream_options") or {}).get("include_usage"):
                yield f"data: {json.dumps({'choices': [], 'usage': _usage(body, text)})}\n\n"
            yield "data: [DONE]\n\n"
            over = True
        finally:
            self.at_once -= 1
            self.disconnects += not over

    async def _wait_until_left(self, request: Request) -> None:
        while not self._ending.is_set() and not await request.is_disconnected():  # noqa: ASYNC110  the client's leaving is no event
            await asyncio.sleep(0.01)

    async def _failed(self, fault: Fault, request: Request, body: dict[str, Any], number: int) -> Response:
        authorization = request.headers.get("authorization", "")
        match fault.kind:
            case "wrong_key":
                return _error(401, "Incorrect API key provided.", "invalid_api_key")
            case "forbidden":
                return _error(403, "This key may not use this model.", "forbidden")
            case "no_model":
                return _error(404, f"The model `{body.get('model')}` does not exist", "model_not_found")
            case "rate_limited":
                headers = {} if fault.wait is None else {"Retry-After": f"{fault.wait:g}"}
                return _error(429, "Rate limit reached for requests", "rate_limit_exceeded", headers=headers)
            case "no_credit":
                return _error(429, "You exceeded your plan. Check billing.", "insufficient_quota")
            case "server_error":
                return _error(500, "Something broke inside.", "internal")
            case "bad_gateway":
                return HTMLResponse("<html><body>Bad gateway</body></html>", status_code=502)
            case "refuses":
                words = f"Unsupported parameter: '{fault.words}' is not supported with this model."
                return _error(400, words, "unsupported_parameter", param=fault.words)
            case "bad_request":
                return _error(400, fault.words, "invalid_request_error")
            case "too_long":
                words = "This model's maximum context length is 4096 tokens, your messages have 6031."
                return _error(400, words, "context_length_exceeded", param="messages")
            case "filtered":
                return _error(400, "The response was filtered by our content management policy.", "content_filter")
            case "html":
                return HTMLResponse("<!doctype html><html><body>Welcome to the router</body></html>")
            case "echo_key":
                words = f"Bad credentials in header 'Authorization: {authorization}'"
                headers = {"X-Your-Header": authorization, "WWW-Authenticate": f"Bearer realm={authorization!r}"}
                return _error(401, words, authorization, headers=headers)
            case "stall":
                await self._wait_until_left(request)
                self.disconnects += 1
                return PlainTextResponse("")
        raise AssertionError(fault.kind)


_MIDWAY_FAULTS = {"stall_midway", "cut", "unfinished", "error_midway", "broken_json", "wrong_shape"}
_MIDWAY = _MIDWAY_FAULTS | {"empty", "filtered_answer", "answer_key"}


def _split(text: str) -> list[str]:
    """Split a text as a tokenizer might: words with the space before them."""
    return re.findall(r"\s*\S+|\s+$", text) or [text]


def _error(
    status: int, message: str, code: str, *, param: str | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return JSONResponse({"error": error}, status_code=status, headers=headers)


def _usage(body: dict[str, Any], text: str) -> dict[str, int]:
    prompt = sum(len(_split(str(turn.get("content")))) for turn in body["messages"])
    return {"prompt_tokens": prompt, "completion_tokens": len(_split(text)), "total_tokens": 0}


def _logprobs(body: dict[str, Any], pieces: list[str]) -> dict[str, Any]:
    if not body.get("logprobs"):
        return {}
    others = [{"token": f" other{n}", "logprob": -2.0 - n} for n in range(body.get("top_logprobs", 0) - 1)]
    return {
        "logprobs": {
            "content": [
                {"token": piece, "logprob": -0.25, "top_logprobs": [{"token": piece, "logprob": -0.25}, *others]}
                for piece in pieces
            ]
        }
    }


def _chunk(body: dict[str, Any], choice: dict[str, Any]) -> str:
    chunk = {"id": "stub", "object": "chat.completion.chunk", "model": body["model"]}
    return f"data: {json.dumps({**chunk, 'choices': [{'index': 0, 'finish_reason': None, **choice}]})}\n\n"


def _whole(body: dict[str, Any], text: str, finish: str, calls: Calls | None) -> dict[str, Any]:
    choice = {
        "index": 0,
        "finish_reason": finish,
        "message": {
            "role": "assistant",
            "content": text or None,
            **({"tool_calls": calls.tool_calls()} if calls else {}),
        },
        **_logprobs(body, _split(text)),
    }
    return {"id": "stub", "object": "chat.completion", "model": body["model"], "choices": [choice]} | {
        "usage": _usage(body, text)
    }
