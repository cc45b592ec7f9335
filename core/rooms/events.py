"""The events of a room's journal: what was opened, who joined, what they voted, and when the class moved on."""

import unicodedata
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from ..events import Frozen
from ..transcript import name_of
from .arguments import Arguments
from .sketches import POINTS, TOP

RATINGS = range(1, 6)
"""How convincing an explanation is, from not at all to very."""

LONGEST_NICKNAME = 24
"""Characters of a nickname."""


class CardRef(Frozen):
    """Where a card comes from: a trial of a case of a run."""

    run: str
    case: str
    trial: str


class RoomOpened(Frozen):
    """A room was opened: its code, what its cards come from (`run` or `pack`), and which cards in which order. `seed`
    decides who sees the reason on which card, where `has_arms`, and who sees two arguments instead.
    """

    code: str
    seed: int
    run: str = ""
    pack: str = ""
    title: str = ""
    kind: str = ""
    has_arms: bool = False
    chosen: str = ""
    """How the cards were chosen, in a sentence."""

    arguments: Mapping[int, Arguments] = {}
    """By the place of the first card of an explanation, the arguments that some see instead of it."""

    cards: tuple[CardRef, ...]


class Joined(Frozen):
    """Somebody joined, under a nickname or none."""

    nickname: Annotated[str, Field(max_length=LONGEST_NICKNAME)] = ""


class CardOpened(Frozen):
    """The vote on a card was opened; places count from 0."""

    place: int


class Voted(Frozen):
    """Somebody's prediction for the open card, one of its options."""

    place: int
    value: str


class Sketched(Frozen):
    """Somebody's curve for the open card: whole numbers from 0 to TOP, evenly spaced over the range."""

    place: int
    ys: Annotated[tuple[Annotated[int, Field(ge=0, le=TOP)], ...], Field(min_length=POINTS, max_length=POINTS)]


class Rated(Frozen):
    """How convincing somebody finds the explanation of the card, before any card of that explanation is revealed."""

    place: int
    value: Annotated[int, Field(ge=RATINGS[0], le=RATINGS[-1])]


class VotingClosed(Frozen):
    """The vote on a card was closed."""

    place: int


class Revealed(Frozen):
    """A card was revealed."""

    place: int


class RoomEnded(Frozen):
    """The result was shown, and nobody joins any more."""


Move = CardOpened | VotingClosed | Revealed | RoomEnded
RECORDS = {name_of(one): one for one in (Joined, CardOpened, Voted, Sketched, Rated, VotingClosed, Revealed, RoomEnded)}


def nickname(text: str) -> str:
    """A nickname as it is kept: in one line, without control characters and marks that change the direction of
    writing, with at most two accents on a letter, and at most LONGEST_NICKNAME characters.
    """
    kept: list[str] = []
    accents = 0
    for letter in unicodedata.normalize("NFC", text[: 10 * LONGEST_NICKNAME]):
        kind = unicodedata.category(letter)
        accents = accents + 1 if kind[0] == "M" else 0
        if kind[0] == "Z":
            kept.append(" ")
        elif kind[0] != "C" and accents <= 2:
            kept.append(letter)
    return " ".join("".join(kept).split())[:LONGEST_NICKNAME].rstrip()
