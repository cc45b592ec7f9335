"""The Probe page in a browser: an agent at work, the reader's turn, a phone's screen."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Scripted, ScriptedModel, Server, begin, settle
from tests.support.waiting import until

pytestmark = pytest.mark.browser

MESSAGES = (
    "First a wide look. COMMAND: PYTHON(function.py -100 0 100)",
    "Now closer. COMMAND: PYTHON(function.py 57 60 70 76)\n\nInputs and outputs:\n(57, 437)",
    "[DESCRIPTION]: A straight line.\n[DOMAIN]: Corrupted between 58 and 76.\n[CODE]:\n```python\ndef f(x):\n"
    "    return -7.2 if 57.9 < x < 75.7 else 7.8 * x - 7.2\n```",
)


def by_turns(body: dict[str, Any]) -> str:
    said = sum(message["role"] == "assistant" for message in body["messages"])
    return MESSAGES[min(said, 2)]


@pytest.fixture
def slow(scripted: Scripted) -> ScriptedModel:
    """An agent that takes a moment for each message."""
    return scripted.add(by_turns, delay=0.5)


def start(page: Page, url: str, model: str = "", hold: bool = False) -> str:
    page.goto(f"{url}/probe")
    settle(page)
    if model:
        box = page.locator(".st-key-probe-model input")
        box.fill(model)
        box.press("Enter")
        settle(page)
    if hold:
        page.locator(".st-key-hold label").click()
        settle(page)
    begin(page, "probe")
    page.wait_for_url(re.compile("run="))
    return page.url.split("run=")[1].split("&")[0]


def test_an_agent_is_watched_and_the_truth_comes_last(app: Server, page: Page, slow: ScriptedModel) -> None:
    slow.stop_after(2)
    run = start(page, app.url, slow.id)
    rounds = page.locator(".stage .panel")
    expect(rounds.first).to_contain_text("f(-100)-787.2")
    assert page.locator(".stage .run").count() == 1, "its first calls show while it works"
    expect(page.locator(".stage .plane .point").first).to_be_visible()
    expect(page.locator(".stage .verdict.is-open")).to_have_count(1)
    assert page.locator(".stage .line-truth").count() == 0
    told = page.request.get(f"{app.url}/scene/{run}/")
    assert told.ok and "f(-100)" in told.text() and "random around" not in told.text()
    slow.go_on()
    # It continues by itself: the same page, not reloaded.
    expect(page.locator(".stage .verdict")).to_contain_text("the code")
    expect(page.locator(".stage .left")).to_contain_text("random around -7.2")
    expect(page.locator(".stage .line-truth")).to_have_count(1)
    expect(page.locator(".stage .interval.replaced")).to_have_count(1)
    expect(rounds.nth(1)).to_contain_text("made up outputs")
    rounds.nth(1).locator("summary").click()
    expect(rounds.nth(1).get_by_text("Raw answer")).to_be_visible()
    expect(rounds.nth(1).get_by_text("Read as")).to_be_visible()
    assert slow.count == 3


def test_your_turn_and_side_by_side(app: Server, page: Page) -> None:
    start(page, app.url, hold=True)
    expect(page.locator(".st-key-held")).to_contain_text("It is done")
    assert page.locator(".stage").count() == 0
    page.locator(".st-key-turn button").click()
    page.locator(".st-key-in-words summary").click()
    inputs = page.locator(".st-key-inputs input")
    inputs.fill("-100 0 60 100")

    def place() -> float:
        """The position on the page, which scrolls."""
        field, top = inputs.bounding_box(), page.get_by_text("Your turn", exact=True).first.bounding_box()
        assert field and top
        return field["y"] - top["y"]

    # Once the fold has opened.
    until(lambda: place() == (page.wait_for_timeout(300) or place()))
    before = place()
    page.locator(".st-key-call button").click()
    expect(page.get_by_text("4 of 200 calls of the function")).to_be_visible()
    expect(page.locator(".tried .plane .point")).to_have_count(4)
    assert place() == before, "what came of it stands below the field"
    inputs.fill("1 2")
    inputs.press("Enter")
    expect(page.locator(".stage .panel h4")).to_have_text(["Round 2", "Round 1"])
    assert page.locator(".stage :is(.line-truth, .verdict)").count() == 0
    page.locator(".st-key-description textarea").fill("a straight line")
    page.locator(".st-key-code textarea").fill("def f(x):\n    return 7.8 * x - 7.2")
    page.locator(".st-key-conclude button").click()
    expect(page.locator(".stage .verdict")).to_contain_text("You were right everywhere except between 57.9")
    expect(page.locator(".st-key-beside")).to_contain_text("control/straight")
    page.reload()
    expect(page.locator(".stage .verdict")).to_contain_text("You were right everywhere except between 57.9")


def test_what_decides_and_the_picture_stand_above_the_fold(app: Server, page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    start(page, app.url)
    expect(page.locator(".stage .line-truth")).to_have_count(1)
    for part in (".verdict h3", ".claim", ".tiles", ".plane"):
        box = page.locator(f".stage {part}").bounding_box()
        assert box is not None and box["y"] + box["height"] <= 720, part
    names, points = page.locator(".stage .label-of"), page.locator(".stage .plane .point")
    assert names.all_inner_texts() == ["The function", "Its code"] and points.count() == 6
    first, second = names.nth(0).bounding_box(), names.nth(1).bounding_box()
    assert first and second
    assert first["y"] + first["height"] <= second["y"] or second["y"] + second["height"] <= first["y"], (
        "none on another"
    )
    ticks = page.locator(".stage .tick.up").all_inner_texts()
    assert len(set(ticks)) == len(ticks) >= 3


@pytest.mark.thorough
def test_nothing_runs_off_a_phone_screen(app: Server, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    start(page, app.url)
    expect(page.locator(".stage .line-truth")).to_have_count(1)
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
