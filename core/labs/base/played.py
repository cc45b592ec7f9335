"""What a lab gives to the game: tests of a case that a person can predict, one by one."""

from __future__ import annotations

from ...events import Frozen
from ...scene import Card, Claim, Part, Who

DIFFERED = "those who read the explanation differ, or one of them could not be read"
"""Why what was annotated is no card."""


class Playable(Frozen):
    """A test of a case as a card: what `pack.PackCard` has of it, but for whose it is and what the pack adds.

    `asked` is the new question, by which its true answer is found; `annotated` whether it was read what the explanation
    implies there. `title` and `who` go before the case's own where they are given. `why` says why it is no card of a
    pack that was chosen; one that is drawn as it came has it all the same, unless it `is_open`: then nothing can be
    foretold of it.
    """

    card: Card
    claim: Claim | None = None
    asked: str = ""
    title: str = ""
    who: Who | None = None
    after: tuple[Part, ...] = ()
    annotated: bool = True
    why: str = ""
    is_open: bool = False
