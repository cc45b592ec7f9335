"""A server that plays model families: it refuses what each family's documentation refuses, and takes nothing else on
trust. A parameter that is not known to the family gets HTTP 400 and is kept in `unplanned`, so that its test fails.
"""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from core.models.settings import EndpointConfig
from tests.families.brain import Brain
from tests.support.stub_server import Calls

Body = dict[str, Any]

_CARRIED = {"model", "messages", "stream", "stream_options"}
_LIMITS = {"max_tokens", "max_completion_tokens"}
_SAMPLERS = {"temperature", "top_p"}
_NOT_OPENAI = {"top_k", "repetition_penalty"}
_OPENAI = (
    _LIMITS | _SAMPLERS | {"stop", "seed", "logprobs", "top_logprobs", "response_format", "tools", "reasoning_effort"}
)
_VLLM = _OPENAI | _NOT_OPENAI

THOUGHT = (
    "Okay, let me think about what is wanted here.\n\nAt first glance I would say no. So the answer is no.\n"
    "Answer: no\nnegative\nSo the robot will likely answer no.\n\n"
    + "But wait, that was too quick, and I should weigh every word of the task again. " * 6
    + "\n\nNow I know what to say."
)
"""Thinking that must not be read as an answer: it holds one for each prompt, and blank lines."""


def openai_error(message: str, code: str | None = None, param: str | None = None, status: int = 400) -> Response:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return JSONResponse({"error": error}, status)


def _names_nothing(body: Body) -> Response | None:
    return None


@dataclass(frozen=True)
class Family:
    """One family of models. `takes`: parameters that it documents, those that it passes over included; `refuse` gives
    its refusal of a request; `refused` are the parameters that never reach it in the end.

    `form`: how it sends what it thinks ("" for not at all); `kind` is what the journal calls that. `hidden` are the
    tokens that it thinks out of sight. `stops`: whether its server stops at stop sequences, in the thinking too.
    """

    name: str
    takes: set[str]
    refuse: Callable[[Body], Response | None] = _names_nothing
    refused: frozenset[str] = frozenset()
    form: str = ""
    kind: str | None = None
    hidden: int = 0
    hidden_in_total: bool = False
    stops: bool = True
    tools: bool = True
    system_role: bool = True


def gpt_4(body: Body) -> Response | None:
    foreign = sorted(_NOT_OPENAI & body.keys())
    if foreign:
        plural = "s" if len(foreign) > 1 else ""
        return openai_error(f"Unrecognized request argument{plural} supplied: {', '.join(foreign)}")
    return None


def _openai_reasoner(body: Body) -> Response | None:
    def unsupported(name: str, more: str = "") -> Response:
        words = f"Unsupported parameter: '{name}' is not supported with this model.{more}"
        return openai_error(words, "unsupported_parameter", name)

    if "max_tokens" in body:
        return unsupported("max_tokens", " Use 'max_completion_tokens' instead.")
    for name in ("stop", "logprobs", "top_logprobs"):
        if name in body:
            return unsupported(name)
    for name in sorted(_NOT_OPENAI & body.keys()):
        return openai_error(f"Unknown parameter: '{name}'.", "unknown_parameter", name)
    return None


def gpt_5(body: Body) -> Response | None:
    if (refusal := _openai_reasoner(body)) is not None:
        return refusal
    for name in ("temperature", "top_p"):
        if body.get(name, 1) != 1:
            words = f"Unsupported value: '{name}' does not support {body[name]} with this model."
            words += " Only the default (1) value is supported."
            return openai_error(words, "unsupported_value", name)
    return None


def o_series(body: Body) -> Response | None:
    if (refusal := _openai_reasoner(body)) is not None:
        return refusal
    for name in sorted(_SAMPLERS & body.keys()):
        words = f"Unsupported parameter: '{name}' is not supported with this model."
        return openai_error(words, "unsupported_parameter", name)
    if body.get("max_completion_tokens", 10**6) < 900:
        words = "Could not finish the message because max_tokens or model output limit was reached."
        return openai_error(f"{words} Please try again with higher max_tokens.")
    return None


def _blank_stop(body: Body) -> Response | None:
    if any(not stop.strip() for stop in body.get("stop") or []):
        return openai_error("stop_sequences: each stop sequence must contain non-whitespace", "invalid_request_error")
    return None


def claude_4_5(body: Body) -> Response | None:
    if body.keys() >= _SAMPLERS:
        words = "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
        return openai_error(words, "invalid_request_error")
    return _blank_stop(body)


def claude_4_7(body: Body) -> Response | None:
    for name in ("temperature", "top_p", "top_k"):
        if name in body:
            return openai_error(f"`{name}` is deprecated for this model.", "invalid_request_error")
    return _blank_stop(body)


def gemini(body: Body) -> Response | None:
    foreign = [name for name in ("seed", "top_k", "repetition_penalty", "logprobs") if name in body]
    if not foreign:
        return None
    words = "\n".join(f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.' for name in foreign)
    return JSONResponse([{"error": {"code": 400, "message": words, "status": "INVALID_ARGUMENT"}}], 400)


def deepseek(body: Body) -> Response | None:
    for name in ("logprobs", "top_logprobs"):
        if name in body:
            return openai_error(f"deepseek-reasoner does not support the parameter {name}", "invalid_request_error")
    if any("reasoning_content" in turn for turn in body["messages"]):
        return openai_error("The reasoning_content is not an accepted field of a message.")
    return None


def gemma(body: Body) -> Response | None:
    roles = [turn["role"] for turn in body["messages"]]
    if "system" in roles:
        return openai_error("System role not supported", "400")
    if any(role != ("user", "assistant")[place % 2] for place, role in enumerate(roles)):
        return openai_error("Conversation roles must alternate user/assistant/user/assistant/...", "400")
    if "tools" in body:
        words = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
        return openai_error(words, "400")
    return None


def smollm(body: Body) -> Response | None:
    if "tools" in body:
        return JSONResponse({"error": {"code": 500, "message": "tools param requires --jinja flag"}}, 500)
    long = sum(len(str(turn["content"])) for turn in body["messages"]) // 4
    if long > 4096:
        words = f"the request exceeds the available context size ({long} > 4096 tokens)"
        return JSONResponse({"error": {"code": 400, "type": "exceed_context_size_error", "message": words}}, 400)
    return None


_FOREIGN = frozenset(_NOT_OPENAI)
FAMILIES = {
    one.name: one
    for one in (
        Family("gpt-4.1", _VLLM - {"reasoning_effort"}, gpt_4, _FOREIGN),
        Family("gpt-5", _VLLM, gpt_5, _FOREIGN | {"max_tokens", "stop"}, kind="hidden", hidden=900),
        Family("o4-mini", _VLLM, o_series, _FOREIGN | _SAMPLERS | {"max_tokens", "stop"}, kind="hidden", hidden=500),
        Family("claude-sonnet-4-5", _VLLM, claude_4_5),
        Family("claude-opus-4-7", _VLLM, claude_4_7, frozenset({*_SAMPLERS, "top_k"})),
        Family("gemini-2.5-pro", _VLLM, gemini, _FOREIGN | {"seed"}, kind="hidden", hidden=400, hidden_in_total=True),
        Family("deepseek-reasoner", _VLLM, deepseek, form="reasoning_content", kind="raw"),
        Family("qwen3-inline", _VLLM, form="<think>\n{thought}\n</think>\n\n{answer}", kind="raw"),
        Family("qwen3-template", _VLLM, form="{thought}\n</think>\n\n{answer}", kind="raw"),
        Family(
            "gpt-oss-marks",
            _VLLM,
            form="<|channel|>analysis<|message|>{thought}<|end|><|start|>assistant<|channel|>final<|message|>{answer}",
            kind="raw",
        ),
        Family("gpt-oss-bare", _VLLM, form="analysis{thought}assistantfinal{answer}", kind="raw"),
        Family("gemma-2", _VLLM, gemma, tools=False, system_role=False),
        Family("smollm2", _VLLM, smollm, tools=False),
    )
}


@dataclass
class Seen:
    """A request and the status of its reply."""

    body: Body
    status: int


@dataclass
class FamilyServer:
    """Serves one family on loopback, as `honest` and as `contradicting`: the names of its two models."""

    family: Family
    seen: list[Seen] = field(default_factory=list)
    unplanned: set[str] = field(default_factory=set)
    withheld: Callable[[Body], bool] = lambda body: False
    """Which answers a filter cuts short."""

    def __post_init__(self) -> None:
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        app = Starlette(routes=[Route("/v1/chat/completions", self._chat, methods=["POST"])])
        config = uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=2)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)
        self.begin()

    def begin(self) -> None:
        """Forget what was asked."""
        self.seen.clear()
        self.unplanned.clear()
        self._brains = {name: Brain(name == "honest") for name in ("honest", "contradicting")}

    def __enter__(self) -> FamilyServer:
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive(), "the server did not start"
            time.sleep(0.005)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=10)
        self._socket.close()

    def config(self, **changes: Any) -> EndpointConfig:
        """The settings that a person has after naming the address, but for the waits between tries."""
        given: dict[str, Any] = {"name": "family", "base_url": f"http://127.0.0.1:{self.port}/v1", "backoff": 0.01}
        return EndpointConfig(**given | changes)

    async def _chat(self, request: Request) -> Response:
        body = await request.json()
        reply = self._reply(body)
        self.seen.append(Seen(body, reply.status_code))
        return reply

    def _reply(self, body: Body) -> Response:
        if unknown := body.keys() - self.family.takes - _CARRIED:
            self.unplanned |= unknown
            return openai_error(f"This family knows no {', '.join(sorted(unknown))}.")
        if (refusal := self.family.refuse(body)) is not None:
            return refusal
        said = self._brains[body["model"]](body)
        if not body.get("stream"):
            raise NotImplementedError("the app streams where a server takes that")
        return StreamingResponse(self._stream(body, said), media_type="text/event-stream")

    async def _stream(self, body: Body, said: str | Calls) -> AsyncIterator[str]:
        for chunk in self._chunks(body, said):
            yield f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n"
        yield "data: [DONE]\n\n"

    def _chunks(self, body: Body, said: str | Calls) -> Iterator[Body]:
        family = self.family
        budget = body.get("max_tokens") or body.get("max_completion_tokens") or 10**6
        answer = said.text if isinstance(said, Calls) else said
        prompt = sum(len(str(turn["content"] or "")) for turn in body["messages"]) // 4

        def piece(delta: Body, finish: str | None = None) -> Body:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            return {"object": "chat.completion.chunk", "model": body["model"], "choices": [choice]}

        fields = [("content", answer)]
        if family.form == "reasoning_content":
            fields.insert(0, ("reasoning_content", THOUGHT))
        elif family.form:
            fields = [("content", family.form.format(thought=THOUGHT, answer=answer))]
        spent = min(family.hidden, budget)
        left, finish, shown = budget - spent, "stop", 0
        if spent < family.hidden or not left:
            fields, finish = [("content", "")], "length"
        for name, text in fields:
            stops = (body.get("stop") or []) if family.stops else []
            text = text[: min([at for stop in stops if (at := text.find(stop)) >= 0], default=len(text))]
            for word in re.findall(r"\s*\S+|\s+\Z", text):
                if shown == left:
                    finish = "length"
                    break
                shown += 1
                yield piece({name: word})
        if isinstance(said, Calls) and finish == "stop":
            for call in said.pieces():
                yield piece({"tool_calls": [call]})
            finish = "tool_calls"
        if self.withheld(body):
            finish = "content_filter: RECITATION"
        yield piece({}, finish)
        usage: Body = {"prompt_tokens": prompt, "completion_tokens": shown, "total_tokens": prompt + shown + spent}
        if family.hidden and not family.hidden_in_total:
            usage |= {
                "completion_tokens": shown + spent,
                "completion_tokens_details": {"reasoning_tokens": spent},
            }
        yield {"object": "chat.completion.chunk", "choices": [], "usage": usage}
