"""Prompt templates: chat turns with `{slots}`, stored under `data/prompts/`, or in a folder that a lab names.

A template file is TOML::

    id = "strategyqa-explain-cot"
    version = 1
    role = "explainer"
    system = "What the model reads once."
    user = "Q: {question}"            # a user turn; the last one asks the real question
    assistant = "{explanation}"       # how a demonstration's reply is written

    [[demonstrations]]
    question = "..."
    explanation = "..."
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path

from pydantic import ValidationError

from ..errors import ExplainError
from ..events import Frozen, Message, Prompt
from ..package_data import DATA

PROMPTS = DATA / "prompts"

_SLOT = re.compile(r"\{([a-z][a-z0-9_]*)\}")


class TemplateError(ExplainError, ValueError):
    """A template file is invalid, or a slot has no value; the message names both."""


def fill(text: str, slots: Mapping[str, str]) -> str:
    """Replace each `{slot}` in `text`, in one pass: braces inside a value are left alone. Raises TemplateError for a
    slot without a value.
    """

    def value(match: re.Match[str]) -> str:
        try:
            return slots[match[1]]
        except KeyError:
            raise TemplateError(f"the prompt has a slot {{{match[1]}}} that was given no value") from None

    return _SLOT.sub(value, text)


class Template(Frozen):
    """A prompt with its demonstrations. `hash` changes whenever any word, or the order of demonstrations, changes."""

    id: str
    version: int
    role: str
    system: str = ""
    user: str
    assistant: str = ""
    ask: str = ""
    """The last user turn, if it differs from the demonstrations' turns."""
    demonstrations: tuple[dict[str, str], ...] = ()

    @cached_property
    def hash(self) -> str:
        """12 hexadecimal digits computed from everything that reaches the model."""
        content = self.model_dump(mode="json", exclude={"id", "version", "role"}, exclude_defaults=True)
        return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:12]

    @cached_property
    def shown(self) -> list[Message]:
        """The turns of the demonstrations, which are the same in every prompt. Raises TemplateError."""
        turns = []
        for demonstration in self.demonstrations:
            turns.append(Message(role="user", content=fill(self.user, demonstration)))
            turns.append(Message(role="assistant", content=fill(self.assistant, demonstration)))
        return turns

    def render(self, **slots: str) -> Prompt:
        """Return the prompt: system turn, a user and an assistant turn per demonstration, then the question. Raises
        TemplateError.
        """
        turns = [Message(role="system", content=fill(self.system, slots))] if self.system else []
        turns += self.shown
        turns.append(Message(role="user", content=fill(self.ask or self.user, slots)))
        return Prompt(id=self.id, hash=self.hash, messages=tuple(turns), slots=slots)


@lru_cache(maxsize=256)
def load(name: str, folder: Path | None = None) -> Template:
    """Load the template `<name>.toml` from a folder. Without a folder it comes from `data/prompts`, with a `name` such
    as "simulatability/strategyqa-explain-cot".

    Raises TemplateError if the file is missing or is not a template.
    """
    folder = folder or PROMPTS
    path = folder / f"{name}.toml"
    try:
        return Template.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise TemplateError(f"no prompt template {name!r} in {folder}") from None
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise TemplateError(f"prompt template {path.name} cannot be used: {error}") from error
