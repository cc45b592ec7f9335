"""What a test of a backbone draws by hand: above one function the whole test, for a heat map has no parts."""

from __future__ import annotations

from core.labs.find.reliability.view import Report
from core.transcript import Transcript
from pages.labs.reliability.draw import draw
from pages.parts import plain_case, session
from pages.parts.rooms import Room


def _choose(transcript: Transcript) -> str:
    """The whole test, and which function of it is shown word by word."""
    if transcript.started is not None:
        # Of many cases `transcript` keeps only one whole.
        draw(Report(session.run(transcript.started.run).watch().transcript))
    return plain_case.choose(transcript)


ROOM = Room(choose=_choose, several=lambda transcript, run_id: None)
