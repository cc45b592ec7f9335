"""Presenter mode and the story in a few screens, by keyboard alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from core import entry, home
from core.runs.recordings import listed
from tests.browser.conftest import Server, settle

pytestmark = pytest.mark.browser

RUN = listed(home.recordings()).of_lab("simulatability")[0].run

LEGIBLE = """() => {
  // The size and the contrast of every text on the screen, that of the keys' line apart.
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const light = (grounds, letters, opacity) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.globalAlpha = 1;
    for (const colour of grounds) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    canvas.globalAlpha = opacity;
    if (letters) { canvas.fillStyle = letters; canvas.fillRect(0, 0, 1, 1); }
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map(one => one / 255)
      .map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = [];
  const walker = document.createTreeWalker(document.querySelector('[data-testid=stApp]'), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const one = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !one.checkVisibility() || one.closest('style, button:disabled')) continue;
    const grounds = [];
    let opacity = 1;
    for (let at = one; at; at = at.parentElement) {
      grounds.unshift(getComputedStyle(at).backgroundColor);
      opacity *= getComputedStyle(at).opacity;
    }
    const both = [light(grounds, '', 1), light(grounds, getComputedStyle(one).color, opacity)];
    const [low, high] = both.sort((a, b) => a - b);
    found.push({text: walker.currentNode.data, size: parseFloat(getComputedStyle(one).fontSize),
                contrast: (high + 0.05) / (low + 0.05), key: Boolean(one.closest('.st-key-keys'))});
  }
  return found;
}"""


@pytest.fixture(params=["light", "dark"])
def screen(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    page = browser.new_page(
        viewport={"width": 1280, "height": 720}, color_scheme=request.param, reduced_motion="reduce"
    )
    yield page
    page.close()


def legible(page: Page) -> None:
    settle(page)
    for _ in range(40):
        texts = page.evaluate(LEGIBLE)
        small = [one for one in texts if one["size"] < 24 and not one["key"]]
        pale = [one for one in texts if one["contrast"] < (3 if one["size"] >= 24 else 4.5)]
        if len(texts) > 3 and not small and not pale:
            return
        # The style comes with the page, and holds a moment later.
        page.wait_for_timeout(250)
    raise AssertionError(f"{len(texts)} texts; too small: {small}; too pale: {pale}")


def press(page: Page, key: str, where: Locator, told: str) -> None:
    """Press a key until what it leads to is there: a page that was just drawn hears none for a moment."""
    for _ in range(10):
        page.keyboard.press(key)
        try:
            return expect(where).to_contain_text(told, timeout=5_000)
        except AssertionError:
            continue
    expect(where).to_contain_text(told)


def test_a_run_is_presented_by_keyboard_alone(app: Server, screen: Page) -> None:
    heading, counter = screen.locator(".st-key-slide h1"), screen.locator(".st-key-keys")
    screen.goto(f"{app.url}/ask?run={RUN}&present=1")
    expect(heading).to_have_text("Can a penguin fly?")
    expect(screen.get_by_role("link", name="Browse")).to_be_hidden()
    expect(screen.locator(".st-key-ask-form")).to_have_count(0)
    for number, (key, told) in enumerate(
        (
            ("ArrowRight", "It answers yes and says why"),
            ("Space", "Could a penguin jump?"),
            ("2", "leaves it open"),
            ("Space", "It says no"),
            ("ArrowRight", "jump off a cliff?"),
        ),
        start=2,
    ):
        legible(screen)
        press(screen, key, heading, told)
        expect(counter).to_contain_text(f"{number} of 21")
    press(screen, "ArrowLeft", heading, "It says no")
    press(screen, "g", counter, "With guessing")
    press(screen, "Space", heading, "leaves it open")
    press(screen, "End", heading, "None of 2 predictions came true")
    expect(screen.get_by_text("There is nothing that you and the predictor both predicted")).to_be_visible()
    legible(screen)
    assert screen.url.endswith("&at=end")
    screen.reload()
    expect(heading).to_contain_text("None of 2 predictions came true")
    press(screen, "Home", heading, "Can a penguin fly?")
    screen.keyboard.press("Escape")
    expect(screen.locator(".st-key-verdict")).to_be_visible()
    assert "present" not in screen.url and "at=" not in screen.url and RUN in screen.url


def test_the_story_leads_through_all_labs_in_seven_screens(app: Server, screen: Page) -> None:
    screen.goto(app.url)
    screen.get_by_role("link", name="See it in a few screens").click()
    counter = screen.locator(".st-key-keys")
    expect(counter).to_contain_text("1 of 7")
    for number in range(1, 8):
        legible(screen)
        keys = counter.bounding_box()
        last = screen.locator(".st-key-slide").bounding_box()
        assert keys and last and last["y"] + last["height"] <= keys["y"], f"screen {number} is longer than the window"
        if number < 7:
            press(screen, "Space", counter, f"{number + 1} of 7")
    screen.keyboard.press("Space")
    for lab in entry.labs().values():
        if not lab.hidden:
            expect(screen.get_by_role("link", name=f"{lab.title}: {lab.question}")).to_be_visible()
    screen.keyboard.press("Escape")
    expect(screen.get_by_role("heading", name="Explain Yourself")).to_be_visible()
    assert "story" not in screen.url
