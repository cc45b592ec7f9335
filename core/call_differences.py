"""What differed between a call as it was asked for and as it was sent and served."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from .events import Sampling, Served

_NAMES = {"max_tokens": ("max_tokens", "max_completion_tokens"), "repetition_penalty": ("_penalty",)}
"""Under which other names, or ends of names, a server may have been sent a setting."""

_VERSION = re.compile(r"[-@:](?:\d{3,4}|\d{6,8}|\d{4}-\d\d-\d\d|\d\d-\d{2,4}|v\d{1,3}|latest)(?:-preview)?")


class Difference(NamedTuple):
    """One thing that differed, for the model that was asked."""

    model: str
    kind: Literal["not sent", "system text", "served"]
    """A setting was left out; the system text was put before the first user turn; another model answered."""

    name: str = ""
    """The setting, or the model that answered in the server's words."""


def differences(
    model: str, sampling: Sampling, sent: Mapping[str, Any], served: Served | None
) -> tuple[Difference, ...]:
    """All that differed in one answered call. `sent` is empty for models that are not asked over HTTP."""
    found = [Difference(model, "not sent", name) for name in not_sent(sampling, sent)]
    if "system_role" in sent:
        found.append(Difference(model, "system text"))
    if served is not None and is_another(model, served.model):
        found.append(Difference(model, "served", served.model))
    return tuple(found)


def not_sent(sampling: Sampling, sent: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, by name, that were asked for and are not in `sent`. Stop sequences do not count: they are applied
    to the answer, whether they are sent or not.
    """
    if not sent:
        return {}
    asked = sampling.model_dump(exclude={"stop"}, exclude_none=True)
    return {name: value for name, value in asked.items() if not _is_sent(name, sent)}


def _is_sent(name: str, sent: Mapping[str, Any]) -> bool:
    return any(one.endswith(known) for known in _NAMES.get(name, (name,)) for one in sent)


def is_another(model: str, served: str) -> bool:
    """Whether the model that the server names is not the one asked for, by its own name without folders and endings.
    A dated version of it is another name too (`is_version`).
    """
    return bool(served) and _plain(model) != _plain(served)


def is_version(model: str, served: str) -> bool:
    """Whether the served model is a version of the one asked for: its name with a date or number added."""
    asked, answered = _plain(model), _plain(served)
    return answered.startswith(asked) and _VERSION.fullmatch(answered[len(asked) :]) is not None


def _plain(model: str) -> str:
    name = model.replace("\\", "/").rstrip("/").rpartition("/")[2].lower()
    return name.removesuffix(".gguf").removesuffix(":latest").removesuffix("-latest")
