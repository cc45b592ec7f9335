"""What people guess in the game: a journal for each pack and player, `pack-<name>~<player>.jsonl`, about the pack. The
first guess begins it; only the first guess about each trial is written.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from .. import journal
from ..events import Frozen, Recorded
from ..journal import NewerSchemaError
from ..transcript import name_of
from .library import said_path

ABOUT = "pack-"
"""How the names of packs begin in journals about them; no run's name begins like this."""

EXAM = "exam"
"""The pack that is a qualification test for people."""


class Played(Frozen):
    """A guess on a card of `pack`: the card's `place` from 1, the `run` of its trial (empty for a question of the
    qualification test), and the `value` that was guessed. The event has the case and the trial; its item is `item`.
    `without`: whether the reason was hidden.
    """

    pack: str
    place: Annotated[int, Field(ge=1)]
    run: str = ""
    value: Annotated[str, Field(max_length=100)]
    without: bool = Field(default=False, exclude_if=lambda word: not word)

    def item(self, trial: str) -> str:
        """The event's item, unique even if trials of several runs have the same name."""
        return f"{self.run}/{trial}"


class Guess(Frozen):
    """A guess with its player, and the case and the trial that it is about."""

    who: str
    case: str
    trial: str
    played: Played
    event: Recorded


def path_of(folder: Path, pack: str, who: str) -> Path:
    """The journal of a player's guesses about a pack."""
    return said_path(folder / f"{ABOUT}{pack}.jsonl", who)


def journals(folder: Path) -> list[Path]:
    """The journals of all games that were played."""
    return journal.list_journals(folder, f"{ABOUT}*~*")


class Guessed(Frozen):
    """What all players guessed about a pack: the number of players and, for each card by its place from 0, how many
    guessed each word. It has no names.
    """

    players: int = 0
    cards: dict[int, dict[str, int]] = Field(default_factory=dict)


def guessed(folder: Path, pack: str) -> Guessed:
    """The first guesses of all players of that pack, counted; guesses without the reason are left out."""
    found = [guesses(path) for path in journal.list_journals(folder, f"{ABOUT}{pack}~*")]
    cards: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for one in (one.played for player in found for one in player):
        if not one.without:
            cards[one.place - 1][one.value] += 1
    return Guessed(players=sum(map(bool, found)), cards={place: dict(words) for place, words in cards.items()})


def guesses(path: Path) -> tuple[Guess, ...]:
    """The guesses in a game's journal, in order, the first for each trial; unreadable ones are left out."""
    try:
        now = path.stat()
    except OSError:
        return ()
    return _guesses(path, now.st_mtime_ns, now.st_size)


@lru_cache(maxsize=2_048)
def _guesses(path: Path, modified: int, size: int) -> tuple[Guess, ...]:
    """The guesses of a journal with that modification time and size, cached."""
    return tuple(_read(path))


def _read(path: Path) -> Iterator[Guess]:
    seen: set[tuple[str, str, str]] = set()
    try:
        events = journal.read(path).events
        begun = journal.first_event(path)
    except (FileNotFoundError, NewerSchemaError):
        return
    who = begun.owner if begun and begun.owner else path.stem.partition("~")[2]
    for event in events:
        if not isinstance(event, Recorded) or event.record != name_of(Played):
            continue
        try:
            played = Played.model_validate(event.data)
        except ValidationError:
            continue
        place = played.run, event.case, event.trial
        if place not in seen:
            seen.add(place)
            yield Guess(who=who, case=event.case, trial=event.trial, played=played, event=event)
