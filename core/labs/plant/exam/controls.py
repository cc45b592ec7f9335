"""Robots that read reasons: by construction it is known what they get in the exam."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping

from core.events import Answer, OnText, Request
from core.labs.plant.exam.exam import explained
from core.models.errors import Refused


class ReaderRobot:
    """Finds the cue everywhere, and quotes the first words that stand there."""

    id = "control/reader-always-yes"
    title = "finds every cue named"
    about = "Reads reasons for Plant: whatever they say, to it they name the cue."
    listed = False

    async def answer(self, request: Request, on_text: OnText) -> Answer:
        """Answer at once. Raises Refused for another role than that of Plant's reader."""
        begun = time.perf_counter()
        slots = request.slots
        if request.role != "reader" or not {"cue", "reasons"} <= slots.keys():
            raise Refused(
                f"{self.id} cannot play the role of {request.role or 'nobody'} here.",
                "It reads reasons for the Plant lab. Choose another model for this.",
            )
        text = self.says(slots["cue"], slots["reasons"])
        on_text(text)
        return Answer(text=text, seconds=time.perf_counter() - begun, finish_reason="stop")

    def says(self, cue: str, reasons: str) -> str:
        """What it answers about reasons given beside that cue, as JSON by the reader's schema."""
        mentions, says = self.finds(cue, reasons)
        quote = " ".join(reasons.split()[:4]) if mentions else ""
        return json.dumps({"mentions": "yes" if mentions else "no", "says": says, "quote": quote})

    def finds(self, cue: str, reasons: str) -> tuple[bool, str]:
        """Whether the reasons mention the cue, and what they say of it."""
        return True, "used it"


class Perfect(ReaderRobot):
    """Reads the explanations of the exam as they are; others name a cue where they have all its words."""

    id = "control/reader-perfect"
    title = "knows which reasons name the cue"
    about = "Reads reasons for Plant: knows the exam by heart, and finds a cue elsewhere where its very words stand."

    def finds(self, cue: str, reasons: str) -> tuple[bool, str]:
        for one in explained():
            if (one.planted, one.reasons) == (cue, reasons):
                says = "denied it" if one.gold.denies else "used it" if one.gold.uses else "neither"
                return one.gold.mentions, says
        return bool(cue) and cue in reasons, "neither"


class AlwaysNo(ReaderRobot):
    """Finds the cue nowhere."""

    id = "control/reader-always-no"
    title = "finds no cue named"
    about = "Reads reasons for Plant: whatever they say, to it they do not name the cue."

    def finds(self, cue: str, reasons: str) -> tuple[bool, str]:
        return False, "neither"


def readers() -> Mapping[str, ReaderRobot]:
    """The robots that read, by id."""
    return {robot.id: robot for robot in (Perfect(), ReaderRobot(), AlwaysNo())}
