"""Presenting a run to an audience: which address presents it, and at which screen; and the stories."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core import entry, home
from core.journal import read
from core.runs.library import Recording, list_recordings
from core.studies import study_files
from core.transcript import transcript
from pages.components.run_view import LAST
from tests.pages.conftest import scenes, staged, words
from tests.support.small_lab import LAB as ECHO

Page = Callable[..., AppTest]

RECORDINGS = list_recordings(home.recordings())
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
    headline = lab.view(log.case(log.only)).sentences()[0]
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


def test_a_recording_in_a_pack_is_opened_as_any_other(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = home.recordings()
    (tmp_path / "came" / "packs").mkdir(parents=True)
    shutil.copy(whole / "recordings.toml", tmp_path / "came")
    study_files.write_archive(tmp_path / "came" / "packs" / "cards.zip", [RUN], whole)
    monkeypatch.setattr(home, "recordings", lambda: tmp_path / "came")
    app = page("results/case.py", run=RUN, case="question", at="end")
    [scene] = scenes(app)
    assert (scene.run, scene.case) == (RUN, "question") and scene.cards and not app.error
    assert "an example, not evidence" in words(app), "it is known as a recording"


def test_who_guesses_first_is_not_shown_the_way(page: Page) -> None:
    assert stage_of(page("ask", run=RUN, reader="me", present="1"))["mode"] == "guess"


def test_a_run_that_is_not_there_is_reported(page: Page) -> None:
    app = page("ask", run="20260101-000000-simulatability-0", present="1")
    assert app.error and app.title[0].value == "Ask" and not staged(app)


@pytest.mark.parametrize("one", RECORDINGS.recording, ids=lambda one: one.run.split("-", 2)[2])
def test_a_story_says_what_the_journal_says_and_what_it_showed_at_its_end(page: Page, one: Recording) -> None:
    app = page("about/stories.py", run=one.run, at="end")
    drawn, [told] = stage_of(app), scenes(app)
    assert (drawn["mode"], drawn["place"], told.run) == ("tell", LAST, one.run)
    lab = next(lab for lab in LABS if lab.title == told.lab)
    log = transcript(read(home.recordings() / f"{one.run}.jsonl").events)
    assert told.verdict and told.screens[-1].shows == "verdict" and len(told.screens) <= 7
    assert told.verdict.headline.text == lab.view(log.case(log.only)).sentences()[0].replace("*", "")
    cards = [screen.of for screen in told.screens if screen.shows == "card"]
    assert cards[:1] == ([one.row] if one.row else cards[:1])
    series = drawn["series"]
    assert series["headline"] == one.twist and "examples, not evidence" in series["foot"]
    leads = dict(series["links"])
    assert leads["All its prompts and answers"] == f"/case?run={one.run}"
    assert leads["All stories"] == series["leave"] == "/stories"
    after = RECORDINGS.recording[RECORDINGS.recording.index(one) + 1 :]
    assert [to for name, to in series["links"] if name.startswith("Next")] == [
        f"/stories?run={other.run}" for other in after[:1]
    ]
    assert leads["Present to a class"] == f"/wall?run={one.run}"


def test_the_gallery_shows_each_quotation_and_twist_and_leads_to_the_story(page: Page) -> None:
    [gallery] = staged(page("about/stories.py"))
    assert [dict(card["lines"])["q"] for card in gallery["cards"]] == [one.quote for one in RECORDINGS.recording]
    assert dict(gallery["cards"][0]["lines"]) == {
        "em": "Ask",
        "small": "Can a penguin fly?",
        "q": "Penguins are birds. Birds can fly.",
        "strong": "Then it says: “Penguins are flightless birds.”",
    }
    assert [card["to"] for card in gallery["cards"]] == [f"/stories?run={one.run}" for one in RECORDINGS.recording]
    [on_front] = [one for one in staged(page("about/welcome.py")) if one.get("kind") == "stories"]
    assert on_front["cards"] == gallery["cards"][:3]


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
