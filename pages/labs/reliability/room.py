"""What a test of a backbone draws by hand: above one function the whole test, for a heat map has no parts."""

from __future__ import annotations

from core.lab.lab import Lab
from core.labs.find.reliability.view import Report
from core.scene import RunScene
from core.telling import run_scene
from core.transcript import Transcript
from pages.labs.reliability.draw import draw
from pages.parts import plain_case, session
from pages.parts.rooms import Room


def _choose(transcript: Transcript) -> str:
    """The whole test, and which function of it is shown word by word."""
    if transcript.started is not None:
        draw(Report(_whole(transcript)))
    return plain_case.choose(transcript)


def _of_all(lab: Lab, transcript: Transcript, active: bool) -> RunScene:
    """The means are of all functions."""
    return run_scene.of_run(lab, _whole(transcript), active)


def _whole(transcript: Transcript) -> Transcript:
    """The run with all its functions; of many `transcript` keeps only one whole."""
    run = transcript.started.run if transcript.started else ""
    return session.run(run).watch().transcript if run else transcript


ROOM = Room(choose=_choose, of_all=_of_all, several=lambda transcript, run_id: None)
