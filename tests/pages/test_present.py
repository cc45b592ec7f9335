"""Telling a run to an audience: which address tells it, at which screen; and the story of the front page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core import entry, home
from core.journal import read
from core.runs.recordings import listed
from core.scene import Scene
from core.transcript import transcript
from pages.parts.live import LAST
from tests.pages.conftest import scenes, staged
from tests.small_lab import LAB as ECHO

Page = Callable[..., AppTest]

RECORDINGS = listed(home.recordings())
RUN = RECORDINGS.of_lab("simulatability")[0].run
LABS = [lab for lab in entry.labs().values() if not lab.hidden]


def stage_of(app: AppTest) -> dict[str, Any]:
    [one] = staged(app)
    return one


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_a_run_is_told_to_what_its_lab_says_of_it(page: Page, lab: Any) -> None:
    run = RECORDINGS.of_lab(lab.name)[0].run
    assert stage_of(page(lab.path, run=run))["mode"] == "read"
    app = page(lab.path, run=run, present="1")
    assert stage_of(app)["mode"] == "tell" and stage_of(app)["follow"] == [None]
    [scene] = scenes(app)
    log = transcript(read(home.recordings() / f"{run}.jsonl").events)
    headline = lab.verdict(lab.view(log.case(log.only)))[0]
    assert scene.verdict and scene.verdict.headline.text == headline.replace("*", "")
    assert scene.screens[-1].shows == "verdict" and scene.screens[0].shows == "question"
    assert any(screen.shows == "card" for screen in scene.screens) == bool(scene.cards)


@pytest.mark.parametrize(
    ("at", "place"),
    [
        ("", 0),
        ("0", 0),
        ("x", 0),
        ("-1", 0),
        ("9" * 5000, 0),
        ("1", 0),
        ("7", 6),
        ("9999", 9998),
        ("99999", LAST),
        ("end", LAST),
    ],
)
def test_any_place_in_the_address_is_a_screen(page: Page, at: str, place: int) -> None:
    assert stage_of(page("ask", run=RUN, present="1", at=at))["place"] == place


def test_who_guesses_first_is_not_shown_the_way(page: Page) -> None:
    assert stage_of(page("ask", run=RUN, reader="me", present="1"))["mode"] == "guess"


def test_a_run_that_is_not_there_is_reported(page: Page) -> None:
    app = page("ask", run="20260101-000000-simulatability-0", present="1")
    assert app.error and app.title[0].value == "Ask" and not staged(app)


def test_the_story_says_what_the_journals_say(page: Page) -> None:
    app = page("about/story.py", at="end")
    one, told = stage_of(app), scenes(app)
    assert (one["mode"], one["place"]) == ("tell", LAST)
    chosen = [one for one in RECORDINGS.recording if one.story]
    assert [scene.run for scene in told] == [one.run for one in chosen]
    assert [scene.lab for scene in told] == [lab.title for lab in LABS], "each lab once, in order"
    assert sum(len(scene.screens) for scene in told) + 1 <= 17
    for recording, scene, lab, whole in zip(chosen, told, LABS, one["series"]["whole"], strict=True):
        log = transcript(read(home.recordings() / f"{recording.run}.jsonl").events)
        assert scene.verdict and scene.question == lab.question
        assert scene.verdict.headline.text == lab.verdict(lab.view(log.case(log.only)))[0].replace("*", "")
        cards = [screen.of for screen in scene.screens if screen.shows == "card"]
        assert len(cards) == 1 and cards[0] == (recording.row or cards[0])
        assert _mark(scene, cards[0]) == "broken" and scene.screens[-1].shows == "verdict"
        assert whole == f"/{lab.path}?run={recording.run}"
    assert "examples, not evidence" in one["series"]["foot"]
    assert [to for _, to in one["series"]["links"]] == [f"/{lab.path}" for lab in LABS]


def _mark(scene: Scene, id: str) -> str:
    return next(card.mark for card in scene.cards if card.id == id)


def test_a_lab_without_a_scene_of_its_own_is_told_from_its_view(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "LABS", (*entry.LABS, ECHO))
    entry.labs.cache_clear()
    entry.controls.cache_clear()
    run = entry.jobs().start("echo", ECHO.spec.model_validate({"words": ["no"], "model": "control/deaf"}))
    assert entry.jobs().wait(run, 60)
    app = page("echo", run=run, present="1", at="3")
    [scene] = scenes(app)
    assert (stage_of(app)["mode"], stage_of(app)["place"]) == ("tell", 2)
    assert scene.cards[0].expects[0].value == "no" and scene.cards[0].said == "pardon?"
    assert scene.verdict and scene.verdict.headline.text == "It repeated 0 of 2."
    assert [screen.shows for screen in scene.screens][:4] == ["question", "claim", "card", "turned"]
