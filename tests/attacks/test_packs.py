"""A malicious pack of the game is refused with a reason, in little time."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.__main__ import main
from core.report.game.pack import LARGEST, PACKS, GamePackError, read
from tests.attacks.texts import UNITS

GOOD: dict[str, Any] = json.loads((PACKS / "first.json").read_text(encoding="utf-8"))


def told(**news: Any) -> bytes:
    return json.dumps({**GOOD, **news}).encode()


def of_card(**news: Any) -> bytes:
    return told(cards=[{**GOOD["cards"][0], **news}])


UNREADABLE: dict[str, bytes] = {
    "empty": b"",
    "zeros": b"\x00" * 1000,
    "no text": bytes(range(128, 256)) * 20,
    "too large": b" " * (LARGEST + 1),
    "deep": b"[" * 200_000,
    "deep in a card": b'{"cards":' + b'{"claim":' * 100_000,
    "half a file": told()[:-200],
    "a number beyond counting": told(recorded=1).replace(b'"recorded": 1', b'"recorded": ' + b"9" * 9000),
    "a list": b"[]",
    "of the future": told(schema_version=99),
    "no cards": told(cards=[]),
    "too many cards": told(cards=[{"run": "r", "case": "c"}] * 201),
    "a card of text": told(cards=["a"]),
    "too many runs": told(runs=["r"] * 1001),
    "a run without end": told(runs=["r" * 10_000]),
    "a name that leads out": told(name="../first"),
    "another name": told(name="second"),
    "true answers that lead out": told(truths="../../../../etc/passwd"),
    "true answers from the root": told(truths="/etc/passwd"),
    "another game": told(kind="roulette"),
    "a card without its trial": of_card(card={}),
    "a mark of its own": of_card(card={**GOOD["cards"][0]["card"], "mark": "<script>"}),
    "a title without end": told(title="a" * 10_000),
}

NOT_TRUE: dict[str, bytes] = {
    "a run that leads out": told(runs=["../../../etc/passwd"]),
    "a run with a zero byte": told(runs=["a\x00b"]),
    "a device": told(runs=["nul", "con"]),
    "half a character": of_card(title="\ud800"),
    "a script": of_card(title="<script>alert(1)</script>"),
    "numbers below zero": told(recorded=-5, differed=-1),
    "a run of people's words": told(runs=[GOOD["runs"][0] + "~~shared"]),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_no_pack_is_refused_in_words(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "first.json"
    file.write_bytes(UNREADABLE[name])
    with pytest.raises(GamePackError) as refused:
        read(file)
    assert len(str(refused.value)) < 1_000
    assert main(["pack", "check", str(file)]) == 1
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NOT_TRUE)
def test_a_pack_of_lies_is_found_out(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "first.json"
    file.write_bytes(NOT_TRUE[name])
    assert main(["pack", "check", str(file)]) == 1
    said = capsys.readouterr().err
    assert said.startswith("first.json: ") and "Traceback" not in said and len(said) < 20_000


@pytest.mark.parametrize("place", ["title", "text", "quote"])
def test_long_texts_are_read_and_found_out(place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    card = GOOD["cards"][0]
    news: dict[str, Callable[[str], dict[str, Any]]] = {
        "title": lambda text: {"title": text},
        "text": lambda text: {"card": {**card["card"], "text": text}},
        "quote": lambda text: {"card": {**card["card"], "expects": [{"who": "a", "value": "yes", "quote": text}]}},
    }
    file = tmp_path / "first.json"
    for unit in UNITS[::7]:
        changed = {**card, **news[place](unit * (64 * 1024 // len(unit)))}
        file.write_bytes(told(cards=[changed], runs=[card["run"]]))
        assert main(["pack", "check", str(file)]) == 1
        assert "Card 1: " in capsys.readouterr().err


def test_a_folder_and_what_is_not_there_are_refused_in_words(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere.json"):
        with pytest.raises(GamePackError, match="cannot be read"):
            read(path)
