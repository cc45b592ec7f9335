"""Which lab's case is drawn by whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from core.labs.consistency.case import case as check
from core.labs.find.case import case as probe
from core.labs.find.reliability import Report
from core.labs.simulatability.case import case as ask
from core.runs.transcript import Transcript
from pages.parts import ask_case, check_case, probe_case, reliability_case

DRAW: Mapping[str, Callable[[Transcript, bool], None]] = {
    "simulatability": lambda told, active: ask_case.draw(ask(told), active),
    "consistency": lambda told, active: check_case.draw(check(told), active),
    "find": lambda told, active: probe_case.draw(probe(told), active),
    "reliability": lambda told, active: reliability_case.draw(Report(told), active),
}


def draw(told: Transcript, run_id: str, active: bool) -> None:
    """Draw the case that a run is, as far as it has come. Where its first line is lost, its name tells the lab."""
    lab = told.started.lab if told.started else next((name for name in DRAW if f"-{name}-" in run_id), None)
    if lab in DRAW:
        DRAW[lab](told, active)
