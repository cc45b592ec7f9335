"""The interpreter's budget in words: how it may ask, how much of that it used, and what carries the function out."""

from __future__ import annotations

from ...errors import name_in_journals
from ...models.errors import ToolsUnsupportedError
from .tasks import NAMES, ProbeSpec
from .view import ProbeView


def budget(case: ProbeView) -> str:
    """Return who interprets, and how much of the budget is used; an empty string if the specification cannot be
    read.
    """
    spec = case.spec
    if spec is None:
        return ""
    name = NAMES[spec.interpreter]
    text = f"{name[0].upper()}{name[1:]} · {len(case.probes)} of {spec.probes} calls of the function"
    if spec.interpreter in ("aia", "aia+milan"):
        text += f" · {min(len(case.exchanges), spec.rounds)} of {spec.rounds} rounds"
        text += " · it asks by tool calls" if spec.tools else ""
    text += carried_out(spec)
    if any(probe.how == "answer" and probe.value is not None for probe in case.probes) and spec.category == "entities":
        text += " · where the model gives no probabilities, values are 0 or 1"
    return text


def refusal(case: ProbeView) -> str:
    """Return why an agent that was to ask by tool calls continued in text; an empty string if it did not."""
    failures = (call.failed for call in case.log.calls.values() if call.failed)
    return next((failed.message for failed in failures if failed.error == name_in_journals(ToolsUnsupportedError)), "")


def carried_out(spec: ProbeSpec) -> str:
    """Return what carries the function out, if it is not a formula."""
    if not spec.is_module:
        return ""
    table = (
        "our word lists: a word that is not listed gives 0"
        if spec.category == "entities"
        else "our list of facts: an input that is not listed gives undefined"
    )
    by = {"table": table, "embedding": "sentence embeddings", "model": spec.module}
    return f" · the function runs on {by[spec.backbone]}"
