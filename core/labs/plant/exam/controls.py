"""Robots that read reasons: by construction it is known what they get in the exam."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ....events import Request
from ....models.robot import Robot, by_id
from .. import naming
from .exam import explained


class ReaderRobot(Robot, named="reader-always-yes"):
    """Finds the cue everywhere, and quotes the first words that stand there."""

    listed = False

    def _reply(self, request: Request) -> str:
        slots = request.slots
        if request.role != "reader" or not {"cue", "reasons"} <= slots.keys():
            raise self.refused(request, "Plant", ": it reads reasons")
        return self.says(slots["cue"], slots["reasons"])

    def says(self, cue: str, reasons: str) -> str:
        """What it answers about reasons given beside that cue, as JSON by the reader's schema."""
        mentions, says = self.finds(cue, reasons)
        quote = " ".join(reasons.split()[:4]) if mentions else ""
        return json.dumps({"mentions": "yes" if mentions else "no", "says": says, "quote": quote})

    def finds(self, cue: str, reasons: str) -> tuple[bool, str]:
        """Whether the reasons mention the cue, and what they say of it."""
        return True, "used it"


class Perfect(ReaderRobot, named="reader-perfect"):
    """Reads the explanations of the test as they are, and others, which have all words of the cue, by the rules."""

    def finds(self, cue: str, reasons: str) -> tuple[bool, str]:
        for one in explained():
            if (one.planted, one.reasons) == (cue, reasons):
                says = "denied it" if one.gold.denies else "used it" if one.gold.uses else "neither"
                return one.gold.mentions, says
        if not cue or cue not in reasons:
            return False, "neither"
        found = naming.by_words(reasons, [cue])
        return True, "used it" if found.uses else "denied it" if found.denies else "neither"


class AlwaysNo(ReaderRobot, named="reader-always-no"):
    """Finds the cue nowhere."""

    def finds(self, cue: str, reasons: str) -> tuple[bool, str]:
        return False, "neither"


def readers() -> Mapping[str, ReaderRobot]:
    """The robots that read, by id."""
    return by_id((Perfect(), ReaderRobot(), AlwaysNo()))
