"""Rooms for tests, in which each text that may be hidden holds a word of its own."""

from __future__ import annotations

import random
from collections.abc import Iterator

from core.events import Frozen, Recorded
from core.report.game.pack import PackCard
from core.rooms import cards
from core.rooms.room import CardOpened, Joined, Rated, Revealed, Room, RoomOpened, Voted, VotingClosed
from core.runs.context import recorded
from core.scene import Card, Claim, Expect, Part, Who
from core.transcript import name_of


def card(number: int, case: str = "", said: str = "yes", implied: str = "yes", truth: str = "no") -> PackCard:
    """A card whose answer holds `answer<number>`, and whose reason holds `reason<case>`."""
    case = case or f"case{number}"
    return PackCard(
        run="run",
        case=case,
        who=Who(shown="a model", name="Qwen", does="nothing"),
        title=f"Question of {case}?",
        claim=Claim(answer="yes", parts=(Part(text=f"It is so by reason-{case}."),), note=f"reason-{case}"),
        card=Card(
            id=f"trial{number}",
            number=number,
            mark="kept" if said == implied else "broken",
            parts=(Part(text=f"New question {number}?"),),
            options={"yes": "Yes", "no": "No"},
            expects=(Expect(who="judge", value=implied, quote=f"reason-{case}"),),
            said=said,
            text=f"It is as answer-{number} says.",
            outcome=f"answer-{number}",
            doubt="",
        ),
        truth=truth,
        after=(Part(text=f"answer-{number}"),),
    )


def room(*found: PackCard, has_arms: bool = True, seed: int = 1) -> Room:
    """A room with these cards that was just opened."""
    opened = RoomOpened(
        code="KTMV", seed=seed, run="run", title="A title", kind="ask", has_arms=has_arms, cards=cards.refs(found)
    )
    return Room(opened, found)


def event(record: Frozen, by: str = "") -> Recorded:
    """The event of a journal."""
    return recorded("room", record, name_of(type(record)), by=by)


def do(one: Room, record: Frozen, by: str = "") -> None:
    """Let something happen, if it can."""
    one.check(record, by)
    one.apply(event(record, by))


def move(one: Room, steps: int = 1) -> None:
    """Go on by so many steps."""
    for _ in range(steps):
        step = one.next_move()
        assert step is not None
        do(one, step)


def lesson(one: Room, seed: int, persons: int = 6) -> Iterator[Recorded]:
    """Things that people try, possible or not, until the room is over; each is applied before it is given."""
    chance = random.Random(seed)
    while one.phase != "over":
        tried: list[tuple[Frozen, str]] = [
            (Joined(nickname=f"name{chance.randrange(persons)}"), f"p{chance.randrange(persons)}"),
            (
                Voted(place=one.place, value=chance.choice(["yes", "no", "perhaps"])),
                f"p{chance.randrange(persons + 2)}",
            ),
            (Voted(place=chance.randrange(-1, 3), value="yes"), f"p{chance.randrange(persons)}"),
            (Rated(place=one.place, value=chance.randint(1, 5)), f"p{chance.randrange(persons + 2)}"),
            (chance.choice([CardOpened, VotingClosed, Revealed])(place=chance.randrange(-1, 4)), ""),
        ]
        if chance.random() < 0.2 and (step := one.next_move()) is not None:
            tried.append((step, ""))
        record, by = chance.choice(tried)
        one.apply(happened := event(record, by))
        yield happened
