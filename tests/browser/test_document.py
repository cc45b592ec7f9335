"""A case as one HTML file, in a browser: nothing runs or loads but its own script, and keys step through it."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from core.telling import document
from tests.attacks.pages import ATTACKS, HOSTILE, run_of
from tests.small_lab import LAB

pytestmark = pytest.mark.browser


def test_nothing_hostile_runs_and_keys_step_through(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "case.html"
    file.write_bytes(document.html(ATTACKS[1], document.of_run(LAB, run_of())))
    page = browser.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(file.as_uri())
    page.mouse.move(300, 300)
    for summary in page.locator("summary").all()[:40]:
        summary.click()
    assert page.evaluate("window.hit") is None and asked == [file.as_uri()] and said == []
    shown = page.locator(".case:visible article:visible")
    every = shown.count()
    assert every == len(HOSTILE)
    page.keyboard.press("Home")
    page.evaluate("scrollTo(0, 0)")
    page.keyboard.press("ArrowRight")
    assert page.locator(".case:visible").count() == 1 and shown.count() == 0
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    assert shown.count() == 1 and not page.get_by_text("What came").first.is_visible()
    assert not page.locator(".verdict").first.is_visible()
    page.keyboard.press("End")
    assert page.locator(".verdict").first.is_visible() and page.get_by_text("Step 5 of 5").is_visible()
    page.keyboard.press("Escape")
    assert shown.count() == every
    page.close()
