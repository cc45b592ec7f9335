"""A case as one HTML file in a browser: nothing runs or loads but its own script, and keys present it."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from core.report import standalone_html
from tests.attacks.pages import ATTACKS, HOSTILE, run_of
from tests.support.small_lab import LAB

pytestmark = pytest.mark.browser


def test_nothing_hostile_runs_and_keys_tell_it(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "case.html"
    file.write_bytes(standalone_html.case_html(ATTACKS[1], standalone_html.of_run(LAB, run_of())))
    page = browser.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(file.as_uri())
    page.mouse.move(300, 300)
    cases = page.locator("main > details > summary")
    assert cases.count() == len(HOSTILE)
    for case in cases.all()[1:]:
        case.click()
        expect(page.locator("main > details[open] .read"), "one stands on the stage at a time").to_have_count(1)
        expect(page.locator(".read")).to_have_count(1)
        for opened in page.locator(".read summary:visible, .read button[aria-expanded]:visible").all():
            opened.click()
    assert page.evaluate("window.hit") is None and asked == [file.as_uri()] and said == []
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    expect(page.locator(".tell")).to_be_visible()
    expect(page.locator(".cards")).not_to_be_visible()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    expect(page.locator(".ending")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".read")).to_be_visible()
    assert said == []
    page.close()
