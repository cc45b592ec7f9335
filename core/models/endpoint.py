"""Models behind any server that speaks the OpenAI API."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import threading
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from core.events import Answer, CallFailed, Message, OnText, Request
from core.models import faults, guard
from core.models.client import open_client
from core.models.errors import NoSuchModel, RateLimited, Refused
from core.models.listing import LISTING_TIMEOUT, listed_names
from core.models.reply import Reply
from core.models.settings import PRESETS, EndpointConfig
from core.models.throttle import Throttle
from core.runs.turns import Leave

if TYPE_CHECKING:
    import openai

__all__ = ["PRESETS", "Connection", "Endpoint", "EndpointConfig", "connect"]

log = logging.getLogger(__name__)

_LONGEST_WAIT = 8.0
"""Seconds between two tries, where the server does not say how long to wait."""

_SCHEMA = "response_format"
"""The parameter in which a JSON schema goes."""

_NEEDED = {"logprobs", "top_logprobs", "tools", "max_completion_tokens"}
"""Parameters without which a call is not what its caller needs. Any other is left out where a server refuses it."""


class Connection:
    """One endpoint, shared by all its models: its concurrency limit, and which parameters each model refuses.

    May be used from several event loops. Its callers take turns.
    """

    def __init__(self, config: EndpointConfig) -> None:
        self.config = config
        self.not_taken: dict[str, set[str]] = {}
        self.throttle = Throttle(*config.calls_at_once)
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, openai.AsyncOpenAI] = WeakKeyDictionary()

    def __repr__(self) -> str:
        return f"Connection({self.config.name!r}, {self.config.base_url!r})"

    def client(self) -> openai.AsyncOpenAI:
        """The client of the running loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = open_client(self.config)
        return self._clients[loop]

    async def close(self) -> None:
        """Close the running loop's connections."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()


_open: WeakValueDictionary[EndpointConfig, Connection] = WeakValueDictionary()
_opening = threading.Lock()


def connect(config: EndpointConfig) -> Connection:
    """The process's one connection with these settings, so that all callers share its limit."""
    with _opening:
        connection = _open.get(config)
        if connection is None:
            connection = _open[config] = Connection(config)
        return connection


class Endpoint:
    """One model of one endpoint. Its id is `<endpoint's name>/<model>`; `streams`: whether answers come piece by piece.

    Stop sequences are applied on this side as well, at the first one that occurs, for servers that ignore them;
    apart from that the text is what the server sent. A parameter that the server refuses by name is left out from
    then on for that model (`Connection.not_taken`), and the log says so.

    Raises the errors of core.models.errors.
    """

    def __init__(self, connection: Connection, model: str, streams: bool = True, leave: Leave | None = None) -> None:
        self.connection = connection
        self.model = model
        self.streams = streams
        self.id = f"{connection.config.name}/{model}"
        self._leave = leave or Leave()

    def __repr__(self) -> str:
        return f"Endpoint({self.id!r})"

    def under(self, leave: Leave) -> Endpoint:
        """The same model; each try of a call asks `leave` first, and a wait between tries ends when `leave` closes."""
        return Endpoint(self.connection, self.model, self.streams, leave)

    async def answer(self, request: Request, on_text: OnText) -> Answer:
        """Ask, once it is this call's turn. `seconds` are those of the try that succeeded."""
        client = self.connection.client()
        config = self.connection.config
        passed_on = _PassedOn(on_text)
        async with self.connection.throttle.turns.turn():
            # What the server wants to be waited for is no part of the call; nobody waits for hours.
            if (wait := self.connection.throttle.wait) > config.timeout:
                raise faults.still_refused(config, wait)
            await self.connection.throttle.open(self._leave)
            limit = asyncio.timeout(config.timeout)
            try:
                async with limit:
                    return await self._persist(client, request, passed_on)
            except TimeoutError:
                if not limit.expired():
                    raise
        raise faults.timed_out(config, began=passed_on.anything)

    async def _persist(self, client: openai.AsyncOpenAI, request: Request, passed_on: _PassedOn) -> Answer:
        """Try until it succeeds, fails for good, or a further wait would pass the time limit."""
        config = self.connection.config
        deadline = time.monotonic() + config.timeout
        tries = 0
        left_out: set[str] = set()
        while True:
            parameters = {name: value for name, value in self._parameters(request).items() if name not in left_out}
            sent = await self.connection.throttle.open(self._leave)
            outcome = await self._try(client, request, parameters, passed_on)
            if isinstance(outcome, Answer):
                self.connection.throttle.answered(sent)
                for name in left_out:
                    self._remember(name)
                return outcome.model_copy(update={"at_once": self.connection.throttle.at_once})
            if isinstance(outcome, str):
                self._remember(outcome)
                continue
            if type(outcome) is Refused and _SCHEMA in parameters:
                # It may be the schema, and the server does not name it: so it is, if it is well without.
                left_out.add(_SCHEMA)
                continue
            if isinstance(outcome, RateLimited) and outcome.may_pass:
                self.connection.throttle.refused(sent, outcome.wait)
            wait = _wait(outcome, tries, config.backoff)
            hopeless = not outcome.may_pass or passed_on.anything or tries >= config.retries
            if hopeless or time.monotonic() + wait > deadline:
                raise await self._completed(client, outcome)
            tries += 1
            log.info("%s: %s, try %d in %.1f s", self.id, type(outcome).__name__, tries + 1, wait)
            await self._leave.rest(wait)

    def _remember(self, parameter: str) -> None:
        self.connection.not_taken.setdefault(self.model, set()).add(parameter)
        log.warning("%s does not take %s; going on without it", self.id, parameter)

    async def _try(
        self, client: openai.AsyncOpenAI, request: Request, parameters: dict[str, Any], passed_on: _PassedOn
    ) -> Answer | CallFailed | str:
        """One call: its answer, its failure, or the name of a parameter that the server does not take."""
        import openai

        config = self.connection.config
        began = time.monotonic()
        reply = Reply(request.sampling.stop)
        try:
            async with aclosing(_pieces(client, self.model, request, parameters, reply)) as pieces:
                async for piece in pieces:
                    if len(config.secret) >= 12 and config.secret in reply.everything:
                        return faults.malformed(config, "the server repeated the key in its answer")
                    if piece:
                        reply.first = reply.first if reply.first is not None else time.monotonic() - began
                        passed_on(piece)
        except openai.APIStatusError as error:
            if refused := faults.refused_parameter(error, parameters.keys() - _NEEDED):
                return refused
            no_tools = faults.refused_tools(error, config, self.model) if _uses_tools(request) else None
            return no_tools or faults.of_error(error, config, self.model)
        except (openai.OpenAIError, _Unreadable) as error:
            return faults.of_error(error, config, self.model)
        failure = reply.failure(config)
        if failure is not None:
            return failure
        return Answer(
            text=reply.text,
            seconds=time.monotonic() - began,
            first_token_seconds=reply.first,
            usage=reply.usage,
            finish_reason=reply.finish_reason,
            logprobs=reply.logprobs or None,
            ended="cut" if reply.cut else reply.ended,
            tool_calls=reply.tool_calls(),
        )

    async def _completed(self, client: openai.AsyncOpenAI, failure: CallFailed) -> CallFailed:
        """`failure`; where the model is not there, with the names of those that are."""
        if not isinstance(failure, NoSuchModel):
            return failure
        config = self.connection.config
        try:
            async with asyncio.timeout(LISTING_TIMEOUT):
                names = await listed_names(client, config)
        except (CallFailed, TimeoutError):
            return failure
        return faults.no_such_model(config, self.model, names) if names else failure

    def _parameters(self, request: Request) -> dict[str, Any]:
        """What is sent besides model and messages: the settings, without those that this server refuses."""
        sampling = request.sampling
        preset = self.connection.config.known_server()
        penalty = preset.penalty if preset else "repetition_penalty"
        asked = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_tokens,
            "stop": list(sampling.stop[:4]) or None,
            "seed": sampling.seed,
            "logprobs": True if sampling.top_logprobs is not None else None,
            "top_logprobs": sampling.top_logprobs,
            "response_format": request.json_schema
            and {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": request.json_schema, "strict": True},
            },
            "tools": [{"type": "function", "function": tool.model_dump()} for tool in request.tools] or None,
            "top_k": sampling.top_k,
            penalty: sampling.repetition_penalty,
            "stream": self.streams or None,
            "stream_options": {"include_usage": True} if self.streams else None,
        }
        not_taken = self.connection.not_taken.get(self.model, set())
        sent = {name: value for name, value in asked.items() if value is not None and name not in not_taken}
        if "max_tokens" in not_taken:
            sent["max_completion_tokens"] = sampling.max_tokens
        if "stream" in not_taken:
            sent.pop("stream_options", None)
        return sent


class _PassedOn:
    """Passes pieces of text on, and remembers whether there were any: after the first a call is not tried again."""

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self.anything = False

    def __call__(self, piece: str) -> None:
        self.anything = True
        self._on_text(piece)


class _Unreadable(Exception):
    """The reply does not follow the API's description; the message says where, if that is known."""

    @classmethod
    def of(cls, error: Exception) -> _Unreadable:
        unreadable = cls(str(error) if isinstance(error, guard.Unsafe) else "")
        unreadable.__cause__ = error
        return unreadable


async def _pieces(
    client: openai.AsyncOpenAI, model: str, request: Request, parameters: dict[str, Any], reply: Reply
) -> AsyncGenerator[str]:
    """Send the request, and give each piece of text as it comes. Raises openai.OpenAIError and _Unreadable.

    Leaving it early closes the connection, which tells the server to stop writing.
    """
    import openai

    body = {**parameters, "model": model, "messages": [_turn(message) for message in request.messages]}
    try:
        # As plain data in both directions: `chat.completions.create` walks through every turn of the request, and makes
        # an object with all that the API knows of every piece, which takes more time than all the rest of a call.
        stream = await client.post(
            "/chat/completions", body=body, cast_to=object, stream=True, stream_cls=openai.AsyncStream[object]
        )
        async with stream:
            if "event-stream" not in stream.response.headers.get("content-type", ""):
                yield reply.take(json.loads(await stream.response.aread()))
                yield reply.end()
                return
            chunk: Any
            async for chunk in stream:
                yield reply.take(chunk)
                if reply.stopped:
                    break
            yield reply.end()
    except openai.OpenAIError:
        raise
    except Exception as error:  # whatever reading what was sent provokes, here or in the libraries, is the sender's
        raise _Unreadable.of(error) from error


def _turn(message: Message) -> dict[str, Any]:
    """A chat turn as the API has it."""
    turn = message.model_dump(exclude={"tool_calls"})
    if message.tool_calls:
        turn["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    return turn


def _uses_tools(request: Request) -> bool:
    return bool(request.tools) or any(message.role == "tool" for message in request.messages)


def _wait(failure: CallFailed, tries: int, backoff: float) -> float:
    """Seconds until the next try: what the server asked for, else doubling, with random jitter."""
    if isinstance(failure, RateLimited) and failure.wait is not None:
        return failure.wait
    return min(backoff * 2.0**tries, _LONGEST_WAIT) * random.uniform(0.75, 1.0)
