"""Presenter mode: what each lab tells an audience, in which order, and that nothing is told before its time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core import entry, home
from core.events import Event
from core.journal import read
from core.lab.lab import Lab
from core.runs.recordings import Recording, listed
from core.runs.upgrade import upgraded
from core.transcript import transcript
from pages.parts import rooms
from pages.parts.slides import UNKNOWN, YES_OR_NO, Question, Slide, against
from tests.pages.conftest import in_address, words
from tests.small_lab import LAB as ECHO

Page = Callable[..., AppTest]

RECORDINGS = listed(home.recordings()).recording
OLDER = sorted((Path(__file__).parents[1] / "data").glob("journals_*/*.jsonl"))


def lab_of(run: str) -> Lab:
    return next(lab for lab in entry.labs().values() if f"-{lab.name}-" in run)


def told(lab: Lab, events: list[Event], active: bool, case: str = "") -> list[Slide]:
    state = transcript(events)
    return rooms.of(lab).slides(lab.view(state.case(case or state.only)), active)


@pytest.mark.parametrize("one", RECORDINGS, ids=lambda one: one.words)
def test_while_a_run_goes_on_screens_are_only_added(one: Recording) -> None:
    """So a place in the address stays what it was, and what came of a test is never told before it is asked."""
    lab, events = lab_of(one.run), read(home.recordings() / f"{one.run}.jsonl").events
    seen: list[tuple[str, str]] = []
    for number in range(1, len(events)):
        slides = told(lab, events[:number], True)
        assert slides[-1].is_waiting and not any(slide.is_waiting for slide in slides[:-1])
        now = [(slide.lead, slide.heading) for slide in slides[:-1]]
        assert now[: len(seen)] == seen
        seen = now
    whole = told(lab, events, False)
    assert [(slide.lead, slide.heading) for slide in whole][: len(seen)] == seen and len(seen) >= 3
    assert [slide.is_verdict for slide in whole] == [False] * (len(whole) - 1) + [True]


@pytest.mark.parametrize("path", OLDER, ids=lambda path: path.stem)
def test_every_case_of_a_journal_is_told_to_its_end(path: Path) -> None:
    lab = lab_of(path.stem)
    if lab.hidden:
        pytest.skip("it has no page to be presented on")
    events = upgraded(read(path).events, entry.labs())
    for case in transcript(events).cases or [""]:
        slides = told(lab, events, False, case)
        assert slides[-1].is_verdict and slides[-1].heading
        assert not any(slide.is_waiting for slide in slides)
        asked = [slide.question for slide in slides if slide.question]
        assert len({one.trial for one in asked}) == len(asked)
        for one in asked:
            assert {one.expected, one.observed} - {None} <= set(one.options)


def test_you_and_the_predictor_are_compared_over_the_same() -> None:
    asked = [
        Question("a", YES_OR_NO, "the predictor", "yes", "no"),
        Question("b", YES_OR_NO, "the predictor", "yes", "yes"),
        Question("c", YES_OR_NO, "the predictor", UNKNOWN, "yes"),
        Question("d", YES_OR_NO, "the predictor", "yes", None),
    ]
    assert against(asked, {}) == ""
    assert against(asked, {"a": "no", "b": "yes"}) == "You 2 of 2, the predictor 1 of 2."
    assert "You 0 of 1, the predictor 1 of 1." in against(asked, {"b": "no", "a": UNKNOWN})
    assert against(asked, {"b": "no", "c": "yes", "d": "yes"}).endswith("2 guesses are left out.")
    assert against(asked, {"c": "yes"}).startswith("There is nothing")


@pytest.mark.parametrize("name", ["simulatability", "consistency", "find"])
def test_a_run_is_stepped_through_to_what_its_lab_says_of_it(page: Page, name: str) -> None:
    lab, run = entry.labs()[name], listed(home.recordings()).of_lab(name)[-1].run
    app = page(lab.path, run=run)
    app.button(key="present").click().run()
    assert app.query_params["present"] in ("1", ["1"])
    app = page(lab.path, run=run, present="1")
    screens, guesses = 1, 0
    while not app.button(key="right").disabled:
        if options := [one for one in app.button if str(one.key).startswith("guess-1")]:
            options[0].click().run()
            guesses += 1
        else:
            app.button(key="right").click().run()
        assert not app.exception
        screens += 1
        assert f"{screens} of " in app.caption[0].value
    log = transcript(read(home.recordings() / f"{run}.jsonl").events)
    said = words(app)
    assert lab.verdict(lab.view(log.case(log.only)))[0].replace("*", "") in said.replace("*", "")
    assert guesses and "You " in said
    app.button(key="leave").click().run()
    assert "present" not in app.query_params and "at" not in app.query_params
    assert not app.exception and app.button(key="change")


@pytest.mark.parametrize(
    ("at", "place"),
    [("", "1 of"), ("0", "1 of"), ("x", "1 of"), ("9" * 5000, "1 of"), ("9999", "21 of 21"), ("end", "21")],
)
def test_any_place_in_the_address_is_a_screen(page: Page, at: str, place: str) -> None:
    app = page("ask", run=listed(home.recordings()).of_lab("simulatability")[0].run, present="1", at=at)
    assert app.caption[0].value.startswith(place)


def test_who_guesses_first_is_not_shown_the_way(page: Page) -> None:
    run = listed(home.recordings()).of_lab("simulatability")[0].run
    assert not [one for one in page("ask", run=run, reader="me").button if one.key == "present"]


def test_a_run_that_is_not_there_is_reported(page: Page) -> None:
    app = page("ask", run="20260101-000000-simulatability-0", present="1")
    assert app.error and app.title[0].value == "Ask"


def test_the_story_says_what_the_journals_say(page: Page) -> None:
    chosen = [one for one in RECORDINGS if one.story]
    assert [lab_of(one.run).name for one in chosen] == [lab.name for lab in entry.labs().values() if not lab.hidden]
    screens = [page("about/story.py", at=str(number)) for number in range(1, 8)]
    assert all(app.caption[0].value.startswith(f"{n} of 7") for n, app in enumerate(screens, start=1))
    for one, app in zip(chosen, (*screens[1:4], screens[5]), strict=True):
        lab, log = lab_of(one.run), transcript(read(home.recordings() / f"{one.run}.jsonl").events)
        view = lab.view(log.case(log.only))
        said = lab.verdict(view)[0] if lab.name != "consistency" else "it still answers positive"
        assert said.replace("*", "") in words(app).replace("*", "")
    assert "examples, not evidence" in words(screens[6])


def test_a_lab_without_a_story_of_its_own_is_told_from_its_view(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "LABS", (*entry.LABS, ECHO))
    entry.labs.cache_clear()
    entry.controls.cache_clear()
    run = entry.jobs().start("echo", ECHO.spec.model_validate({"words": ["no"], "model": "control/deaf"}))
    assert entry.jobs().wait(run, 60)
    app = page("echo", run=run, present="1", at="3")
    assert "expected **no**" in words(app) and "pardon?" not in words(app)
    app.button(key="right").click().run()
    assert "pardon?" in words(app)
    app.button(key="end").click().run()
    assert in_address(app, "at") == "end" and "It repeated 0 of 2." in words(app)
