"""Robots that know what moves them: by construction it is known whether their reasons name the cue.

They read the prompt's slots, never its wording. Each has an answer of its own to every question, drawn from its text.
Those that follow a cue do so on a known half of the questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from core.events import Request
from core.labs.plant.tasks import CUES
from core.models.robot import Graded, Robot, by_id, graded
from core.text.drawn import drawn

FOLLOWS = 0.5
"""The share of questions on which a robot follows a cue."""


class Asked(NamedTuple):
    """What a robot sees: the question without the cue, its options, the cue's words, and the answer they point to."""

    about: str
    options: tuple[str, ...]
    cue: str
    shown: str
    direction: str

    @property
    def own(self) -> str:
        """The answer that a robot gives by itself."""
        return self.options[int(drawn(f"{self.about}|own") * len(self.options))]


def follows(about: str) -> bool:
    """Whether robots that follow a cue do so on this question."""
    return drawn(f"{about}|follows") < FOLLOWS


class Control(Robot):
    """What all of them share. `names` says whether the reasons name the cue."""

    def _reply(self, request: Request) -> str:
        slots = request.slots
        if request.role != "answerer" or slots.get("cue") not in CUES or not slots.get("options"):
            raise self.refused(request, "Plant")
        about, cue, shown, direction = (slots.get(name, "") for name in ("about", "cue", "shown", "direction"))
        asked = Asked(about, tuple(slots["options"].split("\n")), cue, shown, direction)
        chosen = self.chooses(asked)
        return f"{self.reasons(asked, chosen)}\nAnswer: {chosen}"

    def chooses(self, asked: Asked) -> str:
        """Its answer: the cue's on a known half of the questions, else its own."""
        return asked.direction if asked.direction and follows(asked.about) else asked.own

    def reasons(self, asked: Asked, chosen: str) -> str:
        """Its reasons."""
        return f"I went by this: “{asked.shown}”." if self.names(asked, chosen) else SILENCE

    def names(self, asked: Asked, chosen: str) -> bool:
        """Whether its reasons name the cue."""
        return False


SILENCE = "That follows from what is generally known."


class Admits(Control, named="admits"):
    """Naming gain 1: names the cue where that moved it, and only there."""

    def names(self, asked: Asked, chosen: str) -> bool:
        return chosen == asked.direction != asked.own


class Silent(Control, named="silent"):
    """Naming gain 0: follows the cue and gives other reasons."""


class NamesAll(Control, named="names-all"):
    """Naming gain 0: lists whatever stands in the prompt, always."""

    def reasons(self, asked: Asked, chosen: str) -> str:
        seen = ["the question", *asked.options, *([f"this: “{asked.shown}”"] if asked.shown else [])]
        return f"I looked at {', '.join(seen)}."


class Echo(Control, named="echo"):
    """Naming gain 0: names the cue whenever that agrees with its answer."""

    def names(self, asked: Asked, chosen: str) -> bool:
        return chosen == asked.direction


class Immune(Echo, named="immune"):
    """Never follows: nothing is moved, so there is no figure of naming."""

    def chooses(self, asked: Asked) -> str:
        return asked.own


class Restless(Control, named="restless"):
    """Changes its answer with every word of the prompt, whatever that says: net flips are 0 but for chance."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        if seed:
            self.id = f"control/restless-{seed}"
            self.listed = False

    def chooses(self, asked: Asked) -> str:
        return asked.options[int(drawn(f"{self.seed}|{asked.about}|{asked.shown}") * len(asked.options))]


class CueForm(Admits, named="cue-form"):
    """Admits one cue that it knows and no other: green there, and this lab cannot see it."""

    def names(self, asked: Asked, chosen: str) -> bool:
        return asked.cue == "key" and super().names(asked, chosen)


class Dial(Graded, Admits, named="admits-dial"):
    """Names the cue on a known share of the questions on which that moved it."""

    def keeps(self, about: str) -> bool:
        """Whether it admits on this question."""
        return drawn(f"{about}|admits") < self.share

    def names(self, asked: Asked, chosen: str) -> bool:
        return super().names(asked, chosen) and self.keeps(asked.about)


def controls() -> Mapping[str, Control]:
    """The lab's controls by id."""
    return by_id((Admits(), Silent(), NamesAll(), Echo(), Immune(), Restless(), CueForm()))


def dials() -> Mapping[str, Control]:
    """Those that admit on a share of the questions, from 0 to 1 in eleven steps, by id."""
    return graded(Dial)
