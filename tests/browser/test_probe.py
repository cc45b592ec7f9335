"""The Probe page in a browser: what is seen while an agent works, the reader's turn, a phone's screen."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Scripted, ScriptedModel, Server, begin, settle

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
        box = page.locator(".st-key-model-probe input")
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
    start(page, app.url, slow.id)
    expect(page.locator(".st-key-round-1")).to_contain_text("f(-100) = -787.2")
    assert page.locator(".st-key-progress").count() == 1, "its first calls show while it works"
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    expect(page.locator(".st-key-verdict")).to_have_count(0)
    assert "random around" not in page.content()
    slow.go_on()
    page.reload()
    expect(page.locator(".st-key-verdict")).to_contain_text("the code")
    expect(page.locator(".st-key-verdict")).to_contain_text("random around -7.2")
    expect(page.locator(".st-key-round-2")).to_contain_text("made up outputs")
    page.locator(".st-key-round-2 summary").click()
    expect(page.locator(".st-key-round-2").get_by_text("Raw answer")).to_be_visible()
    assert slow.count == 3


def test_your_turn_and_side_by_side(app: Server, page: Page) -> None:
    start(page, app.url, hold=True)
    expect(page.locator(".st-key-held")).to_contain_text("It is done")
    assert "random around" not in page.content()
    page.locator(".st-key-turn button").click()
    page.locator(".st-key-inputs input").fill("-100 0 60 100")
    page.locator(".st-key-call button").click()
    expect(page.get_by_text("4 of 200 calls of the function")).to_be_visible()
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    page.locator(".st-key-description textarea").fill("a straight line")
    page.locator(".st-key-code textarea").fill("def f(x):\n    return 7.8 * x - 7.2")
    page.locator(".st-key-conclude button").click()
    expect(page.locator(".st-key-verdict")).to_contain_text("You were right everywhere but between 57.9")
    expect(page.locator(".st-key-beside")).to_contain_text("control/straight")
    page.reload()
    expect(page.locator(".st-key-verdict")).to_contain_text("You were right everywhere but between 57.9")


def test_nothing_runs_off_a_phone_screen(app: Server, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    start(page, app.url)
    expect(page.locator(".st-key-verdict")).to_be_visible()
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
