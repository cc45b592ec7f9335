"""Models behind any server that speaks the OpenAI API."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import time
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, NamedTuple

from ..events import CallError, Message, ModelAnswer, OnText, Request, ending_of
from ..runs.fairness import current_leave
from . import error_mapping, safe_http
from .connection import FIRST_ROOM, LISTING_TIMEOUT, MOST_ROOM, ROOM_TO_TELL, Connection, Traits, listed_names
from .errors import ModelNotFoundError, RateLimitError, RequestRefusedError, ServerLoadingError, failure
from .reply import Reply

if TYPE_CHECKING:
    import httpx2
    import openai


# Sends one request to a server, and yields the pieces of its reply.


class ReportedError(Exception):
    """A reply that reports an error with HTTP 200; `body` is that error."""

    def __init__(self, body: object) -> None:
        super().__init__("reported")
        self.body = body


class UnreadableReplyError(Exception):
    """The reply does not follow the API's description; the message says where, if that is known."""


async def stream_pieces(
    client: openai.AsyncOpenAI, model: str, turns: list[dict[str, Any]], parameters: dict[str, Any], reply: Reply
) -> AsyncGenerator[str]:
    """Send the request, and yield each piece of text as it comes. Raises openai.OpenAIError, httpx2.TransportError,
    ReportedError and UnreadableReplyError.

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
        raise UnreadableReplyError(str(error) if isinstance(error, safe_http.UnsafeResponseError) else "") from error


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


log = logging.getLogger(__name__)

_LONGEST_WAIT = 8.0
"""Seconds between two tries, if the server does not say how long to wait."""

_SCHEMA = "response_format"
"""The parameter for a JSON schema."""

_NEEDED = {"logprobs", "top_logprobs", "tools", "max_completion_tokens"}
"""Parameters without which a call is useless to its caller. Any other is left out if a server refuses it."""

_MOST_CHANGES = 20
"""How often one call is sent again in another form."""

_LOADING_LIMIT, _LOADING_WAIT = 120.0, 5.0
"""Seconds that a server may take to load its model, and the longest wait between two tries."""


class _Changed(NamedTuple):
    """The call is to be sent again in another form: what was learned of the model."""

    news: dict[str, Any]


class Endpoint:
    """One model of one endpoint. Its id is `<endpoint's name>/<model>`; `streams`: whether answers come piece by piece.

    Stop sequences are applied here, outside thinking; they are also sent if the model is known not to think. Apart from
    that the text is what the server sent. A parameter that the server refuses is left out from then on for that model,
    and a thinking model gets room for it (`core.models.connection`); the log says so.

    Raises the errors of core.models.errors.
    """

    def __init__(self, connection: Connection, model: str, streams: bool = True) -> None:
        self.connection = connection
        self.model = model
        self.streams = streams
        self.id = f"{connection.config.name}/{model}"

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        """Ask, once it is this call's turn. `seconds` are those of the try that succeeded."""
        config = self.connection.config
        passed_on = _PassedOn(on_text)
        async with self.connection.throttle.turns.turn():
            # A wait that the server asks for is not part of the call, but nobody waits for hours.
            if (wait := self.connection.throttle.wait) > config.timeout:
                raise error_mapping.still_refused(config, wait)
            await self.connection.throttle.open()
            limit = asyncio.timeout(config.timeout)
            try:
                async with limit:
                    with self.connection.queued(limit) as begin:
                        passed_on.begin = begin
                        return await self._persist(request, passed_on, limit)
            except TimeoutError:
                if not limit.expired():
                    raise
        raise error_mapping.timed_out(config, began=passed_on.anything)

    def would_send(self, request: Request) -> dict[str, Any]:
        """The parameters that would be sent for this request now, in the form of `ModelAnswer.sent`."""
        return _sent(self._parameters(request), self.connection.traits(self.model), request)

    async def _persist(self, request: Request, passed_on: _PassedOn, limit: asyncio.Timeout) -> ModelAnswer:
        """Try until it succeeds, fails for good, or a further wait would exceed the time limit."""
        config = self.connection.config
        loop = asyncio.get_running_loop()
        deadline, loaded_by = loop.time() + config.timeout, loop.time() + _LOADING_LIMIT
        tries = changes = 0
        left_out: set[str] = set()
        grown = False
        while True:
            parameters = self._parameters(request, left_out)
            sent = await self.connection.throttle.open()
            outcome = await self._try(request, parameters, passed_on, grown)
            if isinstance(outcome, ModelAnswer):
                self.connection.throttle.answered(sent)
                if left_out:
                    self._learn(refused=self.connection.traits(self.model).refused | left_out)
                return outcome.model_copy(update={"at_once": self.connection.throttle.at_once})
            if isinstance(outcome, str | _Changed) and (changes := changes + 1) > _MOST_CHANGES:
                raise failure("refused_all", name=config.name, changes=_MOST_CHANGES)
            if isinstance(outcome, str):
                # Remembered only once the server has answered without it.
                left_out.add(outcome)
                continue
            if isinstance(outcome, _Changed):
                grown = grown or "room" in outcome.news
                self._learn(**outcome.news)
                passed_on.again()
                continue
            if type(outcome) is RequestRefusedError and _SCHEMA in parameters:
                # The server may be refusing the schema without naming it: that is so if it answers without.
                left_out.add(_SCHEMA)
                continue
            if isinstance(outcome, ServerLoadingError) and loop.time() < loaded_by:
                await current_leave().sleep(min(config.backoff * 2.0**tries, _LOADING_WAIT))
                tries += 1
                limit.reschedule(loop.time() + config.timeout)
                deadline = loop.time() + config.timeout
                continue
            if isinstance(outcome, RateLimitError) and outcome.may_pass:
                self.connection.throttle.refused(sent, outcome.wait)
            wait = _wait(outcome, tries, config.backoff)
            hopeless = not outcome.may_pass or tries >= config.retries
            if hopeless or loop.time() + wait > deadline:
                raise await self._completed(outcome)
            tries += 1
            passed_on.again()
            log.info("%s: %s, try %d in %.1f s", self.id, type(outcome).__name__, tries + 1, wait)
            await current_leave().sleep(wait)

    def _learn(self, **news: Any) -> None:
        if news:
            self.connection.learn(self.model, **news)
            level = logging.INFO if news.keys() <= {"thinks"} else logging.WARNING
            told = (
                f"{name}: {sorted(value) if isinstance(value, frozenset) else value}" for name, value in news.items()
            )
            log.log(level, "%s is asked in another form from now on; %s", self.id, ", ".join(told))

    async def _try(
        self, request: Request, parameters: dict[str, Any], passed_on: _PassedOn, grown: bool
    ) -> ModelAnswer | CallError | _Changed | str:
        """Make one call; returns its answer, its failure, what was learned for another try, or a parameter to leave out
        of that try. `grown`: its room for thinking was changed before.
        """
        import httpx2
        import openai

        config, traits = self.connection.config, self.connection.traits(self.model)
        began = time.monotonic()
        reply = Reply(request.sampling.stop, traits.thinks)
        turns = _turns(request, traits.system_role)
        try:
            client = self.connection.client()
            async with aclosing(stream_pieces(client, self.model, turns, parameters, reply)) as pieces:
                async for piece in pieces:
                    if len(config.secret) >= 12 and any(config.secret in part for part in reply.everything()):
                        return error_mapping.malformed(config, "the server repeated the key in its answer")
                    if piece:
                        reply.first = reply.first if reply.first is not None else time.monotonic() - began
                        passed_on(piece)
        except openai.APIStatusError as error:
            return self._refusal(error, request, parameters, traits, grown)
        except httpx2.TransportError as error:
            return error_mapping.broken_off(config, error)
        except ReportedError as error:
            return error_mapping.of_body(error.body, config, self.model)
        except (openai.OpenAIError, UnreadableReplyError) as error:
            return error_mapping.of_error(error, config, self.model)
        fault = reply.failure(config)
        wants_room = reply.thought and ending_of(reply.finish_reason) == "cut" and not reply.cut
        if wants_room and not grown and (more := self._more_room(request, parameters, reply.reasoning_tokens)):
            return _Changed({"room": more} | ({"thinks": reply.thinks} if traits.thinks == "unknown" else {}))
        if traits.thinks == "no" and reply.thought and (fault is not None or reply.thinks == "inline"):
            # A stop sequence took effect within unexpected thinking.
            return _Changed({"thinks": reply.thinks})
        if reply.may_be_thinking and not grown and self._more_room(request, parameters, 0):
            return _Changed({"room": ROOM_TO_TELL})
        if fault is not None:
            return fault
        characters = sum(len(turn["content"] or "") for turn in turns)
        if self.connection.cut_prompt(self.model, characters, tokens := reply.usage.prompt_tokens):
            return failure("prompt_cut", name=config.name, characters=characters, tokens=tokens)
        self._learn(**self._seen(traits, reply))
        return ModelAnswer(
            text=reply.text,
            seconds=time.monotonic() - began,
            first_token_seconds=reply.first,
            usage=reply.usage,
            finish_reason=reply.finish_reason,
            ended=reply.ended,
            thinking=reply.thinking(self.model),
            sent=_sent(parameters, traits, request),
            served=reply.served if reply.served.model else None,
            logprobs=reply.logprobs or None,
            tool_calls=reply.tool_calls(),
        )

    def _refusal(
        self, error: openai.APIStatusError, request: Request, parameters: dict[str, Any], traits: Traits, grown: bool
    ) -> CallError | _Changed | str:
        """What to change after an HTTP error, or the failure if nothing can be done. `traits` are those with which the
        call was sent: another call may have learned more meanwhile.
        """
        config = self.connection.config
        room = traits.room
        if error_mapping.wants_more_room(error):
            if not grown and (more := self._more_room(request, parameters, 0)):
                return _Changed({"room": more, "thinks": "hidden"})
            return failure("only_thought", name=config.name)
        if room and config.thinking_room is None and error_mapping.wants_less_room(error):
            return _Changed({"room": room // 2 if room > 500 else 0})
        refused = error_mapping.refused_parameter(error, parameters)
        if refused == "system" and traits.system_role and any(turn.role == "system" for turn in request.messages):
            return _Changed({"system_role": False})
        if refused is not None and refused != "system" and refused not in _NEEDED:
            return refused
        uses_tools = bool(request.tools) or any(message.role == "tool" for message in request.messages)
        no_tools = error_mapping.refused_tools(error, config, self.model) if uses_tools else None
        return no_tools or error_mapping.of_error(error, config, self.model)

    def _more_room(self, request: Request, parameters: dict[str, Any], used: int) -> int | None:
        """The room for thinking to try next; None if it cannot grow. `used`: tokens that thinking used."""
        if self.connection.config.thinking_room is not None or request.sampling.top_logprobs is not None:
            return None
        had = (
            parameters.get("max_tokens") or parameters.get("max_completion_tokens") or 0
        ) - request.sampling.max_tokens
        now = self.connection.traits(self.model).room
        # Another call may have learned more meanwhile.
        more = now if now > had else min(max(2 * had, 2 * used, FIRST_ROOM), MOST_ROOM)
        return more if more > had else None

    def _seen(self, traits: Traits, reply: Reply) -> dict[str, Any]:
        """What an answer shows about its model."""
        news: dict[str, Any] = {}
        if reply.thought if traits.thinks == "no" else traits.thinks == "unknown" and reply.ended != "cut":
            news["thinks"] = reply.thinks
            # Room that a person or a study has set stays.
            if reply.thinks == "no" and traits.room == ROOM_TO_TELL:
                news["room"] = 0
        if 2 * reply.reasoning_tokens > traits.room and self.connection.config.thinking_room is None:
            news["room"] = min(-(-2 * reply.reasoning_tokens // 500) * 500, MOST_ROOM)
        return news

    async def _completed(self, failure: CallError) -> CallError:
        """`failure`; if the model does not exist, with the names of those that do."""
        if not isinstance(failure, ModelNotFoundError):
            return failure
        config = self.connection.config
        try:
            async with asyncio.timeout(LISTING_TIMEOUT):
                names = await listed_names(self.connection.client(), config)
        except (CallError, TimeoutError):
            return failure
        return error_mapping.no_such_model(config, self.model, names) if names else failure

    def _parameters(self, request: Request, left_out: Collection[str] = ()) -> dict[str, Any]:
        """The parameters to send besides model and messages: the settings, without those that this server refuses and
        those `left_out`.
        """
        sampling = request.sampling
        traits = self.connection.traits(self.model)
        refused = traits.refused.union(left_out)
        # An answer that is parsed through its log probabilities needs a fixed number of tokens.
        most = sampling.max_tokens + (self.connection.room(self.model) if sampling.top_logprobs is None else 0)
        stops = list(sampling.stop) if traits.thinks == "no" else []
        if "blank stops" in refused:
            stops = [stop for stop in stops if stop.strip()]
        preset = self.connection.config.known_server()
        penalty = preset.penalty if preset else "repetition_penalty"
        asked = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": most,
            "stop": stops[:4] or None,
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
            "reasoning_effort": self.connection.config.reasoning_effort or None,
            "stream": self.streams or None,
            "stream_options": {"include_usage": True} if self.streams else None,
        }
        sent = {name: value for name, value in asked.items() if value is not None and name not in refused}
        if "max_tokens" in refused:
            sent["max_completion_tokens"] = most
        if "stream" in refused:
            sent.pop("stream_options", None)
        return sent


def _sent(parameters: dict[str, Any], traits: Traits, request: Request) -> dict[str, Any]:
    """The parameters as the journal stores them: without streaming options, and for schema and tools, which are stored
    separately, only that they were sent.
    """
    sent = {name: value for name, value in parameters.items() if name not in ("stream", "stream_options")}
    if "tools" in sent:
        sent["tools"] = len(request.tools)
    if _SCHEMA in sent:
        sent[_SCHEMA] = "json_schema"
    if not traits.system_role and any(turn.role == "system" for turn in request.messages):
        sent["system_role"] = "user"
    return sent


class _PassedOn:
    """Passes on the pieces of text of the first try that has any: those of a later try would follow them."""

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self._is_silent = False
        self.anything = False
        self.begin: Callable[[], None] = lambda: None
        """To be called when the server has begun to answer."""

    def __call__(self, piece: str) -> None:
        self.begin()
        self.anything = True
        if not self._is_silent:
            self._on_text(piece)

    def again(self) -> None:
        """Begin another try."""
        self._is_silent = self.anything


def _turns(request: Request, system_role: bool) -> list[dict[str, Any]]:
    """The chat turns in the API's form; without a system role, its text is put before the first user turn."""
    turns = [_turn(message) for message in request.messages]
    if system_role:
        return turns
    system = "\n\n".join(turn["content"] for turn in turns if turn["role"] == "system")
    turns = [turn for turn in turns if turn["role"] != "system"]
    first = next((turn for turn in turns if turn["role"] == "user"), None)
    if system and first is None:
        return [{"role": "user", "content": system}, *turns]
    if system and first is not None:
        first["content"] = f"{system}\n\n{first['content']}"
    return turns


def _turn(message: Message) -> dict[str, Any]:
    """A chat turn in the API's form."""
    turn = message.model_dump(exclude={"tool_calls"})
    if message.tool_calls:
        turn["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    return turn


def _wait(failure: CallError, tries: int, backoff: float) -> float:
    """Seconds until the next try: what the server asked for, else doubling, with random jitter."""
    if isinstance(failure, RateLimitError) and failure.wait is not None:
        return failure.wait
    return min(backoff * 2.0**tries, _LONGEST_WAIT) * random.uniform(0.75, 1.0)
