"""Tests what a model accepts and does with six small calls: whether it answers and thinks, which settings it accepts,
whether it writes JSON to a schema, gives log probabilities and calls tools, and how fast it is.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..events import CallError, Frozen, Message, Model, ModelAnswer, Request, Sampling, Served, Tool, ignore_text, now
from ..home import write
from ..text.display import count_noun
from ..text.reply import without_thinking
from .cache import Cached
from .connection import Thinks, Traits
from .endpoint import Endpoint
from .errors import RequestRefusedError, ToolsUnsupportedError
from .ids import is_control
from .settings import price_of

MOST_KEPT = 500
"""How many models' results are stored; the oldest are removed first."""

_SETTINGS = ("temperature", "top_p", "seed", "stop")
_TOOL = Tool(
    name="look_up_height",
    description="Gives the height of a mountain in metres.",
    parameters={"type": "object", "properties": {"mountain": {"type": "string"}}, "required": ["mountain"]},
)


class _Country(BaseModel):
    # What the call about JSON schemas asks for.
    model_config = ConfigDict(extra="forbid", strict=True)

    capital: str
    is_coastal: bool


_SCHEMA = _Country.model_json_schema()


class Capabilities(Frozen):
    """The result of testing a model. A field is None if it could not be found out."""

    model: str
    at: datetime = Field(default_factory=now)
    calls: int = 0
    """Answers and failures, without calls that were repeated because a parameter was refused."""

    answers: bool = False
    problem: str = ""
    """Why it does not answer, and what to do."""

    thinks: Thinks = "unknown"
    refused: tuple[str, ...] = ()
    """Those of temperature, top_p, seed and stop that the server does not accept."""

    system_role: bool = True
    json_schema: bool | None = None
    logprobs: bool | None = None
    tools: bool | None = None
    seconds: float | None = None
    """The time for the first short answer."""

    tokens_per_second: float | None = None
    served: Served | None = None
    prompt_tokens: int | None = None
    """The sum over all calls, if every answer reports it; likewise `completion_tokens`."""

    completion_tokens: int | None = None


class TraitRow(NamedTuple):
    """One line of the result: what was tested, whether it is so (None: not known), and details."""

    title: str
    holds: bool | None
    detail: str = ""


async def find_capabilities(model: Model, on_call: Callable[[str], None] = lambda what: None) -> Capabilities:
    """Ask `model` at most six small things, one after the other, without the response cache. `on_call` is told what
    each call is about. A model that does not answer the first call is asked no more, and a robot is asked nothing:
    it answers only the questions of its lab. A call that fails is part of the result, and raises nothing.
    """
    if is_control(model.id):
        return Capabilities(model=model.id, answers=True, thinks="no")
    inner = unwrapped(model)
    results: list[ModelAnswer | CallError] = []

    async def ask(
        what: str, question: str, max_tokens: int, top_logprobs: int | None = None, **request: Any
    ) -> ModelAnswer | CallError:
        """Make one call with every common setting; returns its answer, or why there is none."""
        on_call(what)
        sampling = Sampling(
            temperature=0.0, top_p=0.95, seed=7, stop=("\nQuestion:",), max_tokens=max_tokens, top_logprobs=top_logprobs
        )
        messages = (Message(role="system", content="Answer briefly."), Message(role="user", content=question))
        asked = Request(role="trial", model=inner.id, messages=messages, sampling=sampling, **request)
        try:
            results.append(await inner.answer(asked, ignore_text))
        except CallError as failure:
            results.append(failure)
        return results[-1]

    first = await ask("whether it answers", "What is 17 + 25? Answer with the number alone.", max_tokens=200)
    if not isinstance(first, ModelAnswer):
        return Capabilities(model=model.id, calls=1, problem=f"{first.message} {first.hint}".strip())
    riddle = await ask(
        "whether it thinks",
        "Mia has 4 brothers and 1 sister. How many sisters does each of her brothers have? Answer with a number alone.",
        max_tokens=400,
    )
    numbers = "Write the numbers from one to sixty in words, separated by commas."
    long = await ask("how fast it is", numbers, max_tokens=250)
    schema = await ask("JSON schema", "Describe Norway. Answer in JSON.", max_tokens=200, json_schema=_SCHEMA)
    logprobs = await ask("log probabilities", "Is ice cold? Answer yes or no.", max_tokens=5, top_logprobs=5)
    tools = await ask("tools", "How high is Ben Nevis? Look it up.", max_tokens=200, tools=(_TOOL,))
    answers = [one for one in results if isinstance(one, ModelAnswer)]
    # What the connection has learned; nothing for a model that is not behind a server.
    traits = inner.connection.traits(inner.model) if isinstance(inner, Endpoint) else Traits()
    return Capabilities(
        model=model.id,
        calls=len(results),
        answers=True,
        thinks=_thinks([one for one in (first, riddle, long) if isinstance(one, ModelAnswer)]),
        refused=tuple(name for name in _SETTINGS if name in traits.refused),
        system_role=traits.system_role,
        json_schema=_holds(schema, _fits_schema),
        logprobs=_holds(logprobs, lambda answer: bool(answer.logprobs)),
        tools=_holds(tools, lambda answer: any(call.name == _TOOL.name for call in answer.tool_calls)),
        seconds=first.seconds,
        tokens_per_second=_speed(long) if isinstance(long, ModelAnswer) else None,
        served=first.served,
        prompt_tokens=_total([one.usage.prompt_tokens for one in answers]),
        completion_tokens=_total([one.usage.completion_tokens for one in answers]),
    )


def _holds(result: ModelAnswer | CallError, shows: Callable[[ModelAnswer], bool]) -> bool | None:
    """Whether the answer shows what was asked for: False if the server refuses it, None if the call failed."""
    if isinstance(result, ModelAnswer):
        return shows(result)
    return False if isinstance(result, RequestRefusedError | ToolsUnsupportedError) else None


def _fits_schema(answer: ModelAnswer) -> bool:
    if answer.sent and "response_format" not in answer.sent:
        return False
    with suppress(ValidationError):
        _Country.model_validate_json(without_thinking(answer.text))
        return True
    return False


def _thinks(answers: list[ModelAnswer]) -> Thinks:
    thinking = [(answer, answer.thinking) for answer in answers if answer.thinking is not None]
    if not thinking:
        return "no"
    shown = next(((answer, one) for answer, one in thinking if one.kind != "hidden"), None)
    if shown is None:
        return "hidden"
    answer, one = shown
    return "inline" if one.text.strip() and one.text.strip() in answer.text else "field"


def _speed(answer: ModelAnswer) -> float | None:
    """Tokens per second while the model writes, without the wait for the first token if the answer was streamed."""
    tokens, first = answer.usage.completion_tokens, answer.first_token_seconds
    came_in_pieces = first is not None and first < answer.seconds / 2 and answer.thinking is None
    seconds = answer.seconds - (first or 0) if came_in_pieces else answer.seconds
    return tokens / seconds if tokens and seconds > 0 else None


def _total(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if counts and len(known) == len(counts) else None


# In words


def summary(found: Capabilities) -> str:
    """One line on what the test used, such as "6 calls, $0.0004"."""
    price = price_of(found.model)
    cost = ""
    if price is not None and found.prompt_tokens is not None and found.completion_tokens is not None:
        dollars = price.cost_of(found.prompt_tokens, found.completion_tokens)
        cost = f", ${dollars:.4f}" if dollars else ", free"
    return f"{count_noun(found.calls, 'call')}{cost}"


def rows(found: Capabilities, room: int = 0) -> Iterator[TraitRow]:
    """The result, line by line; `room` is the number of tokens that are added for thinking."""
    if is_control(found.model):
        yield TraitRow(
            "Answers", True, "A robot: it answers only the questions of its lab, at no cost. No call was made."
        )
        return
    if not found.answers:
        yield TraitRow("Answers", False, found.problem)
        return
    speed = f", {found.tokens_per_second:.0f} tokens a second" if found.tokens_per_second else ""
    yield TraitRow("Answers", True, f"{found.seconds or 0:.1f} s{speed}")
    yield TraitRow("Thinks", True if found.thinks not in ("unknown", "no") else None, _of_thinking(found.thinks, room))
    refused = {*found.refused, *(() if found.system_role else ("system prompt",))}
    # A thinking model is sent no stop sequences: the app applies them outside thinking.
    unsent = set() if found.thinks == "no" else {"stop"}
    taken = [title for name, title, _ in _IN_WORDS if name not in refused | unsent]
    if taken:
        yield TraitRow("Settings", True, f"Takes {', '.join(taken)}.")
    for name, title, otherwise in _IN_WORDS:
        if name in refused:
            yield TraitRow(title.capitalize(), False, otherwise)
    yield TraitRow("JSON schema", found.json_schema, _unknown(found.json_schema, "Answers are parsed from plain text."))
    no_logprobs = "Probe's entity functions ask for yes or no instead."
    yield TraitRow("Log probabilities", found.logprobs, _unknown(found.logprobs, no_logprobs))
    yield TraitRow("Tools", found.tools, _unknown(found.tools, "Probe's agent asks in plain text."))
    yield _price_row(found.model)
    asked = found.model.partition("/")[2]
    if found.served is not None and found.served.model not in ("", asked):
        yield TraitRow("Served by", None, f"{found.served.model} (asked for: {asked})")


_IN_WORDS = (
    ("temperature", "temperature", "Refused: the provider's own sampling is used, and reports say so."),
    ("top_p", "top-p", "Refused: left out."),
    ("seed", "seed", "Refused: repeated calls can differ."),
    ("stop", "stop sequences", "Refused: applied by the app instead."),
    ("system prompt", "system prompt", "Refused: put before the first question instead."),
)
_THINKING = {
    "no": "No thinking was seen.",
    "inline": "In its answer; the app keeps it apart.",
    "field": "In a field of its own, kept with each answer.",
    "hidden": "Not shown: only its tokens are counted.",
    "unknown": "Not known.",
}


def _of_thinking(thinks: Thinks, room: int) -> str:
    has_room = room and thinks not in ("unknown", "no")
    return _THINKING[thinks] + (f" Room for thinking: {room:,} tokens." if has_room else "")


def _unknown(holds: bool | None, otherwise: str) -> str:
    return "Not known: the call failed." if holds is None else "" if holds else otherwise


def _price_row(model: str) -> TraitRow:
    price = price_of(model)
    if price is None:
        return TraitRow("Price", None, "Not known. Put it into prices.toml (docs/models.md).")
    if not price.prompt and not price.completion:
        return TraitRow("Price", True, "Free")
    source = "" if price.verified else ", not verified"
    amounts = f"${price.prompt:g} in, ${price.completion:g} out per million tokens"
    return TraitRow("Price", True, f"{amounts} ({price.date:%d %B %Y}{source})")


# Kept in the home


class _Kept(Frozen):
    found: dict[str, Capabilities] = Field(default_factory=dict)


def unwrapped(model: Model) -> Model:
    """The model itself, without the response cache before it."""
    return model.model if isinstance(model, Cached) else model


def set_room(model: Model, tokens: int) -> None:
    """Set the tokens that the model gets for thinking. Models that are not asked over HTTP need none."""
    if isinstance(inner := unwrapped(model), Endpoint):
        inner.connection.learn(inner.model, room=tokens)


def _key(model: Model) -> str:
    """A key for the model, with its server's address, since two servers may have models with the same id."""
    inner = unwrapped(model)
    return f"{inner.connection.config.base_url} {model.id}" if isinstance(inner, Endpoint) else model.id


def saved_capabilities(model: Model, home: Path) -> Capabilities | None:
    """The result of the model's last test; None if it was not tested, or if that cannot be read."""
    return _read(home).get(_key(model))


def tried(home: Path) -> set[str]:
    """The ids of the models that were tested."""
    return {found.model for found in _read(home).values()}


def all_saved(get: Callable[[str], Model], ids: Iterable[str], home: Path) -> dict[str, Capabilities]:
    """The results of these models by id, for those that were tested and that `get` finds."""
    every, results = _read(home), {}
    for id in ids:
        with suppress(CallError):
            if (found := every.get(_key(get(id)))) is not None:
                results[id] = found
    return results


def save_capabilities(found: Capabilities, model: Model, home: Path) -> None:
    """Store the result in `home`, unless nothing can be written there."""
    every = {**_read(home), _key(model): found}
    newest = dict(sorted(every.items(), key=lambda pair: pair[1].at)[-MOST_KEPT:])
    with suppress(OSError):
        write(home / "capabilities.json", _Kept(found=newest).model_dump_json(indent=1).encode())


def _read(home: Path) -> dict[str, Capabilities]:
    try:
        return _Kept.model_validate_json((home / "capabilities.json").read_bytes()).found
    except (OSError, ValidationError):
        return {}
