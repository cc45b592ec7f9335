"""A game in the app: each first guess is in a journal of pack and player, in Browse, and in a table."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core import entry, home, journal
from core.__main__ import main
from core.events import Recorded, Started
from core.labs.ask.metrics import kappa
from core.report import standalone_html
from core.report.game.pack import Pack, load_pack
from core.runs.labels import Guessed, Played, guessed, guesses, journals
from core.server.access import RunAccess, Visitor
from core.server.quotas import QuotaExceededError
from core.store.filters import Filter, from_query
from core.store.index import index
from core.store.listing import Selection
from core.store.store import Store
from core.transcript import name_of
from pages.viewer.routes import AnnotationBatch, Saying, save_annotation

ANN, BOB = Visitor("ann"), Visitor("bob")


@pytest.fixture(autouse=True)
def _jobs() -> Iterator[None]:
    entry.jobs.cache_clear()
    yield
    entry.close()
    entry.jobs.cache_clear()


def play(who: Visitor, pack: str, place: int, value: str, about: str = "") -> None:
    said = Saying(id="1", what="play", pack=pack, place=place, value=value, about=about)
    save_annotation(RunAccess(entry.jobs(), who), said)


def play_all(who: Visitor, pack: Pack, values: list[str]) -> None:
    for place, value in enumerate(values, start=1):
        play(who, pack.name, place, value)


def test_nothing_is_written_before_a_first_guess_and_the_first_counts() -> None:
    assert journals(home.journals()) == []
    play(ANN, "first", 2, "yes")
    play(ANN, "first", 2, "no")
    play(ANN, "first", 1, "unknown")
    play(BOB, "first", 2, "no")
    pack = load_pack("first")
    [ann, bob] = journals(home.journals())
    events = journal.read(ann).events
    begun, first, second = events
    assert ann.name == "pack-first~ann.jsonl" and isinstance(begun, Started)
    assert (begun.about, begun.owner, begun.lab) == ("pack-first", "ann", "simulatability")
    for event, place, value in ((first, 2, "yes"), (second, 1, "unknown")):
        card = pack.cards[place - 1]
        assert isinstance(event, Recorded) and event.record == name_of(Played)
        assert (event.case, event.trial, event.by) == (card.case, card.card.id, "ann")
        assert event.data == {"pack": "first", "place": place, "run": card.run, "value": value}
    assert [one.played.value for one in guesses(bob)] == ["no"]


def test_what_all_players_guessed_is_counted_and_goes_with_an_unselected_pack() -> None:
    play(ANN, "as-it-came", 1, "yes")
    play(ANN, "as-it-came", 1, "no")
    play(BOB, "as-it-came", 1, "yes")
    play(BOB, "as-it-came", 3, "no")
    play(BOB, "as-it-came", 4, "no", about="without")
    play(ANN, "first", 1, "yes")
    found = guessed(home.journals(), "as-it-came")
    assert found == Guessed(players=2, cards={0: {"yes": 2}, 2: {"no": 1}})
    made = standalone_html.of_app("as-it-came", home.journals()).decode()
    assert '"guessed":{"players":2,"cards":{"0":{"yes":2},"2":{"no":1}}}' in made and "ann" not in made.lower().split()
    assert '"guessed":{"players":0,"cards":{}}' in standalone_html.of_app("first", home.journals()).decode()


@pytest.mark.parametrize(
    ("pack", "place", "value", "why"),
    [
        ("nowhere", 1, "yes", "No pack is called 'nowhere'"),
        ("../recordings/first", 1, "yes", "No pack is called"),
        ("first", 0, "yes", "has no card 0"),
        ("first", 99, "yes", "has no card 99"),
        ("first", 1, "maybe", "not one of the answers"),
        ("first", 1, "", "not one of the answers"),
    ],
)
def test_what_is_no_guess_is_refused_and_nothing_is_written(pack: str, place: int, value: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        play(ANN, pack, place, value)
    assert journals(home.journals()) == []


def test_who_is_not_known_or_not_in_keeps_no_guess() -> None:
    for visitor in (Visitor("", is_known=False), Visitor("eve", is_in=False)):
        with pytest.raises(QuotaExceededError):
            play(visitor, "first", 1, "yes")
    assert journals(home.journals()) == []


def test_what_the_stage_says_of_a_game_is_bounded() -> None:
    one = {"id": "1", "what": "play", "pack": "first", "place": 1, "value": "yes"}
    assert AnnotationBatch.model_validate_json(json.dumps({"said": [one]})).said[0].place == 1
    for name, most in {
        **dict.fromkeys(("id", "about", "value", "reader", "pack"), 100),
        "run": 200,
        "case": 1_000,
    }.items():
        assert AnnotationBatch.model_validate({"said": [one | {name: "a" * most}]})
        with pytest.raises(ValueError, match="at most"):
            AnnotationBatch.model_validate({"said": [one | {name: "a" * (most + 1)}]})
    for wrong in ({"place": 1_000}, {"place": -1}, {"pack": "a" * 101}, {"value": "a" * 101}, {"what": "cheat"}):
        with pytest.raises(ValueError, match="validation error"):
            AnnotationBatch.model_validate_json(json.dumps({"said": [one | wrong]}))


def test_a_played_game_is_found_in_browse(tmp_path: Path) -> None:
    play_all(ANN, load_pack("first"), ["yes", "no", "unknown"])
    play(ANN, "whispered", 1, "first")
    play(ANN, "exam", 1, "yes")
    with Store(tmp_path / "store.duckdb", entry.labs()) as store:
        index(store, home.recordings(), recordings=True)
        index(store, home.journals())
        here = Filter(recordings=True)
        assert Selection(store, here).facet("played") == {"first": 3, "whispered": 1}
        for pack, many in (("first", 3), ("whispered", 1)):
            chosen = from_query({"played": [pack], "recordings": ["1"]})
            assert Selection(store, chosen).count() == many
        runs = Selection(store, from_query({"played": ["first"], "recordings": ["1"]})).run_ids()
        assert set(runs) == {card.run for card in load_pack("first").cards[:3]}
        # The journal of a game is not a run.
        assert Selection(store).count() == 0


def people(capsys: pytest.CaptureFixture[str], *files: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["pack", "people", *files, "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines() if line]


def test_what_people_guess_stands_beside_the_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert people(capsys) == []
    pack, examined = load_pack("first"), load_pack("exam")
    play_all(ANN, pack, ["yes" if card.card.said == "yes" else "no" for card in pack.cards])
    play_all(BOB, pack, ["unknown"] * len(pack.cards))
    # A second guess, and one without the reason, count in no figure.
    play(BOB, "first", 1, "yes")
    play_all(ANN, examined, [card.card.said for card in examined.cards])
    play_all(BOB, examined, ["yes"] * len(examined.cards))
    cells = {(cell["row"], cell["column"]): cell for cell in people(capsys)}
    model = f"explained: {_spec(pack)['model']}"
    predicted = [card for card in pack.cards if card.card.expects[0].value in ("yes", "no")]
    human, machine = (cells[model, f"{who} simulatability"] for who in ("Human", "Machine"))
    right = sum(card.going == "comes true" for card in predicted)
    assert (human["value"], human["n"]) == (1.0, len(predicted)) and human["of"] == 2 * len(pack.cards)
    assert (machine["value"], machine["n"]) == (pytest.approx(right / len(predicted)), len(predicted))
    best = max(sum(card.card.said == word for card in examined.cards) for word in ("yes", "no"))
    assert (
        f"mean over 2 people; where both predict; 1 of 2 passed the qualification test (11 of 11, {best} of 11)"
        in human["note"]
    )
    agreed = cells["reader/1", "Agreement with people (kappa)"]
    read = [card.card.expects[0].value for card in pack.cards]
    ann = kappa(["yes" if card.card.said == "yes" else "no" for card in pack.cards], read).value
    bob = kappa(["unknown"] * len(read), read).value
    assert ann is not None and bob is not None
    assert agreed["value"] == pytest.approx((ann + bob) / 2) and agreed["n"] == len(pack.cards)


def _spec(pack: Pack) -> dict[str, Any]:
    path = journal.find(pack.runs[0], home.recordings())
    begun = path and journal.first_event(path)
    assert begun
    return begun.spec


def test_a_guess_without_the_reason_is_kept_and_is_no_simulation(capsys: pytest.CaptureFixture[str]) -> None:
    play(ANN, "first", 1, "yes", about="without")
    [path] = journals(home.journals())
    assert [one.played.without for one in guesses(path)] == [True]
    assert people(capsys) == []
    # A first guess made without the reason stays so.
    play(ANN, "first", 1, "no")
    assert people(capsys) == []


def test_a_damaged_journal_of_a_game_costs_its_own_lines(capsys: pytest.CaptureFixture[str]) -> None:
    play_all(ANN, load_pack("first"), ["yes", "no", "yes"])
    [path] = journals(home.journals())
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"{\n" + b"".join(lines[2:]) + b'{"kind":"reco')
    assert [one.played.value for one in guesses(path)] == ["no", "yes"]
    assert people(capsys)
