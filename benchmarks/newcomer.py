"""How long a newcomer takes from the front page to the end of a story, and a teacher until three phones have voted.

python benchmarks/newcomer.py [SECONDS]

It starts an app with a home of its own. The newcomer plays the game, asks a real model, predicts its four
answers, and steps through a story. Before each guess and each screen they think for SECONDS (3 by default). Each line
gives the seconds since the first page was opened. It needs Chromium.
"""

import re
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.browser.conftest import CHROMIUM, QUIET, Server

TURN = 0.3
"""How long they look at a card that has turned, as a share of the time before a guess."""


class Clock:
    """Prints what is there, after how many seconds."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    def there(self, what: str) -> None:
        """Print a line."""
        print(f"{time.monotonic() - self._began:6.1f} s  {what}", flush=True)


def guess(page: Page, cards: int, seconds: float) -> None:
    """Answer so many cards, yes and no in turn."""
    for number in range(cards):
        page.wait_for_timeout(1000 * seconds)
        page.locator(".round .options button").nth(number % 2).click()
        expect(page.locator(".turned")).to_be_visible()
        page.wait_for_timeout(1000 * seconds * TURN)
        page.locator(".onward").click()


def newcomer(page: Page, address: str, seconds: float) -> None:
    """Go from the front page through game, real model and story."""
    clock = Clock()
    page.goto(address)
    expect(page.locator(".round .options button")).to_have_count(3)
    clock.there("front page, with its first card")
    guess(page, 10, seconds)
    expect(page.locator(".concluded h2")).to_be_visible()
    clock.there("result of the game")
    page.get_by_role("button", name=re.compile("Ask .* s(econds)?$")).first.click()
    expect(page.locator(".game .options button")).to_have_count(3)
    clock.there("first card of a real model")
    guess(page, 4, seconds)
    expect(page.locator(".over")).to_contain_text("You predicted")
    clock.there("how many of its answers were predicted")
    page.get_by_role("link", name=re.compile("as a story")).click()
    page.locator(".stories a").first.click()
    following = page.get_by_role("button", name="Next")
    while following.is_enabled():
        page.wait_for_timeout(1000 * seconds)
        page.keyboard.press("ArrowRight")
    clock.there("end of a story")


def teacher(browser: Browser, address: str) -> None:
    """Open a room, let three phones in, and reveal a card."""
    clock, wall = Clock(), browser.new_page(viewport={"width": 1920, "height": 1080})
    wall.goto(f"{address}/wall?pack=first")
    code = wall.locator(".code").inner_text()
    clock.there("wall with a code")
    phones = [browser.new_context(viewport={"width": 390, "height": 844}).new_page() for _ in range(3)]
    for phone in phones:
        phone.goto(f"{address}/join#{code}")
        phone.get_by_role("button", name="Join").click()
        expect(phone.locator("h1")).to_contain_text("You are in")
    clock.there("three phones have joined")
    wall.keyboard.press(" ")
    for phone in phones:
        phone.locator(".options button").first.click()
    expect(wall.locator(".voted")).to_contain_text("3 of 3")
    clock.there("three votes on the wall")
    wall.get_by_role("button", name="Close the vote").click()
    wall.get_by_role("button", name="Reveal").click()
    expect(phones[-1].locator(".turned")).to_be_visible()
    clock.there("revealed on the last phone")


def main() -> None:
    """Time both."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
    with tempfile.TemporaryDirectory() as home, sync_playwright() as driver:
        app = Server(Path(home) / "home")
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        try:
            newcomer(browser.new_page(viewport={"width": 1280, "height": 720}), app.url, seconds)
            teacher(browser, app.url)
        finally:
            browser.close()
            app.stop()


if __name__ == "__main__":
    main()
