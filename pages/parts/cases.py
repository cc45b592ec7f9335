"""Which lab's case is drawn by whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from core.labs.consistency.case import case as check
from core.labs.simulatability.case import case as ask
from core.runs.transcript import Transcript
from pages.parts import ask_case, check_case

DRAW: Mapping[str, Callable[[Transcript, bool], None]] = {
    "simulatability": lambda told, active: ask_case.draw(ask(told), active),
    "consistency": lambda told, active: check_case.draw(check(told), active),
}


def draw(told: Transcript, active: bool) -> None:
    """Draw the case that a run is, as far as it has come. Nothing before the run has begun."""
    if told.started is not None:
        DRAW[told.started.lab](told, active)
