"""A server's answer as it is put together, piece by piece."""

import json
import re
from collections.abc import Iterator
from typing import Any

from ..events import LONGEST_ANSWER, CallError, Ending, Served, Thinking, ToolCall, Usage, ending_of
from ..text import reply
from ..text.reply import storable
from . import error_mapping
from .connection import Thinks
from .errors import failure
from .settings import EndpointConfig

# Stop sequences. They are applied here too, since some servers ignore them and others accept only four.


class StopCutter:
    """Cuts a text that comes in pieces at the first stop sequence, which is not part of the result.

    Text that may turn out to be the beginning of a stop sequence is held back until that is clear. The texts that all
    calls of `feed` and `flush` return, joined, are the text before the stop sequence that is complete first, as a
    server stops there; however the text is split into pieces.
    """

    def __init__(self, stops: tuple[str, ...]) -> None:
        self._stops = tuple(stop for stop in stops if stop)
        self._held = ""
        self.stopped = False

    def feed(self, piece: str) -> str:
        """The text that can be shown after `piece`; empty once a stop sequence has come."""
        if self.stopped:
            return ""
        self._held += piece
        stops = [(at + len(stop), at) for stop in self._stops if (at := self._held.find(stop)) >= 0]
        if stops:
            self.stopped = True
            out, self._held = self._held[: min(stops)[1]], ""
            return out
        keep = max((_overlap(self._held, stop) for stop in self._stops), default=0)
        cut = len(self._held) - keep
        out, self._held = self._held[:cut], self._held[cut:]
        return out

    def flush(self) -> str:
        """The text that was held back, to be called at the end."""
        out, self._held = self._held, ""
        return out


def _overlap(text: str, stop: str) -> int:
    """The length of the longest end of `text` with which `stop` begins."""
    return next((n for n in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:n])), 0)


_SUMMARIZED = re.compile(r"(?:^|/)(?:gpt-(?!oss)|o\d|claude|gemini|grok)", re.IGNORECASE)
"""Models whose providers send a summary of the thinking instead of the thinking itself."""

_HELD_BACK = 24
"""Characters at the start of an answer that are not shown until it is clear that they do not open thinking."""

_LAST = 300
"""How many pieces of a reply are searched for the key, in case a server repeats it."""


class Reply:
    """The answer received so far. `thinks`: what is known of the model's thinking (`core.models.connection`).

    Stop sequences count only outside thinking. The text of a model that may think in its text is read to the end, since
    only a closing mark shows that what came before it was thinking; `stopped` is then true only after such a mark.
    """

    def __init__(self, stops: tuple[str, ...], thinks: Thinks = "no") -> None:
        self._stops = stops
        self._cutter = StopCutter(stops)
        self._thinks = thinks
        self._mixed = thinks in ("unknown", "inline")
        """Whether the text may contain thinking."""

        self._raw: list[str] = []
        self._tail = ""
        self._closed = False
        """Whether thinking in the text has ended."""

        self._leads = False
        """Whether only white space has come since thinking ended."""

        self._unshown = ""
        """The start of a text that may turn out to be thinking."""

        self._offsets: list[int] = []
        self._received = 0
        self._thoughts: list[str] = []
        self._thought_length = 0
        self._kind = ""
        """"summary" or "hidden" thinking, if the server says so."""

        self.reasoning_tokens = 0
        """Tokens of thinking, as the endpoint counted them; 0 if it did not."""

        self._own_stop = False
        self._unmarked = False
        """Whether a text that may contain thinking was cut before any mark showed which part of it is the answer."""

        self.text = ""
        self.first: float | None = None
        self.usage = Usage()
        self.finish_reason: str | None = None
        self.done = False
        """Whether the server said that no more comes, with or without a finish reason."""

        self.error: object = None
        """The error that the server reports together with half an answer."""

        self.logprobs: list[dict[str, Any]] = []
        self.cut = False
        """Whether the answer went on beyond LONGEST_ANSWER."""

        self.served = Served()
        self._calls: list[dict[str, str]] = []
        self._place: dict[int, int] = {}
        self._held = 0

    @property
    def stopped(self) -> bool:
        """Whether all that follows would be cut off, after a stop sequence or more text than an answer may have."""
        return self.cut or (self._cutter.stopped and (self._closed or not self._mixed))

    def add_chunk(self, part: dict[str, Any]) -> str:
        """Add one chunk of a stream, or a whole reply; returns the text that can be shown now."""
        self._count(part)
        if not self.served.model and isinstance(part.get("model"), str):
            fingerprint = part.get("system_fingerprint")
            names = {"model": part["model"], "fingerprint": fingerprint if isinstance(fingerprint, str) else ""}
            self.served = Served.model_validate({key: storable(name)[:200] for key, name in names.items()})
        if not part.get("choices"):
            return ""
        choice = part["choices"][0]
        message = choice.get("delta") or choice.get("message") or {}
        self.done = self.done or "message" in choice
        reason = choice.get("finish_reason")
        self.finish_reason = storable(str(reason))[:100] if reason else self.finish_reason
        self.error = choice.get("error") or self.error
        self._take_logprobs(choice.get("logprobs"))
        for part_of_call in message.get("tool_calls") or []:
            self._take_call(part_of_call)
        content, thought = _contents(message.get("content") or message.get("refusal") or "")
        self._take_thinking(message, thought)
        return self._feed(storable(content))

    def finish(self) -> str:
        """End the reply and return the text that was held back. Log probabilities of what was cut off are removed."""
        raw = "".join(self._raw)
        unshown = "" if reply.OPENING.match(raw) else self._unshown
        piece = self._cutter.feed(unshown) + self._cutter.flush()
        if self._mixed:
            self._unmarked = not self._closed and ending_of(self.finish_reason) == "cut"
            # If the model thinks in its text, this is thinking that the prompt began.
            self.text, self._own_stop = (raw, False) if self._is_open else up_to_stop(raw, self._stops)
        else:
            self.text += piece
            self._own_stop = self._cutter.stopped
        if self._own_stop or self.cut:
            self.finish_reason = "stop" if self._own_stop else "length"
            kept = sum(offset < len(self.text) for offset in self._offsets)
            del self.logprobs[kept:]
        return piece

    def thinking(self, model: str = "") -> Thinking | None:
        """The thinking in a complete reply; None if none is known. `model` is the one that was asked."""
        raw = "".join(self._raw)
        text = "".join(self._thoughts).strip() or reply.split(raw).thinking or (raw.strip() if self._is_open else "")
        if text:
            is_summary = self._kind == "summary" or any(map(_SUMMARIZED.search, (self.served.model, model)))
            return Thinking(kind="summary" if is_summary else "raw", text=text, tokens=self.reasoning_tokens or None)
        if self._kind == "hidden" or self.reasoning_tokens:
            return Thinking(kind="hidden", tokens=self.reasoning_tokens or None)
        return None

    @property
    def thinks(self) -> Thinks:
        """How the model thought in this reply, once it is complete."""
        if self._thoughts:
            return "field"
        if self._is_open or reply.split("".join(self._raw)).thinking:
            return "inline"
        return "hidden" if self.reasoning_tokens or self._kind == "hidden" else "no"

    @property
    def _is_open(self) -> bool:
        """Whether the text ended within thinking whose opening mark is in the prompt."""
        return self._unmarked and self._thinks == "inline"

    @property
    def may_be_thinking(self) -> bool:
        """Whether the text before our stop may be thinking: it was cut before any closing mark came."""
        return self._unmarked and self._own_stop and self._thinks == "unknown"

    @property
    def ended(self) -> Ending:
        """How the answer ended. With log probabilities it is complete: a fixed number of tokens was requested."""
        if self._own_stop or self.logprobs:
            return "complete"
        ending = ending_of(self.finish_reason)
        return ending if ending in ("complete", "unknown") else "cut"

    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The requested calls. A call without an id gets its number as id, since the reply to it must name it."""
        return tuple(
            ToolCall(id=call["id"] or f"call-{number}", name=call["name"], arguments=call["arguments"])
            for number, call in enumerate(self._calls, start=1)
        )

    def everything(self) -> Iterator[str]:
        """The latest pieces of the text and of the thinking, and the tool calls."""
        yield "".join(self._raw[-_LAST:])
        yield "".join(self._thoughts[-_LAST:])
        for call in self._calls:
            yield call["name"] + call["arguments"]

    def failure(self, config: EndpointConfig) -> CallError | None:
        """Why a finished reply is not a usable answer; None if it is one."""
        ending = "complete" if self._own_stop else ending_of(self.finish_reason)
        if self.finish_reason is None and not self.done:
            return error_mapping.malformed(config, "it broke off before the answer was whole")
        if ending == "filtered":
            return error_mapping.filtered(config, (self.finish_reason or "").partition(":")[2].strip())
        if ending == "failed":
            return error_mapping.gave_up(config, self.finish_reason or "", self.error)
        if self._calls or reply.split(self.text).answer.strip():
            return None
        if not self.thought:
            return failure("empty", name=config.name)
        if ending == "cut":
            return failure("only_thought", name=config.name)
        return failure("all_in_thinking", name=config.name)

    @property
    def thought(self) -> bool:
        """Whether the model thought in this reply, as far as it has come."""
        return self.thinks != "no"

    def _count(self, part: dict[str, Any]) -> None:
        counted = part.get("usage")
        if not isinstance(counted, dict):
            return
        prompt, completion, total = (
            _number(counted.get(f"{name}_tokens")) for name in ("prompt", "completion", "total")
        )
        details = counted.get("completion_tokens_details") or counted.get("output_tokens_details") or {}
        reasoning = details.get("reasoning_tokens") if isinstance(details, dict) else None
        reasoning = _number(counted.get("reasoning_tokens") if reasoning is None else reasoning)
        if total is not None and prompt is not None and completion is not None and total - prompt > completion:
            # Some servers count thinking only in the total.
            reasoning = reasoning or total - prompt - completion
            completion = total - prompt
        self.usage = Usage(prompt_tokens=prompt, completion_tokens=completion)
        self.reasoning_tokens = reasoning or self.reasoning_tokens

    def _take_logprobs(self, given: object) -> None:
        """Store log probabilities in the API's form; others are dropped without losing the answer."""
        tokens = given.get("content") if isinstance(given, dict) else None
        for token in tokens if isinstance(tokens, list) else []:
            if isinstance(token, dict) and isinstance(token.get("token"), str):
                self._offsets.append(self._received)
                self._received += len(token["token"])
                self.logprobs.append(json.loads(storable(json.dumps(token, ensure_ascii=False))))

    def _take_thinking(self, message: dict[str, Any], thought: str) -> None:
        """Store thinking that comes in a field of its own. If the same text is in two fields, the first counts."""
        for field in ("reasoning_content", "reasoning"):
            if not thought and isinstance(message.get(field), str):
                thought = message[field]
        details = message.get("reasoning_details")
        for detail in details if isinstance(details, list) else []:
            kind = str(detail.get("type", "")) if isinstance(detail, dict) else ""
            if "summary" in kind:
                self._kind = "summary"
            elif "encrypted" in kind:
                self._kind = self._kind or "hidden"
            if isinstance(detail, dict) and not thought:
                thought = str(detail.get("text") or detail.get("summary") or "")
        if not thought:
            return
        if not self._raw:
            # If a server sends thinking separately, all its text is answer from the start.
            self._mixed = False
        kept = storable(thought)[: LONGEST_ANSWER - self._thought_length]
        self._thought_length += len(kept)
        self._thoughts.append(kept)

    def _feed(self, content: str) -> str:
        """Add a piece of the text; returns what can be shown of it."""
        if not self._mixed:
            if content:
                self._raw.append(content)
            shown = self._within(self._cutter.feed(content))
            self.text += shown
            return shown
        content = self._within(content)
        self._raw.append(content)
        before, self._tail = self._tail, (self._tail + content)[-reply.LONGEST_MARK :]
        closings = [mark.end() for mark in reply.CLOSING.finditer(before + content)]
        if closings and closings[-1] > len(before):
            self._closed, self._cutter = True, StopCutter(self._stops)
            content = (before + content)[closings[-1] :].lstrip()
            self._tail = ""
            self._leads = not content
        elif self._closed and self._leads:
            content = content.lstrip()
            self._leads = not content
        elif not self._closed:
            start = "".join(self._raw[:_HELD_BACK])
            if reply.OPENING.match(start) or (len(start) < _HELD_BACK and start.lstrip()[:1] in ("", "<", "[", "◁")):
                self._unshown += content
                return ""
            content, self._unshown = self._unshown + content, ""
        return self._cutter.feed(content)

    def _take_call(self, part: dict[str, Any]) -> None:
        """Add a tool call or a piece of one. Pieces with the same index belong together; but a new id with an old
        index, or without an index, is a further call from a server that does not number calls.
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

    def _within(self, piece: str) -> str:
        """As much of `piece` as an answer may still hold, including tool calls."""
        kept = piece[: LONGEST_ANSWER - self._held]
        self.cut = self.cut or len(kept) < len(piece)
        self._held += len(kept)
        return kept


def up_to_stop(raw: str, stops: tuple[str, ...]) -> tuple[str, bool]:
    """`raw` up to the first stop sequence outside thinking, and whether there was one. White space right after thinking
    does not count as a stop sequence.
    """
    parts = reply.split(raw)
    answer = parts.answer
    lead = len(answer) - len(answer.lstrip()) if parts.thinking else 0
    cutter = StopCutter(stops)
    kept = lead + len(cutter.feed(answer[lead:]))
    if not cutter.stopped:
        return raw, False
    for start, end in parts.spans:
        if kept <= end - start:
            return raw[: start + kept], True
        kept -= end - start
    return raw, False


def _contents(content: object) -> tuple[str, str]:
    """The text and the thinking of a content field, which may be a list of parts."""
    if isinstance(content, str):
        return content, ""
    if isinstance(content, dict):
        content = [content]
    texts: list[str] = []
    thoughts: list[str] = []
    for part in content if isinstance(content, list) else []:
        if isinstance(part, str):
            texts.append(part)
            continue
        kind = str(part.get("type", ""))
        if "think" in kind or "reason" in kind:
            inner = part.get("thinking") or part.get("text") or part.get("summary") or ""
            thoughts.append("".join(_contents(inner)) if not isinstance(inner, str) else inner)
        else:
            texts.append(str(part.get("text") or part.get("refusal") or ""))
    return "".join(texts), "".join(thoughts)


def _number(value: object) -> int | None:
    """The value as a number of tokens; None if it cannot be one."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and 0 <= value < 2**53 else None
