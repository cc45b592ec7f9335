"""What a test of a backbone draws by hand: all of its cases together, for a heat map has no parts."""

from __future__ import annotations

from core.labs.find.reliability.view import ReliabilityView, Report
from core.transcript import Transcript
from pages.labs.reliability.draw import draw
from pages.parts import session
from pages.parts.rooms import Room


def _progress(transcript: Transcript) -> tuple[float, str]:
    ended = sum(one.result is not None for one in transcript.cases.values())
    return ended / max(transcript.planned, 1), f"{ended} of {transcript.planned} subjects · {transcript.ended} calls"


def _whole(view: ReliabilityView, active: bool) -> None:
    """The report stands for every one of its cases."""
    if view.log.started is None:
        return
    state = session.run(view.log.started.run).watch().transcript
    draw(Report(state), active or state.status is None)


ROOM = Room(
    draw=_whole, choose=lambda transcript: transcript.only, several=lambda transcript, run_id: None, progress=_progress
)
