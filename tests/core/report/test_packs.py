"""Packs of the game agree with the journals: those that ship, and every one that is made."""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from core import entry, home, journal
from core.__main__ import main
from core.events import Event, Recorded
from core.labs.ask import qualification, world
from core.labs.base.report import DIFFERED
from core.package_data import DATA
from core.report.game import making
from core.report.game.pack import GamePackError, Pack, PackCard, pack_text, read, shipped_packs
from core.scene import Card, Expect, Who
from tools import make_pack
from tools.make_pack import PackRequest

FOLDERS = (home.recordings(), home.priors())
ASK = tuple(path.stem for path in sorted(home.recordings().glob("*-simulatability-*.jsonl")))
TRUTHS = DATA / "questions" / "recorded.toml"


def wanted(
    *runs: str, most: int = 200, seed: int = 0, as_it_came: bool = False, truths: Path | None = None
) -> PackRequest:
    return PackRequest("mine", "Mine", runs or ASK, truths, most, seed, as_it_came)


def faults(pack: Pack, *folders: Path) -> list[str]:
    return list(making.faults(pack, entry.labs(), folders or FOLDERS))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("path", shipped_packs(), ids=lambda path: path.stem)
def test_a_pack_that_ships_is_what_its_journals_say(path: Path) -> None:
    pack = read(path)
    assert faults(pack) == []
    assert path.read_text(encoding="utf-8") == pack_text(pack)
    assert "/home/" not in path.read_text(encoding="utf-8")


def test_what_ships_is_of_every_game_and_answers_for_itself() -> None:
    packs = {path.stem: read(path) for path in shipped_packs()}
    assert {pack.kind for pack in packs.values()} == {"ask", "check", "plant", "exam"}
    robots = packs["robots"]
    assert len(robots.cards) >= 10 and all(card.who.is_robot and card.who.shown == "a robot" for card in robots.cards)
    assert len({card.who.name for card in robots.cards}) >= 4
    for name in ("first", "robots"):
        assert {card.going for card in packs[name].cards} == set(making.GOINGS)
        assert all(card.truth in ("yes", "no") for card in packs[name].cards)
        said = Counter(card.card.said for card in packs[name].cards)
        assert abs(said["yes"] - said["no"]) <= 1
    sat = {card.card.id: (card.card.parts[0].text, card.card.said) for card in packs["exam"].cards}
    assert sat == {one.id: (one.counterfactual, one.right) for one in qualification.questions()}


def test_the_robots_true_answers_are_those_of_their_world() -> None:
    small, answers = world.load(), making.truths(DATA / "questions" / "robots.toml")
    entries = tomllib.loads((DATA / "questions" / "robots.toml").read_text(encoding="utf-8"))["question"]
    asked = [one["question"] for entry_ in entries for one in (entry_, *entry_["follow_ups"])]
    assert len(asked) > 30
    for question in asked:
        known = small.read(question)
        assert known is not None
        assert answers[making.lookup_form(question)] == ("yes" if small.truth(known) else "no"), question


def change(pack: Pack, at: int, **news: Any) -> Pack:
    card = pack.cards[at].model_copy(update=news)
    return pack.model_copy(update={"cards": (*pack.cards[:at], card, *pack.cards[at + 1 :])})


def of_card(**news: Any) -> Callable[[Pack], Pack]:
    return lambda pack: change(pack, 0, card=pack.cards[0].card.model_copy(update=news))


LIES: dict[str, tuple[Callable[[Pack], Pack], str]] = {
    "another answer": (of_card(said="yes?"), "card's said"),
    "other words": (of_card(text="Birds."), "card's text"),
    "another question": (of_card(parts=()), "card's parts"),
    "another reading": (of_card(expects=(Expect(who="reader 1", value="yes", quote="So."),)), "card's expects"),
    "another claim": (lambda pack: change(pack, 0, claim=None), "its claim"),
    "another model": (lambda pack: change(pack, 0, who=Who(shown="a giant", name="a giant")), "its who"),
    "another truth": (lambda pack: change(pack, 0, truth="maybe"), "its truth"),
    "another trial": (of_card(id="cf-99"), "no trial 'cf-99'"),
    "another run": (lambda pack: change(pack, 0, run="../priors/x"), "no trial"),
    "no such run": (lambda pack: pack.model_copy(update={"runs": ("../../etc/passwd",)}), "There is no run named"),
    "fewer recorded": (lambda pack: pack.model_copy(update={"recorded": 8}), "recorded: 8"),
    "none differed": (lambda pack: pack.model_copy(update={"differed": 5}), "differed: 5"),
    "a card twice": (lambda pack: pack.model_copy(update={"cards": pack.cards + pack.cards[:1]}), "on two cards"),
    "other balance": (lambda pack: pack.model_copy(update={"cards": pack.cards[:-1]}), "How it was chosen"),
    "as it came": (lambda pack: pack.model_copy(update={"as_it_came": True}), "not the cards that seed 0 draws"),
    "another lab": (lambda pack: pack.model_copy(update={"kind": "plant"}), "its runs are of ask"),
    "no truths": (lambda pack: pack.model_copy(update={"truths": "nowhere.toml"}), "cannot be read"),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", LIES)
def test_what_is_not_in_the_journal_is_found(name: str) -> None:
    told, said = LIES[name]
    pack = make_pack.make_pack(wanted(truths=TRUTHS), entry.labs(), FOLDERS)
    assert faults(pack) == []
    assert any(said in fault for fault in faults(told(pack))), faults(told(pack))


def test_an_order_with_a_pattern_is_found() -> None:
    pack = make_pack.make_pack(wanted(truths=TRUTHS), entry.labs(), FOLDERS)
    in_rows = pack.model_copy(update={"cards": tuple(sorted(pack.cards, key=lambda card: card.card.said))})
    assert any("in a row are alike" in fault for fault in faults(in_rows))


def edited(tmp_path: Path, change: Callable[[Event], Event]) -> Path:
    """A folder with the first recording of Ask, changed by `change`."""
    events = journal.read(home.recordings() / f"{ASK[0]}.jsonl").events
    lines = [journal.to_line(change(event), number) for number, event in enumerate(events, start=1)]
    (tmp_path / f"{ASK[0]}.jsonl").write_bytes(b"".join(lines))
    return tmp_path


def test_where_two_readers_differ_or_one_cannot_be_read_the_trial_is_no_card(tmp_path: Path) -> None:
    def otherwise(event: Event) -> Event:
        words = {"cf-01/simulator-2": "unknown", "cf-02/simulator-2": "neither"}
        if isinstance(event, Recorded) and event.item in words:
            return event.model_copy(update={"data": {**event.data, "repaired": words[event.item]}})
        return event

    folder = edited(tmp_path, otherwise)
    whole = make_pack.make_pack(wanted(ASK[0]), entry.labs(), FOLDERS)
    assert (whole.recorded, whole.annotated, whole.differed) == (6, 6, 0)
    found = [one for one in making.trials(ASK[0], entry.labs(), (folder,), {}, 0) if one.why]
    assert [(one.card.card.id, one.why) for one in found] == [("cf-01", DIFFERED), ("cf-02", DIFFERED)]
    pack = make_pack.make_pack(wanted(ASK[0]), entry.labs(), (folder,))
    assert (pack.recorded, pack.annotated, pack.differed) == (6, 6, 2)
    assert {card.card.id for card in pack.cards}.isdisjoint({"cf-01", "cf-02"})
    assert faults(pack, folder) == [] and faults(pack) != []
    # A sample leaves nothing out, and the card says what is not settled.
    drawn = make_pack.make_pack(wanted(ASK[0], as_it_came=True), entry.labs(), (folder,))
    doubts = {card.card.id: card.card.doubt for card in drawn.cards}
    assert len(doubts) == 6 and {id for id, doubt in doubts.items() if doubt} == {"cf-01", "cf-02"}
    assert doubts["cf-01"] == "the predictors differ" and faults(drawn, folder) == []


@pytest.mark.parametrize("length", [20, 399, 400, 401, 5_000])
def test_a_card_shows_an_answer_whole_or_its_first_sentence(tmp_path: Path, length: int) -> None:
    first = "A whale is large."
    words = f"{first} It swims".ljust(length - 1, "s") + "." if length > 20 else "It swims  in\nthe sea"

    def longer(event: Event) -> Event:
        if isinstance(event, Recorded) and (event.record, event.item) == ("answer", "cf-01"):
            return event.model_copy(update={"data": {**event.data, "explanation": words}})
        return event

    [card] = [one.card.card for one in making.trials(ASK[0], entry.labs(), (edited(tmp_path, longer),), {}, 0)
              if one.card.card.id == "cf-01"]  # fmt: skip
    assert card.text == {20: "It swims in the sea", 401: first, 5_000: first}.get(length, words)


def test_as_it_came_is_drawn_by_its_seed() -> None:
    one, again, other = (
        make_pack.make_pack(wanted(seed=seed, as_it_came=True, most=12), entry.labs(), FOLDERS) for seed in (7, 7, 8)
    )
    assert one == again and one.cards != other.cards and len(one.cards) == len(other.cards) == 12
    assert faults(one) == [] and "12 cards sampled at random (seed 7), none left out" in one.chosen
    assert any("seed 8" in fault for fault in faults(one.model_copy(update={"seed": 8})))


def test_the_whispered_reasons_are_where_the_card_says() -> None:
    pack = read(DATA / "packs" / "whispered.json")
    assert any(not card.who.is_robot for card in pack.cards)
    for card in pack.cards:
        path = journal.find(card.run, *FOLDERS)
        assert path is not None
        replies = {
            event.item: event.data for event in journal.read(path).events
            if isinstance(event, Recorded) and event.case == card.case and event.record == "plantreply"
        }  # fmt: skip
        reasons = {part.label: part.text for part in card.card.parts if part.label}
        assert reasons[card.card.options[card.card.said]] == replies["planted"]["reasons"]
        [other] = {"first", "second"} - {card.card.said}
        assert reasons[card.card.options[other]] == replies["plain-1"]["reasons"]
        assert replies["planted"]["answer"] != replies["plain-1"]["answer"]
        assert re.match("We (slipped it an answer key|told it that)", card.after[0].text)


def a_card(place: int, question: int, said: str, implied: str) -> PackCard:
    options = {"yes": "Yes", "no": "No", "unknown": "It does not say"}
    card = Card(
        id=str(place), number=1, mark="kept", options=options, said=said, expects=(Expect(who="", value=implied),)
    )
    return PackCard(run="r", case=f"q{question}", who=Who(), title=f"{question}?", card=card)


CARDS = st.lists(
    st.tuples(st.integers(0, 30), st.sampled_from(["yes", "no"]), st.sampled_from(["yes", "no", "unknown"])),
    max_size=120,
).map(lambda drawn: [a_card(place, *one) for place, one in enumerate(drawn)])


@given(cards=CARDS, most=st.integers(1, 60), seed=st.integers(0, 9))
def test_no_order_has_a_pattern_and_no_question_more_than_two_cards(
    cards: list[PackCard], most: int, seed: int
) -> None:
    order = making.choose_cards(cards, most, seed)
    assert bool(order) == bool(cards) and len(order) <= most
    assert making.choose_cards(cards, most, seed) == order
    for words in ([card.card.said for card in order], [card.going for card in order]):
        assert all(len(set(words[at : at + 4])) > 1 for at in range(len(words) - 3))
    assert max(Counter(card.question for card in order).values(), default=0) <= 2
    assert len({card.card.id for card in order}) == len(order)


def test_a_large_choice_is_balanced() -> None:
    pool = [
        a_card(place, place // 5, "yes" if place % 7 < 5 else "no", ("yes", "no", "unknown")[place % 3])
        for place in range(300)
    ]
    order = making.choose_cards(pool, 48, 3)
    said, goings = Counter(card.card.said for card in order), Counter(card.going for card in order)
    assert len(order) == 48 and max(said.values()) - min(said.values()) <= 2
    assert len(goings) == 3 and max(goings.values()) - min(goings.values()) <= 2


def test_the_command_makes_a_pack_and_checks_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.json"
    made = CliRunner().invoke(
        make_pack.main, [*ASK, "-o", str(file), "--truths", str(TRUTHS), "--most", "5", "--seed", "2"]
    )
    assert made.exit_code == 0 and "5 cards written to" in made.output
    assert main(["pack", "check", str(file)]) == 0
    assert capsys.readouterr().out == "mine.json: 5 cards, as in the journals\n"
    told = json.loads(file.read_text(encoding="utf-8"))
    told["cards"][0]["card"]["said"] = "unknown"
    file.write_text(json.dumps(told), encoding="utf-8")
    assert main(["pack", "check", str(file)]) == 1
    assert "mine.json: Card 1: its card's said is not what stands in the journal." in capsys.readouterr().err
    assert main(["pack", "check"]) == 0
    several = home.recordings().glob("*-plant-*.jsonl")
    made = CliRunner().invoke(make_pack.main, [ASK[0], next(several).stem, "-o", str(file)])
    assert made.exit_code == 2 and "A pack belongs to one lab; these runs are of ask, plant." in " ".join(
        made.output.split()
    )
    assert CliRunner().invoke(make_pack.main, ["nowhere", "-o", str(file)]).exit_code == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[[question]]\nquestion = 'a'", "without its words or its true answer"),
        ("question = 3", "without its words or its true answer"),
        ("[[question]]\nquestion = 3\ngold = 'yes'", "without its words or its true answer"),
        ("[[", "cannot be read"),
        ("", "without its words or its true answer"),
    ],
)
def test_true_answers_that_cannot_be_read_are_refused_in_words(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "a.toml").write_text(text, encoding="utf-8")
    with pytest.raises(GamePackError, match=why):
        making.truths(tmp_path / "a.toml")
    (tmp_path / "b.toml").write_text("#" * (making.LARGEST + 1), encoding="utf-8")
    with pytest.raises(GamePackError, match="too large"):
        making.truths(tmp_path / "b.toml")
