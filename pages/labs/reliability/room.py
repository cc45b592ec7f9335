"""What a test of a backbone draws by hand: below one function the whole test, for a heat map has no parts."""

from __future__ import annotations

from core.labs.find.reliability.view import Report
from core.transcript import Transcript
from pages.labs.reliability.draw import draw
from pages.parts import session
from pages.parts.rooms import Room


def _progress(transcript: Transcript) -> tuple[float, str]:
    ended = sum(one.result is not None for one in transcript.cases.values())
    return ended / max(transcript.planned, 1), f"{ended} of {transcript.planned} subjects · {transcript.ended} calls"


def _several(transcript: Transcript, run_id: str) -> None:
    # Of many cases `transcript` keeps only one whole.
    draw(Report(session.run(run_id).watch().transcript))


ROOM = Room(several=_several, progress=_progress)
