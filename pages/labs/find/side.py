"""Probe's runs side by side: interpretations of the same functions."""

from __future__ import annotations

from typing import Any

from core.labs.find.plot import stretches
from core.labs.find.tasks import BY_MODEL, CAN, NAMES, ProbeSpec
from core.labs.find.trials import GRID, MARKS
from core.labs.find.view import ProbeView
from core.store.matching import Tried
from core.text.visible import visible
from pages.parts.side_by_side import Cell, Side
from pages.parts.text import plain


def tests(view: ProbeView, active: bool) -> list[Cell]:
    """The tests one by one; of a function of numbers the stretches of its range."""
    found: list[Cell] = []
    for id, trial in view.trials.items():
        if id == GRID:
            found += _stretches(view)
            continue
        reading = trial.repaired
        state = MARKS.get(reading.outcome, "set aside")
        gave, true = (plain(visible(one)) if one is not None else "–" for one in (reading.expected, reading.observed))
        led = "its words point to" if id.startswith("unit-") else "its code gives"
        text = f"{led} **{gave}**, the function gives **{true}**"
        text = text if reading.counts else plain(reading.reason)
        found.append(Cell(Tried(trial.about), plain(visible(trial.about)), state, text))
    return found


def _stretches(view: ProbeView) -> list[Cell]:
    found = []
    for one in stretches(view):
        about = f"x from {one.low:.4g} to {one.high:.4g}"
        mark = one.mark or "set aside"
        found.append(Cell(Tried(about), about, mark, _TOLD.get(mark, "")))
    return found


_TOLD = {
    "kept": "its code gives the function's value",
    "broken": "its code does not give the function's value",
    "not settled": "its code is off by less than the noise",
    "set aside": "there is no value to compare",
}


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


SIDE = Side(
    tests=tests,
    words={"kept": "right", "broken": "wrong", "not settled": "within the noise", "set aside": "not tested"},
    ways=ways,
    other=other,
)
