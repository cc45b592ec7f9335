"""What can happen in a run: every request, answer and event. The ground floor: it imports nothing of ours.

Field names are a contract: the journal keeps them, `--json` prints them, the store's columns bear them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Any, Literal, Protocol

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, model_validator

SCHEMA = 3
"""Version of the journal's format; it stands in every `started` event."""

Rules = Literal["paper", "repaired"]
"""Which rules read a raw answer: the authors' own (`paper`) or ours for what chat models write today (`repaired`)."""

Status = Literal["completed", "cancelled", "failed"]


class Frozen(BaseModel):
    """The base of what is journaled: it cannot be changed, and fields that it does not know are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


# Requests and answers


def _empty(value: object) -> bool:
    return not value


class Tool(Frozen):
    """A function that a model may ask to have called. `parameters` is the JSON schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Any]


class ToolCall(Frozen):
    """A call that a model asks for, untrusted. `arguments` is the text it wrote: JSON, if it followed the schema."""

    id: str
    name: str
    arguments: str


class Message(Frozen):
    """One chat turn. A "tool" turn is the result of the call `tool_call_id`, which an assistant's turn asked for."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = Field(default=(), exclude_if=_empty)
    tool_call_id: str = Field(default="", exclude_if=_empty)


class Sampling(Frozen):
    """How a model draws its answer. What is None is not sent: the endpoint's own default holds."""

    temperature: float = 0.0
    top_p: float | None = None
    top_k: int | None = None
    repetition_penalty: float | None = None
    max_tokens: int = 200
    stop: tuple[str, ...] = ()
    seed: int | None = None
    top_logprobs: int | None = None


class Prompt(Frozen):
    """A rendered prompt: what is sent, and which template and values it came from.

    `id` and `hash` name the template; `slots` are the values put in. Control models read the slots, never the wording.
    `json_schema`: what the answer is asked for as, where it is asked for by its fields (`core.parsers.fields`).
    """

    id: str
    hash: str
    messages: tuple[Message, ...]
    slots: dict[str, str] = Field(default_factory=dict)
    json_schema: dict[str, Any] | None = None


class Request(Frozen):
    """One question to one model.

    `repeat` tells apart samples that are otherwise the same request (ten draws of one prompt). `tools` are what the
    model may ask to have called.
    """

    role: str
    model: str
    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()
    slots: dict[str, str] = Field(default_factory=dict)
    prompt: str = ""
    json_schema: dict[str, Any] | None = None
    repeat: int = 0
    tools: tuple[Tool, ...] = Field(default=(), exclude_if=_empty)

    def fingerprint(self) -> str:
        """64 hexadecimal digits, equal for requests a model cannot tell apart, plus role and repeat number."""
        sent = self.model_dump(mode="json", exclude={"slots", "prompt", "messages"})
        texts = {name: _sorted_json(value) for name, value in sent.items()}
        texts["messages"] = f"[{', '.join(map(_message_json, self.messages))}]"
        whole = ", ".join(f'"{name}": {text}' for name, text in sorted(texts.items()))
        return hashlib.sha256(f"{{{whole}}}".encode()).hexdigest()


_sorted_json = json.JSONEncoder(sort_keys=True, ensure_ascii=False).encode


@lru_cache(maxsize=512)
def _message_json(message: Message) -> str:
    """For fingerprints: demonstrations are the same in all prompts of a template."""
    return _sorted_json(message.model_dump(mode="json"))


LONGEST_ANSWER = 64 * 1024
"""Characters of an answer, its tool calls included. What goes beyond is not kept, and the answer ended "cut": every
reader of answers, here and elsewhere, can rely on that.
"""


class Usage(Frozen):
    """Tokens, as the endpoint counted them."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


Ending = Literal["complete", "cut", "unknown"]
"""How an answer ended. What a filter withheld and what broke off is no answer but a failed call."""

_ENDINGS: tuple[tuple[Ending | Literal["filtered", "failed"], str], ...] = (
    ("filtered", r"filter|safety|recitation|refusal|block|prohibited|spii|moderation|sensitive"),
    ("failed", r"error|fail|insufficient|abort|cancel|timeout|overload|malformed|unexpected|\bother\b"),
    ("cut", r"length|max|limit|truncat|context|incomplete|pause"),
    ("complete", r"stop|\bend|eos|tool|function|complete|finished|done"),
)


def ending_of(finish_reason: str | None) -> Ending | Literal["filtered", "failed"]:
    """How an answer ended, from the reason that a server gives; "unknown" without one, or with a word we do not know.

    Servers spell it in many ways: end_turn, STOP, length, MAX_TOKENS, "content_filter: RECITATION", network_error.
    """
    words = (finish_reason or "").lower().replace("-", "_")
    return next((ending for ending, pattern in _ENDINGS if re.search(pattern, words)), "unknown")


class Thinking(Frozen):
    """A model's reasoning channel, kept apart from what it says to the person who asks."""

    kind: Literal["raw", "summary", "hidden"]
    """`raw`: the model's own words; `summary`: the provider's summary of them; `hidden`: only the tokens are known."""

    text: str = ""
    tokens: int | None = None
    """As the endpoint counted them."""


class Served(Frozen):
    """Who answered, in the server's own words."""

    model: str = ""
    fingerprint: str = ""
    """The server's name for its configuration (`system_fingerprint`)."""


class ModelAnswer(Frozen):
    """What a model wrote, untrusted."""

    text: str
    """What the server's content field held, thinking tags included, up to our stop sequences. May be empty where the
    model asks for `tool_calls`."""

    seconds: float = 0.0
    first_token_seconds: float | None = None
    cached: bool = False
    usage: Usage = Usage()
    finish_reason: str | None = None
    """The server's own word for how the answer ended."""

    ended: Ending = "complete"
    thinking: Thinking | None = Field(default=None, exclude_if=_empty)
    """None where the model did not think, as far as is known. Thinking that stands in `text` is here as well."""

    sent: dict[str, Any] = Field(default_factory=dict, exclude_if=_empty)
    """The parameters as they went out, without model and messages; empty for models that are not asked over HTTP."""

    served: Served | None = Field(default=None, exclude_if=_empty)
    logprobs: list[dict[str, Any]] | None = None
    tool_calls: tuple[ToolCall, ...] = Field(default=(), exclude_if=_empty)
    edited: bool = Field(default=False, exclude_if=_empty)
    """Whether a person wrote it in the model's place."""

    at_once: int | None = Field(default=None, exclude_if=_empty)
    """The endpoint's concurrency limit when this answer came."""

    @model_validator(mode="before")
    @classmethod
    def _ending(cls, data: Any) -> Any:
        """An answer that says no more than its finish reason ended as that reason says. One that is read through its
        log probabilities was asked for a fixed number of tokens: with these it is complete.
        """
        if not isinstance(data, dict) or "ended" in data or not data.get("finish_reason") or data.get("logprobs"):
            return data
        ending = ending_of(data["finish_reason"])
        return {**data, "ended": ending if ending in ("complete", "unknown") else "cut"}

    @property
    def cut_note(self) -> str:
        """Where the answer was cut, such as "cut at 200 tokens"; empty where it was not."""
        if self.ended != "cut":
            return ""
        if len(self.text) >= LONGEST_ANSWER:
            return f"cut at {LONGEST_ANSWER:,} characters"
        tokens = self.usage.completion_tokens or self.sent.get("max_tokens") or self.sent.get("max_completion_tokens")
        return f"cut at {tokens:,} tokens" if tokens else "cut before it was complete"


class CallFailed(Exception):
    """A call that brought no usable answer. The message is fit for the person; `hint` says what to do next."""

    bad_input = False
    """Whether what was asked for is at fault, and not the model or the way to it."""

    may_pass = False
    """Whether the same call may succeed a little later."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class OutOfReach(Exception):
    """No call gets through to a model any more, as `failure` says: the end of the run, and no fault of one item."""

    def __init__(self, failure: CallFailed) -> None:
        super().__init__(failure.message)
        self.failure = failure


OnText = Callable[[str], None]


def unheard(text: str) -> None:
    """The `OnText` of those who look at whole answers alone: a model may give them theirs in one piece."""


class Model(Protocol):
    """What answers requests: an endpoint, the local model, a control, a journal."""

    id: str

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        """Answer `request`, handing each piece of text to `on_text` as it comes. Raises CallFailed."""
        ...


# Events


def now() -> datetime:
    """The time in UTC, aware of its zone."""
    return datetime.now(UTC)


def _in_utc(at: datetime) -> datetime:
    """A time without a zone is one in UTC: times of a journal have to be comparable."""
    return at if at.tzinfo else at.replace(tzinfo=UTC)


class _Event(Frozen):
    run: str
    at: Annotated[datetime, AfterValidator(_in_utc)] = Field(default_factory=now)


class _Placed(_Event):
    """An event within a run. `case` is the case it belongs to, or the item whose cases share it: the case
    "q7/redaction/you" shares what is placed at "q7". Empty for what is about the whole run. `trial` is the trial within
    the case.
    """

    case: str = ""
    trial: str = ""


class Fork(Frozen):
    """One answer of another run in whose place a person put `text`: the run, the place of the call, and the call."""

    run: str
    case: str
    call: str
    text: str


class Started(_Event):
    """`spec` is the lab's specification as data; with it and `seed` the run can be made again.

    `about` names the run that this journal speaks about, where it holds what a person says of another run.
    `reread_from` names the run whose raw answers were read again, `forked_from` the one in which a person edited an
    answer: this run goes on from there, with the cases that share that answer. `owner` is the name under which the runs
    of the person who began it are kept (`core.server.access`); empty for one begun on the command line.
    `study` names the study that the run was made for, where it was.
    """

    kind: Literal["started"] = "started"
    version: int = Field(default=SCHEMA, validation_alias="schema", serialization_alias="schema")
    lab: str
    spec: dict[str, Any]
    seed: int
    versions: dict[str, str] = Field(default_factory=dict)
    prompts: dict[str, str] = Field(default_factory=dict)
    app: str = ""
    commit: str = ""
    about: str = Field(default="", exclude_if=_empty)
    reread_from: str = Field(default="", exclude_if=_empty)
    forked_from: Fork | None = Field(default=None, exclude_if=_empty)
    owner: str = Field(default="", exclude_if=_empty)
    study: str = Field(default="", exclude_if=_empty)

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class Resumed(_Event):
    """A run that had stopped goes on. Calls answered before are not asked again."""

    kind: Literal["resumed"] = "resumed"


class Shared(_Event):
    """Whether everyone may look at a run from now on; in a journal of its own, about that run."""

    kind: Literal["shared"] = "shared"
    shared: bool


class Asked(_Placed):
    """A call that is about to be made. `fingerprint` is the request's; `repeat` tells equal requests apart."""

    kind: Literal["asked"] = "asked"
    call: str
    role: str
    model: str
    messages: tuple[Message, ...]
    sampling: Sampling
    item: str = ""
    prompt: str = ""
    repeat: int = 0
    fingerprint: str = ""
    tools: tuple[Tool, ...] = Field(default=(), exclude_if=_empty)
    json_schema: dict[str, Any] | None = Field(default=None, exclude_if=_empty)


class Token(_Event):
    """A piece of an answer as it comes. Live only: never journaled."""

    kind: Literal["token"] = "token"
    call: str
    text: str


class _OfCall(_Placed):
    kind: Literal["answered"] = "answered"
    call: str
    role: str
    model: str


class Answered(ModelAnswer, _OfCall):
    """What a call gave. `seconds` run from the request to the end, `first_token_seconds` to the first piece of text;
    that is None for a cached answer. `as_prose`: asked for as JSON by a schema, but not given so.
    """

    seconds: float
    as_prose: bool = Field(default=False, exclude_if=_empty)

    def again(self, **news: Any) -> ModelAnswer:
        """The answer as it is given again, from what is kept, with what is new about it."""
        return ModelAnswer(**{name: getattr(self, name) for name in ModelAnswer.model_fields} | {"cached": True} | news)


class Failed(_Placed):
    """A call (`call` set) or the run itself (`call` None) went wrong. `error` is the class, `message` for a person."""

    kind: Literal["failed"] = "failed"
    call: str | None = None
    role: str | None = None
    model: str | None = None
    error: str
    message: str
    hint: str = ""
    bad_input: bool = Field(default=False, exclude_if=_empty)


class Recorded(_Placed):
    """One finding about `item`, unique within its case; `record` names its type, `data` holds its fields.

    `by` names the person who says so; empty for the lab.
    """

    kind: Literal["recorded"] = "recorded"
    record: str
    item: str
    data: dict[str, Any]
    by: str = Field(default="", exclude_if=_empty)

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What a later record of the same key replaces."""
        return self.record, self.case, self.item, self.by


class Dropped(_Placed):
    """`item` does not count, and why; with an empty `item` the whole case. `rules` None: under either set of rules."""

    kind: Literal["dropped"] = "dropped"
    item: str
    reason: str
    detail: str = ""
    rules: Rules | None = None


class Scored(_Placed):
    """A metric of the whole run, or of `case` where a run has several.

    `value` is None where it is undefined; `n` items used of `of`; `low`, `high` a 95 % interval. `item` names a part of
    what the figure is about, such as one explanation and wording.
    """

    kind: Literal["scored"] = "scored"
    metric: str
    value: float | None
    n: int
    of: int
    low: float | None = None
    high: float | None = None
    rules: Rules
    item: str = ""
    detail: dict[str, Any] = Field(default_factory=dict)


class Finished(_Event):
    """The run's end."""

    kind: Literal["finished"] = "finished"
    status: Status


Event = Annotated[
    Started | Resumed | Shared | Asked | Token | Answered | Failed | Recorded | Dropped | Scored | Finished,
    Field(discriminator="kind"),
]

_ADAPTER: TypeAdapter[Event] = TypeAdapter(Event)


def to_json(event: Event) -> str:
    """The event as one line of JSON, without the line's end."""
    return event.model_dump_json(by_alias=True)


def from_json(line: str | bytes) -> Event:
    """The event that `line` holds. Raises pydantic.ValidationError for anything else."""
    return _ADAPTER.validate_json(line)
