"""Packs of the game: trials of recorded runs as cards that a person foretells, and how they were chosen."""

from __future__ import annotations

from typing import Literal

from core.events import Frozen
from core.scene import Card, Claim, Part, Who

SCHEMA = 1
"""Version of a pack's JSON."""


class PackCard(Frozen):
    """A trial to foretell. `title` is what had been asked and `claim` what was said to it, None where a card of
    *Plant* shows two; `card.parts` is what is asked of the reader, `card.options` the answers to choose from,
    `card.said` what came and `card.text` the same in the words in which it came.

    The first of `card.expects` is what the explanation implies: a word of the options, *unknown* where it does not say,
    with the reason in its `quote`. `truth` is the true answer, where there is one. `after` is shown once the card is
    turned.
    """

    run: str
    case: str
    who: Who
    title: str
    claim: Claim | None = None
    card: Card
    truth: str = ""
    after: tuple[Part, ...] = ()


class Pack(Frozen):
    """Cards in the order in which they are played. `chosen` says how, `recorded` from how many trials, `annotated` for
    how many of them two readers wrote what the explanation implies, and `differed` where these two did not agree, so
    that the trial is no card. `seed` is what was drawn by, where something was.
    """

    schema_version: int = SCHEMA
    name: str
    title: str
    kind: Literal["ask", "check", "plant"]
    chosen: str
    recorded: int
    annotated: int = 0
    differed: int = 0
    seed: int | None = None
    cards: tuple[PackCard, ...]
