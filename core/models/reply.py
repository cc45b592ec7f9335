"""An answer of a server as it comes together, piece by piece."""

from __future__ import annotations

import json
from typing import Any

from core.events import LONGEST_ANSWER, CallFailed, Ending, ToolCall, Usage, ending_of
from core.models import faults
from core.models.errors import failure
from core.models.settings import EndpointConfig
from core.models.stops import StopCutter
from core.text.reply import storable


class Reply:
    """What has come of an answer so far."""

    def __init__(self, stops: tuple[str, ...]) -> None:
        self._cutter = StopCutter(stops)
        self._offsets: list[int] = []
        self._received = 0
        self.text = ""
        self.first: float | None = None
        self.usage = Usage()
        self.finish_reason: str | None = None
        self.logprobs: list[dict[str, Any]] = []
        self.reasoned = False
        self.cut = False
        """Whether it went on beyond LONGEST_ANSWER."""
        self._calls: list[dict[str, str]] = []
        self._place: dict[int, int] = {}
        self._held = 0

    @property
    def stopped(self) -> bool:
        """Whether a stop sequence has come, or more than an answer may hold, so that all that follows is cut off."""
        return self._cutter.stopped or self.cut

    def take(self, part: dict[str, Any]) -> str:
        """Add one chunk of a stream, or a whole reply; the text that can be shown now."""
        if isinstance(counted := part.get("usage"), dict):
            self.usage = Usage(
                prompt_tokens=_count(counted.get("prompt_tokens")),
                completion_tokens=_count(counted.get("completion_tokens")),
            )
        if not part.get("choices"):
            return ""
        choice = part["choices"][0]
        message = choice.get("delta") or choice.get("message") or {}
        reason = choice.get("finish_reason")
        self.finish_reason = storable(str(reason))[:100] if reason else self.finish_reason
        self.reasoned = self.reasoned or bool(message.get("reasoning_content") or message.get("reasoning"))
        for token in (choice.get("logprobs") or {}).get("content") or []:
            self._offsets.append(self._received)
            self._received += len(token["token"])
            self.logprobs.append(json.loads(storable(json.dumps(token, ensure_ascii=False))))
        for part_of_call in message.get("tool_calls") or []:
            self._take_call(part_of_call)
        return self._keep(self._cutter.feed(storable(message.get("content") or message.get("refusal") or "")))

    def end(self) -> str:
        """No more comes: the text that was held back. Log probabilities of what was cut off go too."""
        piece = self._keep(self._cutter.rest())
        if self.stopped:
            self.finish_reason = "length" if self.cut else "stop"
            kept = sum(offset < len(self.text) for offset in self._offsets)
            del self.logprobs[kept:]
        return piece

    @property
    def ended(self) -> Ending:
        """How the answer ended. With log probabilities a fixed number of tokens was asked for, and they are there."""
        if self.logprobs:
            return "complete"
        ending = ending_of(self.finish_reason)
        return ending if ending in ("complete", "unknown") else "cut"

    def _take_call(self, part: dict[str, Any]) -> None:
        """Add a tool call or a piece of one. Pieces belong together by their index; but where a new id comes with an
        old index, or none is given, a server that numbers nothing has begun another call.
        """
        index, id = part.get("index"), storable(str(part.get("id") or ""))[:200]
        place = self._place.get(index, -1) if index is not None else len(self._calls) - 1
        if place < 0 or (id and self._calls[place]["id"] not in ("", id)):
            place = len(self._calls)
            self._calls.append({"id": "", "name": "", "arguments": ""})
        if index is not None:
            self._place[index] = place
        call, function = self._calls[place], part.get("function") or {}
        call["id"] = call["id"] or id
        arguments = function.get("arguments") or ""
        call["name"] += self._within(storable(str(function.get("name") or "")))
        call["arguments"] += self._within(
            storable(arguments) if isinstance(arguments, str) else storable(json.dumps(arguments, ensure_ascii=False))
        )

    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls asked for. One without an id gets its number: the reply to it must name it."""
        return tuple(
            ToolCall(id=call["id"] or f"call-{number}", name=call["name"], arguments=call["arguments"])
            for number, call in enumerate(self._calls, start=1)
        )

    @property
    def everything(self) -> str:
        """The text and the tool calls in one, as far as they have come."""
        return self.text + "".join(call["name"] + call["arguments"] for call in self._calls)

    def _keep(self, piece: str) -> str:
        piece = self._within(piece)
        self.text += piece
        return piece

    def _within(self, piece: str) -> str:
        """As much of `piece` as an answer may still hold, tool calls included."""
        kept = piece[: LONGEST_ANSWER - self._held]
        self.cut = self.cut or len(kept) < len(piece)
        self._held += len(kept)
        return kept

    def failure(self, config: EndpointConfig) -> CallFailed | None:
        """Why a reply that came to its end is no usable answer; None where it is one."""
        if self.finish_reason is None:
            return faults.malformed(config, "it broke off before the answer was whole")
        if self.finish_reason == "content_filter":
            return faults.filtered(config)
        if self.text.strip() or self._calls:
            return None
        only_thought = self.reasoned and self.finish_reason == "length"
        return failure("only_thought" if only_thought else "empty", name=config.name)


def _count(value: object) -> int | None:
    """A number of tokens, where it can be one."""
    return value if isinstance(value, int) and 0 <= value < 2**53 else None
