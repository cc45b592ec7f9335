"""What can happen in a run: every request, answer and event. The lowest layer: of this project it imports only the
base of the errors.

Field names are a contract: the journal stores them, `--json` prints them, the store's columns are named after them.
"""

import hashlib
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Any, Literal, Protocol

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from .errors import ExplainError

SCHEMA = 3
"""Version of the journal's format, as stored in every `started` event."""

Rules = Literal["paper", "repaired"]
"""Which parser read a raw answer: the authors' original (`paper`) or ours, updated for current chat models
(`repaired`).
"""

Status = Literal["completed", "cancelled", "failed"]


class Frozen(BaseModel):
    """Base class of everything in the journal: immutable, and fields that it does not know are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


# Requests and answers


def _empty(value: object) -> bool:
    return not value


class Tool(Frozen):
    """A function that a model may ask us to call. `parameters` is the JSON schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Any]


class ToolCall(Frozen):
    """A call that a model asks for; untrusted. `arguments` is the text it wrote: JSON if it followed the schema."""

    id: str
    name: str
    arguments: str


class Message(Frozen):
    """One chat turn. A "tool" turn is the result of the call `tool_call_id`, which an assistant turn asked for."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = Field(default=(), exclude_if=_empty)
    tool_call_id: str = Field(default="", exclude_if=_empty)


class Sampling(Frozen):
    """How a model samples its answer. A None is not sent: the endpoint's default applies."""

    temperature: float = 0.0
    top_p: float | None = None
    top_k: int | None = None
    repetition_penalty: float | None = None
    max_tokens: int = 200
    stop: tuple[str, ...] = ()
    seed: int | None = None
    top_logprobs: int | None = None


class Prompt(Frozen):
    """A rendered prompt: what is sent, and the template and values it was made from.

    `id` and `hash` identify the template; `slots` are the values filled in. Control models read the slots, never the
    wording. `json_schema` is the schema that the answer must follow, if it is requested field by field
    (`core.parsers.fields`).
    """

    id: str
    hash: str
    messages: tuple[Message, ...]
    slots: dict[str, str] = Field(default_factory=dict)
    json_schema: dict[str, Any] | None = None


class Request(Frozen):
    """One question to one model.

    `repeat` distinguishes samples of otherwise identical requests (ten samples of one prompt). `tools` are the
    functions that the model may ask us to call.
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
        """Return 64 hexadecimal digits. They are equal for requests that look the same to the model and have the same
        role and repeat number.
        """
        sent = self.model_dump(mode="json", exclude={"slots", "prompt", "messages"})
        texts = {name: _sorted_json(value) for name, value in sent.items()}
        texts["messages"] = f"[{', '.join(map(_message_json, self.messages))}]"
        whole = ", ".join(f'"{name}": {text}' for name, text in sorted(texts.items()))
        return hashlib.sha256(f"{{{whole}}}".encode()).hexdigest()


_sorted_json = json.JSONEncoder(sort_keys=True, ensure_ascii=False).encode


@lru_cache(maxsize=512)
def _message_json(message: Message) -> str:
    """Return the message as JSON for fingerprints; cached because all prompts of a template have the same
    demonstrations.
    """
    return _sorted_json(message.model_dump(mode="json"))


LONGEST_ANSWER = 64 * 1024
"""Longest answer in characters, including its tool calls. The rest is not stored and the answer's ending is "cut", so
all code that reads answers can rely on this limit.
"""


class Usage(Frozen):
    """Tokens as counted by the endpoint."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


Ending = Literal["complete", "cut", "unknown"]
"""How an answer ended. If a filter withheld it or it broke off, there is no answer but a failed call."""

_ENDINGS: tuple[tuple[Ending | Literal["filtered", "failed"], str], ...] = (
    ("filtered", r"filter|safety|recitation|refusal|block|prohibited|spii|moderation|sensitive"),
    ("failed", r"error|fail|insufficient|abort|cancel|timeout|overload|malformed|unexpected|\bother\b"),
    ("cut", r"length|max|limit|truncat|context|incomplete|pause"),
    ("complete", r"stop|\bend|eos|tool|function|complete|finished|done"),
)


def ending_of(finish_reason: str | None) -> Ending | Literal["filtered", "failed"]:
    """Return how an answer ended, judging by the server's finish reason; "unknown" if there is none or we do not know
    the word. Servers use many spellings: end_turn, STOP, length, MAX_TOKENS, "content_filter: RECITATION",
    network_error.
    """
    words = (finish_reason or "").lower().replace("-", "_")
    return next((ending for ending, pattern in _ENDINGS if re.search(pattern, words)), "unknown")


class Thinking(Frozen):
    """A model's reasoning channel, stored separately from what it says to the user."""

    kind: Literal["raw", "summary", "hidden"]
    """`raw`: the model's own words; `summary`: the provider's summary of them; `hidden`: only the token count is known.
    """

    text: str = ""
    tokens: int | None = None
    """As counted by the endpoint."""


class Served(Frozen):
    """Which model answered, as reported by the server."""

    model: str = ""
    fingerprint: str = ""
    """The server's name for its configuration (`system_fingerprint`)."""


class ModelAnswer(Frozen):
    """What a model wrote; untrusted."""

    text: str
    """The server's content field, including thinking tags, up to our stop sequences. May be empty if the model asks for
    `tool_calls`.
    """

    seconds: float = 0.0
    first_token_seconds: float | None = None
    cached: bool = False
    usage: Usage = Usage()
    finish_reason: str | None = None
    """The server's own word for how the answer ended."""

    ended: Ending = "complete"
    thinking: Thinking | None = Field(default=None, exclude_if=_empty)
    """None if, as far as we know, the model did not think. Thinking that appears in `text` is repeated here."""

    sent: dict[str, Any] = Field(default_factory=dict, exclude_if=_empty)
    """The parameters as sent, without model and messages; empty for models that are not called over HTTP."""

    served: Served | None = Field(default=None, exclude_if=_empty)
    logprobs: list[dict[str, Any]] | None = None
    tool_calls: tuple[ToolCall, ...] = Field(default=(), exclude_if=_empty)
    edited: bool = Field(default=False, exclude_if=_empty)
    """Whether a person wrote this answer in place of the model's."""

    at_once: int | None = Field(default=None, exclude_if=_empty)
    """The endpoint's concurrency limit when this answer arrived."""

    @model_validator(mode="before")
    @classmethod
    def _ending(cls, data: Any) -> Any:
        """Derive `ended` from the finish reason if the data has no `ended`. An answer with log probabilities counts as
        complete: it was requested with a fixed number of tokens.
        """
        if not isinstance(data, dict) or "ended" in data or not data.get("finish_reason") or data.get("logprobs"):
            return data
        ending = ending_of(data["finish_reason"])
        return {**data, "ended": ending if ending in ("complete", "unknown") else "cut"}

    @property
    def cut_note(self) -> str:
        """Where the answer was cut, such as "cut at 200 tokens"; empty if it was not."""
        if self.ended != "cut":
            return ""
        if len(self.text) >= LONGEST_ANSWER:
            return f"cut at {LONGEST_ANSWER:,} characters"
        tokens = self.usage.completion_tokens or self.sent.get("max_tokens") or self.sent.get("max_completion_tokens")
        return f"cut at {tokens:,} tokens" if tokens else "cut before it was complete"


class CallError(ExplainError):
    """A call that gave no usable answer. The message can be shown to the user; `hint` says what to do next."""

    in_journals = "CallFailed"

    bad_input = False
    """Whether the request itself is at fault, rather than the model or the connection."""

    may_pass = False
    """Whether the same call may succeed later."""


class OutOfReachError(ExplainError):
    """A model can no longer be reached; `failure` says why. This ends the run: it is not the fault of one item."""

    def __init__(self, failure: CallError) -> None:
        super().__init__(failure.message)
        self.failure = failure


OnText = Callable[[str], None]


def ignore_text(text: str) -> None:
    """The `OnText` for callers that need only the whole answer; a model may then deliver it in one piece."""


class Model(Protocol):
    """Anything that answers requests: an endpoint, a local model, a control, a journal."""

    id: str

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        """Answer `request`, passing each piece of text to `on_text` as it arrives. Raises CallError."""
        ...


# Events


def now() -> datetime:
    """Return the current time in UTC, with time zone."""
    return datetime.now(UTC)


def _in_utc(at: datetime) -> datetime:
    """Treat a time without a zone as UTC, so that all times in a journal can be compared."""
    return at if at.tzinfo else at.replace(tzinfo=UTC)


class _Event(Frozen):
    run: str
    at: Annotated[datetime, AfterValidator(_in_utc)] = Field(default_factory=now)


class InRun(_Event):
    """An event within a run."""

    case: str = ""
    """The case it belongs to, or the item that several cases share: the case "q7/redaction/you" shares the events
    placed at "q7". Empty for events of the whole run.
    """
    trial: str = ""
    """The trial within the case."""


class Fork(Frozen):
    """One answer of another run that a person replaced."""

    run: str
    """The other run."""
    case: str
    """The case or item of the call."""
    call: str
    """The call whose answer was replaced."""
    text: str
    """The new answer."""


class Started(_Event):
    """The run began."""

    kind: Literal["started"] = "started"
    version: int = Field(default=SCHEMA, validation_alias="schema", serialization_alias="schema")
    """The version of the journal's format."""
    lab: str
    """The lab's name."""
    spec: dict[str, Any]
    """The lab's specification as data; with it and `seed` the run can be repeated."""
    seed: int
    """The seed of everything random in the run."""
    versions: dict[str, str] = Field(default_factory=dict)
    """The versions of the libraries used, by package."""
    prompts: dict[str, str] = Field(default_factory=dict)
    """The hash of each prompt template, by id."""
    app: str = ""
    """This program's version."""
    commit: str = ""
    """The commit of the code."""
    about: str = Field(default="", exclude_if=_empty)
    """Another run, if this journal holds what a person says about that run."""
    reread_from: str = Field(default="", exclude_if=_empty)
    """The run whose raw answers were parsed again."""
    predicted_from: str = Field(default="", exclude_if=_empty)
    """The run whose questions and answers were used, with predictions by another model."""
    forked_from: Fork | None = Field(default=None, exclude_if=_empty)
    """The answer that a person edited: this run continues from there, with the cases that share it."""
    owner: str = Field(default="", exclude_if=_empty)
    """The name under which the runs of the person who began it are stored (`core.server.access`); empty for a run begun
    on the command line.
    """
    study: str = Field(default="", exclude_if=_empty)
    """The study that the run belongs to, if any."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class Resumed(_Event):
    """A run that had stopped continues. Calls that were already answered are not made again."""

    kind: Literal["resumed"] = "resumed"


class Shared(_Event):
    """A change of who may view a run; stored in a separate journal about that run."""

    kind: Literal["shared"] = "shared"
    shared: bool
    """Whether everyone may view it from now on."""


class Asked(InRun):
    """A call that is about to be made."""

    kind: Literal["asked"] = "asked"
    call: str
    """The call's id within the run."""
    role: str
    """The role in which the model is asked."""
    model: str
    """The model's id."""
    messages: tuple[Message, ...]
    """The chat turns that are sent."""
    sampling: Sampling
    """How the answer is sampled."""
    item: str = ""
    """What the call is about."""
    prompt: str = ""
    """The template's id."""
    repeat: int = 0
    """Distinguishes requests that are otherwise identical."""
    fingerprint: str = ""
    """The request's fingerprint."""
    tools: tuple[Tool, ...] = Field(default=(), exclude_if=_empty)
    """The functions that the model may ask to call."""
    json_schema: dict[str, Any] | None = Field(default=None, exclude_if=_empty)
    """The schema of the answer, if it is requested as JSON."""


class Token(_Event):
    """A piece of an answer as it arrives. Live only: never written to the journal."""

    kind: Literal["token"] = "token"
    call: str
    """The call that is being answered."""
    text: str
    """The piece."""


class _OfCall(InRun):
    kind: Literal["answered"] = "answered"
    call: str
    """The call's id within the run."""
    role: str
    """The role in which the model was asked."""
    model: str
    """The model's id."""


class Answered(ModelAnswer, _OfCall):
    """The result of a call."""

    seconds: float
    """The time from the request to the end."""
    as_prose: bool = Field(default=False, exclude_if=_empty)
    """Whether the answer was requested as JSON by a schema but came as prose."""

    def again(self, **news: Any) -> ModelAnswer:
        """Return the stored answer as one that is given again from the cache, with the fields in `news` replaced."""
        return ModelAnswer(**{name: getattr(self, name) for name in ModelAnswer.model_fields} | {"cached": True} | news)


class Failed(InRun):
    """A call or the run itself failed."""

    kind: Literal["failed"] = "failed"
    call: str | None = None
    """The call's id; None if the run failed."""
    role: str | None = None
    """The role of the call."""
    model: str | None = None
    """The model of the call."""
    error: str
    """The error's class."""
    message: str
    """What happened, for the user."""
    hint: str = ""
    """What the user can do."""
    bad_input: bool = Field(default=False, exclude_if=_empty)
    """Whether what the user gave was the reason."""


class Recorded(InRun):
    """One finding."""

    kind: Literal["recorded"] = "recorded"
    record: str
    """The type of the record, in lower case."""
    item: str
    """What it is about, unique within its case."""
    data: dict[str, Any]
    """The record's fields."""
    by: str = Field(default="", exclude_if=_empty)
    """The person who said it; empty if the lab recorded it."""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The key of this record; a later record with the same key replaces it."""
        return self.record, self.case, self.item, self.by


class Dropped(InRun):
    """Something that is excluded."""

    kind: Literal["dropped"] = "dropped"
    item: str
    """What is excluded; empty for the whole case."""
    reason: str
    """Why, in one of the lab's words."""
    detail: str = ""
    """The reason in more words."""
    rules: Rules | None = None
    """The parser for which it is excluded; None for both."""


class Scored(InRun):
    """A metric of the whole run, or of `case` if the run has several."""

    kind: Literal["scored"] = "scored"
    metric: str
    """The metric's name."""
    value: float | None
    """The figure; None if it is undefined."""
    n: int
    """How many items were used."""
    of: int
    """How many items there are."""
    low: float | None = None
    """The lower end of the 95 % interval."""
    high: float | None = None
    """The upper end of the 95 % interval."""
    rules: Rules
    """The parser whose readings were counted."""
    item: str = ""
    """The part that the figure is about, such as one explanation and wording."""
    detail: dict[str, Any] = Field(default_factory=dict)
    """What else is known about the figure."""


class Finished(_Event):
    """The run's end."""

    kind: Literal["finished"] = "finished"
    status: Status
    """How it ended."""


Event = Annotated[
    Started | Resumed | Shared | Asked | Token | Answered | Failed | Recorded | Dropped | Scored | Finished,
    Field(discriminator="kind"),
]

_ADAPTER: TypeAdapter[Event] = TypeAdapter(Event)


def to_json(event: Event) -> str:
    """Return the event as one line of JSON, without a newline."""
    return event.model_dump_json(by_alias=True)


def from_json(line: str | bytes) -> Event:
    """Parse the event in `line`. Raises pydantic.ValidationError if there is none."""
    return _ADAPTER.validate_json(line)
