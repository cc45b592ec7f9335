"""Differences between a call as it was requested and as it was sent and served."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from .events import Sampling, Served

_NAMES = {"max_tokens": ("max_tokens", "max_completion_tokens"), "repetition_penalty": ("_penalty",)}
"""Other names, or endings of names, under which a setting may be sent to a server."""

_VERSION = re.compile(r"[-@:](?:\d{3,4}|\d{6,8}|\d{4}-\d\d-\d\d|\d\d-\d{2,4}|v\d{1,3}|latest)(?:-preview)?")


class Difference(NamedTuple):
    """One difference, for the model that was asked."""

    model: str
    kind: Literal["not sent", "system text", "served"]
    """`not sent`: a setting was left out. `system text`: the system text was put before the first user turn. `served`:
    another model answered.
    """

    name: str = ""
    """The setting, or the name that the server gives for the model that answered."""


def differences(
    model: str, sampling: Sampling, sent: Mapping[str, Any], served: Served | None
) -> tuple[Difference, ...]:
    """Return all differences of one answered call. `sent` is empty for models that are not called over HTTP."""
    found = [Difference(model, "not sent", name) for name in not_sent(sampling, sent)]
    if "system_role" in sent:
        found.append(Difference(model, "system text"))
    if served is not None and is_another(model, served.model):
        found.append(Difference(model, "served", served.model))
    return tuple(found)


def not_sent(sampling: Sampling, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the requested settings, by name, that are missing from `sent`. Stop sequences do not count: we apply them
    to the answer whether they are sent or not.
    """
    if not sent:
        return {}
    asked = sampling.model_dump(exclude={"stop"}, exclude_none=True)
    return {name: value for name, value in asked.items() if not _is_sent(name, sent)}


def _is_sent(name: str, sent: Mapping[str, Any]) -> bool:
    return any(one.endswith(known) for known in _NAMES.get(name, (name,)) for one in sent)


def is_another(model: str, served: str) -> bool:
    """Whether the server names a different model from the one requested, comparing names without folders and endings
    such as ":latest". A dated version of the requested model also counts as different (`is_version`).
    """
    return bool(served) and _plain(model) != _plain(served)


def is_version(model: str, served: str) -> bool:
    """Whether the served model is a version of the requested one: the same name followed by a date or version
    number.
    """
    asked, answered = _plain(model), _plain(served)
    return answered.startswith(asked) and _VERSION.fullmatch(answered[len(asked) :]) is not None


def _plain(model: str) -> str:
    name = model.replace("\\", "/").rstrip("/").rpartition("/")[2].lower()
    return name.removesuffix(".gguf").removesuffix(":latest").removesuffix("-latest")
