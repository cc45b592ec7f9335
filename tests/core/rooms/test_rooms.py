"""Rooms as journals: opened, found by their codes, resumed after a crash with a torn last line."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core import entry, home, journal
from core.events import Dropped, ModelAnswer, OnText, Request
from core.report.game.pack import GamePackError, load_pack, shipped_packs
from core.rooms import arguments
from core.rooms import rooms as module
from core.rooms.cards import SKETCH, found_again, refs, sampled, source
from core.rooms.events import Voted
from core.rooms.room import Room, RoomStateError
from core.rooms.rooms import JOIN_SECONDS, LETTERS, LiveRoom, RoomNotFoundError, Rooms
from core.rooms.sketches import SketchCard
from core.server.quotas import QuotaExceededError
from pages.labs.probe.turn import RECORDED
from tests.conftest import WITHOUT_ENCODER


def rooms(folder: Path) -> Rooms:
    return Rooms(folder, entry.labs(), (home.journals(), home.recordings()))


def opened(many: Rooms, owner: str = "ann", again: bool = False) -> LiveRoom:
    return many.open(owner, "", "first", many.source("", "first"), again)


def views(live: LiveRoom) -> list[object]:
    return [live.view(Room.wall), *(live.room.phone(person) for person in live.room.people)]


def play(live: LiveRoom, steps: int) -> None:
    for person in ("bo", "cy"):
        live.join(person, f"Nick of {person}")
    for _ in range(steps):
        assert live.move(live.room.phase, live.room.place)
        for person in ("bo", "cy") if live.room.phase == "voting" else ():
            live.give(
                person, Voted(place=live.room.place, value=next(iter(live.room.cards[live.room.place].card.options)))
            )


def test_a_room_is_found_again_as_it_was_and_goes_on(tmp_path: Path) -> None:
    many = rooms(tmp_path)
    live = opened(many)
    play(live, 7)
    code, before = live.room.opened.code, views(live)
    assert re.fullmatch(f"[{LETTERS}]{{4}}", code) and many.find(f" {code.lower()} ") is live
    many.close()
    again = rooms(tmp_path)
    assert again.knows(code) and views(again.find(code)) == before and again.find(code).owner == "ann"
    play(again.find(code), 1)
    with pytest.raises(RoomNotFoundError):
        again.find("AAAA")
    again.close()


def test_a_torn_last_line_is_passed_over_and_cut_off(tmp_path: Path) -> None:
    many = rooms(tmp_path)
    live = opened(many)
    play(live, 1)
    many.close()
    before, whole = views(live), live.path.read_bytes()
    for cut in (1, 20, len(whole.splitlines()[-1])):
        live.path.write_bytes(whole + whole.splitlines()[-1][:cut])
        again = rooms(tmp_path)
        found = again.find(live.room.opened.code)
        assert views(found) == before
        assert found.move("voting", 0)
        again.close()
        assert (
            journal.read(live.path).faults == [] and len(journal.read(live.path).events) == len(whole.splitlines()) + 1
        )
        live.path.write_bytes(whole)


CRASH = """
import sys
from pathlib import Path
from core.rooms.events import Voted
from tests.core.rooms.test_rooms import opened, rooms
live = opened(rooms(Path(sys.argv[1])))
live.move("lobby", -1)
for number in range(100_000):
    live.join(str(number % 400), "n")
    live.give(str(number % 400), Voted(place=0, value="yes" if number % 3 else "no"))
    print(number, flush=True)
"""


def test_of_votes_that_were_acknowledged_none_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": WITHOUT_ENCODER}
    command = [sys.executable, "-c", CRASH, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) >= 200:
            break
    process.send_signal(signal.SIGKILL)
    rest = process.stdout.read().splitlines()
    process.wait(timeout=30)
    last = max([200, *map(int, [line for line in rest if line])])
    again = rooms(tmp_path)
    [path] = tmp_path.glob("*.jsonl")
    live = again.find(path.stem.rpartition("-")[2])
    voters = live.view(Room.wall)["voted"]
    assert min(last + 1, 400) <= voters <= min(last + 2, 400)
    assert live.move("voting", 0), "the lease of a dead process is free"
    again.close()


def test_one_process_writes_a_room(tmp_path: Path) -> None:
    many = rooms(tmp_path)
    live = opened(many)
    live.join("bo", "")
    other = rooms(tmp_path).find(live.room.opened.code)
    with pytest.raises(journal.JournalInUseError):
        other.join("cy", "")
    many.close()


def test_an_owner_comes_back_to_the_room_that_goes_on_and_others_get_their_own(tmp_path: Path) -> None:
    many = rooms(tmp_path)
    live = opened(many)
    assert opened(many) is live and opened(many, again=True) is not live and opened(many, "bob") is not live
    codes = {path.stem.rpartition("-")[2] for path in tmp_path.glob("*.jsonl")}
    assert len(codes) == 3
    many.close()


def test_a_key_pressed_twice_counts_once_and_the_result_comes_early_where_it_is_wanted(tmp_path: Path) -> None:
    many = rooms(tmp_path)
    live = opened(many)
    assert live.move("lobby", -1) and not live.move("lobby", -1) and live.move("voting", 0)
    with pytest.raises(RoomStateError):
        live.move("closed", 0, is_end=True)
    assert live.move("closed", 0) and live.move("revealed", 0, is_end=True) and live.room.phase == "over"
    assert not live.move("over", 0)
    many.close()


def test_a_room_takes_nobody_after_half_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = rooms(tmp_path)
    live = opened(many)
    live.join("bo", "")
    live.opened_at -= JOIN_SECONDS + 1
    live.join("bo", "")
    with pytest.raises(RoomNotFoundError):
        live.join("cy", "")
    monkeypatch.setattr(module, "MOST_ROOMS", 1)
    with pytest.raises(QuotaExceededError, match="1 classes are kept"):
        opened(many, "bob")
    many.close()


def test_few_rooms_stay_in_memory_and_old_ones_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_LIVE", 2)
    many = rooms(tmp_path)
    live = [opened(many, f"teacher{number}") for number in range(4)]
    live[0].watchers.add(lambda is_move: None)
    assert many.find(live[1].room.opened.code) is not live[1]
    many.close()
    again = rooms(tmp_path)
    again.forget(time.time() - 100)
    assert again.knows(live[0].room.opened.code)
    again.forget(time.time() + 100)
    assert not again.knows(live[0].room.opened.code) and not [*tmp_path.glob("*.jsonl")]


def test_a_journal_names_no_visitor(tmp_path: Path) -> None:
    many = rooms(tmp_path)
    live = opened(many)
    play(live, 2)
    other = opened(many, "bob")
    assert live.person("bo") != other.person("bo") != "bo"
    assert '"by":"bo"' not in live.path.read_text() and '"by"' in live.path.read_text()
    many.close()


ASKED = "20261123-091758-simulatability-da7b61b3932dc846"


class Advocate:
    """Argues for the side that it is asked for, and says what `instead` has for a side; it keeps what it was asked."""

    id = "m"

    def __init__(self, **instead: str) -> None:
        self.instead, self.asked = instead, 0

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        self.asked += 1
        side = request.slots["answer"]
        return ModelAnswer(text=self.instead.get(side, f"  Because of\nthings that make it {side}-like."))


def test_arguments_are_written_by_a_model_into_a_journal_and_shown_in_a_class(tmp_path: Path) -> None:
    folder, model = tmp_path / "journals", Advocate()
    found = source(ASKED, "", entry.labs(), (home.recordings(),))
    path = arguments.path_of(folder, ASKED)
    [(place, made)] = asyncio.run(arguments.write(path, found.cards, "m", lambda id: model)).items()
    assert place == (ASKED, found.cards[0].case) and model.asked == 2 and made.model == "m"
    answer = found.cards[0].claim.answer.lower() if found.cards[0].claim else ""
    assert made.in_favour == f"Because of things that make it {answer}-like." != made.against
    asyncio.run(arguments.write(path, found.cards, "m", lambda id: model))
    assert model.asked == 2, "what is in the journal is not asked again"
    assert {type(event).__name__ for event in journal.read(path).events} == {"Started", "Asked", "Answered", "Recorded"}

    assert arguments.known([ASKED], (folder,))[place] == made
    many = Rooms(tmp_path / "rooms", entry.labs(), (folder, home.recordings()))
    live = many.open("ann", ASKED, "", many.source(ASKED, ""))
    many.close()
    again = Rooms(tmp_path / "rooms", entry.labs(), (home.recordings(),)).find(live.room.opened.code)
    assert again.room.opened.arguments == {0: made}, "a room keeps them"
    about = {"run": path.stem, "case": f"{ASKED}/{place[1]}", "item": ASKED}
    with journal.Journal(path) as written:
        written.append(Dropped(**about, reason="argues for the other side"))
    assert place not in arguments.known([ASKED], (folder,)), "it was read, and excluded"


@pytest.mark.parametrize("said", ["", "No. It is not so.", "The answer is no."])
def test_an_argument_that_is_none_or_for_the_other_side_is_not_shown(said: str, tmp_path: Path) -> None:
    found = source(ASKED, "", entry.labs(), (home.recordings(),))
    path, model = tmp_path / "a.jsonl", Advocate(yes=said)
    assert asyncio.run(arguments.write(path, found.cards, "m", lambda id: model)) == {}
    path.write_bytes(path.read_bytes() + b"{torn")
    assert arguments.known([ASKED], (tmp_path,)).get((ASKED, found.cards[0].case)) is None


def test_arguments_of_the_app_are_of_cards_of_its_packs() -> None:
    cards = {(card.run, card.case): card for path in shipped_packs() for card in load_pack(path.stem).cards}
    found = arguments.known([], ())
    assert len(found) == 22 and found.keys() <= cards.keys()
    assert all(arguments.can_be_argued(cards[place]) for place in found)


LABS = ("simulatability", "consistency", "find", "plant")


@pytest.mark.parametrize("lab", LABS)
def test_recordings_of_all_labs_can_be_presented(lab: str) -> None:
    made = 0
    for path in sorted(home.recordings().glob(f"*-{lab}-*.jsonl")):
        try:
            found = source(path.stem, "", entry.labs(), (home.recordings(),))
        except GamePackError as error:
            assert "nothing to predict" in str(error)
            continue
        taken = sampled(found, 1)
        made += 1
        assert taken and (found.kind == SKETCH or all(one.card.said in one.card.options for one in taken))
        assert found.has_arms == (lab == "simulatability")
    assert made


def test_functions_of_numbers_are_drawn_and_others_keep_their_cards() -> None:
    numeric, texts = "20261123-092150-find-f3be72d622f259a7", "20261123-092335-find-834958f50fb92e36"
    found = [source(run, "", entry.labs(), (home.recordings(),)) for run in (numeric, texts)]
    assert [one.kind for one in found] == [SKETCH, "probe"]
    # Anybody could generate the function from its seed.
    titles = {one.title for one in found} | {card.title for one in found for card in one.cards}
    assert titles == {"A numeric function", "A string function"}


def test_in_the_recorded_function_for_drawing_there_is_something_to_find() -> None:
    (card,) = source(RECORDED, "", entry.labs(), (home.recordings(),)).cards
    assert isinstance(card, SketchCard) and card.who.is_robot and card.title == "A numeric function"
    assert (card.parts, card.baselines()) == (16, {"Joining the points": 10, "Its own code": 2})


def test_the_function_of_a_day_is_the_same_for_every_class() -> None:
    first, again = (source("", "function-20261126", entry.labs(), ()) for _ in range(2))
    assert first.title == "Function of 26 November 2026" and first.kind == SKETCH
    assert found_again(again, refs(first.cards)) == first.cards
    assert source("", "function-20261127", entry.labs(), ()).cards != first.cards


@pytest.mark.parametrize(
    ("run", "pack"),
    [
        ("none", ""),
        ("../x", ""),
        ("", "none"),
        ("", ""),
        ("", "function-20261399"),
        ("", "function-1"),
        ("", "function-"),
    ],
)
def test_what_is_not_there_cannot_be_presented(run: str, pack: str) -> None:
    with pytest.raises(GamePackError):
        source(run, pack, entry.labs(), (home.journals(), home.recordings()))
