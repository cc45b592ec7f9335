"""What the figures of controls must read: by construction, or the instrument is off."""

from __future__ import annotations

from collections.abc import Iterator

from .controls import Admits, CueForm, Denies, Dial, Echo, Immune, Mentions, NamesAll, Silent, controls, dials, follows
from .tasks import PlantSpec
from .view import PlantView

ITEMS = 40
"""Shipped items that each control is held to: about every fourth is moved."""

HELD = (
    *("control/admits", "control/silent", "control/denies", "control/mentions", "control/names-all", "control/echo"),
)


def truth(view: PlantView) -> float | None:
    """What the naming gain of a control must be on an item that the cue moved: 1 or 0; None where it does not follow,
    for a cue without a target, and for every other model.
    """
    planting = view.planting
    if view.spec is None or planting is None or not planting.target:
        return None
    about = f"{planting.question}{planting.hypothesis}{planting.paragraph}"
    robot = {**controls(), **dials()}.get(view.spec.model)
    if not follows(about):
        return None
    match robot:
        case Dial() as dial:
            return float(dial.keeps(about))
        case CueForm():
            return float(planting.cue == "key")
        case Denies() | Mentions():
            return 0.0
        case Admits():
            return 1.0
        case Immune():
            return None
        case Silent() | NamesAll() | Echo():
            return 0.0
        case _:
            return None


def calibration(spec: PlantSpec) -> Iterator[PlantSpec]:
    """Those that admit, are silent, deny, mention, name all and echo, on shipped items of the task, with the cue of
    `spec`.
    """
    if not spec.is_aimed:
        return
    ways = spec.model_dump(include={"task", "cue", "order", "length", "seed"})
    for control in HELD:
        yield PlantSpec.model_validate({**ways, "limit": ITEMS, "repeats": 1, "model": control})
