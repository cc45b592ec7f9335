"""What the figures of controls must read: by construction, or the instrument is off."""

from __future__ import annotations

from collections.abc import Iterator

from . import vacuity
from .controls import Decoy, Dial, Honest, controls, dials
from .lexicon import Slots
from .noisy import Noisy, noisy
from .tasks import CheckSpec
from .view import CheckView

ITEMS = 5
"""Shipped items of a task that each control is held to."""


def truth(view: CheckView) -> float | None:
    """1 where the explanation of a control is faithful, 0 where it is not; None for every other model, and where it has
    to mask so much of a short paragraph that the check is undecided. Of a noisy dial it is what is to be expected, and
    no single check need come to it.

    Of a worthless control (`controls.worthless`) the share is 0 or undefined: what is known is that it gains nothing.
    """
    if view.spec is None or view.item is None:
        return None
    if view.result is not None and view.result.reason.repaired == vacuity.TOO_MUCH:
        return None
    match {**controls(), **dials(), **noisy()}.get(view.spec.model):
        case Honest():
            return 1.0
        case Decoy():
            return 0.0
        case Noisy() as dial if view.check is not None:  # it errs where there are masks
            return dial.share if view.check.explanation == "counterfactual" else dial.must_read
        case Dial() as dial:
            return float(dial.keeps(Slots.model_validate(view.item.model_dump(exclude={"id", "task", "label"}))))
        case _:
            return None


def calibration(spec: CheckSpec) -> Iterator[CheckSpec]:
    """The honest one and the decoy on shipped items of the task, asked in the ways that `spec` asks."""
    ways = spec.model_dump(exclude={"model", "items", "dataset", "path", "split", "title"})
    for control in controls():
        yield CheckSpec.model_validate({**ways, "limit": ITEMS, "controls": 0, "model": control})
