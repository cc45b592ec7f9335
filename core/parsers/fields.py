"""Answers requested as JSON fields: the request includes a JSON schema, so that nothing has to be guessed from prose.

This measures something else than an answer in the model's own words: an answer that has to be yes or no cannot be a
refusal, and no text comes before the first field (docs/measuring.md §2.4).
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, wraps
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from ..events import ModelAnswer, Prompt, Rules, Sampling
from ..score import Figure, undefined
from ..text.reply import first_object, storable, without_thinking
from ..text.templates import load

V = TypeVar("V")

Answers = Annotated[
    Literal["prose", "schema"],
    Field(
        title="How answers are asked for",
        description="prose: in the model's own words; schema: as JSON by a schema, where the endpoint takes one",
        exclude_if=lambda answers: answers == "prose",
    ),
]
"""How the roles of a run are asked to answer: in their own words, or in JSON fields."""

Kind = Literal["text", "list"] | tuple[str, ...]
"""What a field contains: a text, a list of texts, or one of these words."""

Schema = dict[str, Any] | None
"""The JSON schema of an answer; None if it was requested in prose."""

_FENCE = re.compile(r"\A```(?:json)?[ \t]*\n(.*?)\n[ \t]*```\Z", re.DOTALL | re.IGNORECASE)


def schema(**kinds: Kind) -> dict[str, Any]:
    """Return the JSON schema of an object with exactly these fields, in this order."""
    known = {"text": {"type": "string"}, "list": {"type": "array", "items": {"type": "string"}}}
    properties = {
        name: known[kind] if isinstance(kind, str) else {"type": "string", "enum": list(kind)}
        for name, kind in kinds.items()
    }
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def schema_for(answers: Answers, **kinds: Kind) -> Schema:
    """Return the schema of an answer with these fields; None if answers are requested in prose."""
    return None if answers == "prose" else schema(**kinds)


def with_schema(prompt: Prompt, wanted: Schema) -> Prompt:
    """Return `prompt` with a request for a JSON object of the schema `wanted`, also as a sentence at its end; unchanged
    if `wanted` is None.
    """
    if wanted is None:
        return prompt
    named = ", ".join(f'"{name}" ({_in_words(kind)})' for name, kind in wanted["properties"].items())
    *turns, last = prompt.messages
    sentence = load("fields").render(fields=named).messages[-1].content
    last = last.model_copy(update={"content": f"{last.content}\n\n{sentence}"})
    return prompt.model_copy(update={"messages": (*turns, last), "json_schema": wanted})


NO_PAPER_FIGURE = "its answers were requested as fields, and the original parser reads only prose"
"""Why there is no figure under the original parser."""

OTHER_MEASURE = "Answers were asked for by their fields, as JSON: that is another measure than the paper's."

ROOM = 100
"""Extra tokens for the names and punctuation of an object, besides its fields' content."""


def sampling(usual: Sampling, prompt: Prompt) -> Sampling:
    """Return the sampling for a prompt: `usual` or, for an answer in fields, `usual` with more tokens for these and
    without stop sequences, because JSON may contain line breaks.
    """
    if prompt.json_schema is None:
        return usual
    return usual.model_copy(update={"stop": (), "max_tokens": usual.max_tokens + ROOM})


def hashes() -> dict[str, str]:
    """Return the hash of the sentence, by its template's id."""
    return {load("fields").id: load("fields").hash}


def _in_words(kind: dict[str, Any]) -> str:
    if "enum" in kind:
        return " or ".join(json.dumps(word, ensure_ascii=False) for word in kind["enum"])
    return "a list of texts" if kind["type"] == "array" else "text"


def read(text: str, wanted: dict[str, Any]) -> dict[str, Any] | None:
    """Return the fields of an answer; None if it is not exactly one JSON object that follows the schema `wanted`.

    Thinking before it and a fence around it are ignored. A repeated field, a word in other capitals, an object among
    other words: these would require guessing, so the answer counts as prose.
    """
    found = _object(text)
    properties = wanted["properties"]
    if found is None or found.keys() != properties.keys():
        return None
    if not all(_fits(found[name], kind) for name, kind in properties.items()):
        return None
    return {name: _held(found[name], kind) for name, kind in properties.items()}


@lru_cache(maxsize=64)
def _object(text: str) -> dict[str, Any] | None:
    own = without_thinking(text).strip()
    if fence := _FENCE.match(own):
        own = fence[1]
    try:
        found = json.loads(own, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{name!r} is there twice")
        found[name] = value
    return found


def _fits(value: Any, kind: dict[str, Any]) -> bool:
    if kind["type"] == "array":
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    return isinstance(value, str) and value in kind.get("enum", (value,))


def _held(value: Any, kind: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [storable(one) for one in value]
    return value if "enum" in kind else storable(value).strip()


def none_by_paper(scores: Callable[[Sequence[V]], Iterator[Figure]]) -> Callable[[Sequence[V]], Iterator[Figure]]:
    """Wrap a lab's `scores` so that figures under the original parser are undefined if answers were requested in
    fields.
    """

    @wraps(scores)
    def of(views: Sequence[V]) -> Iterator[Figure]:
        by_fields = any(getattr(getattr(one, "spec", None), "answers", "prose") == "schema" for one in views)
        for one in scores(views):
            is_paper = by_fields and one.rules == "paper"
            yield one._replace(score=undefined(one.score.of, NO_PAPER_FIGURE)) if is_paper else one

    return of


def format_notes(answers: Answers, came_as_prose: int) -> list[str]:
    """Return sentences about how a case was asked, for its reader; none if it was in prose."""
    if answers == "prose":
        return []
    lines = [OTHER_MEASURE]
    if came_as_prose == 1:
        lines.append("1 of them came as prose and was read as prose.")
    elif came_as_prose:
        lines.append(f"{came_as_prose} of them came as prose and were read as prose.")
    return lines


# How much may be parsed of an answer that was cut short by its token limit or by ours.


REASON = "cut"
"""The reason in a `dropped` event for what depends on an answer that was cut; its detail is `ModelAnswer.cut_note`."""


def readable(answer: ModelAnswer, rules: Rules, json_schema: Schema = None, lines: bool = False) -> str | None:
    """Return the part of `answer` that the parser of `rules` may read; None if it was cut before any part was complete.

    The original parser ("paper") reads everything, as the authors' code did. The updated one reads a cut answer only as
    far as it was complete: with a `json_schema`, an object that was closed; with `lines`, the lines that had ended.
    """
    if rules == "paper" or answer.ended != "cut":
        return answer.text
    own = without_thinking(answer.text).strip(" \t\r\n")
    if json_schema is not None:
        return answer.text if first_object(own) is not None else None
    ended = own.rpartition("\n")[0] if lines else ""
    return ended if ended.strip() else None
