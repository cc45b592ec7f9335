"""Probe's runs side by side: interpretations of the same functions."""

from __future__ import annotations

from typing import Any

from core.labs.probe.tasks import BY_MODEL, CAN, NAMES, ProbeSpec
from core.labs.probe.view import ProbeView
from pages.components.side_by_side import Side


def ways(spec: ProbeSpec) -> dict[str, dict[str, Any]]:
    """The other interpreters that fit the function and need nobody; a model's only where there is a model."""
    return {
        NAMES[one]: {"interpreter": one} | ({} if one in BY_MODEL else {"model": ""})
        for one, categories in CAN.items()
        if spec.category in categories
        and one not in ("you", "given", spec.interpreter)
        and (spec.model or one not in BY_MODEL)
    }


def other(spec: ProbeSpec, fields: dict[str, Any], run_id: str, view: ProbeView | None) -> ProbeSpec:
    """The same function and budget. Another model is an agent, where none was asked before."""
    alone: dict[str, Any] = {"beside": "", "given": None}
    if fields.get("model") and spec.interpreter not in BY_MODEL:
        alone["interpreter"] = "aia"
    return ProbeSpec.model_validate({**spec.model_dump(), **alone, **fields})


SIDE = Side(ways=ways, other=other)
