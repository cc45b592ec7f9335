"""The rooms of a home: each is a journal in the folder `rooms`, which this process alone writes; and their pages, for
the wall, for phones and for the teacher.
"""

import gzip
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import segno

from .. import home, journal
from ..events import Frozen, Recorded, Started
from ..journal import Journal
from ..labs.base.lab import Lab
from ..report import standalone_html
from ..report.game.pack import PackCard
from ..report.viewer_assets import drawing_class, drawing_files, in_one_scope
from ..runs.context import recorded
from ..server.quotas import QuotaExceededError
from ..text.display import csv
from ..transcript import name_of
from . import arguments, cards
from .arguments import Arguments
from .events import RATINGS, Joined, Rated, RoomEnded, RoomOpened, Sketched, Voted
from .room import Room
from .sketches import SketchCard

LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
"""Of a code: consonants, which make no words."""

CODE_LENGTH = 4

JOIN_SECONDS = 12 * 3600
"""How long after its opening people may join a room."""

MOST_ROOMS = 1_000
"""Rooms that a home keeps."""

MOST_LIVE = 100
"""Rooms that are kept in memory; the others are read again when somebody asks for them."""


class RoomNotFoundError(Exception):
    """No room has that code, or not for this person: both are said alike."""

    def __init__(self) -> None:
        super().__init__("No class has this code. Check the four letters on the screen.")


class LiveRoom:
    """A room and its journal. One thread at a time may change it; `view` is safe beside that."""

    def __init__(self, path: Path, room: Room, owner: str, opened_at: float) -> None:
        self.path, self.room, self.owner, self.opened_at = path, room, owner, opened_at
        self.watchers: set[Callable[[bool], None]] = set()
        """Each is called with whether the class has moved on (`notify`)."""

        self._journal: Journal | None = None
        self._lock = threading.Lock()

    def person(self, visitor: str) -> str:
        """The name of a visitor in this room. It says nothing about their runs, nor about other rooms."""
        return home.signature(f"room {self.path.stem} {visitor}")[:16]

    def write(self, record: Frozen, by: str = "") -> None:
        """Let something happen, once the journal has it. Raises RoomStateError, JournalInUseError, JournalFullError."""
        self.room.check(record, by)
        if self._journal is None:
            self._journal = Journal(self.path)
        event = recorded(self.path.stem, record, name_of(type(record)), by=by)
        self._journal.append(event)
        with self._lock:
            self.room.apply(event)
        if self.room.phase == "over":
            self.close()

    def join(self, visitor: str, nickname: str) -> None:
        """Let a visitor in; who is in stays in. Raises RoomStateError, RoomNotFoundError where it was opened long ago,
        JournalInUseError and JournalFullError.
        """
        person = self.person(visitor)
        if person in self.room.people:
            return
        if time.time() - self.opened_at > JOIN_SECONDS:
            raise RoomNotFoundError
        self.write(Joined(nickname=nickname), person)

    def give(self, visitor: str, given: Voted | Sketched | Rated) -> None:
        """Keep a visitor's vote, curve or rating. Raises RoomStateError, JournalInUseError and JournalFullError."""
        self.write(given, self.person(visitor))

    def move(self, phase: str, place: int, is_end: bool = False) -> bool:
        """Go on from that phase of that card, to the result where it `is_end`. Whether the room was there: a key
        pressed twice counts once. Raises RoomStateError, JournalInUseError and JournalFullError.
        """
        step = RoomEnded() if is_end else self.room.next_move()
        if (phase, place) != (self.room.phase, self.room.place) or step is None:
            return False
        self.write(step)
        return True

    def notify(self, is_move: bool = False) -> None:
        """Tell the watchers, on their own thread, that something happened: the class moved on, or somebody joined or
        voted.
        """
        for notice in [*self.watchers]:
            notice(is_move)

    def view(self, made: Callable[[Room], dict[str, Any]]) -> dict[str, Any]:
        """What `made` makes of the room, while nothing changes it."""
        with self._lock:
            return made(self.room)

    def close(self) -> None:
        """Let go of the journal until something happens again."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None


class Rooms:
    """Opens rooms and finds them by their codes. `folders` are where runs lie. For one thread at a time."""

    def __init__(self, folder: Path, labs: Mapping[str, Lab], folders: Sequence[Path]) -> None:
        self.folder, self._labs, self._folders = folder, labs, folders
        self._live: dict[str, LiveRoom] = {}
        self._paths = {path.stem.rpartition("-")[2]: path for path in journal.list_journals(folder)}
        """The journals of rooms by code."""

    def source(self, run: str, pack: str) -> cards.CardSource:
        """The cards of the run or of the pack. It may take seconds, and is safe on any thread. Raises GamePackError."""
        return cards.source(run, pack, self._labs, self._folders)

    def open(self, owner: str, run: str, pack: str, found: cards.CardSource, again: bool = False) -> LiveRoom:
        """A room of that owner with cards of `found`, which are those of the run or of the pack: the room that is going
        on or, if there is none or `again`, a new one. Raises QuotaExceededError, JournalFullError and DataDirError.
        """
        for live in reversed(self._live.values()) if not again else ():
            asked = live.room.opened
            if live.owner == owner and (asked.run, asked.pack) == (run, pack) and live.room.phase != "over":
                return live
        if len(self._paths) >= MOST_ROOMS:
            raise QuotaExceededError(
                f"{MOST_ROOMS:,} classes are kept here, which is all there is room for. Ask the host."
            )
        seed = secrets.randbelow(10**6)
        taken = cards.sampled(found, seed)
        code = self._new_code()
        opened = RoomOpened(
            code=code,
            seed=seed,
            run=run,
            pack=pack,
            title=" ".join(found.title.split())[:200],
            kind=found.kind,
            has_arms=found.has_arms,
            chosen=cards.how_chosen(found, taken),
            cards=cards.refs(taken),
            arguments=self._arguments(taken) if found.has_arms else {},
        )
        path = journal.path_for(self.folder, f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{code}")
        with Journal(path, new=True) as written:
            written.append(Started(run=path.stem, lab=found.kind, spec={}, seed=seed, owner=owner))
            written.append(recorded(path.stem, opened, name_of(RoomOpened)))
        self._paths[code] = path
        return self._keep(code, LiveRoom(path, Room(opened, taken), owner, time.time()))

    def _arguments(self, taken: Sequence[PackCard]) -> dict[int, Arguments]:
        """The arguments about the cards, each by the place of the first card of its explanation."""
        known = arguments.known((card.run for card in taken), self._folders)
        first = {(card.run, card.case): place for place, card in reversed([*enumerate(taken)])}
        return {place: known[about] for about, place in sorted(first.items()) if about in known}

    def find(self, code: str) -> LiveRoom:
        """The room with that code. Raises RoomNotFoundError, and GamePackError where its cards are gone."""
        if live := self.in_memory(code):
            return live
        code = code.strip().upper()
        if code not in self._paths:
            raise RoomNotFoundError
        return self._keep(code, self._read(self._paths[code]))

    def in_memory(self, code: str) -> LiveRoom | None:
        """The room with that code if its journal was read already."""
        return self._live.get(code.strip().upper())

    def knows(self, code: str) -> bool:
        """Whether there is a room with that code, without reading it."""
        return code.strip().upper() in self._paths

    def close(self) -> None:
        """Let go of all rooms."""
        for live in self._live.values():
            live.close()
        self._live.clear()

    def forget(self, before: float) -> None:
        """Delete rooms to which nothing was added since that time, in seconds since 1970."""
        for code, path in [*self._paths.items()]:
            with suppress(OSError):
                if path.stat().st_mtime < before and code not in self._live:
                    path.unlink()
                    del self._paths[code]

    def _read(self, path: Path) -> LiveRoom:
        first, begun, *events = [*journal.read(path).events, None, None]
        if not isinstance(first, Started) or not isinstance(begun, Recorded) or begun.record != name_of(RoomOpened):
            raise RoomNotFoundError
        opened = RoomOpened.model_validate(begun.data)
        room = Room(opened, cards.found_again(self.source(opened.run, opened.pack), opened.cards))
        for event in events:
            if isinstance(event, Recorded):
                room.apply(event)
        return LiveRoom(path, room, first.owner, first.at.timestamp())

    def _keep(self, code: str, live: LiveRoom) -> LiveRoom:
        self._live[code] = live
        idle = [code for code, one in self._live.items() if one is not live and not one.watchers]
        for old in idle[: max(len(self._live) - MOST_LIVE, 0)]:
            self._live.pop(old).close()
        return live

    def _new_code(self) -> str:
        while (code := "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))) in self._paths:
            pass
        return code


# The page of a room, for the wall and for phones, and the page and the table that a teacher keeps of it.


_COLUMNS = {"reason": "With its reason", "none": "Without it", "arguments": "For and against"}


class Page(NamedTuple):
    """A page as it is, and compressed with gzip."""

    plain: bytes
    compressed: bytes


@cache
def of_app(is_wall: bool) -> Page:
    """The page that the app serves at `/wall` or at `/join`. It holds nothing of any room."""
    body = standalone_html.page(
        "room.html",
        f"{standalone_html.part('game.css')}main {{ max-width: none; padding: 0; }}\n",
        f"{in_one_scope(drawing=('parts.js', 'game.js'))}\n{drawing_class()}\n{standalone_html.part('room.js')}",
        title="Present to a class" if is_wall else "Join a class",
        room_style=drawing_files()[0] + standalone_html.part("room.css"),
        screen="wall" if is_wall else "phone",
    )
    return Page(body, gzip.compress(body, 9, mtime=0))


def qr(address: str) -> dict[str, object]:
    """The QR code of an address: its `size` in modules, and the dark ones as an SVG `path`."""
    rows = segno.make(address, error="m").matrix
    dark = (f"M{x} {y}h1v1h-1z" for y, row in enumerate(rows) for x, is_dark in enumerate(row) if is_dark)
    return {"size": len(rows), "path": "".join(dark)}


def _revealed(room: Room) -> list[dict[str, Any]]:
    """The revealed cards with their votes, without names."""
    found = []
    for place in room.turned:
        card, is_out = room.cards[place], room.is_reason_out(place)
        options, claim = card.card.options, card.claim
        votes = [(options[value], counts, value == card.card.said) for value, counts in room.counts(place).items()]
        if isinstance(card, SketchCard):
            hits = Counter(room.hits(place).values())
            votes = [(f"close on {n} of {card.parts} parts", [hits[n]], False) for n in sorted(hits, reverse=True)]
        reason = " ".join(part.text for part in claim.parts) if claim is not None and is_out else ""
        found.append(
            {
                "number": place + 1,
                "title": card.title,
                "answer": claim.answer if claim is not None else "",
                "reason": reason,
                "arguments": room.arguments(place) if is_out else None,
                "asked": [part for part in card.card.parts if part.text],
                "said": options.get(card.card.said, ""),
                "words": card.card.text,
                "votes": votes,
                "is_sketch": isinstance(card, SketchCard),
                "going": card.going if is_out and card.card.options else "",
                "ratings": room.ratings(place) if is_out else [],
            }
        )
    return found


def to_keep(room: Room) -> bytes:
    """What a class predicted, as an HTML file that needs nothing else: revealed cards, counted votes, no names."""
    style = standalone_html.based(standalone_html.part("room_kept.css"))
    made = standalone_html.template("room_kept.html").render(
        style=style,
        style_hash=standalone_html.digest(style),
        title=room.opened.title,
        people=len(room.people),
        arms=[_COLUMNS[arm] for arm in room.arms],
        chosen=room.opened.chosen,
        cards=_revealed(room),
        score=room.score(),
        convincing=room.convincing(),
        models=room.models(),
    )
    return made.encode("utf-8", "xmlcharrefreplace")


def table(room: Room) -> bytes:
    """The counted votes as CSV: a row for each answer of each revealed card, and for each arm of the class. Each row
    also has what one predicts by the card's explanation, and how many people gave that each rating.
    """
    from pandas import DataFrame

    shown = {"reason": "yes", "none": "no", "arguments": "for and against"} if room.opened.has_arms else {"reason": ""}
    rows = [
        {
            "card": one["number"],
            "question": one["title"],
            "asked": " ".join(part.text for part in one["asked"]),
            "reason_shown": shown[arm],
            "answer": answer,
            "votes": counts[number],
            "happened": "yes" if is_right else "no",
            "explanation": one["going"],
            **{f"rated_{value}": n for value, n in zip(RATINGS, one["ratings"] or [""] * len(RATINGS), strict=True)},
        }
        for one in _revealed(room)
        for number, arm in enumerate(room.arms)
        for answer, counts, is_right in one["votes"]
    ]
    columns = ["card", "question", "asked", "reason_shown", "answer", "votes", "happened", "explanation"]
    columns += [f"rated_{value}" for value in RATINGS]
    return csv(DataFrame(rows, columns=columns))
