"""Rooms for tests, in which each text that may be hidden holds a word of its own."""

import random
from collections.abc import Iterable, Iterator

from core import entry
from core.events import Frozen, Recorded
from core.report.game.pack import PackCard
from core.rooms import cards
from core.rooms.arguments import Arguments
from core.rooms.events import CardOpened, Joined, Rated, Revealed, RoomOpened, Sketched, Voted, VotingClosed
from core.rooms.room import Room
from core.rooms.sketches import POINTS, TOP, SketchCard
from core.runs.context import recorded
from core.scene import Card, Claim, Curve, Expect, Part, Plot, Point, Who
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


def to_draw(number: int, code: float | None = 0.25) -> SketchCard:
    """A function to draw that is 0 left of 50 and 3.14159 right of it, shown at three points; `code` is its code's."""
    xs = tuple(x + 0.5 for x in range(100))
    curves = [Curve(label="The function", kind="truth", x=xs, y=tuple(0.0 if x < 50 else 3.14159 for x in xs))]
    if code is not None:
        curves.append(Curve(label="Its code", kind="claim", x=xs, y=(code,) * 100))
    asked = (Point(x=0, y=0, number=1), Point(x=40, y=0, number=2), Point(x=100, y=1, number=3))
    return SketchCard(
        run="run",
        case=f"case{number}",
        who=Who(shown="a model", name="Qwen"),
        title=f"Function {number}",
        claim=Claim(parts=(Part(text=f"It is a step {number}."),), code="def f(x): return 0.25", note="a note"),
        card=Card(id="sketch", number=1, mark="waiting"),
        plot=Plot(points=(*asked, Point(x=7, y=2.71828)), curves=tuple(curves), x_ends=(0, 100), y_ends=(-2, 9.87654)),
        lab_curves=next(lab.drawn_curves for lab in entry.labs().values() if lab.drawn_curves),
    )


def curve(left: int, right: int) -> tuple[int, ...]:
    """A drawn curve that is level on both halves."""
    return (left,) * (POINTS // 2 + 1) + (right,) * (POINTS // 2)


def room(*found: PackCard, has_arms: bool = True, seed: int = 1, argued: Iterable[int] = ()) -> Room:
    """A room with these cards that was just opened; there are arguments about the explanations that begin at the places
    `argued`.
    """
    written = {
        place: Arguments(model="m", in_favour=f"For it: pro-{place}.", against=f"Against it: con-{place}.")
        for place in argued
    }
    opened = RoomOpened(
        code="KTMV",
        seed=seed,
        run="run",
        title="A title",
        kind="ask",
        has_arms=has_arms,
        cards=cards.refs(found),
        arguments=written,
    )
    return Room(RoomOpened.model_validate_json(opened.model_dump_json()), found)


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


def lesson(one: Room, seed: int, persons: int = 9) -> Iterator[Recorded]:
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
            (Sketched(place=one.place, ys=(chance.randint(0, TOP),) * POINTS), f"p{chance.randrange(persons + 2)}"),
            (Rated(place=one.place, value=chance.randint(1, 5)), f"p{chance.randrange(persons + 2)}"),
            (chance.choice([CardOpened, VotingClosed, Revealed])(place=chance.randrange(-1, 4)), ""),
        ]
        if chance.random() < 0.1 and (step := one.next_move()) is not None:
            tried.append((step, ""))
        record, by = chance.choice(tried)
        one.apply(happened := event(record, by))
        yield happened
